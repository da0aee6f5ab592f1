"""The examples, each run as it stands against the demo graph: only where and with what model to search is changed."""

from __future__ import annotations

import json
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from clients import COMMAND, PATIENCE, Process, StdioServer, client, environment, text_of
from docs.generate import ROOT, USES
from mcp_neo4j_vector_graphrag.database.connection import Database, open_driver
from mcp_neo4j_vector_graphrag.declared.file import read_file
from mcp_neo4j_vector_graphrag.declared.parameters import bind
from mcp_neo4j_vector_graphrag.embedding.local import LocalEmbeddings
from mcp_neo4j_vector_graphrag.local.demo_graph import read_graph
from mcp_neo4j_vector_graphrag.retrieval.retriever import VectorGraphRetriever
from pinecone_endpoint import PineconeEndpoint

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from servers import Neo4jServer

EXAMPLES = ROOT / "examples"
QUESTION = "dreams inside dreams"
INCEPTION = next(movie.id for movie in read_graph().movies if movie.title == "Inception")


def entries(file: str) -> dict[str, dict[str, Any]]:
    return json.loads((EXAMPLES / file).read_text("utf-8"))["mcpServers"]


def variables(movies: Neo4jServer) -> dict[str, str]:
    return {
        "NEO4J_URI": movies.uri,
        "NEO4J_USERNAME": movies.username,
        "NEO4J_PASSWORD": movies.password,
        "NEO4J_DATABASE": movies.database,
        "EMBEDDING_MODEL": "local:use-multilingual-v3",
    }


def start(entry: dict[str, Any], movies: Neo4jServer, **changes: str) -> StdioServer:
    """Start a server as a client does; its environment is the one that runs the tests, left as it is."""
    changes = {**variables(movies), **changes}
    assert changes.keys() <= entry["env"].keys()
    command = [entry["command"], *(argument.replace("<repo>", str(ROOT)) for argument in entry["args"])]
    return StdioServer(environment(UV_NO_SYNC="1", **{**entry["env"], **changes}), command=command)


def results(answer: CallToolResult) -> list[dict[str, Any]]:
    assert answer.structured_content, text_of(answer)
    return answer.structured_content["results"]


def test_the_published_entry_finds_the_film(movies: Neo4jServer):
    [entry] = entries("claude_desktop_config.json").values()
    with start(entry, movies) as server, client(server) as connected:
        assert connected.tool().name == "dev-neo4j_vector"
        answer = connected.call("dev-neo4j_vector", query=QUESTION)
    first = results(answer)[0]
    assert first["text"].startswith("Title: InceptionPlot: A thief")
    assert first["metadata"] == {"imdbRating": 8.8}
    assert "Title: InceptionPlot: A thief" in text_of(answer)


def test_the_entry_of_the_published_package_serves_the_index(movies: Neo4jServer):
    [entry] = entries("published_entry.json").values()
    assert (entry["command"], entry["args"][0]) == ("uvx", Path(COMMAND).name)
    installed = {**entry, "command": COMMAND, "args": entry["args"][1:]}
    with start(installed, movies) as server, client(server) as connected:
        first = results(connected.call("dev-neo4j_vector", query=QUESTION))[0]
    assert "Inception" in first["text"]


def test_two_namespaces_answer_side_by_side(movies: Neo4jServer):
    with ExitStack() as stack:
        plots, people = (
            stack.enter_context(client(stack.enter_context(start(entry, movies))))
            for entry in entries("two_namespaces.json").values()
        )
        assert plots.tool().name == "plots-neo4j_vector"
        assert people.tool().name == "people-neo4j_vector"
        asked = (
            plots.submit("plots-neo4j_vector", query=QUESTION),
            people.submit("people-neo4j_vector", query=QUESTION),
        )
        plot, makers = (results(answer.result())[0] for answer in asked)
    assert plot["text"].startswith("Title: InceptionPlot: A thief")
    assert makers["text"] == "Inception"
    assert makers["metadata"]["directors"] == ["Christopher Nolan"]
    assert "Leonardo DiCaprio" in makers["metadata"]["cast"]


