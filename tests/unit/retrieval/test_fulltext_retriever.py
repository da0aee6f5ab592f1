"""What is told of a full-text search that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import Neo4jError

from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.errors import GraphRAGError, QuestionError, SetupError
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL_FAILED = "Neo.ClientError.Procedure.ProcedureCallFailed"
EXECUTION_FAILED = "Neo.DatabaseError.Statement.ExecutionFailed"
PARSE_EXCEPTION = (
    "Failed to invoke procedure `db.index.fulltext.queryNodes`: Caused by: "
    'org.apache.lucene.queryparser.classic.ParseException: Encountered "<EOF>"'
)


@pytest.fixture
def retriever() -> Iterator[FulltextGraphRetriever]:
    with open_driver("bolt://127.0.0.1:1", "neo4j", "none") as driver:
        yield FulltextGraphRetriever(Database(driver, "neo4j"), "words")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (CALL_FAILED, PARSE_EXCEPTION),
        (CALL_FAILED, "Caused by: org.apache.lucene.queryparser.classic.TokenMgrError: Lexical error at line 1"),
        (CALL_FAILED, "Caused by: org.apache.lucene.search.IndexSearcher$TooManyClauses: maxClauseCount is 1024"),
        (EXECUTION_FAILED, "Could not parse the given fulltext search query"),
    ],
)
def test_what_lucene_can_not_read_is_the_questions_fault_where_its_syntax_was_asked_for(
    retriever: FulltextGraphRetriever, monkeypatch: pytest.MonkeyPatch, code: str, message: str
):
    assert type(failure(retriever, monkeypatch, code, message, lucene=True)) is QuestionError
    assert type(failure(retriever, monkeypatch, code, message, lucene=False)) is SetupError


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (CALL_FAILED, "Failed to invoke procedure `apoc.date.parse`: Unparseable date"),
        (EXECUTION_FAILED, "Text cannot be parsed to a Date"),
        ("Neo.ClientError.Statement.SyntaxError", "ParseException"),
    ],
)
def test_another_failure_is_not_taken_for_lucenes(
    retriever: FulltextGraphRetriever, monkeypatch: pytest.MonkeyPatch, code: str, message: str
):
    fault = failure(retriever, monkeypatch, code, message, lucene=True)
    assert type(fault) is SetupError
    assert message in str(fault)


def failure(
    retriever: FulltextGraphRetriever, monkeypatch: pytest.MonkeyPatch, code: str, message: str, *, lucene: bool
) -> GraphRAGError:
    """Return what is told where the database answers a search with an error."""

    def refuse(_: Any) -> None:
        raise Neo4jError._basic_hydrate(neo4j_code=code, message=message)  # the driver has no public way to make one

    monkeypatch.setattr(retriever, "_found", refuse)
    with pytest.raises(GraphRAGError) as caught:
        retriever.get_search_results("a question", lucene=lucene)
    return caught.value
