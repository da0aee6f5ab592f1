"""What the connectors search, what is told of failures, and how the hits of several sources become one list."""

from __future__ import annotations

import threading
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import neo4j
import pytest
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from indexed import FakeBackend, FakeDatabase, fulltext, index
from mcp_neo4j_vector_graphrag.backend import Backend
from mcp_neo4j_vector_graphrag.database.connection import Database
from mcp_neo4j_vector_graphrag.declared.sources import Sources
from mcp_neo4j_vector_graphrag.errors import QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.documents import Hit
from mcp_neo4j_vector_graphrag.settings import Settings
from mcp_neo4j_vector_graphrag.tools.connectors import DocumentSearch, _at_once, _by_rank, _by_score


def hit(name: str) -> Hit:
    return Hit(id=name, title=name, url="", text="")


def merged(*sources: str) -> str:
    # The order of several sources shows only with several databases or indexes.
    return "".join(each.id for each in _by_rank([[(hit(name), 0.0) for name in source] for source in sources]))


def test_similarities_of_one_model_decide_over_all_indexes_and_each_hit_comes_once():
    found = [[(hit("a"), 0.9), (hit("b"), 0.5)], [(hit("c"), 0.7), (hit("b"), 0.8)]]
    assert [each.id for each in _by_score(found)] == ["a", "b", "c"]


def test_what_several_sources_find_comes_before_what_one_finds_first():
    # 1/61 = 0.0164 for a and d; 1/63 + 1/63 = 0.0317 for c.
    assert merged("abc", "dec") == "cadbe"


def test_one_source_keeps_its_order():
    assert merged("cab") == "cab"


def test_nothing_found_is_nothing():
    assert merged() == merged("", "") == ""


class Retrieves(Retriever):
    """Finds what a test says, or fails."""

    VERIFY_NEO4J_VERSION = False

    def __init__(self, *ids: str, error: Exception | None = None) -> None:
        self._ids = ids
        self._error = error

    def get_search_results(self, query_text: str, top_k: int) -> RawSearchResult:
        assert (query_text, top_k) == ("sharks", 10)
        if self._error:
            raise self._error
        return RawSearchResult(records=[neo4j.Record({"id": each}) for each in self._ids])

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        return RetrieverResultItem(content=record["id"], metadata={"id": record["id"]})


def found_by(monkeypatch: pytest.MonkeyPatch, *retrievers: Retrieves) -> list[str]:
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1"}))
    documents = DocumentSearch(Sources(settings, Backend(settings)))
    database = Database(cast("neo4j.Driver", None), "graph")
    searches = [(lambda: database, partial(lambda each: each, each)) for each in retrievers]
    monkeypatch.setattr(documents, "_searches", lambda: (searches, False))
    return [hit.id for hit in documents.search("sharks").results]


DOWN = UnavailableError("Neo4j can't be reached.")
WRONG = SetupError("There is no such index.")


def test_what_fails_beside_others_goes_to_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    assert found_by(monkeypatch, Retrieves(error=DOWN), Retrieves("a"), Retrieves(error=WRONG)) == ["a"]
    assert caplog.messages == [f"A part of the search failed: {error}" for error in (DOWN, WRONG)]


def test_nothing_found_where_something_failed_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    with pytest.raises(UnavailableError) as caught:
        found_by(monkeypatch, Retrieves(), Retrieves(error=DOWN), Retrieves(error=WRONG))
    assert caught.value is DOWN
    assert caplog.messages == [f"A part of the search failed: {WRONG}"], "what is raised is logged where it is answered"


def test_nothing_found_by_all_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    assert found_by(monkeypatch, Retrieves(), Retrieves()) == []


def test_eight_searches_run_at_once_and_no_more():
    lock, running, most = threading.Lock(), 0, 0
    together = threading.Barrier(8)

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(10)  # breaks where fewer than eight run at once
        with lock:
            running -= 1
        return number

    assert _at_once(work, range(24)) == list(range(24))
    assert most == 8


def test_few_searches_need_no_more_threads():
    assert _at_once(str, []) == []
    assert _at_once(str, [1, 2]) == ["1", "2"]


