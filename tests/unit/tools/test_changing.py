"""Tools that come and go with the indexes: when the database is looked at, and what is known meanwhile."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool

from clients import client, text_of
from mcp_neo4j_vector_graphrag import deadline
from mcp_neo4j_vector_graphrag.errors import MissingIndexError, SetupError, UnavailableError
from mcp_neo4j_vector_graphrag.tools import changing
from mcp_neo4j_vector_graphrag.tools.changing import LIST_SECONDS, DiscoveredTools, Look, TellNews, TellWhenKnown
from mcp_neo4j_vector_graphrag.tools.faults import to_tool_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 30.0
"""Seconds after which a test gives up."""
SOON = 2 * 3.0
"""Seconds within which a list that waits for three answers, on a busy machine too."""


def tool(name: str) -> Tool:
    def handler() -> None: ...

    return Tool.from_function(handler, name=name)


class Looks:
    """Looks at a database that is not there: counts them, and holds them up or lets them fail when told."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.count = 0
        self.error: Exception | None = None
        self.free = threading.Event()
        self.free.set()
        self.begun = threading.Semaphore(0)

    def __call__(self) -> Look:
        self.count += 1
        self.begun.release()
        assert self.free.wait(PATIENCE)
        if self.error:
            raise self.error
        return Look({name: tool(name) for name in self.names})


