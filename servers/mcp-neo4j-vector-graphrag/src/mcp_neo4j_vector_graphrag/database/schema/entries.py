"""The schema of a database: what there is to search and to walk."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

UNSEEN = "unknown"
"""The type of a property that an index or a constraint names and the sample lacks."""

Entities = Literal["node", "relationship"]


class _OnEntities(BaseModel):
    """What stands on nodes or relationships."""

    name: str
    on: Entities
    labels: list[str] = Field(description="Labels, or relationship types.")


class VectorIndexSchema(_OnEntities):
    """A vector index."""

    property: str = Field(description="The property that holds the vector.")
    dimensions: int | None
    similarity: str
    filter_properties: list[str] = Field(description="Properties that the index itself can filter by.")
    state: str
    search_tool: str | None = Field(default=None, description="The tool that searches it.")


class FulltextIndexSchema(_OnEntities):
    """A full-text index."""

    properties: list[str]
    analyzer: str | None
    state: str
    search_tool: str | None = Field(default=None, description="The tool that searches it.")


class ConstraintSchema(_OnEntities):
    """A constraint."""

    type: str
    properties: list[str]


class EntitySchema(BaseModel):
    """What the nodes of a label, or the relationships of a type, look like."""

    name: str
    count: int
    sampled: int = Field(description="How many were looked at; where not all were, there may be more properties.")
    properties: dict[str, str] = Field(
        description=f"Each with its stored types, the commonest first; '{UNSEEN}' where the sample has no value."
    )
    more_properties: int = Field(default=0, description="How many were left out.")
    search_tools: list[str] = Field(default_factory=list, description="The tools that search them.")


class LabelSchema(EntitySchema):
    """A label."""


class Pair(BaseModel):
    """Labels at the two ends of a relationship; null for a node without any."""

    start: str | None
    end: str | None


class RelationshipTypeSchema(EntitySchema):
    """A relationship type."""

    pairs: list[Pair] = Field(description="Labels that it really joins.")
    more_pairs: int = Field(default=0, description="How many were left out.")
    other_starts: list[str] = Field(default_factory=list, description="Labels at its start, in no pair that was seen.")
    other_ends: list[str] = Field(default_factory=list, description="Labels at its end, in no pair that was seen.")
    more_others: int = Field(default=0, description="How many of these were left out.")


class Schema(BaseModel):
    """What a database holds."""

    vector_indexes: list[VectorIndexSchema]
    fulltext_indexes: list[FulltextIndexSchema]
    labels: list[LabelSchema]
    relationship_types: list[RelationshipTypeSchema]
    constraints: list[ConstraintSchema]
    other_labels: dict[str, int] = Field(default_factory=dict, description="More labels, with their counts alone.")
    other_types: dict[str, int] = Field(default_factory=dict, description="More types, with their counts alone.")
    notice: str | None = Field(default=None, description="What was left out or is uncertain, if anything is.")