VECTORS, WORDS = index("films", "(Film)", "emb"), fulltext("words", "(Film)", "title")


def searched(*indexes: dict[str, Any], **variables: str) -> tuple[DocumentSearch, list[Any]]:
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1", **variables}))
    backend = cast("Backend", FakeBackend(FakeDatabase(indexes)))
    documents = DocumentSearch(Sources(settings, backend))
    return documents, [retriever() for _, retriever in documents._searches()[0]]


@pytest.mark.parametrize(
    ("indexes", "variables", "expected"),
    [
        ((VECTORS, WORDS), {}, ["VectorDocuments"]),
        ((WORDS,), {}, ["FulltextDocuments"]),
        ((index("a", "(Film)", "emb", state="POPULATING"), WORDS), {}, ["FulltextDocuments"]),
        ((VECTORS, WORDS), {"INDEX_NAME": "films", "FULLTEXT_INDEX_NAME": "words"}, ["HybridDocuments"]),
    ],
)
def test_words_are_searched_where_meaning_cannot_be(
    indexes: tuple[dict[str, Any], ...], variables: dict[str, str], expected: list[str]
):
    _, retrievers = searched(*indexes, RETRIEVAL_QUERY="RETURN node.title AS text, score", **variables)
    assert [type(each).__name__ for each in retrievers] == expected
    assert [each.retrieval_query for each in retrievers] == [""]


def test_similarities_compare_where_all_indexes_measure_alike():
    euclidean = {**index("b", "(Film)", "emb"), "config": {"vector.similarity_function": "EUCLIDEAN"}}
    assert searched(VECTORS, index("a", "(Film)", "emb"))[0]._searches()[1]
    assert not searched(VECTORS, euclidean)[0]._searches()[1]
    assert not searched(WORDS, fulltext("more", "(Film)", "plot"))[0]._searches()[1]


def test_nothing_to_search_is_told():
    with pytest.raises(SetupError, match=r"^The database has no vector index and no full-text index that is online\.$"):
        searched()


def test_retrievers_are_kept_between_calls():
    documents, before = searched(VECTORS, WORDS)
    assert [retriever() for _, retriever in documents._searches()[0]] == before


class Keeps(FakeDatabase):
    """A database with one node, `a`, or with none."""

    def __init__(self, ids: str, failure: Exception | None = None) -> None:
        super().__init__([], failure)
        self._ids = ids

    def read(self, statement: str, parameters: Any = None) -> list[Any]:
        if statement.startswith("SHOW INDEXES"):
            return super().read(statement)
        labels = ["Film"] if parameters["id"] in self._ids else None
        properties = {"title": "Jaws"} if labels else None
        return [neo4j.Record({"labels": labels, "properties": properties, "type": None})]


def fetched(*databases: Keeps) -> str:
    settings = Settings(**cast("dict[str, Any]", {"NEO4J_URI": "bolt://127.0.0.1:1"}))
    backends = {str(place): FakeBackend(each) for place, each in enumerate(databases)}
    sources = SimpleNamespace(settings=settings, backend=None, backends=backends)
    return DocumentSearch(cast("Sources", sources)).fetch("a").title


def test_a_document_is_fetched_beside_a_database_that_is_down_and_it_goes_to_the_log(
    caplog: pytest.LogCaptureFixture,
):
    assert fetched(Keeps("", DOWN), Keeps("b"), Keeps("a")) == "Jaws"
    assert caplog.messages == [f"A database could not be asked: {DOWN}"]


def test_a_document_is_called_gone_only_where_all_databases_were_asked(caplog: pytest.LogCaptureFixture):
    with pytest.raises(UnavailableError) as caught:
        fetched(Keeps("b"), Keeps("a", DOWN), Keeps("a", WRONG))
    assert caught.value is DOWN
    assert caplog.messages == [f"A database could not be asked: {WRONG}"], "the other is logged where it is answered"
    with pytest.raises(QuestionError, match=r"^No element has the id 'a'"):
        fetched(Keeps("b"), Keeps("c"))
