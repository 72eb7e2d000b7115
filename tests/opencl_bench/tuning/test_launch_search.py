"""The space of a launch, where its search begins, and the search itself."""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.plan import DeviceLimits, variant_space
from coarsen.tuning.launch_search import PATIENCE, ROUND_SIZE, LaunchModel, LaunchSearcher
from coarsen.tuning.launch_space import MOST_MERGED, launch_space, other_local_sizes, starting_points
from coarsen.tuning.search.evaluator import TIME_OVER, Budget
from coarsen.tuning.search.spaces import Choice, VariantSearchSpace
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant
from tests.opencl_bench.search.tables import FunctionEvaluator

LIMITS = DeviceLimits(1024, (1024, 1024, 64), 32768)
OWN = (16, 16)
SPACE = VariantSearchSpace(
    variant_space(SUITE["mt"], "test", launch_space(OWN, ((32, 8),), DEFAULT, Tune()), LIMITS)
)
MODEL = LaunchModel(SPACE.variant, OWN, lambda _: 0.0)


def choices(*variants: Variant) -> list[Choice]:
    return [SPACE.choice_of(variant) for variant in variants]


def time_of(choice: Choice) -> float | None:
    """Fastest with factor 8 along dimension 1 and wide accesses; group level fails."""
    variant = SPACE.variant(choice)
    if variant.merges_groups:
        return None
    factors = {each.dimension: each.factor for each in variant.coarsenings}
    wide = variant.is_coarsened and variant.transforms.wide_accesses
    return 1.0 + abs(factors.get(1, 1) - 8) + 2 * (factors.get(0, 1) - 1) + 3 * (not wide)


class Prepared(FunctionEvaluator):
    """Keeps the batches that it was asked to prepare."""

    def __init__(self) -> None:
        super().__init__(SPACE, time_of)
        self.batches: list[tuple[Choice, ...]] = []

    def _prepare(self, choices: Sequence[Choice]) -> None:
        self.batches.append(tuple(choices))


SEARCHER = LaunchSearcher(MODEL, tuple(choices(Variant(OWN))))


def test_the_search_finds_the_fastest_in_few_trials() -> None:
    evaluator = Prepared()
    found = SEARCHER.search(evaluator, Budget(), 0)
    assert found.best is not None
    assert (found.ending, found.best.time) == (f"{PATIENCE} rounds brought no gain", 1.0)
    assert evaluator.tried < 120
    assert max(map(len, evaluator.batches)) == ROUND_SIZE
    assert {choice for batch in evaluator.batches for choice in batch} == {
        trial.choice for trial in evaluator.trace
    }


def test_the_same_seed_asks_for_the_same() -> None:
    traces = [
        [trial.choice for trial in SEARCHER.search(Prepared(), Budget(trials=12), seed).trace]
        for seed in (3, 3, 4)
    ]
    assert traces[0] == traces[1] != traces[2]
    assert len(traces[0]) == 12


def test_the_search_ends_with_its_time() -> None:
    evaluator = Prepared()
    found = SEARCHER.search(evaluator, Budget(is_over=lambda: evaluator.tried >= 7), 0)
    assert (found.ending, evaluator.tried) == (TIME_OVER, 7)


def test_it_begins_with_each_way_to_coarsen() -> None:
    found = list(
        starting_points((OWN, (32, 8)), (0, 1), (Level.ITEM, Level.GROUP), (1, 32), DEFAULT, lambda _: True)
    )
    assert found[0] == Variant(OWN)
    assert Variant((32, 8)) in found
    single = {each.coarsenings[0] for each in found if len(each.coarsenings) == 1}
    assert {(each.dimension, each.level, each.stride) for each in single} == {
        (dimension, level, stride)
        for dimension in (0, 1)
        for level, stride in ((Level.ITEM, 1), (Level.ITEM, 32), (Level.GROUP, 1))
    }
    assert len(found) == len(set(found))
    assert Variant(OWN, (Coarsening(4, 0), Coarsening(4, 1))) in found
    assert found[-1] == Variant((32, 8)), "what is tried first is coarsened"


def test_factors_that_do_not_divide_give_way_to_others() -> None:
    def is_valid(variant: Variant) -> bool:
        return all(6 % each.factor == 0 for each in variant.coarsenings)

    found = list(starting_points(((6,),), (0,), (Level.ITEM,), (1,), DEFAULT, is_valid))
    assert found == [Variant((6,)), Variant((6,), (Coarsening(2, 0),))]


def test_local_sizes_divide_and_fit() -> None:
    found = other_local_sizes((1024, 768), OWN, LIMITS)
    assert OWN not in found
    assert all(1024 % x == 0 and 768 % y == 0 and x * y <= 1024 and x >= 4 for x, y in found)
    assert (32, 8) in found
    assert other_local_sizes((1000,), (10,), LIMITS) == ()
    assert other_local_sizes((1 << 20,), (256,), DeviceLimits(128, (128,), 1)) == ((128,), (64,))


def test_no_more_is_merged_than_the_limit() -> None:
    space = launch_space(OWN, (), DEFAULT, Tune(wide_accesses=False, levels=("item",)))
    assert (space.most_merged, space.levels, space.transforms.wide_accesses) == (
        MOST_MERGED,
        (Level.ITEM,),
        (False,),
    )
