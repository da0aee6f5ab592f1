"""Which indexes a call means: those that it names, or the only ones that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_neo4j_vector_graphrag.database.indexes import read_indexes
from mcp_neo4j_vector_graphrag.errors import MissingIndexError, QuestionError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.retrieval.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.retrievers.base import Retriever

    from mcp_neo4j_vector_graphrag.backend import Backend
    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.indexes import FulltextIndex, Indexes, IndexPair, Kind, VectorIndex
    from mcp_neo4j_vector_graphrag.retrieval.discovery import Discovered
    from mcp_neo4j_vector_graphrag.settings import Settings

    Names = tuple[str, ...]


@dataclass(frozen=True)
class _Search:
    """What one way of searching needs of a database."""

    kinds: tuple[Kind, ...]
    """Of the indexes that a call may name."""
    arguments: str
    """Their names in a call."""
    possible: Callable[[Indexes], list[Names]]
    """Returns what can be searched now."""
    describe: Callable[[Database, Indexes], Iterable[str]]
    """Returns the same as a caller chooses by."""
    begin: Callable[[Database, Indexes], str]
    """Returns what an operator does who has none."""


class IndexChoice:
    """Finds the indexes of a call, and keeps the retriever of each between calls.

    Every method raises QuestionError where a name fits none or several fit, with a text that lists them; SetupError
    where there is none, or the database can't be asked before an operator has changed something; UnavailableError where
    it can't be asked now, or no index is online yet.

    Args:
        settings: The operator's.
        backend: The database.
        embedder: Turns questions into vectors.
    """

    def __init__(self, settings: Settings, backend: Backend, embedder: Embedder) -> None:
        self._settings = settings
        self._backend = backend
        self._embedder = embedder
        self._retrievers: Kept[Retriever] = Kept(backend)

    def vector(self, index_name: str | None = None) -> Retriever:
        """Return the retriever of a vector index: the one that is named, or the only one."""
        return self._retriever(_VECTOR, (index_name,))

    def fulltext(self, index_name: str | None = None) -> Retriever:
        """Return the retriever of a full-text index: the one that is named, or the only one."""
        return self._retriever(_FULLTEXT, (index_name,))

    def hybrid(self, index_name: str | None = None, fulltext_index_name: str | None = None) -> Retriever:
        """Return the retriever of a vector index and a full-text index that can find the same entities."""
        return self._retriever(_HYBRID, (index_name, fulltext_index_name))

    def _retriever(self, search: _Search, names: tuple[str | None, ...]) -> Retriever:
        given = tuple((name or "").strip() or None for name in names)
        if retriever := self._retrievers.peek((search, given)):
            return retriever
        chosen = dict(zip(search.kinds, self._chosen(self._backend.database(), search, given), strict=True))

        def make(database: Database) -> Retriever:
            from mcp_neo4j_vector_graphrag.retrieval.configured import index_retriever  # noqa: PLC0415 - 0.8 s

            vector, fulltext = chosen.get("vector"), chosen.get("full-text")
            return index_retriever(self._settings, database, self._embedder, vector, fulltext, documents=True)

        return self._retrievers.get((search, tuple(chosen.values())), make)

    def _chosen(self, database: Database, search: _Search, given: tuple[str | None, ...]) -> Names:
        """Return the names of the indexes to search."""
        with database.translated():
            indexes = read_indexes(database)
            possible = search.possible(indexes)
            fitting = [names for names in possible if _fit(given, names)]
            if len(fitting) == 1:
                return fitting[0]
            why = _why_not(indexes, search.kinds, given)
            if not possible and indexes.waiting:
                raise UnavailableError(f"{why}No index is online. {indexes.waiting} Ask again when it is.")
            if not possible:
                raise SetupError(f"{why}{search.begin(database, indexes)}")
            known = "; ".join(search.describe(database, indexes))
        raise QuestionError(f"{why}Name one of these as {search.arguments}: {known}.")


def _fit(given: tuple[str | None, ...], names: Names) -> bool:
    return all(wanted in (None, name) for wanted, name in zip(given, names, strict=True))


def _why_not(indexes: Indexes, kinds: tuple[Kind, ...], given: tuple[str | None, ...]) -> str:
    """Return why the given names can't be searched, as a sentence, or nothing if none are given.

    Raises:
        SetupError: One of them names an index that has failed.
        UnavailableError: One of them names an index that is still being populated.
    """
    for kind, name in zip(kinds, given, strict=True):
        if name:
            try:
                indexes.searchable(name) if kind == "vector" else indexes.searchable_fulltext(name)
            except MissingIndexError:
                return f"{indexes.why_not(kind, name)}. "
    named = [f"'{name}'" for name in given if name]
    return f"No other index is on a label or type of {' and '.join(named)}. " if named else ""


def _vector_candidates(database: Database, indexes: Indexes) -> Iterable[str]:
    from mcp_neo4j_vector_graphrag.retrieval.discovery import discover  # noqa: PLC0415 - 0.8 s

    return [_vector_candidate(indexes.vector[found.index.name], found) for found in discover(database, indexes.online)]


def _vector_candidate(index: VectorIndex, found: Discovered) -> str:
    size = f"{index.dimensions} dimensions" if index.dimensions else "any dimensions"
    kind = "relationships " if index.variable == "relationship" else ""
    holds = f", texts in {', '.join(found.texts)}" if found.texts else ""
    return f"'{index.name}' ({found.count} {kind}{' and '.join(index.labels)}, {index.property}, {size}{holds})"


def _fulltext_candidate(index: FulltextIndex) -> str:
    kind = "relationships " if index.variable == "relationship" else ""
    return f"'{index.name}' ({kind}{' and '.join(index.labels)}, texts in {', '.join(index.properties)})"


def _pair_candidate(pair: IndexPair) -> str:
    return f"'{pair.vector.name}' and {_fulltext_candidate(pair.fulltext)}"


def _vector_begin(database: Database, _: Indexes) -> str:
    from mcp_neo4j_vector_graphrag.retrieval.discovery import how_to_begin  # noqa: PLC0415 - 0.8 s

    return f"The database has no vector index. {how_to_begin(database)}"


def _fulltext_begin(database: Database, indexes: Indexes) -> str:
    from mcp_neo4j_vector_graphrag.retrieval.discovery import how_to_begin_fulltext  # noqa: PLC0415 - 0.8 s

    return f"The database has no full-text index. {how_to_begin_fulltext(database, indexes.online)}"


def _hybrid_begin(database: Database, indexes: Indexes) -> str:
    if not indexes.online:
        return _vector_begin(database, indexes)
    if not indexes.online_fulltext:
        return _fulltext_begin(database, indexes)
    from mcp_neo4j_vector_graphrag.retrieval.discovery import how_to_begin_fulltext  # noqa: PLC0415 - 0.8 s

    return (
        "No full-text index is on a label or type that has a vector index. "
        f"{how_to_begin_fulltext(database, indexes.online)}"
    )


_VECTOR = _Search(
    ("vector",),
    "index_name",
    lambda indexes: [(index.name,) for index in indexes.online],
    _vector_candidates,
    _vector_begin,
)
_FULLTEXT = _Search(
    ("full-text",),
    "index_name",
    lambda indexes: [(index.name,) for index in indexes.online_fulltext],
    lambda _, indexes: map(_fulltext_candidate, indexes.online_fulltext),
    _fulltext_begin,
)
_HYBRID = _Search(
    ("vector", "full-text"),
    "index_name and fulltext_index_name",
    lambda indexes: [(pair.vector.name, pair.fulltext.name) for pair in indexes.online_pairs],
    lambda _, indexes: map(_pair_candidate, indexes.online_pairs),
    _hybrid_begin,
)