def test_the_walking_query_gives_directors_cast_and_genres(movies: Neo4jServer):
    [entry] = entries("claude_desktop_config.json").values()
    query = (EXAMPLES / "walk_the_graph.cypher").read_text("utf-8")
    with start(entry, movies, RETRIEVAL_QUERY=query) as server, client(server) as connected:
        first = results(connected.call("dev-neo4j_vector", query=QUESTION, top_k=1))[0]
    assert first["text"].startswith("Inception (2010): A thief")
    assert first["metadata"]["directors"] == ["Christopher Nolan"]
    assert "Leonardo DiCaprio as Cobb" in first["metadata"]["cast"]
    assert set(first["metadata"]["genres"]) == {"Action", "Adventure", "Sci-Fi"}


def test_the_python_api_serves_a_stock_retriever_and_one_of_ours(movies: Neo4jServer):
    command = [sys.executable, str(EXAMPLES / "python_api.py")]
    settings = environment(INDEX_NAME="moviePlotsEmbedding", **variables(movies))
    with StdioServer(settings, command=command) as server, client(server) as connected:
        assert [tool.name for tool in connected.tools()] == ["movies-plots", "movies-people"]
        plots = results(connected.call("movies-plots", query=QUESTION))
        makers = results(connected.call("movies-people", query=QUESTION, top_k=1))[0]
    # A stock retriever takes as many candidates as it returns: on an old server the nearest need not be the first.
    assert any("plant an idea in the sleeping mind" in plot["text"] for plot in plots)
    assert makers["metadata"]["directors"] == ["Christopher Nolan"]


def test_the_file_of_retrievers_is_sound_and_its_first_query_counts_who_likes_a_film(movies: Neo4jServer):
    file = read_file(EXAMPLES / "retrievers.toml", {})
    assert [table.kind for table in file.retrievers] == ["vector", "fulltext", "hybrid"]
    table = file.retrievers[0]
    database = Database(open_driver(movies.uri, movies.username, movies.password), movies.database)
    retriever = VectorGraphRetriever(
        database,
        table.index,
        embedder=LocalEmbeddings(),
        retrieval_query=table.retrieval_query,
        filterable=table.filters,
        fixed_filters=table.fixed_filters,
    )
    with database.driver:
        first = found(retriever, bind(table.parameters, {"min_rating": "4.5"}))[0]
        before = found(retriever, bind(table.parameters, {}), {"year": {"max": 1960}})
    ratings = [each for each in read_graph().ratings if each.movie == INCEPTION]
    assert first.content.startswith("Inception (2010): A thief")
    assert first.metadata["likes"] == sum(each.rating >= 4.5 for each in ratings)
    assert first.metadata["ratings"] == len(ratings)
    years = [int(re.search(r"\((\d{4})\): ", item.content)[1]) for item in before]
    assert len(years) == 5
    assert set(years) <= set(range(1950, 1961))


def found(retriever: VectorGraphRetriever, parameters: dict[str, Any], filters: Any = None) -> list[Any]:
    return retriever.search(query_text=QUESTION, query_params=parameters, filters=filters).items


def test_a_retriever_of_ones_own_is_served_from_the_command_line(movies: Neo4jServer):
    [command] = re.findall(
        r"uv run mcp-neo4j-vector-graphrag (--.*)", (EXAMPLES / "own_retriever.py").read_text("utf-8")
    )
    settings = environment(**variables(movies))
    with StdioServer(settings, *command.split(), cwd=ROOT) as server, client(server) as connected:
        assert connected.tool().name == "played_together"
        found = results(connected.call("played_together", query=USES["own"].question, top_k=50))
    films = [
        (movie.title, {part.name for part in movie.cast})
        for movie in read_graph().movies
        if any(part.name == "Leonardo DiCaprio" for part in movie.cast)
    ]
    partners = {name for _, names in films for name in names} - {"Leonardo DiCaprio"}
    assert {(person["text"], frozenset(person["metadata"]["films"])) for person in found} == {
        (name, frozenset(title for title, names in films if name in names)) for name in partners
    }


