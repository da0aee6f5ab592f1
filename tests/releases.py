"""Marks for tests of what does not depend on Neo4j's release."""

from __future__ import annotations

import pytest

ON_NEWEST = pytest.mark.parametrize("neo4j_server", ["2026.09.0"], indirect=True)
"""For permutations of a behaviour whose kinds other tests show on all releases."""
