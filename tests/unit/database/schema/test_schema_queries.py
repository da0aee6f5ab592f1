"""How much is looked at."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.schema.queries import sample_size


@pytest.mark.parametrize(("names", "size"), [(0, 1_000), (1, 1_000), (5, 1_000), (50, 100), (300, 16), (9_000, 10)])
def test_the_look_is_shared_by_the_names(names: int, size: int):
    assert sample_size(names) == size
