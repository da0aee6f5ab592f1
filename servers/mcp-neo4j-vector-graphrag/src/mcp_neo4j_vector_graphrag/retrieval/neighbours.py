"""What is around the elements that a search returned, as a model reads it, and as much of it as fits an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from mcp_neo4j_vector_graphrag.budget import (
    RESPONSE_TOKENS,
    as_notice,
    beside,
    bytes_of,
    compact_json,
    cut,
    cut_until_it_fits,
    fitting,
    to_keep_to,
    too_long,
)
from mcp_neo4j_vector_graphrag.database.cypher import ARROWS, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_NAME = 30
"""Bytes of a label or a type where there is hardly room."""


class Relation(BaseModel):
    """One relationship that leads to a neighbour."""

    type: str
    direction: Literal["out", "in"] = Field(description="out: it points to the neighbour; in: away from it.")
    via: str = Field(description="The id of the element that it was followed from.")
    properties: dict[str, Any] = Field(default_factory=dict)


class Neighbour(BaseModel):
    """A node that was reached."""

    start: str = Field(description="The id, of those asked for, that it was reached from.")
    hop: int = Field(description="1 for a neighbour, 2 for a neighbour's neighbour.")
    relationships: list[Relation]
    id: str = Field(description="The neighbour's element id.")
    labels: list[str]
    properties: dict[str, Any]

    def as_text(self) -> str:
        """Return the neighbour on one line, after the relationships that lead to it."""
        steps = ", ".join(map(self._step, self.relationships))
        labels = "".join(f":{shown(label)}" for label in self.labels)
        return f"{steps} ({self.id} {labels} {compact_json(self.properties)})"

    def shortened(self, size: int) -> tuple[Neighbour, list[str]]:
        """Return the neighbour with the texts of its properties, and of its relationships', cut.

        Where that is not enough, the largest properties of both are left out, and in the end all labels and
        relationships but the first; the names of what is left out are returned too.
        """
        maps = {"": self.properties, **{str(place): each.properties for place, each in enumerate(self.relationships)}}
        kept, left_out = cut_until_it_fits(
            maps, size, lambda left: bytes_of(self._with_properties(left).as_text()) <= size
        )
        shorter = self._with_properties(kept)
        if bytes_of(shorter.as_text()) <= size:
            return shorter, left_out
        counts = {"further labels": len(self.labels), "further relationships": len(self.relationships)}
        return _bare(shorter), [*left_out, *(name for name, count in counts.items() if count > 1)]

    def _with_properties(self, maps: Mapping[str, dict[str, Any]]) -> Neighbour:
        """Return the neighbour with its properties, by an empty name, and its relationships', by their places."""
        relationships = [
            each.model_copy(update={"properties": maps.get(str(place), {})})
            for place, each in enumerate(self.relationships)
        ]
        return self.model_copy(update={"properties": maps.get("", {}), "relationships": relationships})

    def _step(self, relation: Relation) -> str:
        properties = f" {compact_json(relation.properties)}" if relation.properties else ""
        left, right = ARROWS[relation.direction]
        origin = f"({relation.via})" if relation.via != self.start else ""
        return f"{origin}{left}[:{shown(relation.type)}{properties}]{right}"


def _bare(neighbour: Neighbour) -> Neighbour:
    """Return a neighbour with the first of its labels and relationships, their names cut."""
    relationships = [each.model_copy(update={"type": cut(each.type, _NAME)}) for each in neighbour.relationships[:1]]
    labels = [cut(label, _NAME) for label in neighbour.labels[:1]]
    return neighbour.model_copy(update={"labels": labels, "relationships": relationships})


class Neighbours(BaseModel):
    """What is around some elements, by element and by hop."""

    neighbours: list[Neighbour]
    notice: str | None = Field(default=None, description="What was cut or not found, if anything was.")


@dataclass(frozen=True)
class Surroundings:
    """What is around some elements of one database, and in sentences what could not be found or shown."""

    neighbours: list[Neighbour]
    beyond_limit: list[str]
    """Where a higher `limit` would show more."""
    others: list[str]
    """All else."""


def together(found: Sequence[Surroundings], limit: int = RESPONSE_TOKENS) -> Neighbours:
    """Return what was found in one database or several, as far as the text of the answer fits `limit` tokens.

    Whole neighbours are left out at the end; only a first one that is too long by itself is cut. The notice says so,
    and then asks for no higher `limit` of neighbours.
    """
    given = [neighbour for each in found for neighbour in each.neighbours]
    others = as_notice(*(sentence for each in found for sentence in each.others))
    all_told = as_notice(*(sentence for each in found for sentence in (*each.beyond_limit, *each.others)))

    def shorter(taken: Sequence[Neighbour], left_out: list[str] | None) -> Neighbours:
        if len(taken) == len(given) and left_out is None:
            return Neighbours(neighbours=[*taken], notice=beside(all_told, limit))
        shown = f"Only {len(taken)} of {len(given)} neighbours are shown"
        if left_out is not None:
            shown = f"Only one of {len(given)} neighbours is shown, and cut"
        left = f"{shown}, {to_keep_to(limit)}: ask for fewer ids, name relationship_types, or lower limit."
        notice = as_notice(beside(others, limit), left, too_long(left_out or (), limit))
        return Neighbours(neighbours=[*taken], notice=notice)

    return fitting(given, limit, Neighbours(neighbours=given, notice=all_told), shorter, neighbours_text)


def neighbours_text(found: Neighbours) -> str:
    """Return neighbours as a model reads them: the element, the hop, and a line for each neighbour."""
    lines: list[str] = []
    heading = None
    for neighbour in found.neighbours:
        if heading != (neighbour.start, neighbour.hop):
            heading = (neighbour.start, neighbour.hop)
            lines.append(f"From {neighbour.start}, hop {neighbour.hop}:")
        lines.append(neighbour.as_text())
    return "\n".join([*(lines or ["No neighbours."]), *([found.notice] if found.notice else [])])
