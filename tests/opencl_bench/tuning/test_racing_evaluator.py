"""Which variant others are timed against in a tuning, and what their times are relative to."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from coarsen.errors import DeviceError
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.live_evaluator import RacingEvaluator, merges_as_much
from coarsen.tuning.engine.plan import DeviceLimits, variant_space
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.launch_space import launch_space
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.search.spaces import VariantSearchSpace
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

OWN = Variant((16, 16))
TWO, FOUR, EIGHT = (Variant((16, 16), (Coarsening(factor, 0),)) for factor in (2, 4, 8))
SPACE = VariantSearchSpace(
    variant_space(
        SUITE["mt"],
        "test",
        launch_space((16, 16), (), DEFAULT, Tune(wide_accesses=False)),
        DeviceLimits(1024, (1024, 1024, 64), 32768),
    )
)


@dataclass
class Measurer:
    """Times variants of which each takes so long; a reference that is lost does not run any more."""

    times: dict[Variant, float | None]
    lost: Variant | None = None
    uncompiled: Invalidity | None = None
    asked: list[tuple[Variant, Variant]] = field(default_factory=list)

    def compared(self, candidate: Variant, baseline: Variant) -> Measurement:
        self.asked.append((candidate, baseline))
        if baseline == self.lost:
            raise DeviceError("the baseline does not run any more")
        ran, other = self.times[candidate], self.times[baseline]
        times = () if ran is None else (round(ran * 1e6),)
        return some_measurement(
            candidate=candidate,
            baseline=baseline,
            nanoseconds=times,
            baseline_nanoseconds=() if not times else (round((other or 0) * 1e6),),
            invalidity=Invalidity.CORRECT if times else self.uncompiled or Invalidity.CORRECTNESS,
            reason="" if times else "all elements wrong",
            code_hash="" if self.uncompiled and not times else "c" * 64,
        )


def evaluator_of(measurer: Measurer) -> RacingEvaluator:
    return RacingEvaluator(cast("RowMeasurer", measurer), OWN, SPACE, lambda: 1.0)


def test_what_is_much_faster_is_what_others_are_timed_against() -> None:
    measurer = Measurer({OWN: 8.0, TWO: 7.0, FOUR: 2.0, EIGHT: 4.0})
    evaluator = evaluator_of(measurer)
    times = [evaluator.evaluate(SPACE.choice_of(each)).time for each in (OWN, TWO, FOUR, EIGHT)]
    assert times == [1.0, 7 / 8, 1 / 4, 1 / 2]
    assert measurer.asked == [(TWO, OWN), (FOUR, OWN), (EIGHT, FOUR)]
    assert evaluator.gains == {OWN: 1.0, TWO: 8 / 7, FOUR: 4.0, EIGHT: 2.0}


def test_a_failed_variant_has_a_reason_and_no_gain() -> None:
    evaluator = evaluator_of(Measurer({OWN: 8.0, TWO: None}))
    trial = evaluator.evaluate(SPACE.choice_of(TWO))
    assert (trial.time, trial.reason) == (None, "all elements wrong")
    assert evaluator.gains == {OWN: 1.0}


@pytest.mark.parametrize("uncompiled", [Invalidity.COMPILE, Invalidity.TIMEOUT])
def test_what_could_not_be_compiled_is_not_asked_for_again_in_kind(uncompiled: Invalidity) -> None:
    elsewhere, both = Variant((16, 16), (Coarsening(8, 1),)), Variant((16, 16), (Coarsening(4), Coarsening(2, 1)))
    moved = Variant((32, 8), (Coarsening(8, 0),))
    measurer = Measurer({OWN: 8.0, TWO: 7.0, FOUR: None, elsewhere: 4.0}, uncompiled=uncompiled)
    evaluator = evaluator_of(measurer)
    trials = [evaluator.evaluate(SPACE.choice_of(each)) for each in (FOUR, EIGHT, both, TWO, elsewhere)]
    assert [trial.time for trial in trials] == [None, None, None, 7 / 8, 1 / 2]
    assert trials[1].reason == f"not tried, since this was not compiled: {FOUR}"
    assert [asked for asked, _ in measurer.asked] == [FOUR, TWO, elsewhere]
    assert merges_as_much(moved, FOUR)
    assert not merges_as_much(replace(EIGHT, any_size=True), FOUR)
    assert not merges_as_much(replace(EIGHT, transforms=Transforms(wide_accesses=True)), FOUR)


def test_a_wrong_variant_says_nothing_of_larger_ones() -> None:
    measurer = Measurer({OWN: 8.0, TWO: None, FOUR: 2.0})
    evaluator = evaluator_of(measurer)
    assert [evaluator.evaluate(SPACE.choice_of(each)).time for each in (TWO, FOUR)] == [None, 1 / 4]


def test_a_reference_that_is_lost_gives_way_to_the_launch_as_it_is() -> None:
    measurer = Measurer({OWN: 8.0, TWO: 1.0, FOUR: 2.0, EIGHT: 4.0}, lost=TWO)
    evaluator = evaluator_of(measurer)
    times = [evaluator.evaluate(SPACE.choice_of(each)).time for each in (TWO, FOUR, EIGHT)]
    assert times == [1 / 8, 1 / 4, 1 / 2]
    assert measurer.asked == [(TWO, OWN), (FOUR, TWO), (FOUR, OWN), (EIGHT, OWN)]


def test_a_launch_that_is_lost_ends_the_search() -> None:
    with pytest.raises(DeviceError, match="does not run any more"):
        evaluator_of(Measurer({OWN: 8.0, TWO: 1.0}, lost=OWN)).evaluate(SPACE.choice_of(TWO))


def test_no_longer_is_waited_for_compilers_than_there_is_time() -> None:
    asked: list[Variant] = []

    class Context:
        def __init__(self) -> None:
            self.codes = self

        def ahead(self, variant: Variant) -> Future[None]:
            asked.append(variant)
            return Future()  # never done

    class Compiling:
        context = Context()

    evaluator = RacingEvaluator(cast("RowMeasurer", Compiling()), OWN, SPACE, lambda: 0.0)
    evaluator.prepare([SPACE.choice_of(TWO), SPACE.choice_of(FOUR)])
    assert asked == [TWO, FOUR]