class Clock:
    """The provider's clock, which a test moves on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(changing, "time", moved)
    return moved


@pytest.fixture
def looks() -> Iterator[Looks]:
    made = Looks("search_b", "search_a")
    yield made
    made.free.set()


async def listed(tools: DiscoveredTools) -> list[str]:
    return [each.name for each in await tools.list_tools()]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - a thread makes it true
            await asyncio.sleep(0.005)


def test_nothing_is_looked_at_before_somebody_asks(looks: Looks):
    DiscoveredTools(looks)
    assert looks.count == 0


def test_tools_come_by_name(looks: Looks):
    assert asyncio.run(listed(DiscoveredTools(looks))) == ["search_a", "search_b"]


def test_requests_at_the_same_time_share_one_look(looks: Looks):
    async def ask() -> list[list[str]]:
        tools = DiscoveredTools(looks)
        looks.free.clear()
        asking = [asyncio.ensure_future(listed(tools)) for _ in range(20)]
        await until(lambda: looks.count)
        looks.free.set()
        return await asyncio.gather(*asking)

    assert asyncio.run(ask()) == [["search_a", "search_b"]] * 20
    assert looks.count == 1


def test_a_list_is_good_for_a_while_and_then_looked_up_again(looks: Looks, clock: Clock):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        assert await listed(tools) == ["search_a", "search_b"]
        looks.names = ("search_c",)
        clock.ahead = LIST_SECONDS / 2
        assert await listed(tools) == ["search_a", "search_b"]
        clock.ahead = LIST_SECONDS + 1
        assert await listed(tools) == ["search_c"]

    asyncio.run(ask())
    assert looks.count == 2


def test_a_list_waits_three_seconds_for_a_database_that_says_nothing(looks: Looks):
    async def ask() -> float:
        tools = DiscoveredTools(looks)
        looks.free.clear()
        begin = time.monotonic()
        assert await listed(tools) == []
        took = time.monotonic() - begin
        looks.free.set()
        await until(lambda: tools._looking is None or tools._looking.done())
        assert await listed(tools) == ["search_a", "search_b"]
        return took

    assert asyncio.run(ask()) < SOON
    assert looks.count == 1, "the look that was waited for in vain is taken over"


def test_a_list_that_gives_up_waiting_leaves_the_look_to_the_others(looks: Looks, monkeypatch: pytest.MonkeyPatch):
    pending: Future[Any] = Future()  # a thread that did not get to run yet can still be cancelled

    def start(function: Callable[[], Any]) -> Future[Any]:
        del function
        return pending

    async def ask() -> None:
        tools = DiscoveredTools(looks)
        with monkeypatch.context() as patch:
            patch.setattr(deadline, "start", start)
            await tools.refresh(0)
        assert not pending.cancelled()
        pending.set_result((Look({"search_x": tool("search_x")}), time.monotonic()))
        assert await listed(tools) == ["search_x"]

    asyncio.run(ask())


def test_a_look_that_nobody_waited_for_is_not_taken_for_a_new_one(looks: Looks, clock: Clock):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        looks.free.clear()
        await tools.refresh(0)
        looks.free.set()
        await until(lambda: tools._looking and tools._looking.done())
        looks.names = ("search_c",)
        clock.ahead = LIST_SECONDS + 1
        assert await listed(tools) == ["search_c"]

    asyncio.run(ask())


@pytest.mark.parametrize("error", [UnavailableError("It is down."), SetupError("It is locked."), OSError("socket")])
def test_a_look_that_fails_keeps_what_is_known_and_the_next_one_is_at_once(
    looks: Looks, clock: Clock, caplog: pytest.LogCaptureFixture, error: Exception
):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        assert await listed(tools) == ["search_a", "search_b"]
        looks.error = error
        clock.ahead = LIST_SECONDS + 1
        with caplog.at_level(logging.WARNING):
            assert await listed(tools) == ["search_a", "search_b"]
        assert "The indexes could not be looked up: " in caplog.text
        looks.error, looks.names = None, ("search_c",)
        assert await listed(tools) == ["search_c"]

    asyncio.run(ask())
    assert looks.count == 3


def test_a_first_look_that_fails_is_an_empty_list_and_one_line_in_the_log(
    looks: Looks, caplog: pytest.LogCaptureFixture
):
    looks.error = UnavailableError("Neo4j can't be reached.")

    assert asyncio.run(listed(DiscoveredTools(looks))) == []
    [record] = caplog.records
    assert record.getMessage() == "The indexes could not be looked up: Neo4j can't be reached."
    assert record.exc_info is None


def test_a_tool_that_is_known_is_got_without_a_look(looks: Looks, clock: Clock):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        await tools.list_tools()
        clock.ahead = LIST_SECONDS + 1
        got = await tools.get_tool("search_a")
        assert got
        assert got.name == "search_a"

    asyncio.run(ask())
    assert looks.count == 1


def test_a_tool_that_is_not_known_is_looked_up_at_once(looks: Looks):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        await tools.list_tools()
        looks.names = ("search_a", "search_new")
        got = await tools.get_tool("search_new")
        assert got
        assert got.name == "search_new"
        assert await tools.get_tool("search_nope") is None
        assert tools.names == ["search_a", "search_new"]

    asyncio.run(ask())
    assert looks.count == 3


def test_news_are_what_differs_from_the_last_list(looks: Looks):
    async def ask() -> None:
        tools = DiscoveredTools(looks)
        await tools.refresh(PATIENCE)
        assert not tools.take_news(), "nobody has listed them"
        await tools.list_tools()
        assert not tools.take_news()
        looks.names = ("search_a",)
        await tools.refresh(PATIENCE, at_once=True)
        assert tools.take_news()
        assert not tools.take_news(), "they have been told"

    asyncio.run(ask())


def test_a_call_to_the_tool_of_an_index_that_is_not_online_is_answered_with_its_state():
    tools = DiscoveredTools(lambda: Look({"search_a": tool("search_a")}, "The vector index 'b' is POPULATING."))
    server = FastMCP("any", providers=[tools], middleware=[TellNews(tools)])
    with client(server) as mcp:
        said = text_of(mcp.call("search_b"))
    assert said == (
        "There is no tool search_b; the search tools are now: search_a. The vector index 'b' is POPULATING."
    )


def test_a_tool_of_another_family_that_fails_is_not_called_missing():
    tools = DiscoveredTools(lambda: Look({}))
    server = FastMCP("any", providers=[tools], middleware=[TellNews(tools)])

    @server.tool
    def other() -> None:
        raise to_tool_error(MissingIndexError("That index is gone."))

    with client(server) as mcp:
        assert text_of(mcp.call("other")) == "That index is gone."


def test_a_tool_that_can_be_none_of_them_is_not_looked_for(looks: Looks):
    async def ask() -> None:
        tools = DiscoveredTools(looks, lambda name: name.startswith("search_"))
        assert await tools.get_tool("get-schema") is None
        assert looks.count == 0
        assert await tools.get_tool("search_a")

    asyncio.run(ask())
    assert looks.count == 1


class Told:
    """A session that counts what it is sent."""

    def __init__(self) -> None:
        self.sent = 0

    async def send_notification(self, _: object) -> None:
        self.sent += 1


async def told_when_known(looks: Looks, told: Told) -> None:
    tools = DiscoveredTools(looks)
    await listed(tools)
    await TellWhenKnown(tools)._tell_when_known(cast("Any", told))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "_AGAIN_SECONDS", (0.0, 0.0))


@pytest.mark.usefixtures("at_once")
def test_a_client_is_told_when_a_database_that_was_down_is_there():
    told, looks = Told(), ComesUp(after=4)
    asyncio.run(told_when_known(looks, told))
    assert (looks.count, told.sent) == (5, 1)


@pytest.mark.usefixtures("at_once")
def test_a_fault_that_somebody_must_put_right_is_met_once(looks: Looks):
    """A wrong password, which locks the account when it is tried again and again."""
    told = Told()
    looks.error = SetupError("Neo4j refused the user name or password.")
    asyncio.run(told_when_known(looks, told))
    assert told.sent == 0
    assert looks.count == 1, "that of the list"


class ComesUp(Looks):
    """Looks at a database that is down for the first looks."""

    def __init__(self, after: int) -> None:
        super().__init__("search_a")
        self.after = after

    def __call__(self) -> Look:
        self.error = UnavailableError("It is down.") if self.count < self.after else None
        return super().__call__()
