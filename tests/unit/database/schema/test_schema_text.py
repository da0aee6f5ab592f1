"""A schema as text within a limit, and as structured content that says the same."""

from __future__ import annotations

import pytest

from mcp_neo4j_vector_graphrag.database.schema.entries import (
    ConstraintSchema,
    FulltextIndexSchema,
    LabelSchema,
    Pair,
    RelationshipTypeSchema,
    Schema,
    VectorIndexSchema,
)
from mcp_neo4j_vector_graphrag.database.schema.text import fitted, schema_text


def vector_index(name: str = "movies", label: str = "Movie") -> VectorIndexSchema:
    return VectorIndexSchema(
        name=name,
        on="node",
        labels=[label],
        property="plotEmbedding",
        dimensions=384,
        similarity="cosine",
        filter_properties=["year", "my lang"],
        state="ONLINE",
    )


SMALL = Schema(
    vector_indexes=[vector_index()],
    fulltext_indexes=[
        FulltextIndexSchema(
            name="said",
            on="relationship",
            labels=["SAID", "WROTE"],
            properties=["text"],
            analyzer="english",
            state="POPULATING",
        )
    ],
    labels=[
        LabelSchema(
            name="Movie",
            count=9742,
            sampled=1000,
            properties={"title": "STRING", "year": "INTEGER | STRING", "plotEmbedding": "VECTOR(384)"},
        ),
        LabelSchema(name="Empty one", count=3, sampled=3, properties={}),
    ],
    relationship_types=[
        RelationshipTypeSchema(
            name="SAID",
            count=2,
            sampled=2,
            properties={"text": "STRING"},
            pairs=[Pair(start="Person", end="Movie"), Pair(start=None, end="Empty one")],
        ),
        RelationshipTypeSchema(
            name="HAS",
            count=90,
            sampled=10,
            properties={},
            pairs=[Pair(start="A", end="B")],
            other_starts=["C"],
            other_ends=["D", "E"],
        ),
    ],
    constraints=[
        ConstraintSchema(
            name="key", on="node", labels=["Movie"], type="NODE_PROPERTY_UNIQUENESS", properties=["movieId"]
        )
    ],
)

TEXT = """\
Vector indexes:
- movies on (:Movie) plotEmbedding: 384 dimensions, cosine, ONLINE, filters in the index: year, `my lang`; \
search it with search_movies
Full-text indexes:
- said on [:SAID|WROTE] text: english, POPULATING
Labels:
- Movie (9742, 1000 looked at): title STRING, year INTEGER | STRING, plotEmbedding VECTOR(384); \
search with search_movies
- `Empty one` (3): no properties
Relationship types:
- SAID (2) (:Person)->(:Movie), ()->(:`Empty one`): text STRING
- HAS (90, 10 looked at) (:A)->(:B), also from C, also to D, E: no properties seen
Constraints:
- key: node property uniqueness on (:Movie) movieId"""


def test_a_model_reads_all_of_it_and_which_tool_searches_what():
    assert schema_text(fitted(SMALL, 2_500, {"movies": "search_movies"})) == TEXT


def test_text_and_structure_tell_the_same_tools():
    found = fitted(SMALL, 2_500, {"movies": "search_movies", "said": "fulltext-search"})
    assert [index.search_tool for index in found.vector_indexes] == ["search_movies"]
    assert [index.search_tool for index in found.fulltext_indexes] == ["fulltext-search"]
    assert {each.name: each.search_tools for each in (*found.labels, *found.relationship_types)} == {
        "Movie": ["search_movies"],
        "Empty one": [],
        "SAID": ["fulltext-search"],
        "HAS": [],
    }
    lines = schema_text(found).splitlines()
    assert [line.rpartition(" ")[2] for line in lines if "; search" in line] == [
        "search_movies",
        "fulltext-search",
        "search_movies",
        "fulltext-search",
    ]


def test_an_empty_database_is_told():
    nothing = Schema(vector_indexes=[], fulltext_indexes=[], labels=[], relationship_types=[], constraints=[])
    assert schema_text(nothing) == "No label, relationship type or index."


def wide(labels: int = 300, properties: int = 20, types: int = 40, indexes: int = 1) -> Schema:
    return Schema(
        vector_indexes=[vector_index(f"index{number}", f"Label{labels - 1 - number}") for number in range(indexes)],
        fulltext_indexes=[],
        labels=[
            LabelSchema(
                name=f"Label{number}",
                count=1000 - number,
                sampled=16,
                properties={f"property_{place}": "STRING" for place in range(properties)},
            )
            for number in range(labels)
        ],
        relationship_types=[
            RelationshipTypeSchema(
                name=f"TYPE_{number}",
                count=100 - number,
                sampled=10,
                properties={"weight": "FLOAT"},
                pairs=[Pair(start=f"Label{place}", end="Label0") for place in range(3)],
            )
            for number in range(types)
        ],
        constraints=[],
    )


