"""The process in which candidates run: a `Session` that serves requests.

    open ─▶ (place ─▶ load ─▶ expect ─▶ try ─▶ time) for each candidate

An answer has `ok`, or `failed` with the reason in one line.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from coarsen.base.codec import decoded
from coarsen.devices.discovery import DeviceDescription, found_again
from coarsen.errors import CoarsenError, InternalError
from coarsen.tuning.measure.machine import BuildError, LaunchError, UndividedError
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.measure.session import KEPT_BYTES, Session, Slot
from coarsen.tuning.processes.child_process import Handler, Message, serve
from coarsen.tuning.records.code import code_from_json
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.captured_benchmark import read_launch
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX
from coarsen.variant.variant_json import variant_from_json

# Finds what is no captured launch. By name and late: tuning a launch needs neither the suite nor the language of
# descriptions.
_FINDER = "coarsen.opencl_bench.workloads.lookup"


class MeasureService:
    """Keeps the session between requests."""

    def __init__(self) -> None:
        self._opened: Session | None = None
        self._machine: tuple[Message, OpenClMachine] | None = None

    def open(self, request: Message) -> Message:
        """`benchmark`, `preset`, `seed`, `machine`: begin a session.

        `content_hash` is the benchmark's, or null; `changed` is the answer where it is another now.
        `shared_local_size` is null where each local size has a workload of its own, `default` where no version is
        the one that others are compared with (see `Session`).
        """
        self._opened = None
        machine = self._opened_machine(request["machine"])
        benchmark = benchmark_of(request["benchmark"])
        if request["content_hash"] not in (None, benchmark.content_hash(request["preset"])):
            return {"changed": True}
        kept = request["machine"].get("kept_bytes", KEPT_BYTES)
        shared, default = request["shared_local_size"], request["default"]
        self._opened = Session(
            machine,
            benchmark,
            request["preset"],
            request["seed"],
            kept,
            None if shared is None else tuple(shared),
            None if default is None else variant_from_json(default),
        )
        return {}

    def place(self, request: Message) -> Message:
        """`slot`, `candidate`: put its workload on the device. `has_reference` says whether there is one."""
        candidate = variant_from_json(request["candidate"])
        return {"has_reference": self._session.place(Slot(request["slot"]), candidate)}

    def load(self, request: Message) -> Message:
        """`slot`, `candidate`, `code`, `binary` (base64 or null): build a kernel for a workload that is placed."""
        binary = request["binary"]
        self._session.load(
            Slot(request["slot"]),
            variant_from_json(request["candidate"]),
            code_from_json(request["code"]),
            base64.b64decode(binary) if binary else None,
        )
        return {}

    def expect(self, request: Message) -> Message:
        """`slot`, `original`: compute what the results should be."""
        self._session.expect(Slot(request["slot"]), code_from_json(request["original"]))
        return {}

    def try_out(self, request: Message) -> Message:
        """`slot`: run once, compare."""
        return dataclasses.asdict(self._session.try_out(Slot(request["slot"])))

    def time(self, request: Message) -> Message:
        """`method`: time the candidate against the baseline, and look at the results once more."""
        timed = self._session.time(Method(**request["method"]))
        wrong = self._session.wrong_at_last()
        return {"clock": self._session.clock, "wrong": wrong, **dataclasses.asdict(timed)}

    def _opened_machine(self, description: Message) -> OpenClMachine:
        """The machine of the session before, where it is the same."""
        if self._machine is None or self._machine[0] != description:
            self._machine = description, open_machine(description)
        return self._machine[1]

    @property
    def _session(self) -> Session:
        if self._opened is None:
            raise InternalError("the session was not opened")
        return self._opened


def answered(handler: Handler, request: Message) -> Message:
    """Return a handler's answer, or why it failed, and whether while building or by a constraint."""
    try:
        return {"ok": True, **handler(request)}
    except (UndividedError, BuildError, LaunchError, MemoryError, CoarsenError) as error:
        if isinstance(error, InternalError):
            raise
        return {
            "failed": str(error) or "the memory does not suffice",
            "while_building": isinstance(error, BuildError),
            "breaks_constraint": isinstance(error, UndividedError),
        }


def benchmark_of(reference: str) -> Benchmark:
    """Return what is compiled or measured. Raises InvalidInputError where there is no such benchmark.

    Args:
        reference: the file of a captured launch, or what `find_benchmark` takes.
    """
    if reference.endswith(CAPTURED_SUFFIX):
        return read_launch(Path(reference))
    found: Benchmark = importlib.import_module(_FINDER).find_benchmark(reference)
    return found


def open_machine(description: Mapping[str, Any]) -> OpenClMachine:
    """Return the device that `machine_to_json` describes. Raises CoarsenError where there is no such one."""
    return OpenClMachine(found_again(decoded(DeviceDescription, description["device"], "the device")))


def main() -> int:
    """Serve until the parent has no more requests."""
    # Vendors' compilers print remarks at every build.
    warnings.simplefilter("ignore")
    service = MeasureService()
    handlers = {
        "open": service.open,
        "place": service.place,
        "load": service.load,
        "expect": service.expect,
        "try": service.try_out,
        "time": service.time,
    }
    serve({name: partial(answered, handler) for name, handler in handlers.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
