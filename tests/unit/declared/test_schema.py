"""The schema for editors: up to date, and of one mind with the reader of the file."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.generate import ROOT
from mcp_neo4j_vector_graphrag.declared.schema import SCHEMA_FILE, json_schema, schema_text

EXAMPLE = (ROOT / "examples" / "retrievers.toml").read_text("utf-8")
VALIDATOR = Draft202012Validator(json_schema())


def test_the_shipped_schema_is_what_would_be_generated_now():
    assert SCHEMA_FILE.read_text("utf-8") == schema_text()
    Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text("utf-8")))


def test_the_example_names_the_shipped_schema_and_is_valid():
    named = EXAMPLE.splitlines()[0].removeprefix("#:schema ")
    assert (ROOT / "examples" / named).resolve() == SCHEMA_FILE
    VALIDATOR.validate(tomllib.loads(EXAMPLE))


def test_an_editor_is_told_of_each_key():
    tables = [json_schema(), *json_schema()["$defs"].values()]
    assert all(key["description"] for table in tables for key in table["properties"].values())
    assert "null" not in schema_text()


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"titel": "x"}, []),
        ({"name": "a b"}, ["name"]),
        ({"name": 5}, ["name"]),
        ({"description": " "}, ["description"]),
        ({"top_k": 51}, ["top_k"]),
        ({"index": None}, ["index"]),
        ({"retrieval_query": "RETURN 1"}, []),
        ({"filters": "year"}, ["filters"]),
        ({"fixed_filters": {"year": {"from": 1}}}, ["fixed_filters", "year"]),
        ({"fixed_filters": {"year": []}}, ["fixed_filters", "year"]),
        ({"parameters": {"x": {"type": "float"}}}, ["parameters", "x", "type"]),
        ({"parameters": {"x": {}}}, ["parameters", "x"]),
    ],
)
def test_an_editor_marks_what_is_wrong_in_a_retriever(change: dict[str, Any], at: list[str]):
    data = tomllib.loads(EXAMPLE)
    data["retriever"][0] |= change
    [error] = VALIDATOR.iter_errors(data)
    assert list(error.absolute_path) == ["retriever", 0, *at]


def test_an_editor_marks_a_retriever_without_an_index_and_a_secret_in_the_file():
    data = tomllib.loads(EXAMPLE)
    del data["retriever"][0]["index"]
    data["database"] = {"x": {"uri": "bolt://x", "password": "p-secret"}}
    assert {tuple(error.absolute_path) for error in VALIDATOR.iter_errors(data)} == {
        ("retriever", 0),
        ("database", "x"),
    }
