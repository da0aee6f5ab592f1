"""The client's side of the local database: what it makes of the files that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.local.database import LocalDatabase, _Link, reset
from mcp_neo4j_vector_graphrag.local.supervisor import supervisor_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "noted", ["", "[]", "null", "7", "{}", '{"port": "x"}', '{"port": -1}', '{"port": 99999}', '{"port": 1'], ids=repr
)
def test_a_damaged_note_of_a_supervisor_counts_as_none(tmp_path: Path, noted: str):
    supervisor_file(tmp_path).write_text(noted, encoding="utf-8")
    assert _Link.find(tmp_path) is None
    reset(tmp_path)
    assert not supervisor_file(tmp_path).exists()


def test_a_database_that_was_not_started_is_not_running(tmp_path: Path):
    assert not LocalDatabase(tmp_path).is_running
