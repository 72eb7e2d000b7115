"""What loops accumulate in memory: what is kept in registers, what is not, and that results are the same.

Devices and the emitted forms come by turns (`tests/selection.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.transform.accumulators import accumulators
from coarsen.transform.accumulators.locations import Certainty, LoopMemory
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.regions.plan import Reason
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration
from coarsen.variant.transforms import Transforms, Use
from coarsen.variant.variant import Variant
from tests.documented_codes import documented_codes
from tests.selection import Turn, everything_is_asked_for
from tests.transform.accumulators.kernels import SMALL, Small
from tests.transform.cases import CASES, Argument, Case
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    is_left_out,
    lowered,
    original_outcome,
    sizes_of,
    turns_of,
)

_CONFIGURATIONS = tuple(
    configuration(entries)
    for entries in (
        [Coarsening(2, 0)],
        [Coarsening(2, 0), Coarsening(4, 1)],
        [Coarsening(4, 0)],
        [Coarsening(2, 1)],
        [Coarsening(4, 0, 2), Coarsening(2, 1)],
        [Coarsening(2, 0, level=Level.GROUP)],
        [Coarsening(2, 0), Coarsening(2, 0, level=Level.GROUP)],
    )
)
_TRANSFORMS = (Transforms(distinct=True), Transforms(Use.ALWAYS, Use.ALWAYS, True, distinct=True))


@functools.lru_cache(maxsize=64)
def of_distinct(
    case: Case, chosen: Configuration, transforms: Transforms
) -> tuple[CoarsenedKernel, DistinctMemory]:
    result = run_pipeline(lowered(case), Variant(coarsenings=chosen, transforms=transforms))
    assert result.distinct is not None
    return result, result.distinct


def fitting(small: Small) -> list[Configuration]:
    """The configurations along dimensions that a case has."""
    dimensions = len(small.case.global_size)
    possible = (each for each in _CONFIGURATIONS if all(entry.dimension < dimensions for entry in each))
    return [each for each in possible if not small.once or len(each) == 1]


@pytest.mark.parametrize("name", SMALL)
def test_what_is_kept(name: str) -> None:
    small = SMALL[name]
    _, found = of_distinct(small.case, _CONFIGURATIONS[0], _TRANSFORMS[0])
    assert sum(each.left is None for each in found.accumulators) == small.kept
    codes = [each.left.code for each in found.accumulators if each.left is not None]
    assert tuple(sorted(codes)) == small.left
    assert set(codes) <= {*documented_codes("accumulator-reasons")}


@pytest.mark.parametrize(("number", "name"), [pytest.param(n, name, id=name) for n, name in enumerate(SMALL)])
def test_small_kernels_give_the_same(
    number: int, name: str, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    case, chosen = SMALL[name].case, fitting(SMALL[name])
    for place, turn in turns_of(device, number, len(chosen)).items():
        check(case, chosen[place], _TRANSFORMS[(number + place) % 2], form_by_turns(device, turn), queue)


@pytest.mark.parametrize(("number", "case"), [pytest.param(n, case, id=case.name) for n, case in enumerate(CASES)])
def test_hazards_give_the_same(number: int, case: Case, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    for dimension in case.dimensions:
        if case.local_size[dimension] % 2 == 0:
            chosen = configuration([Coarsening(2, dimension)])
            check(case, chosen, _TRANSFORMS[number % 2], form_by_turns(device, Turn(number, 0, 1)), queue)


def check(case: Case, chosen: Configuration, transforms: Transforms, form: str, queue: cl.CommandQueue) -> None:
    """Compare a case's kernel for distinct arguments with the original."""
    sizes_of(case, chosen)
    kernel, _ = of_distinct(case, chosen, transforms)
    assert_same(
        original_outcome(queue.context, case), coarsened_outcome(queue, kernel, form, case, chosen), case.tolerance
    )


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """As for other transforms."""
    if "device" not in parameters:
        return True
    device = parameters["device"]
    if "number" in parameters and "name" in parameters:
        number = parameters["number"]
        return bool(turns_of(device, number, len(fitting(SMALL[parameters["name"]]))))
    if "case" not in parameters:
        return True
    if not everything_is_asked_for() and is_left_out(device, Turn(parameters["number"], 0)):
        return False
    case = parameters["case"]
    wrong = bool(case.wrong_on_if_wide) and device.runs_on(case.wrong_on_if_wide)
    return not wrong and not (case.needs and device.is_called("oclgrind"))


def _never_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulators, "_why_left", _planted(lambda left: left.code != "memory-ordered"))


def _never_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopMemory, "touches", lambda *_: False)


def _always_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Certainty, "tests", lambda *_: ())


def _planted(is_believed: Callable[[Reason], bool]) -> Callable[..., Reason | None]:
    true = accumulators._why_left

    def left(*arguments: Any) -> Reason | None:  # noqa: ANN401
        found = true(*arguments)
        return found if found is not None and is_believed(found) else None

    return left


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (_never_ordered, "seen_by_others"),
        (_never_touched, "one_array"),
        (_never_touched, "places_that_meet"),
        (_always_certain, "counts_of_items"),
    ],
)
def test_a_planted_mistake_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], name: str, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    case, chosen = SMALL[name].case, _CONFIGURATIONS[0]
    if name == "counts_of_items":
        # Without those that would lead out of the buffer: this process is to go on.
        case = _nearby(case)
    of_distinct.cache_clear()
    with pytest.raises(AssertionError):
        check(case, chosen, _TRANSFORMS[0], "opencl_c", queue)
    of_distinct.cache_clear()


def _nearby(case: Case) -> Case:
    def arguments(rng: np.random.Generator, items: int) -> list[Argument]:
        a, counts, places, c = case.arguments(rng, items)
        assert isinstance(places, np.ndarray)
        return [a, counts, places % (1 << 28), c]

    return replace(case, arguments=arguments)
