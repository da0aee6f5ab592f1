"""Calls that end in time, whatever they wait for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from functools import cache
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

P = ParamSpec("P")
T = TypeVar("T")

CALL_OVERHEAD_SECONDS = 15.0
"""What a call may take beside its query: the embedding and, at the first call, the look at the index."""


class EndedError(Exception):
    """A function that ran in a thread of its own asked for the end of the process, or of the task that waits."""


def start(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Run a function in a thread that keeps neither its caller nor the end of the process waiting.

    An executor's threads would: the interpreter joins them at exit, a stuck query's as well.
    """
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the caller's to handle, whatever it is
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - it asks for the end of the process or of a task, neither its own
            future.set_exception(EndedError(type(error).__name__))

    threading.Thread(target=run, name=getattr(function, "__qualname__", "call"), daemon=True).start()
    return future


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="own-retrievers", daemon=True).start()
    return loop


def result_of(awaitable: Awaitable[T]) -> T:
    """Return what an awaitable comes to, from a thread without an event loop.

    All of them run in one loop, for the connections that an object keeps between its calls belong to a loop.
    """

    async def wait() -> T:
        return await awaitable

    return asyncio.run_coroutine_threadsafe(wait(), _loop()).result()


class Background(Generic[T]):
    """Something made once, in the background, and waited for where it is needed.

    A failed attempt is told to those who wait for it; the next one who asks starts another.

    Args:
        make: Makes it; may take long, and may raise.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._future: Future[T] | None = None

    def start(self) -> Future[T]:
        """Begin, unless it has begun and not failed."""
        with self._lock:
            if self._future is None or (self._future.done() and self._future.exception()):
                self._future = start(self._make)
            return self._future

    def forget(self, made: T) -> None:
        """Have it made anew at the next `get`, unless something else has been made meanwhile."""
        with self._lock:
            if self._future and self._future.done() and not self._future.exception() and self._future.result() is made:
                self._future = None

    def peek(self) -> T | None:
        """Return it if it is made, without waiting."""
        with self._lock:
            made = self._future
        return made.result() if made and made.done() and not made.exception() else None

    def get(self, seconds: float | None) -> T:
        """Return it, when it is made.

        Args:
            seconds: How long to wait; `None` waits until it is made.

        Raises:
            TimeoutError: It takes longer than `seconds`; it goes on.
        """
        return self.start().result(timeout=seconds)
