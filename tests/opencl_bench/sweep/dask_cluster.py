"""A real Dask cluster for tests: a scheduler and workers, each a process of its own on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from distributed import Client

from coarsen.opencl_bench.sweep.cluster import Scheduler

# Seconds; only a cluster that is stuck takes so long, however busy the machine is.
PATIENCE = 300
HERE = ("--host", "127.0.0.1", "--no-dashboard")


@dataclass
class Cluster:
    """A scheduler; its workers are started by `worker`."""

    folder: Path
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    @property
    def scheduler(self) -> Scheduler:
        return Scheduler(self.address)

    def worker(self, name: str, resources: str) -> subprocess.Popen[bytes]:
        """Start a worker that nobody starts again when it dies."""
        options = ("--no-nanny", "--nthreads", "2", "--name", name, "--local-directory", str(self.folder))
        return self.start("dask_worker", self.address, *HERE, *options, "--resources", resources)

    def wait_for_workers(self, count: int) -> None:
        with Client(self.address) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)
        self.processes.append(process)
        return process


@contextmanager
def cluster(
    folder: Path, allowed_failures: int = 3, options: Sequence[str] = (), **variables: str
) -> Iterator[Cluster]:
    """A cluster without workers that is gone at the end; its files are in the folder.

    So many workers may die over a task before it is given up. The options are the scheduler's, the variables are
    in the environment of all its processes.
    """
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
    found = Cluster(folder, {**os.environ, **allowed, **variables})
    try:
        found.start("dask_scheduler", *HERE, "--port", "0", "--scheduler-file", str(found.file), *options)
        until(lambda: found.file.exists() and found.file.read_text().rstrip().endswith("}"), found.log)
        yield found
    finally:
        for process in reversed(found.processes):
            process.kill()
            process.wait()


def until(condition: Callable[[], bool], log: Path | None = None) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"it never came to that: {log.read_text() if log else ''}")
        time.sleep(0.01)
