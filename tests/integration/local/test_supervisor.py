"""The local database lives as long as its users, and no longer. Most tests let a sleeping process stand for the JVM."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j
import psutil
import pytest

from mcp_neo4j_vector_graphrag.local.database import LocalDatabase, reset
from mcp_neo4j_vector_graphrag.local.errors import LocalDatabaseError
from mcp_neo4j_vector_graphrag.local.neo4j_process import pid_file
from mcp_neo4j_vector_graphrag.local.progress import LogProgress
from mcp_neo4j_vector_graphrag.local.supervisor import supervisor_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_neo4j_vector_graphrag.local.database import Connection

FAKE_SUPERVISOR = Path(__file__).with_name("fake_supervisor.py")

CLIENT = f"""
import sys
from pathlib import Path
from mcp_neo4j_vector_graphrag.local.database import LocalDatabase
from mcp_neo4j_vector_graphrag.local.progress import LogProgress
home = sys.argv[1]
database = LocalDatabase(Path(home), [sys.executable, {str(FAKE_SUPERVISOR)!r}, home])
print(database.start(LogProgress()).uri, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "demo"
    yield folder
    until(lambda: not supervised(folder), "the supervisor ends")


def until(condition: Callable[[], bool], description: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {description}"
        time.sleep(0.02)


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def supervised(home: Path) -> list[psutil.Process]:
    """The supervisors of a home and their databases, by their command lines."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        arguments = process.info["cmdline"] or []
        is_supervisor = str(home) in arguments and any("supervisor" in argument for argument in arguments)
        if is_supervisor or f"--home-dir={home}" in arguments:
            found.append(process)
    return found


def database_pid(home: Path) -> int:
    return int(pid_file(home).read_text())


def supervisor_pid(home: Path) -> int:
    [process] = [process for process in supervised(home) if str(FAKE_SUPERVISOR) in process.cmdline()]
    return process.pid


def local_database(home: Path, *behaviour: str) -> LocalDatabase:
    return LocalDatabase(home, [sys.executable, str(FAKE_SUPERVISOR), str(home), *behaviour])


def start_client(home: Path) -> subprocess.Popen[str]:
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert client.stdout is not None
    assert client.stdout.readline() == "bolt://127.0.0.1:1\n"
    return client


def test_users_share_one_database_which_ends_with_the_last_of_them(home: Path):
    first, second = local_database(home), local_database(home)
    first.start(LogProgress())
    pid = database_pid(home)
    second.start(LogProgress())
    assert database_pid(home) == pid

    first.close()
    with local_database(home) as third:
        third.start(LogProgress())
        assert database_pid(home) == pid
    assert runs(pid)

    second.close()
    until(lambda: not runs(pid), "the database ends")


def test_starting_again_keeps_the_database_that_runs(home: Path):
    with local_database(home) as database:
        database.start(LogProgress())
        pid = database_pid(home)
        database.start(LogProgress())
        assert database_pid(home) == pid
        assert runs(pid)


def test_users_that_start_at_the_same_time_share_one_database(home: Path):
    databases = [local_database(home) for _ in range(4)]
    threads = [threading.Thread(target=database.start, args=(LogProgress(),)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(supervised(home)) == 2
    for database in databases:
        database.close()


def test_a_killed_user_counts_as_gone(home: Path):
    with start_client(home) as client:
        pid = database_pid(home)
        client.kill()
    until(lambda: not runs(pid), "the database ends")


def test_a_start_while_the_last_database_is_stopping_gets_a_new_one(home: Path):
    with local_database(home) as first:
        first.start(LogProgress())
        pid = database_pid(home)
    with local_database(home) as second:
        second.start(LogProgress())
        assert database_pid(home) != pid
        assert not runs(pid)


def test_a_killed_supervisors_database_is_stopped_by_the_next_start(home: Path):
    with local_database(home) as first, local_database(home) as second:
        first.start(LogProgress())
        orphan = database_pid(home)
        os.kill(supervisor_pid(home), signal.SIGKILL)
        assert runs(orphan)

        second.start(LogProgress())

        assert not runs(orphan)
        assert runs(database_pid(home))


def test_a_process_that_has_got_an_old_databases_id_is_left_alone(home: Path):
    home.mkdir()
    pid_file(home).write_text(str(os.getpid()))
    with local_database(home) as database:
        database.start(LogProgress())


def test_a_signal_ends_supervisor_and_database(home: Path):
    with local_database(home) as database:
        database.start(LogProgress())
        pid = database_pid(home)
        os.kill(supervisor_pid(home), signal.SIGTERM)
        until(lambda: not runs(pid), "the database ends")
    assert not supervisor_file(home).exists()


def test_a_supervisor_without_users_ends(home: Path):
    home.mkdir()
    assert (
        subprocess.run([sys.executable, FAKE_SUPERVISOR, home, "runs", "0.1"], check=False, timeout=30).returncode == 0
    )
    assert not runs(database_pid(home))


def test_the_reason_of_a_failed_start_reaches_the_user(home: Path):
    with (
        local_database(home, "fails") as database,
        pytest.raises(LocalDatabaseError, match=r"There is no Java runtime\."),
    ):
        database.start(LogProgress())


def test_a_supervisor_that_can_not_run_is_reported_with_what_it_printed(home: Path):
    database = LocalDatabase(home, [sys.executable, "-c", "raise SystemExit('no such module')"])
    with database, pytest.raises(LocalDatabaseError, match=r"no such module.*supervisor\.log"):
        database.start(LogProgress())


def test_a_database_that_dies_makes_room_for_a_new_start(home: Path):
    with local_database(home) as first, local_database(home) as second:
        first.start(LogProgress())
        pid = database_pid(home)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not supervised(home), "the supervisor ends")

        second.start(LogProgress())

        assert database_pid(home) != pid


def test_closing_ends_a_start_that_is_under_way(home: Path):
    progress = LogProgress()
    database = local_database(home, "slow")
    failures: list[str] = []

    def start() -> None:
        try:
            database.start(progress)
        except LocalDatabaseError as error:
            failures.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    until(lambda: pid_file(home).exists(), "the database begins to start")
    assert progress.current == "starting Neo4j"
    database.close()
    thread.join(10)
    assert len(failures) == 1
    until(lambda: not runs(database_pid(home)), "the database ends")


def test_reset_refuses_while_the_database_is_in_use_and_deletes_it_afterwards(home: Path):
    with local_database(home) as database:
        database.start(LogProgress())
        with pytest.raises(LocalDatabaseError, match="in use: quit the programs that use it"):
            reset(home)
        assert runs(database_pid(home))

    reset(home)

    assert {path.suffix for path in home.iterdir()} <= {".lock"}


def test_reset_of_nothing_does_nothing(home: Path):
    reset(home)
    assert not home.exists()


def test_the_real_database_keeps_its_data_when_its_supervisor_is_killed(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key")
    with LocalDatabase(home) as first, LocalDatabase(home) as second:
        query(first.start(LogProgress()), "CREATE (:Film {title: 'Alien'})")
        orphan = psutil.Process(database_pid(home))
        assert "OPENAI_API_KEY" not in orphan.environ()
        assert "OPENAI_API_KEY" not in orphan.parent().environ()
        listening = [
            port.laddr.ip
            for process in (orphan, orphan.parent())
            for port in process.net_connections()
            if port.status == psutil.CONN_LISTEN
        ]
        assert [ip.removeprefix("::ffff:") for ip in listening] == ["127.0.0.1", "127.0.0.1"]
        assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
        orphan.parent().kill()

        connection = second.start(LogProgress())

        assert database_pid(home) != orphan.pid
        assert query(connection, "MATCH (n) RETURN n.title AS title") == [{"title": "Alien"}]
    reset(home)


def query(connection: Connection, text: str) -> list[dict[str, object]]:
    auth = (connection.username, connection.password.get_secret_value())
    with neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver:
        return [record.data() for record in driver.execute_query(text, database_=connection.database).records]
