"""Which tests run in one worker: those that share a server, since each empties it, and those of a module."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

FIXTURES = {"neo4j_2026": "2026.09.0", "neo4j_2025": "2025.10.1", "neo4j_5": "5.26.14"}
"""The releases of the fixtures that stand for one."""


def releases_of(item: pytest.Item) -> frozenset[str]:
    """Return the releases whose servers a test uses."""
    named = {release for fixture, release in FIXTURES.items() if fixture in getattr(item, "fixturenames", ())}
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return frozenset(named | ({parameters["neo4j_server"]} if "neo4j_server" in parameters else set()))


def groups_of(items: Iterable[pytest.Item]) -> dict[pytest.Item, str]:
    """Return a group for each test, in an order that keeps two workers busy and starts few servers at a time.

    First the largest group with servers, beside it the modules without, which may start a demo, then the other groups.
    """
    used = {item: releases_of(item) for item in items}
    shared = _shared(used.values())
    groups = {
        item: shared[min(releases)] if releases else item.nodeid.split("::")[0].replace("/", ".")
        for item, releases in used.items()
    }
    sizes = Counter(group for item, group in groups.items() if used[item])
    largest = sizes.most_common(1)[0][0] if sizes else ""
    return dict(sorted(groups.items(), key=lambda each: (each[1] != largest, each[1] in sizes)))


def put_in_group(item: pytest.Item, group: str) -> None:
    """Have pytest-xdist send a test where the others of its group go: it reads that behind an `@` in the test's id.

    Its own marker, `xdist_group`, has no effect with pytest 9.2, which keeps the id elsewhere than it is looked for.
    """
    item._id = type(item.id).parse(f"{item.nodeid}@{group}")


def _shared(used: Iterable[frozenset[str]]) -> Mapping[str, str]:
    """Return a name for the servers that some tests use together, by release."""
    together = {release: frozenset([release]) for release in FIXTURES.values()}
    for releases in used:
        joined = frozenset().union(*(together[release] for release in releases))
        together.update(dict.fromkeys(joined, joined))
    return {release: " and ".join(sorted(releases)) for release, releases in together.items()}
