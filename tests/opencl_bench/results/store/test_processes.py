"""Several processes open and write one store at a time, and processes are killed while they write."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from coarsen.tuning.store.database import open_store
from tests.opencl_bench.measurements import several_measurements

ROOT = Path(__file__).parents[4]


WRITER = "tests.opencl_bench.results.store.writer"


@contextmanager
def writer(url: str, first: int, count: int, module: str = WRITER) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready to write and begins when it is sent a line."""
    command = [sys.executable, "-m", module, url, str(first), str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def start(*processes: subprocess.Popen[str]) -> None:
    """Lets processes begin, all at once."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def reported(output: str) -> dict[str, bool]:
    """The keys that a process wrote, and whether it was the one that added them; a line cut short is none."""
    lines = [line.split() for line in output.splitlines(keepends=True) if line.endswith("\n")]
    return {key: added == "True" for key, added in lines}


def test_two_processes_create_and_write_a_store_at_once(url: str) -> None:
    with writer(url, 0, 60) as one, writer(url, 30, 60) as other:
        start(one, other)
        # The other's output waits in the pipe: it is shorter than a pipe holds.
        outputs = [process.communicate(timeout=60)[0] for process in (one, other)]
        assert (one.returncode, other.returncode) == (0, 0)
    reports = [reported(output) for output in outputs]
    assert [len(report) for report in reports] == [60, 60]
    assert sum(sum(report.values()) for report in reports) == 90
    with open_store(url) as store:
        assert list(store.measurements()) == several_measurements(90)


def test_a_killed_writer_loses_nothing(url: str) -> None:
    with writer(url, 0, 3000) as process:
        start(process)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        report = reported("".join(lines) + process.stdout.read())
        assert process.wait() == -signal.SIGKILL
    assert 25 <= len(report) < 3000
    check_integrity(url)
    with open_store(url) as store:
        stored = list(store.measurements())
        # One may have been stored and not reported.
        assert len(report) <= len(stored) <= len(report) + 1
        assert report.keys() <= {measurement.key for measurement in stored}
        assert stored == several_measurements(len(stored))
        goes_on = several_measurements(len(stored) + 2)
        assert store.add_all(goes_on) == 2


def check_integrity(url: str) -> None:
    with closing(sqlite3.connect(url)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_many_open_a_new_store_at_once(url: str) -> None:
    def count(_number: int) -> int:
        with open_store(url) as store:
            return store.count()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(count, range(8))) == [0] * 8
