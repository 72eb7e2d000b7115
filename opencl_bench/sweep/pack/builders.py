"""Builds a pack's code ahead, in several processes: the process that measures then finds it built.

    codes in the order of the sweeps ─▶ N processes that only build ─▶ binaries, and the driver's cache on the disk

A driver that builds in the process that measures does so while the device waits. On a CPU the builders would
disturb what is measured: there everything is built first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.sweep.child_process import ChildDiedError, ChildProcess, ChildTimedOutError
from coarsen.opencl_bench.sweep.measuring_process import OPENING_SECONDS, SERVICE


class Builders:
    """Processes that build.

    Whatever goes wrong in one of them goes wrong once more where the code is measured, and is a row then.

    Args:
        count: how many at once.
        machine: the device, as `open_machine` takes it.
        seconds: so long may a build take.
    """

    def __init__(self, count: int, machine: Mapping[str, Any], seconds: float) -> None:
        self._machine = machine
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="build")
        self._local = threading.local()
        self._children: list[ChildProcess] = []
        self._futures: dict[str, Future[str | None]] = {}

    def __enter__(self) -> Builders:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in list(self._children):
            child.end()
        self._pool.shutdown(wait=True)
        for child in self._children:
            child.close()

    def begin(self, hashes: Sequence[str], code_of: Callable[[str], Code]) -> None:
        """Begin to build codes, in this order, those apart that were begun before.

        Args:
            hashes: of the codes.
            code_of: reads one.
        """
        for each in hashes:
            if each not in self._futures:
                self._futures[each] = self._pool.submit(self._build, each, code_of)

    def binary(self, code_hash: str) -> str | None:
        """Wait for a code that was begun: the device's binary in base64; None where there is none."""
        future = self._futures.get(code_hash)
        return future.result() if future is not None else None

    def wait(self) -> None:
        """Wait for all that was begun."""
        for future in self._futures.values():
            future.result()

    def _build(self, code_hash: str, code_of: Callable[[str], Code]) -> str | None:
        child = self._child()
        # A process that isn't there yet opens the device first.
        seconds = self._seconds if child.is_running else OPENING_SECONDS + self._seconds
        request = {"do": "build", "machine": self._machine, "code": code_of(code_hash).to_json()}
        try:
            binary: str | None = child.ask(request, seconds).get("binary")
        except (ChildDiedError, ChildTimedOutError):
            return None
        return binary

    def _child(self) -> ChildProcess:
        if not hasattr(self._local, "child"):
            self._local.child = ChildProcess(SERVICE)
            self._children.append(self._local.child)
        child: ChildProcess = self._local.child
        return child
