"""The server with a tracer that writes what each span holds to the file named by SPANS, as an exporter would see it.

Run in place of the command by the canary test. OpenTelemetry's API is there; its SDK is no dependency.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry import trace

from mcp_neo4j_vector_graphrag.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SPANS = Path(os.environ.get("SPANS", os.devnull))


def write(*parts: object) -> None:
    """Add a line to the file."""
    with SPANS.open("a", encoding="utf-8") as file:
        file.write(" ".join(map(str, parts)).replace("\n", "\\n") + "\n")


class WritingSpan(trace.NonRecordingSpan):
    """A span that writes down all it is told."""

    def is_recording(self) -> bool:
        """Ask to be told everything."""
        return True

    def set_attribute(self, key: str, value: object) -> None:
        """Write an attribute."""
        write("attribute", key, value)

    def set_attributes(self, attributes: Mapping[str, object]) -> None:
        """Write attributes."""
        write("attributes", dict(attributes))

    def add_event(self, name: str, attributes: Any = None, timestamp: Any = None) -> None:
        """Write an event."""
        write("event", name, attributes, timestamp)

    def set_status(self, status: Any, description: str | None = None) -> None:
        """Write the status."""
        write("status", getattr(status, "status_code", status), getattr(status, "description", None), description)

    def record_exception(self, exception: BaseException, attributes: Any = None, *_: Any, **__: Any) -> None:
        """Write an exception with its trace, as the SDK does."""
        write("exception", repr(exception), "".join(traceback.format_exception(exception)), attributes)


class WritingTracer(trace.Tracer):
    """Starts such spans."""

    def start_span(self, name: str, *_: Any, attributes: Any = None, **__: Any) -> WritingSpan:
        """Start a span."""
        write("span", name, attributes)
        return WritingSpan(trace.SpanContext(1, 1, is_remote=False))

    @contextmanager  # type: ignore[override] # the API's own decorator serves async code too
    def start_as_current_span(  # type: ignore[override]
        self,
        name: str,
        *_: Any,
        attributes: Any = None,
        record_exception: bool = True,
        **__: Any,
    ) -> Iterator[WritingSpan]:
        """Start a span and make it the current one."""
        span = self.start_span(name, attributes=attributes)
        with trace.use_span(span, record_exception=record_exception):
            yield span


class WritingProvider(trace.TracerProvider):
    """Gives such tracers."""

    def get_tracer(self, *_: Any, **__: Any) -> WritingTracer:
        """Return a tracer."""
        return WritingTracer()


if __name__ == "__main__":
    trace.set_tracer_provider(WritingProvider())
    sys.exit(main())
