"""Calls that end in time, whatever they wait for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from mcp_neo4j_vector_graphrag.deadline import Background, EndedError, start


def test_the_result_is_the_functions():
    assert start(lambda left, right: left + right, 1, right=2).result(timeout=5) == 3


def test_the_error_is_the_functions():
    def fail() -> None:
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        start(fail).result(timeout=5)


def test_the_caller_goes_on_while_the_function_waits():
    released = threading.Event()
    running = start(released.wait)
    with pytest.raises(TimeoutError):
        running.result(timeout=0.01)
    released.set()
    assert running.result(timeout=5) is True


def test_a_stuck_call_does_not_keep_the_process_alive():
    program = (
        "import threading\n"
        "from mcp_neo4j_vector_graphrag.deadline import start\n"
        "begun = threading.Event()\n"
        "start(lambda: (begun.set(), threading.Event().wait()))\n"
        "assert begun.wait(10)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=30, check=False).returncode == 0


def test_what_is_made_in_the_background_is_made_once():
    made: list[object] = []
    released = threading.Event()

    def make() -> object:
        released.wait(10)
        made.append(object())
        return made[-1]

    background = Background(make)
    waiting = [start(background.get, 10) for _ in range(8)]
    released.set()
    assert {id(future.result(timeout=10)) for future in waiting} == {id(made[0])}
    assert len(made) == 1


def test_who_waits_too_long_is_told_and_the_making_goes_on():
    released = threading.Event()
    background = Background(released.wait)
    with pytest.raises(TimeoutError):
        background.get(0.01)
    assert background.peek() is None
    released.set()
    assert background.get(10) is True
    assert background.peek() is True


def test_a_failed_making_is_told_and_tried_again_at_the_next_call():
    outcomes = iter([OSError("down"), "made"])

    def make() -> str:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    background = Background(make)
    with pytest.raises(OSError, match="down"):
        background.get(5)
    assert background.peek() is None
    assert background.get(5) == "made"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()])
def test_a_function_that_asks_for_the_end_ends_alone(error: BaseException):
    def ends() -> None:
        raise error

    with pytest.raises(EndedError, match=type(error).__name__):
        start(ends).result(10)
