"""Whole documents by element id, and what names them: the shapes that connectors' `search` and `fetch` demand."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag.budget import (
    BYTES_A_TOKEN,
    RESPONSE_TOKENS,
    as_notice,
    bytes_of,
    compact_json,
    cut,
    cut_until_it_fits,
    fitting,
    to_keep_to,
    too_long,
)
from mcp_neo4j_vector_graphrag.database.values import columns
from mcp_neo4j_vector_graphrag.errors import QuestionError, one_line, sendable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from neo4j_graphrag.types import RetrieverResultItem

    from mcp_neo4j_vector_graphrag.database.connection import Database
    from mcp_neo4j_vector_graphrag.database.values import PlainJson

_TITLES = ("title", "name", "label", "headline", "heading", "subject", "caption", "displayname", "fullname", "username")
_TEXTS = ("text", "content", "body", "page_content", "plot", "description", "summary", "abstract", "bio", "overview")
_URLS = (
    "url",
    "uri",
    "link",
    "href",
    "permalink",
    "webpage",
    "homepage",
    "website",
    "source_url",
    "page_url",
    "source",
)

_LONG_TEXT = 80
_TITLE_CHARACTERS = 100
_SNIPPET_CHARACTERS = 300
_SHOWN_CHARACTERS = 80
"""Of an id that a caller sent."""

_FETCH = """\
OPTIONAL MATCH (node) WHERE elementId(node) = $id
OPTIONAL MATCH (start)-[edge]->(end) WHERE elementId(edge) = $id
RETURN labels(node) AS labels, properties(coalesce(node, edge)) AS properties, type(edge) AS type,
  elementId(start) AS start_id, labels(start) AS start_labels, properties(start) AS start,
  elementId(end) AS end_id, labels(end) AS end_labels, properties(end) AS end"""


class Hit(BaseModel):
    """One result of `search`."""

    id: str = Field(description="What fetch takes.")
    title: str
    url: str
    text: str = Field(description="How the document begins.")

    def as_text(self) -> str:
        """Return the result as JSON."""
        return document_text(self)

    def shortened(self, size: int) -> tuple[Hit, list[str]]:
        """Return the result with its text cut, and with a shorter address where its own is too long."""
        kept, left_out = _addressed_within(self.model_copy(update={"text": ""}), size)
        text = cut(self.text, max(size - bytes_of(kept.as_text()), 0))
        return kept.model_copy(update={"text": text}), left_out


class Hits(BaseModel):
    """What `search` found, best first."""

    results: list[Hit]
    notice: str | None = Field(default=None, description="What was cut or left out, if anything was.")


class WholeDocument(BaseModel):
    """What `fetch` returns: one node or relationship, whole."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any] = Field(default_factory=dict, description="What is neither title nor text.")


AddressedT = TypeVar("AddressedT", Hit, WholeDocument)


def fetch(database: Database, element_id: str, plain: PlainJson) -> WholeDocument:
    """Return the whole document of an element id, of a node or a relationship, in one round trip.

    The text of a node is its long texts, or all its properties where none is long; the rest is metadata. A relationship
    is about its two ends, which stand in the metadata.

    Args:
        database: Where it is.
        element_id: From an earlier result.
        plain: Knows the vectors of this database, which are left out.

    Raises:
        QuestionError: No element has that id.
        SetupError: Neo4j refused to be asked.
        UnavailableError: Neo4j can't be reached or took too long.
    """
    wanted = sendable(element_id).strip()
    with database.translated():
        [record] = database.read(_FETCH, {"id": wanted})
    row = columns(record)
    if row["labels"] is None and row["type"] is None:
        raise QuestionError(
            f"No element has the id '{one_line(wanted, _SHOWN_CHARACTERS)}': ids change when data is loaded anew, so "
            "search again and take an id of its results."
        )

    properties = plain.value(row["properties"])
    kind = row["type"] or " ".join(sorted(row["labels"])) or "node"
    title = title_of(properties, f"{kind} {wanted}")
    about: dict[str, Any] = {"labels": sorted(row["labels"] or [])}
    if row["type"]:
        start, end = (_end(row, side, plain) for side in ("start", "end"))
        title = title_of(_named_only(properties), f"{_end_title(start)} {kind} {_end_title(end)}")
        about = {"type": kind, "start": start, "end": end}
    text, rest = _split(properties)
    return WholeDocument(
        id=wanted,
        title=title,
        text=text or title,
        url=url_of(properties, database.name, wanted),
        metadata={**rest, **about},
    )


