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
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.transform.placement import tile
from coarsen.transform.placement.footprint import Span
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
    known = tile._BoxCode.is_taken

    def is_taken(self: tile._BoxCode, build: Builder, queries: Queries, cell: Operand) -> Operand:
        one = copy(self)
        one._box = replace(self._box, spans=self._box.spans[:1])
        return known(one, build, queries, cell)

    monkeypatch.setattr(tile._BoxCode, "is_taken", is_taken)


def do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No work-item waits for what the others copy."""
    monkeypatch.setattr(tile, "meet", lambda *_: None)


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


@pytest.mark.parametrize("mistake", [forget_the_last_cells, copy_for_one_read, do_not_meet])
def test_a_mistake_of_boxes_is_found(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue
) -> None:
    mistake(monkeypatch)
    trials = (trial for trial in map(trial_of, range(150)) if trial.has_boxes)
    check_is_found(judge_on(queue), trials, monkeypatch)
