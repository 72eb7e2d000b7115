"""The fuzzer finds mistakes planted into the transform, and shrinks what fails to a few statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace

import pyopencl as cl
import pytest

from coarsen.analysis.divergence import Divergence
from coarsen.devices.discovery import DeviceDescription
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.transform.placement import box_copy, chunks, strips, tile, tiled_loops
from coarsen.transform.placement.boxes import Conditions, Span
from coarsen.transform.placement.guards import Guards
from coarsen.transform.prologue import Queries
from tests.fuzz import attempt
from tests.fuzz.attempt import Attempt, Verdict
from tests.fuzz.shrink import Judge, shrink
from tests.fuzz.trial import Trial, to_json, trial_of
from tests.fuzz.variants import statements
from tests.transform.planting import plant

Mistake = Callable[[pytest.MonkeyPatch], None]
_BARRIER = re.compile(r"^ *call spir_func void @_Z7barrierj\(.*\n", re.MULTILINE)
_ONE_MORE = re.compile(r"(= add (?:nuw )?(?:nsw )?i\d+ %[\w.]+, )1$", re.MULTILINE)


def drop_barriers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No barrier is left in the coarsened kernel."""
    plant(monkeypatch, lambda assembly: _BARRIER.sub("", assembly))


def shift_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is 1 more, an id of the second replica for example, is 2 more."""
    plant(monkeypatch, lambda assembly: _ONE_MORE.sub(r"\g<1>2", assembly))


def share_remainders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A remainder is taken as the same for all replicas."""
    known = Divergence.is_divergent

    def is_divergent(self: Divergence, instruction: Instruction) -> bool:
        return instruction.opcode != "urem" and known(self, instruction)

    monkeypatch.setattr(Divergence, "is_divergent", is_divergent)


def forget_the_last_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box is one cell shorter along each axis than what is read."""
    known = Span.greatest

    def greatest(self: Span, sizes: Sequence[int]) -> int:
        return known(self, sizes) - 1

    monkeypatch.setattr(Span, "greatest", greatest)


def copy_for_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy only the cells of a box that one of the reads takes, not those around them."""
    known = box_copy._BoxCode.is_taken

    def is_taken(self: box_copy._BoxCode, build: Builder, queries: Queries, cell: Operand) -> Operand:
        one = copy(self)
        one._box = replace(self._box, takings=self._box.takings[:1])
        return known(one, build, queries, cell)

    monkeypatch.setattr(box_copy._BoxCode, "is_taken", is_taken)


def turn_conditions_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be so on the way to a read is taken to be otherwise."""
    known = Guards.conditions

    def conditions(self: Guards, read: Instruction) -> Conditions | None:
        found = known(self, read)
        return found and tuple((name, not is_true) for name, is_true in found)

    monkeypatch.setattr(Guards, "conditions", conditions)


def do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No work-item waits for what the others copy."""
    monkeypatch.setattr(tile, "meet", lambda *_: None)


def do_not_meet_in_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """No work-item waits for what the others copy before a strip, nor for those that read the last one's."""
    monkeypatch.setattr(chunks, "meet", lambda *_: None)


def make_the_last_trip_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a strip begins with its last trip."""
    known = strips.strip_mined

    def mined(function: Function, counted: strips.CountedLoop, trips: int) -> strips.Strip:
        strip = known(function, counted, trips)
        turn = next(block for block in function.blocks if block.name.endswith(".turn"))
        turn.instructions[0].set_operand(1, number(counted.counter.type, (trips - 1) * counted.step))
        return strip

    monkeypatch.setattr(tiled_loops, "strip_mined", mined)


def store_without_the_pad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are copied to where they would lie if no row were padded."""
    known = box_copy.BoxCopy.store

    def store(self: box_copy.BoxCopy, build: Builder, queries: Queries, cell: Operand, value: Operand) -> None:
        padded, self.tile = self.tile, replace(self.tile, pad=0)
        known(self, build, queries, cell, value)
        self.tile = padded

    monkeypatch.setattr(box_copy.BoxCopy, "store", store)


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    """What was coarsened with a mistake must not be there for other tests, nor the other way round."""
    attempt.coarsened.cache_clear()
    yield
    attempt.coarsened.cache_clear()


def runs_on(parameters: dict[str, object]) -> bool:
    """One device is enough: what is found is not the device's."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.runs_on("intel")


def judge_on(queue: cl.CommandQueue) -> Judge:
    """Judge trials in this process, where mistakes are planted."""
    return lambda trial: attempt.attempt(Attempt.of(to_json(trial)), queue, "opencl_c")


def check_is_found(judge: Judge, trials: Iterable[Trial], monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the trials fails, is shrunk, and is right without the mistake."""
    failing = next(trial for trial in trials if judge(trial).is_failure)
    smallest = shrink(failing, judge, max_attempts=40)
    assert judge(smallest).is_failure
    assert statements(smallest.kernel.body) <= 6
    monkeypatch.undo()
    attempt.coarsened.cache_clear()
    assert judge(smallest) == Verdict("same")


@pytest.mark.parametrize("mistake", [drop_barriers, shift_ids, share_remainders])
def test_is_found_and_shrunk(mistake: Mistake, monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue) -> None:
    mistake(monkeypatch)
    # A mistake around a barrier may make a race, which is not the same each time.
    wants_barriers = mistake is drop_barriers
    trials = (trial for trial in map(trial_of, range(60)) if ("barrier" in trial.source) == wants_barriers)
    check_is_found(judge_on(queue), trials, monkeypatch)


@pytest.mark.parametrize("mistake", [forget_the_last_cells, copy_for_one_read, turn_conditions_round, do_not_meet])
def test_a_mistake_of_boxes_is_found(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue
) -> None:
    mistake(monkeypatch)
    trials = (trial for trial in map(trial_of, range(150)) if trial.has_boxes)
    check_is_found(judge_on(queue), trials, monkeypatch)


@pytest.mark.parametrize(
    "mistake",
    [
        *(forget_the_last_cells, turn_conditions_round, do_not_meet_in_loops),
        *(make_the_last_trip_twice, store_without_the_pad),
    ],
)
def test_a_mistake_of_tiles_is_found(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue
) -> None:
    mistake(monkeypatch)
    trials = (trial for trial in map(trial_of, range(300)) if trial.has_tiles)
    check_is_found(judge_on(queue), trials, monkeypatch)
