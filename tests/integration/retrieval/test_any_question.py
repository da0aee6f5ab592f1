"""Whatever is asked, a full-text or hybrid search finds by the question's words alone, or says what is wrong."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from graphs import DIMENSIONS, Sightings, vectors
from mcp_neo4j_vector_graphrag.errors import GraphRAGError
from mcp_neo4j_vector_graphrag.retrieval.fulltext_retriever import FulltextGraphRetriever
from mcp_neo4j_vector_graphrag.retrieval.hybrid_retriever import HybridGraphRetriever
from releases import ON_NEWEST

if TYPE_CHECKING:
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from servers import Neo4jServer

QUESTIONS = 10_000
EVERY_HYBRID = 4
"""One question in so many goes to hybrid search, which takes longer; the others go to full text."""

VECTOR = [float(value) for value in vectors(1, DIMENSIONS, seed=1)[0]]

PIECES = (
    *("AND", "OR", "NOT", "TO", "&&", "||", "+", "-", "!", "(", ")", "{", "}", "[", "]", "^", '"', "~", "*", "?", ":"),
    *("\\", "/", "text:", "*:*", "_exists_:text", "[* TO *]", "only?", "only*", "/.*/", "^5", "~2", "<", ">=", "@"),
    *("MATCH (n) RETURN n", "DETACH DELETE n", "//", "/*", "*/", "`", "'", "';", "$query_text", "\\u0041", "\n", "\t"),
    *(
        "}) YIELD node RETURN node //",
        "' OR 1=1",
        "UNION ALL MATCH (n)",
        "CALL db.labels()",
        "LOAD CSV FROM 'file:///'",
    ),
    *(
        "千と千尋",
        "🐉",
        "👩\u200d👩\u200d👧",
        "e\u0301",
        "שלום",
        "مرحبا",
        "ไทย",
        "\u202e",
        "\ufeff",
        "\x00",
        "\ud800",
        "İ",
        "ß",
    ),
    *("shark", "onlyd", "sea", "Shark?", "x" * 300, "1" * 300, "well-known", "O'Neill", "http://a.b/c?d=e#f", "a@b.c"),
)


def questions() -> list[str]:
    """Return the same questions at each call: pieces of syntax and words, any characters, and a few of 100 kB."""
    rng = random.Random(20_261)
    made = []
    for number in range(QUESTIONS):
        if number % 3:
            blank = rng.choice(["", " ", " "])
            question = blank.join(rng.choices(PIECES, k=rng.randrange(1, 9)))
        else:
            question = "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(1, 30)))
        if number % 200 == 0:
            question = (question + " " + str(number)) * (100_000 // (len(question) + 4))
        made.append(question)
    return made


@ON_NEWEST
def test_no_question_fails_or_finds_but_by_its_words(
    database: Database, neo4j_server: Neo4jServer, sightings: Sightings
):
    query = "RETURN labels(node) AS labels, node.text AS text, score"
    text = FulltextGraphRetriever(database, sightings.note_texts, retrieval_query=query)
    hybrid = HybridGraphRetriever(
        database, sightings.notes, sightings.note_texts, retrieval_query=f"{query}, text_rank"
    )

    def ask(numbered: tuple[int, str]) -> tuple[str, list[Any] | str]:
        number, question = numbered
        try:
            if number % EVERY_HYBRID:
                return question, text.get_search_results(question).records
            return question, hybrid.get_search_results(question, VECTOR).records
        except GraphRAGError as error:
            return question, str(error)

    count = "MATCH (n) RETURN count(n) AS nodes"
    before = neo4j_server.query(count)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, enumerate(questions())))

    assert len(answers) == QUESTIONS
    found = 0
    for question, records in answers:
        if isinstance(records, str):
            assert "The question is blank" in records or "The question holds no word" in records, records
            continue
        for record in records:
            assert record["labels"] == [sightings.note]
            if "text_rank" in record.keys() and record["text_rank"] is None:  # noqa: SIM118 - a record is no mapping
                continue
            found += 1
            words = set(record["text"].split())
            assert any(word in question.lower() for word in words), question[:200]
    assert found > 1_000, "the questions hold words that are there"
    assert neo4j_server.query(count) == before
