"""What measuring works with: where subjects and codes come from, where rows go, the process that measures."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from coarsen.opencl_bench.records.measurement import Environment, Measurement, Method, Subject
from coarsen.opencl_bench.sweep.compiler import Compiled
from coarsen.opencl_bench.sweep.measuring_process import MeasuringProcess
from coarsen.opencl_bench.sweep.observer import Remeasure, SweepObserver
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.variant.variant import Definitions, Variant


class Subjects(Protocol):
    """Knows what is measured."""

    def of(self, definitions: Definitions) -> Subject:
        """Return the subject with these macro values.

        Raises InvalidInputError where the kernel doesn't compile.
        """
        ...


class Codes(Protocol):
    """Gives candidates' code."""

    def ahead(self, candidate: Variant) -> Future[Compiled]:
        """Begin to make a candidate's code."""
        ...

    def compiled(self, candidate: Variant) -> Compiled:
        """Return a candidate's code, or why there is none; waits for it."""
        ...


class Rows(Protocol):
    """Where rows are stored."""

    def find(self, key: str) -> Measurement | None:
        """Return the row of this key, if there is one."""
        ...

    def add(self, measurement: Measurement) -> bool:
        """Store a row; False where one with its key was there."""
        ...

    def replace(self, measurement: Measurement) -> None:
        """Store a row in place of the one with its key."""
        ...


@dataclass(frozen=True, slots=True)
class SweepContext:
    """All that measuring works with.

    `device` is what a person is told; `lock` is held while something is measured; `compile_first` says that
    compiling would disturb measuring; `confirms` that the best ones are confirmed in new processes. `clock` is the
    benchmark's. `default` is the version that others' results are compared with, as the process knows it; None:
    the uncoarsened kernel with the same macros.
    """

    device: str
    environment: Environment
    method: Method
    subjects: Subjects
    codes: Codes
    process: MeasuringProcess
    rows: Rows
    lock: Callable[[], AbstractContextManager[None]]
    observer: SweepObserver = field(default_factory=SweepObserver)
    again: Remeasure = Remeasure.NOTHING
    compile_first: bool = False
    confirms: bool = True
    clock: Clock = Clock.SUM
    default: Variant | None = None
