"""What counts as not set."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.environment import is_blank


@pytest.mark.parametrize("value", [None, "", " \t\n", "${}", "${user_config.index}", " ${INDEX}\n"])
def test_blanks_and_unexpanded_placeholders_say_nothing(value: object):
    assert is_blank(value)


@pytest.mark.parametrize("value", [0, False, "0", "$INDEX", "${INDEX", "${A}${B}", "bolt://${HOST}", "a ${INDEX}"])
def test_every_other_value_says_something(value: object):
    assert not is_blank(value)
