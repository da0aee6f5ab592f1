"""What a long start tells the one who waits for it."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rich.console import RenderableType

logger = logging.getLogger(__name__)

_PATIENCE = 1.0
"""Seconds that a step takes before a bar is worth showing."""


class Progress(Protocol):
    """Is told the steps of a start. Steps may overlap and come from several threads."""

    def step(self, description: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a step, which lasts as long as the context.

        Args:
            description: What is being done, like "downloading Neo4j".
            total: How many pieces there are to do, None when that isn't known.

        Returns:
            A context that gives a function to call with the number of pieces done so far.
        """


class LogProgress:
    """Writes a log line for each step. `current` says in words what is being done now."""

    def __init__(self) -> None:
        self._steps: dict[object, str] = {}
        self._lock = threading.Lock()

    @property
    def current(self) -> str:
        """The step begun last that isn't over, like "downloading Neo4j, 45 %". Empty when there is none."""
        with self._lock:
            return next(reversed(self._steps.values()), "")

    @contextmanager
    def step(self, description: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Begin a step. One with a total is announced when its first piece is done: there may be nothing to do."""
        key = object()

        def advance(done: int) -> None:
            with self._lock:
                is_new = key not in self._steps
                self._steps[key] = f"{description}, {100 * done // total} %" if total else description
            if is_new:
                logger.info("%s", description)

        if not total:
            advance(0)
        try:
            yield advance
        finally:
            with self._lock:
                self._steps.pop(key, None)


class RichProgress:
    """Draws a bar on standard error for each step that takes longer than a second. A context manager."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._bars = _LongSteps(*columns, console=Console(stderr=True))

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextmanager
    def step(self, description: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Begin a step. Its bar stays, full, when the step succeeds."""
        task = self._bars.add_task(description, total=total)
        try:
            yield lambda done: self._bars.update(task, completed=done)
            self._bars.update(task, total=total or 1, completed=total or 1)
        finally:
            self._bars.stop_task(task)


class _LongSteps(Bars):
    def get_renderables(self) -> Iterator[RenderableType]:
        """Draw the tasks that are worth a bar."""
        yield self.make_tasks_table([task for task in self.tasks if (task.elapsed or 0) > _PATIENCE])
