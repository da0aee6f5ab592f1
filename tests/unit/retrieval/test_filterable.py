"""What an operator lets a search be filtered by, held against the data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from indexed import FakeDatabase, index
from mcp_neo4j_vector_graphrag.database.sample import Property, Sample
from mcp_neo4j_vector_graphrag.errors import SetupError
from mcp_neo4j_vector_graphrag.retrieval import graph_search
from mcp_neo4j_vector_graphrag.retrieval.filterable import filterable
from mcp_neo4j_vector_graphrag.retrieval.filters import Condition
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database

SAMPLED = {
    "year": Property("year", ("INTEGER",)),
    "tags": Property("tags", ("LIST<STRING NOT NULL>",)),
    "indexed": Property("indexed", ("LIST<STRING NOT NULL>",), in_index=True),
    "unseen": Property("unseen", (), in_index=True),
}


class Keys(FakeDatabase):
    """Has the property `emb`, and others that are never asked for."""

    def __init__(self) -> None:
        super().__init__([index("films", "(Film)", "emb")])

    def read(self, statement: str, parameters: Any = None) -> list[Any]:
        del statement
        return [{"name": name} for name in parameters["names"] if name == "emb"]


DATABASE = cast("Database", Keys())


@pytest.mark.parametrize("name", ["tags", "indexed", "emb"])
def test_a_list_or_a_vector_can_not_be_filtered_by(name: str):
    with pytest.raises(SetupError) as caught:
        filterable(DATABASE, SAMPLED, [name], vectors=["emb"])
    assert str(caught.value) == (
        f"The property '{name}' holds values that can't be filtered by: take it out of the filters, or write another."
    )
    with pytest.raises(SetupError, match="can't be filtered by: take it out of the fixed filters"):
        filterable(DATABASE, SAMPLED, None, {name: "x"}, ["emb"])


def test_what_holds_scalars_or_is_in_the_index_can_be_filtered_by():
    assert set(filterable(DATABASE, SAMPLED, ["year", "unseen"]).allowed) == {"year", "unseen"}
    assert set(filterable(DATABASE, SAMPLED).allowed) == {"year", "unseen"}


@pytest.mark.parametrize(
    ("value", "operator", "wanted"),
    [("[1]", "=", "[1]"), ('["a"]', "=", '["a"]'), (["a", "[1]"], "IN", ["a", "[1]"])],
)
def test_a_text_that_an_operator_fixed_is_no_json_text(value: object, operator: str, wanted: object):
    """A caller's may be, and is then either of both: a fixed filter would let in more than it says."""
    known = {"tag": Property("tag", ("STRING",))}
    assert filterable(DATABASE, known, fixed={"tag": value}).fixed == (Condition("tag", operator, wanted),)


@pytest.mark.parametrize(
    "named",
    [{"filterable": ["nope"]}, {"fixed_filters": {"nope": 1}}, {"filterable": ["year"]}, {"filterable": []}, {}],
)
def test_names_and_fixed_filters_are_held_against_the_data_when_a_search_is_prepared(
    named: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    looks: list[object] = []
    monkeypatch.setattr(graph_search, "read_sample", lambda *given: looks.append(given) or Sample(1, SAMPLED))
    retriever = FulltextGraphRetriever(DATABASE, "words", **named)
    contact = SimpleNamespace(index=None, plain=SimpleNamespace(vector_properties=frozenset({"emb"})))
    monkeypatch.setattr(retriever, "_current_contact", lambda: contact)

    if "nope" in str(named):
        with pytest.raises(SetupError, match="The property 'nope' is on no entity of the database"):
            retriever.prepare()
    else:
        retriever.prepare()
    assert len(looks) == bool(any(named.values()))
