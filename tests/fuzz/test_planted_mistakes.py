"""The fuzzer finds mistakes planted into the transform, and shrinks what fails to a few statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pyopencl as cl
import pytest

from coarsen.analysis.divergence import Divergence
from coarsen.devices.discovery import DeviceDescription
from coarsen.ir.kernel import Instruction
from tests.fuzz import attempt
from tests.fuzz.attempt import Attempt, Verdict
from tests.fuzz.shrink import shrink
from tests.fuzz.trial import Trial, to_json, trial_of
from tests.fuzz.variants import statements
from tests.transform.planting import plant

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


@pytest.mark.parametrize("mistake", [drop_barriers, shift_ids, share_remainders])
def test_is_found_and_shrunk(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue
) -> None:
    def judge(trial: Trial) -> Verdict:
        return attempt.attempt(Attempt.of(to_json(trial)), queue, "opencl_c")

    mistake(monkeypatch)
    # A mistake around a barrier may make a race, which is not the same each time.
    wants_barriers = mistake is drop_barriers
    trials = (trial for trial in map(trial_of, range(60)) if ("barrier" in trial.source) == wants_barriers)
    failing = next(trial for trial in trials if judge(trial).is_failure)
    smallest = shrink(failing, judge, max_attempts=40)
    assert judge(smallest).is_failure
    assert statements(smallest.kernel.body) <= 6
    monkeypatch.undo()
    attempt.coarsened.cache_clear()
    assert judge(smallest) == Verdict("same")
