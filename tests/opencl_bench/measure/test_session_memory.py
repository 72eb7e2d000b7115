"""How many workloads a session keeps: those that a kernel needs, and the latest others as far as they fit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.machine import Durations, Job, LaunchError
from coarsen.tuning.measure.opencl_machine import OpenClExecutor, OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Launch, Workload
from coarsen.variant.variant import Variant

CODE = Code("opencl_c", "reduce", "")
SMALL, MIDDLE, LARGE = (Variant((extent,)) for extent in (32, 64, 128))


class CountingExecutor(OpenClExecutor):
    """Loads whatever it is given; the rest isn't asked for here."""

    def __init__(self) -> None:
        pass

    def load(
        self,
        _code: Code,
        _variant: Variant,
        _binary: bytes | None = None,
        _launches: Sequence[Launch] | None = None,
    ) -> Job:
        return lambda _clock: Durations(1)


class CountingMachine(OpenClMachine):
    """Counts the workloads that are placed on it."""

    def __init__(self) -> None:
        self.placed = 0

    def place(self, _workload: Workload) -> OpenClExecutor:
        self.placed += 1
        return CountingExecutor()


def placed_by(candidates: list[Variant], kept_bytes: int) -> int:
    machine = CountingMachine()
    session = Session(machine, SUITE["reduce"], "test", 0, kept_bytes)
    session.load(Slot.BASELINE, SMALL, CODE)
    for candidate in candidates:
        session.load(Slot.CANDIDATE, candidate, CODE)
    return machine.placed


@pytest.mark.parametrize(("kept_bytes", "placed"), [(1 << 30, 3), (0, 5)])
def test_workloads_are_kept_as_far_as_they_fit(kept_bytes: int, placed: int) -> None:
    assert placed_by([MIDDLE, SMALL, LARGE, MIDDLE, LARGE], kept_bytes) == placed


def test_what_the_baseline_needs_is_always_kept() -> None:
    assert placed_by([SMALL, MIDDLE, SMALL], 0) == 2


class FullMachine(CountingMachine):
    """Takes a third workload only after it has refused it."""

    def place(self, workload: Workload) -> OpenClExecutor:
        executor = super().place(workload)
        if self.placed == 3:
            raise LaunchError("MEM_OBJECT_ALLOCATION_FAILURE")
        return executor


def test_what_does_not_fit_beside_those_that_wait_is_tried_without_them() -> None:
    machine = FullMachine()
    session = Session(machine, SUITE["reduce"], "test", 0)
    for candidate in (SMALL, MIDDLE, LARGE, LARGE):
        assert session.place(Slot.CANDIDATE, candidate)
    assert machine.placed == 4
    session.place(Slot.CANDIDATE, SMALL)
    assert machine.placed == 5, "it had to make room"
