"""The jars that Neo4j consists of: listed with their digests, downloaded from a Maven repository, kept in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from platformdirs import user_cache_path

from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int], None]
    Stamps = dict[str, list[int]]

REPOSITORY_VARIABLE = "MAVEN_REPOSITORY_URL"
"""Environment variable with the base address of another Maven repository than Maven Central."""

_THREADS = 8
_TIMEOUT = 30.0
"""Seconds without a byte after which a download is tried again."""
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Artifact:
    """One jar in a Maven repository: `group:artifact:version[:classifier]` and its SHA-256."""

    coordinates: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The jar's name, in the repository and in the folder."""
        _, *parts = self.coordinates.split(":")
        return "-".join(parts) + ".jar"

    @property
    def path(self) -> str:
        """The jar's path below a repository's base address."""
        group, name, version, *_ = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{name}/{version}/{self.file_name}"


def read_jar_list(jar_list: Path) -> list[Artifact]:
    """Read a list of jars: one `sha256  group:artifact:version[:classifier]` a line."""
    lines = (line.split() for line in jar_list.read_text("utf-8").splitlines() if line.strip())
    return [Artifact(coordinates, sha256) for sha256, coordinates in lines]


def fetch_jars(
    jar_list: Path, progress: Progress | None = None, *, cache: Path | None = None, retries: int = 3
) -> Path:
    """Make the folder with the jars of a list, downloading what is missing or damaged.

    Safe to call from several processes at once: one downloads, the others wait for it.

    Args:
        jar_list: The file that lists the jars.
        progress: Called with the jars that are there and the jars that there will be. Not called when all are there.
        cache: Parent of the folder. Default: the user's cache folder.
        retries: How often a failed download is tried again.

    Returns:
        The folder. It holds these jars and no other.

    Raises:
        LocalDatabaseError: A jar can't be had, or is not the expected one.
    """
    artifacts = read_jar_list(jar_list)
    identity = hashlib.sha256(jar_list.read_bytes()).hexdigest()[:8]
    folder = (cache or user_cache_path("mcp-neo4j-vector-graphrag") / "jars") / f"{jar_list.stem}-{identity}"
    if not _unverified(folder, artifacts):
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            _download(folder, artifacts, progress, retries)
    except OSError as error:
        raise LocalDatabaseError(
            f"The files of Neo4j can't be kept in {folder} ({error.strerror or error}): "
            "make room there or make it writable."
        ) from error
    return folder


def verified_file(folder: Path) -> Path:
    """Return where a folder of jars notes the size and modification time of each jar whose digest was right."""
    return folder / "verified.json"


def _download(folder: Path, artifacts: list[Artifact], progress: Progress | None, retries: int) -> None:
    """Fetch into the folder what is not known to be right, and note what is."""
    todo = _unverified(folder, artifacts)
    if not todo:
        return
    for stray in {path.name for path in folder.iterdir()} - {artifact.file_name for artifact in artifacts}:
        (folder / stray).unlink()
    present = len(artifacts) - len(todo)
    with _Downloads(folder, todo, retries) as downloads:
        for done, _ in enumerate(downloads, start=present + 1):
            if progress:
                progress(done, len(artifacts))
    stamps = {artifact.file_name: _stamp(folder / artifact.file_name) for artifact in artifacts}
    write_atomically(verified_file(folder), json.dumps(stamps, indent=0))


class _Downloads:
    """Downloads in several threads: iterating gives each artifact when it is there. Leaving drops what is pending."""

    def __init__(self, folder: Path, artifacts: list[Artifact], retries: int) -> None:
        import requests  # noqa: PLC0415 - comes with pooch

        self._pooch = _pooch(folder, artifacts, retries)
        self._session = requests.Session()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="download")
        self._futures = [self._threads.submit(self._fetch, artifact) for artifact in artifacts]

    def __enter__(self) -> Iterator[Artifact]:
        return (future.result() for future in as_completed(self._futures))

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._session.close()

    def _fetch(self, artifact: Artifact) -> Artifact:
        """Download one jar unless the one that is there has the right digest."""
        import requests  # noqa: PLC0415 - comes with pooch

        try:
            self._pooch.fetch(artifact.file_name, downloader=self._save)
        except requests.HTTPError as error:
            status = "an error" if error.response is None else error.response.status_code
            raise LocalDatabaseError(
                f"The Maven repository answered {status} for {artifact.coordinates}: "
                f"try again later, or set {REPOSITORY_VARIABLE} to a repository that has it."
            ) from error
        except requests.RequestException as error:
            raise LocalDatabaseError(
                "Neo4j could not be downloaded, the Maven repository does not answer: "
                f"check the network, or set {REPOSITORY_VARIABLE} to a mirror."
            ) from error
        except ValueError as error:
            raise LocalDatabaseError(
                f"The repository's {artifact.coordinates} is not the expected file (its SHA-256 differs): "
                f"set {REPOSITORY_VARIABLE} to a repository that has the original."
            ) from error
        return artifact

    def _save(self, url: str, path: str, _: object) -> None:
        """Write what is at an address to a file. pooch itself opens a connection for each: 18 s in all instead of 2."""
        with self._session.get(url, stream=True, timeout=_TIMEOUT) as response, Path(path).open("wb") as file:
            response.raise_for_status()
            file.writelines(response.iter_content(_CHUNK))


def _pooch(folder: Path, artifacts: list[Artifact], retries: int) -> Any:  # noqa: ANN401 - pooch ships no types
    """Describe the artifacts to pooch, which downloads under a temporary name, checks the digest and renames."""
    import pooch  # noqa: PLC0415 - of the demo extra

    pooch.get_logger().setLevel("WARNING")
    base = _repository()
    return pooch.create(
        path=folder,
        base_url=base,
        registry={artifact.file_name: f"sha256:{artifact.sha256}" for artifact in artifacts},
        urls={artifact.file_name: f"{base}/{artifact.path}" for artifact in artifacts},
        retry_if_failed=retries,
    )


def _repository() -> str:
    """Return the base address of the Maven repository, without a slash at its end."""
    from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415 - of the demo extra

    return str(os.environ.get(REPOSITORY_VARIABLE) or MAVEN_CENTRAL_URL).rstrip("/")


def _unverified(folder: Path, artifacts: list[Artifact]) -> list[Artifact]:
    """Return the artifacts that are missing, or changed since their digest was last right."""
    try:
        verified: Stamps = json.loads(verified_file(folder).read_text("utf-8"))
    except (OSError, ValueError):
        return artifacts
    if not isinstance(verified, dict):
        return artifacts
    return [
        artifact
        for artifact in artifacts
        if not (jar := folder / artifact.file_name).is_file() or verified.get(jar.name) != _stamp(jar)
    ]


def _stamp(path: Path) -> list[int]:
    """Return what changes when a file is cut short or written again: its size and modification time."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def write_atomically(path: Path, text: str) -> None:
    """Write a file that only its owner can read, so that no reader sees half of it."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(temporary).replace(path)
