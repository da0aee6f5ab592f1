"""The JSON schema of the file of retrievers, with which an editor completes and checks it while it is written.

    uv run python -m mcp_neo4j_vector_graphrag.declared.schema

writes it anew into the package, where it is shipped as `retrievers.schema.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from mcp_neo4j_vector_graphrag.declared.tables import RetrieversFile

if TYPE_CHECKING:
    from pydantic_core import core_schema

SCHEMA_FILE = Path(__file__).with_name("retrievers.schema.json")


class _WithoutNull(GenerateJsonSchema):
    """TOML has no null: a key that may be left out is left out."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401 - the base class's
        """A title that repeats the key tells nothing."""
        del schema
        return False


def json_schema() -> dict[str, Any]:
    """Return the schema."""
    schema = RetrieversFile.model_json_schema(schema_generator=_WithoutNull)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


def schema_text() -> str:
    """Return the schema as it is shipped."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), "utf-8")
