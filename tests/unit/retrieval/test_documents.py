"""Which property is a document's title, which its text, which its address: pure functions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from neo4j_graphrag.types import RetrieverResultItem

from mcp_neo4j_vector_graphrag.budget import tokens
from mcp_neo4j_vector_graphrag.retrieval.documents import (
    Hit,
    Hits,
    WholeDocument,
    document_text,
    hit_of,
    hits_within,
    snippet,
    title_of,
    url_of,
    within,
)

LONG = "A thief who steals secrets through dreams is given the task of planting an idea in a mind."
OTHER = "Four hundred years ago, on a small island in the north, a boy found a map that nobody could read."


@pytest.mark.parametrize(
    ("properties", "title"),
    [
        ({"name": "Nolan", "title": "Inception"}, "Inception"),
        ({"Name": "Nolan", "plot": LONG}, "Nolan"),
        ({"year": 2010, "movieTitle": "Inception"}, "Inception"),
        ({"title": "  ", "name": "Nolan"}, "Nolan"),
        ({"title": 1984}, "1984"),
        ({"title": ["a", "b"], "ok": True}, "otherwise"),
        ({"title": True}, "otherwise"),
        ({"title": "two\nlines"}, "two lines"),
        ({"plot": LONG}, "A thief who steals secrets through dreams is given the task of planting an idea in a mind."),
        ({"plot": f"{OTHER} {LONG}"}, f"{OTHER} …"),
        ({"title": "x" * 200}, "x" * 99 + "…"),
        ({"year": 2010}, "otherwise"),
        ({}, "otherwise"),
    ],
)
def test_a_title_is_the_title_the_name_or_how_the_text_begins(properties: dict[str, Any], title: str):
    assert title_of(properties, "otherwise") == title


@pytest.mark.parametrize(
    ("content", "limit", "begins"),
    [
        ("one two three", 20, "one two three"),
        ("one two three", 10, "one two …"),
        ("one\n\n two", 20, "one two"),
        ("onetwothree", 6, "onetw…"),
        ({"title": "Inception", "plot": LONG}, 20, "A thief who steals …"),
        ({"notes": OTHER, "text": "short"}, 30, "text: short notes: Four …"),
        ({"title": "Inception", "year": 2010}, 100, "title: Inception year: 2010"),
        ({}, 100, ""),
    ],
)
def test_a_snippet_is_how_the_text_begins(content: Any, limit: int, begins: str):
    assert snippet(content, limit) == begins


@pytest.mark.parametrize(
    ("properties", "url"),
    [
        ({"url": "https://example.org/a?b=c"}, "https://example.org/a?b=c"),
        ({"homepage": "https://a.example", "URL": "http://b.example"}, "http://b.example"),
        ({"url": "javascript:alert(1)"}, "neo4j:graph/4:abc:1"),
        ({"url": "not a url", "poster": "https://example.org/p.jpg"}, "neo4j:graph/4:abc:1"),
        ({"url": "https://["}, "neo4j:graph/4:abc:1"),
        ({"url": 7}, "neo4j:graph/4:abc:1"),
        ({}, "neo4j:graph/4:abc:1"),
    ],
)
def test_an_address_is_the_documents_own_or_made_of_its_id(properties: dict[str, Any], url: str):
    assert url_of(properties, "graph", "4:abc:1") == url


def test_an_address_has_no_character_that_an_address_cannot_have():
    assert url_of({}, "my graph/x", "4:a b:1") == "neo4j:my%20graph%2Fx/4:a%20b:1"
    assert url_of({}, None, "4:abc:1") == "neo4j:/4:abc:1"


@pytest.mark.parametrize(
    ("content", "metadata", "title", "text"),
    [
        ({"title": "Inception", "plot": LONG}, {}, "Inception", LONG),
        (
            '{"doc":{"title":"Inception","year":2010}}',
            {"labels": ["Movie"]},
            "Inception",
            "title: Inception year: 2010",
        ),
        ("Inception, by Nolan", {"score": 0.5}, "Inception, by Nolan", "Inception, by Nolan"),
        (LONG, {"title": "Inception"}, "Inception", LONG),
        ("{not json", {}, "{not json", "{not json"),
        (
            {"type": "RATED", "start": {"name": "Ann"}, "end": {"title": "Jaws"}, "properties": {"review": LONG}},
            {},
            "Ann RATED Jaws",
            LONG,
        ),
    ],
)
def test_a_retrievers_item_is_a_hit(content: Any, metadata: dict[str, Any], title: str, text: str):
    hit = hit_of(RetrieverResultItem(content=content, metadata={"id": "4:abc:1", **metadata}), "graph")
    assert hit == Hit(id="4:abc:1", title=title, url="neo4j:graph/4:abc:1", text=text)


@pytest.mark.parametrize("metadata", [None, {}, {"id": None}, {"id": 7}, {"id": ""}])
def test_an_item_without_an_id_is_none(metadata: dict[str, Any] | None):
    assert hit_of(RetrieverResultItem(content="x", metadata=metadata), "graph") is None


def whole(text: str, **metadata: Any) -> WholeDocument:
    return WholeDocument(id="4:abc:1", title="Inception", text=text, url="neo4j:graph/4:abc:1", metadata=metadata)


def size(document: WholeDocument) -> int:
    return len(json.dumps(document.model_dump(mode="json"), ensure_ascii=False).encode())


NOTICE = "Cut, to keep to 100 tokens (RESPONSE_TOKEN_LIMIT)."


def test_a_document_that_fits_is_whole():
    assert within(whole("short", year=2010), 100) == whole("short", year=2010)


@pytest.mark.parametrize("text", [LONG * 9, "word \n" * 500, '"quoted" ' * 500, "größer " * 500, "one" * 500])
def test_a_document_that_is_too_long_is_cut_to_the_limit_with_a_mark(text: str):
    cut = within(whole(text, year=2010), 100)

    assert 300 < size(cut) <= 400, "bytes, of which four are a token"
    assert cut.metadata == {"year": 2010, "notice": NOTICE}
    assert cut.text.endswith(" …")
    kept = cut.text.removesuffix(" …")
    assert text.startswith(kept)
    assert text == "one" * 500 or text[len(kept)].isspace(), "at a word"


def test_metadata_that_are_too_long_leave_room_for_the_text():
    cut = within(whole(LONG * 9, year=2010, review=OTHER * 9), 200)

    assert size(cut) <= 800
    assert cut.metadata["year"] == 2010
    assert OTHER.startswith(cut.metadata["review"].removesuffix(" …"))
    assert cut.text.startswith(LONG[:80])


def test_metadata_that_cannot_be_cut_are_left_out_the_largest_first():
    cut = within(whole(LONG, numbers=list(range(1000)), year=2010), 100)

    assert cut.metadata == {"year": 2010, "notice": f"{NOTICE} Too long to be shown: 'numbers'."}
    assert cut.text.startswith(LONG[:40])


ID = "4:01234567-89ab-cdef-0123-456789abcdef:12345"


@pytest.mark.parametrize("limit", [200, 1000])
@pytest.mark.parametrize("title", ["Inception", "𝄞" * 100, '"' * 100], ids=["short", "wide", "quotes"])
@pytest.mark.parametrize("url", ["neo4j:graph/x", f"https://example.org/{'x' * 3000}"], ids=["short", "long"])
def test_a_document_keeps_to_the_limit_whatever_is_long(limit: int, title: str, url: str):
    metadata = {f"list{place}" * 20: list(range(100)) for place in range(50)}
    cut = within(WholeDocument(id=ID, title=title, text='"é"' * 9000, url=url, metadata=metadata), limit)

    assert tokens(document_text(cut)) <= limit
    assert cut.id == ID
    assert cut.url == (url if url == "neo4j:graph/x" else f"neo4j:/{ID}")
    assert cut.metadata["notice"].startswith(f"Cut, to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT). Too long")


def hit(text: str = "", url: str = "neo4j:graph/x") -> Hit:
    return Hit(id="4:abc:1", title="Inception", url=url, text=text)


def test_results_that_fit_are_all_there_without_a_notice():
    found = hits_within([hit("a"), hit("b")], 200)
    assert found == Hits(results=[hit("a"), hit("b")])
    assert document_text(found).startswith('{"results": [{"id": ')
    assert "notice" not in document_text(found)


@pytest.mark.parametrize(("limit", "shown"), [(300, 2), (200, 1)])
def test_whole_results_of_a_search_are_left_out_at_the_end(limit: int, shown: int):
    # 382 bytes for each of them, 2 between them, and 158 beside them.
    found = hits_within([hit("x" * 300)] * 10, limit)

    assert found.results == [hit("x" * 300)] * shown
    assert found.notice == (
        f"Only the first {shown} of 10 results are shown, to keep to {limit} tokens (RESPONSE_TOKEN_LIMIT): "
        "ask a narrower question for the others."
    )
    assert tokens(document_text(found)) <= limit


def test_a_first_result_that_is_too_long_by_itself_is_cut():
    found = hits_within([hit('"é" ' * 200, f"https://example.org/{'x' * 900}")], 200)

    [first] = found.results
    assert first.url == "neo4j:/4:abc:1"
    assert first.text.endswith("…")
    assert found.notice == "Cut, to keep to 200 tokens (RESPONSE_TOKEN_LIMIT). Too long to be shown: 'url'."
    assert 600 < len(document_text(found).encode()) <= 800