def within(document: WholeDocument, limit: int = RESPONSE_TOKENS) -> WholeDocument:
    """Return a document that fits `limit` tokens as JSON: its text is cut at a word, and `notice` in metadata says so.

    Metadata that take more than half of the room have their texts cut as well, and the largest are left out where that
    is not enough.
    """
    room = limit * BYTES_A_TOKEN
    if _size(document) <= room:
        return document
    addressed, without = _addressed_within(document, room)

    def bare(metadata: Mapping[str, Any], left_out: Collection[str] = ()) -> WholeDocument:
        notice = as_notice(f"Cut, {to_keep_to(limit)}.", too_long(left_out, limit))
        return addressed.model_copy(update={"text": "", "metadata": {**metadata, "notice": notice}})

    about, left_out = cut_until_it_fits(document.metadata, room, lambda kept: _size(bare(kept)) <= room // 2)
    shorter = bare(about, [*without, *left_out])
    if (over := _size(shorter) - room) > 0:
        shorter.title = cut(document.title, max(bytes_of(document.title) - over, 0))
    beside = _size(shorter)
    left = room - beside
    while left > 0:
        shorter.text = cut(document.text, left)
        if (size := _size(shorter)) <= room:
            return shorter
        left = min(left - 1, left * (room - beside) // (size - beside))  # line ends and quotes are longer in JSON
    return shorter.model_copy(update={"text": ""})


def hits_within(results: Sequence[Hit], limit: int = RESPONSE_TOKENS) -> Hits:
    """Return as many results, best first, as fit `limit` tokens as JSON; the notice tells of the others."""

    def shorter(taken: Sequence[Hit], left_out: list[str] | None) -> Hits:
        left = f"Cut, {to_keep_to(limit)}."
        if len(taken) < len(results):
            left = (
                f"Only the first {len(taken)} of {len(results)} results are shown, {to_keep_to(limit)}: "
                "ask a narrower question for the others."
            )
        return Hits(results=[*taken], notice=as_notice(left, too_long(left_out or (), limit)))

    return fitting(results, limit, Hits(results=[*results]), shorter, document_text)


def as_plain(result: BaseModel) -> dict[str, Any]:
    """Return what a tool answers as structured content, without a notice that says nothing."""
    return {name: value for name, value in result.model_dump(mode="json").items() if value is not None}


def document_text(result: BaseModel) -> str:
    """Return what a tool answers as JSON text."""
    return json.dumps(as_plain(result), ensure_ascii=False)


def _size(document: WholeDocument) -> int:
    """Return the bytes of a document as JSON."""
    return bytes_of(document_text(document))


def _addressed_within(document: AddressedT, size: int) -> tuple[AddressedT, list[str]]:
    """Return a document or a result whose address takes no more than a quarter of `size` bytes.

    Beside it is the name of what was left out: its own address, for the one that is made of its id.
    """
    if bytes_of(document.url) <= size // 4:
        return document, []
    return document.model_copy(update={"url": url_of({}, None, document.id)}), ["url"]


def hit_of(item: RetrieverResultItem, database_name: str | None) -> Hit | None:
    """Return a retriever's item as a result of `search`; `None` for one without an id, which nothing could fetch.

    Args:
        item: Its metadata hold the element id as `id`; its content is a map of properties, or text.
        database_name: For the address of a node that has none of its own.
    """
    metadata = item.metadata or {}
    identity = metadata.get("id")
    if not isinstance(identity, str) or not identity:
        return None
    properties = _properties(item.content)
    known = {**metadata, **properties} if properties else {**metadata, "text": item.content}
    known = {name: value for name, value in known.items() if name not in ("id", "score", "labels")}
    return Hit(
        id=identity,
        title=_relationship_title(item.content) or title_of(known, identity),
        url=url_of(known, database_name, identity),
        text=snippet(properties or str(item.content)),
    )


def title_of(properties: Mapping[str, Any], otherwise: str) -> str:
    """Return what a document is called: its title or name, else how its text begins.

    Args:
        properties: Plain values.
        otherwise: What to call one without any.
    """
    named = _first(properties, _TITLES) or _first_ending(properties, ("title", "name", "label"))
    if named is not None:
        return one_line(str(properties[named]), _TITLE_CHARACTERS)
    texts = [properties[name] for name in _text_names(properties)]
    return _begin(texts[0], _TITLE_CHARACTERS) if texts else otherwise


def snippet(content: Mapping[str, Any] | str, limit: int = _SNIPPET_CHARACTERS) -> str:
    """Return how a text, or a document's text, begins: one line of at most `limit` characters, cut at a word."""
    return _begin(content if isinstance(content, str) else _split(content)[0], limit)


def url_of(properties: Mapping[str, Any], database_name: str | None, element_id: str) -> str:
    """Return a document's own web address, else a stable one made of its element id: `neo4j:<database>/<id>`."""
    by_name = {name.lower(): value for name, value in properties.items()}
    for name in _URLS:
        value = by_name.get(name)
        if isinstance(value, str) and _is_web_address(value.strip()):
            return value.strip()
    return f"neo4j:{percent_encoded(database_name or '', safe='')}/{percent_encoded(element_id, safe=':')}"


def _split(properties: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a document's text, and the properties that are not in it."""
    names = _text_names(properties)
    rest = {name: value for name, value in properties.items() if name not in names}
    if len(names) == 1:
        return properties[names[0]], rest
    if names:
        return "\n\n".join(f"{name}: {properties[name]}" for name in names), rest
    return "\n".join(f"{name}: {_shown(value)}" for name, value in properties.items()), rest


def _text_names(properties: Mapping[str, Any]) -> list[str]:
    """Return the names of the long texts, and of those that are called a text however short: the usual names first."""
    title = _first(properties, _TITLES)
    order = {name: place for place, name in enumerate(_TEXTS)}
    texts = [
        name
        for name, value in properties.items()
        if isinstance(value, str)
        and name != title
        and (len(value) >= _LONG_TEXT or (name.lower() in order and value.strip()))
        and not _is_web_address(value)
    ]
    return sorted(texts, key=lambda name: order.get(name.lower(), len(order)))


def _first(properties: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    by_name = {name.lower(): name for name, value in properties.items() if _is_a_name(value)}
    return next((by_name[name] for name in names if name in by_name), None)


def _first_ending(properties: Mapping[str, Any], ends: tuple[str, ...]) -> str | None:
    """Return the first property such as `movieTitle` or `file_name`."""
    return next((key for key, value in properties.items() if _is_a_name(value) and key.lower().endswith(ends)), None)


def _named_only(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the property that names a relationship, if one does: its text alone says less than its ends."""
    name = _first(properties, _TITLES)
    return {name: properties[name]} if name else {}


def _is_a_name(value: object) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (
        isinstance(value, (int, float)) and not isinstance(value, bool)
    )


def _is_web_address(text: str) -> bool:
    if any(character.isspace() for character in text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _end(row: Mapping[str, Any], side: str, plain: PlainJson) -> dict[str, Any]:
    """Return one end of a relationship, `start` or `end`."""
    return {
        "id": row[f"{side}_id"],
        "labels": sorted(row[f"{side}_labels"]),
        "properties": plain.value(row[side]),
    }


def _end_title(end: Mapping[str, Any]) -> str:
    return title_of(end["properties"], f"{' '.join(end['labels'])} {end['id']}".strip())


def _properties(content: object) -> dict[str, Any]:
    """Return the properties that an item's content shows: a map, or a row as compact JSON; `{}` for a text."""
    if isinstance(content, str) and content.startswith("{"):
        try:
            content = json.loads(content)
        except ValueError:
            return {}
    if not isinstance(content, dict):
        return {}
    for inner in ("doc", "properties"):
        if isinstance(content.get(inner), dict):
            return dict(content[inner])
    return content


def _relationship_title(content: object) -> str | None:
    """Return what a relationship is called by its two ends, `Ann KNOWS Bob`; `None` for what is none."""
    match content:
        case {"type": str(kind), "start": dict(start), "end": dict(end), "properties": dict(properties)}:
            return title_of(_named_only(properties), f"{title_of(start, '?')} {kind} {title_of(end, '?')}")
    return None


def _begin(text: str, limit: int) -> str:
    """Return how a text begins, on one line, cut at a word where there is one."""
    line = " ".join(text.split())
    return textwrap.shorten(line, limit, placeholder=" …") if " " in line[:limit] else one_line(line, limit)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else compact_json(value)