@pytest.mark.parametrize("limit", [200, 1_000, 3_000, 8_000, 15_000])
def test_the_text_keeps_to_the_limit_and_the_structure_holds_the_same(limit: int):
    found = fitted(wide(), limit)
    text = schema_text(found)
    assert len(text.encode()) <= 4 * limit
    assert fitted(found, limit) == found
    for label in found.labels:
        assert f"\n- {label.name} ({label.count}, 16 looked at): property_0 STRING" in text
    assert text.endswith(found.notice or "nothing")


def test_indexes_come_first_then_all_names_then_what_fits():
    found = fitted(wide(), 5_000)
    assert [index.name for index in found.vector_indexes] == ["index0"]
    assert {each.name for each in found.labels} | set(found.other_labels) == {f"Label{number}" for number in range(300)}
    assert {each.name for each in found.relationship_types} | set(found.other_types) == {
        f"TYPE_{number}" for number in range(40)
    }
    assert "Label299" in {each.name for each in found.labels}, "an index is on it, rare as it is"
    shown = len(found.labels)
    assert 20 < shown < 300
    assert found.other_labels["Label298"] == 702
    assert found.notice == (
        f"Left out to keep this short: the properties of {300 - shown} labels, "
        f"the properties and pairs of {40 - len(found.relationship_types)} relationship types; "
        "ask again with the names in `labels` or `types` to get them whole."
    )


def test_as_much_is_shown_as_fits():
    found = fitted(wide(types=0), 5_000)
    line = "- Label100 (900, 16 looked at): " + ", ".join(f"property_{place} STRING" for place in range(20)) + "\n"
    assert 20_000 - len(line) < len(schema_text(found)) <= 20_000


def test_names_of_several_bytes_a_letter_count_as_such():
    spelt = wide(types=0)
    for label in spelt.labels:
        label.properties = {f"プロパティ{place}": "STRING" for place in range(20)}
    text = schema_text(fitted(spelt, 5_000))
    assert 19_000 < len(text.encode()) <= 20_000


def test_what_is_not_even_named_is_counted():
    found = fitted(wide(labels=3_000, indexes=5), 2_000)
    named = len(found.labels) + len(found.relationship_types) + len(found.other_labels) + len(found.other_types)
    assert len(found.vector_indexes) == 5
    assert f"even the names of {3_040 - named} of these" in (found.notice or "")


def test_indexes_that_do_not_fit_are_counted():
    found = fitted(wide(indexes=200), 1_000)
    left = 200 - len(found.vector_indexes)
    assert 0 < left < 200
    assert f"{left} indexes" in (found.notice or "")


def test_one_label_too_large_for_the_limit_is_cut_and_says_so():
    found = fitted(wide(labels=1, properties=3_000, types=0), 2_000)
    (label,) = found.labels
    assert (len(label.properties), label.more_properties) == (100, 2_900)
    assert "and 2900 more" in schema_text(found)
    assert len(schema_text(found)) <= 8_000


def test_pairs_too_many_for_the_limit_are_counted():
    many = wide(labels=0, types=1, indexes=0)
    pairs = [Pair(start=f"Start{number}", end="End") for number in range(3_000)]
    many.relationship_types[0].pairs = pairs
    found = fitted(many, 1_500)
    assert found.relationship_types[0].pairs == pairs[:100]
    assert "(:Start99)->(:End), and 2900 more pairs" in schema_text(found)


def test_a_notice_of_the_reading_is_kept():
    uncertain = wide().model_copy(update={"notice": "Only a sample."})
    assert (fitted(uncertain, 3_000).notice or "").startswith("Only a sample. Left out")
    assert schema_text(SMALL.model_copy(update={"notice": "Only a sample."})).endswith("\nOnly a sample.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Film", "Film"),
        ("Ünï_9", "Ünï_9"),
        ("my label", "`my label`"),
        ("9lives", "`9lives`"),
        ("a`b", "`a``b`"),
        ("a\n- Forged (1): line", r"`a\u000A- Forged (1): line`"),
        (r"a\u0060b", r"`a\u005Cu0060b`"),
    ],
)
def test_names_are_written_as_cypher_takes_them_on_one_line(name: str, shown: str):
    schema = Schema(
        vector_indexes=[],
        fulltext_indexes=[],
        labels=[LabelSchema(name=name, count=1, sampled=1, properties={name: "STRING"})],
        relationship_types=[],
        constraints=[],
    )
    assert schema_text(schema) == f"Labels:\n- {shown} (1): {shown} STRING"