def test_a_query_that_a_language_model_wrote_is_answered(movies: Neo4jServer):
    command = [sys.executable, str(EXAMPLES / "text2cypher.py")]
    with StdioServer(environment(**variables(movies)), command=command) as server, client(server) as connected:
        assert connected.tool().name == "movies-films_by_genre"
        found = results(connected.call("movies-films_by_genre", query="Which science fiction films are there?"))
    expected = movies.query(
        "MATCH (m:Movie) WHERE EXISTS { (m)-[:IN_GENRE]->({name: 'Sci-Fi'}) } "
        "RETURN m.title AS title, m.year AS year ORDER BY year, title LIMIT 10"
    )
    assert len(expected) > 3
    assert [(film["text"], film["metadata"]) for film in found] == [
        (film["title"], {"year": film["year"]}) for film in expected
    ]


def in_the_examples_environment(script: Path) -> list[str]:
    return ["uv", "run", "--isolated", "--project", str(ROOT), "--group", "examples", str(script)]


def plot_vectors(movies: Neo4jServer) -> dict[str, list[float]]:
    rows = movies.query(
        "MATCH (m:Movie) WHERE m.plotEmbedding IS NOT NULL RETURN m.title AS title, m.plotEmbedding AS v"
    )
    return {row["title"]: row["v"] for row in rows}


def found_by(example: str, movies: Neo4jServer, **settings: str) -> list[dict[str, Any]]:
    command = in_the_examples_environment(EXAMPLES / example)
    with (
        StdioServer(environment(**variables(movies), **settings), command=command) as server,
        client(server) as connected,
    ):
        assert connected.tool().name == "movies-films"
        return results(connected.call("movies-films", query=QUESTION, top_k=2))


def test_vectors_in_qdrant_find_the_film_in_the_graph(movies: Neo4jServer):
    first, second = found_by("qdrant.py", movies)
    assert first["text"] == "Inception"
    assert set(first["metadata"]["genres"]) == {"Action", "Adventure", "Sci-Fi"}
    assert 1 > first["score"] > second["score"]


def test_vectors_in_pinecone_find_the_film_in_the_graph(movies: Neo4jServer):
    vectors = plot_vectors(movies)
    with PineconeEndpoint("plots", vectors) as pinecone:
        first, second = found_by(
            "pinecone_index.py", movies, PINECONE_API_KEY=pinecone.key, PINECONE_CONTROLLER_HOST=pinecone.url
        )
    assert first["text"] == "Inception"
    assert set(first["metadata"]["genres"]) == {"Action", "Adventure", "Sci-Fi"}
    assert first["score"] == pytest.approx(cosine(vectors["Inception"]), abs=1e-5)
    assert first["score"] > second["score"]


def test_vectors_in_weaviate_find_the_film_in_the_graph(movies: Neo4jServer):
    vectors = plot_vectors(movies)
    command = in_the_examples_environment(ROOT / "tests" / "weaviate_stand_in.py")
    with Process(command, environment()) as weaviate:
        content = {"collection": "Plots", "key": "wv-stand-in-0123", "vectors": vectors}
        weaviate.write(json.dumps(content).encode() + b"\n")
        rest, search = json.loads(weaviate.line(0, PATIENCE) or weaviate.log)
        first, second = found_by(
            "weaviate_collection.py",
            movies,
            WEAVIATE_HOST="127.0.0.1",
            WEAVIATE_PORT=str(rest),
            WEAVIATE_GRPC_PORT=str(search),
            WEAVIATE_API_KEY="wv-stand-in-0123",
        )
    assert first["text"] == "Inception"
    assert set(first["metadata"]["genres"]) == {"Action", "Adventure", "Sci-Fi"}
    assert first["score"] == pytest.approx((1 + cosine(vectors["Inception"])) / 2, abs=1e-5)
    assert first["score"] > second["score"]


def cosine(vector: list[float]) -> float:
    """Return how near a vector is to the question's."""
    asked = np.array(LocalEmbeddings().embed_query(QUESTION))
    return float(asked @ np.array(vector) / (np.linalg.norm(asked) * np.linalg.norm(vector)))


@pytest.mark.parametrize("file", sorted(path.name for path in EXAMPLES.glob("*.*") if path.name != "README.md"))
def test_each_example_stands_in_the_list(file: str):
    assert f"[{file}]({file})" in (EXAMPLES / "README.md").read_text("utf-8")
