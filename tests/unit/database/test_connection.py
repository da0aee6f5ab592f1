"""The end of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import neo4j

from mcp_neo4j_vector_graphrag.database.connection import Database

if TYPE_CHECKING:
    import pytest


def test_a_connection_that_another_thread_is_using_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch):
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        closed = []

        def close() -> None:
            closed.append(driver)
            raise BufferError("Existing exports of data: object cannot be re-sized")

        with monkeypatch.context() as patch:
            patch.setattr(driver, "close", close)
            Database(driver, None).close()

    assert closed == [driver]
