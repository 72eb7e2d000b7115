"""The measurement of bases and supports, and the additive models that follow from them."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.search.additive_model import AdditiveModel, fitted, model_of
from coarsen.opencl_bench.search.additive_plan import Support, base_candidates, nearest_first, supports_of
from coarsen.opencl_bench.search.budget import BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.sampling import random_order
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, independent_places
from coarsen.opencl_bench.search.watch_dog import WatchDog

# A base that fails is replaced by the next nearest one, this many times in all.
_BASE_TRIES = 3
_ORIGIN_TESTS = 100_000
# Choices drawn to estimate the share of the space that can be predicted.
_SHARE_SAMPLE = 1_000


@dataclass(frozen=True, slots=True)
class Design:
    """What the measured bases and supports tell.

    Attributes:
        models: one for each base that has a time.
        failed_bases: the number of combinations of shared values that have none because nothing tried there ran.
        unreached_bases: the number of those that the budget did not allow.
        relays: the number of relay supports.
        unranked: the number of values, summed over all bases, that no prediction has.
    """

    models: tuple[AdditiveModel, ...]
    failed_bases: int
    unreached_bases: int
    relays: int
    unranked: int

    def notes(self) -> tuple[str, ...]:
        """Return what a user should know of it, a sentence each."""
        said = {
            f"{self.failed_bases} bases could not run, nor others near them": self.failed_bases,
            f"bases that the budget did not allow: {self.unreached_bases}": self.unreached_bases,
            f"{self.relays} values were measured by relay supports": self.relays,
            f"{self.unranked} values could not be ranked: nothing valid differs in them alone, "
            "or what does so failed, was killed, or exceeded the budget": self.unranked,
        }
        return tuple(note for note, count in said.items() if count)


def origin_of(space: SearchSpace, start: Choice) -> Choice | None:
    """Return the valid choice nearest to another; None for a space that seems to have none."""
    near = itertools.islice(nearest_first(space, start, range(len(space.axes))), _ORIGIN_TESTS)
    found = next(filter(space.is_valid, near), None)
    return found if found is not None else next(random_order(space, random.Random(0)), None)


def planned_choices(space: SearchSpace, combinations: Iterable[Choice], relays: bool) -> set[Choice]:
    """Return all that a design measures if nothing fails."""
    bases = [
        base for base in (next(base_candidates(space, each), None) for each in combinations) if base is not None
    ]
    supports = [support for base in bases for support in supports_of(space, base, relays)]
    return {*bases, *(choice for support in supports for choice in (support.before, support.after))}


def measure_design(
    evaluator: BudgetedEvaluator, combinations: Sequence[Choice], relays: bool, watch_dog: bool, is_log: bool
) -> Design:
    """Measure bases and their supports, one combination after another, as far as the budget goes.

    Args:
        evaluator: tries the choices.
        combinations: of values of the shared axes, each with the independent values that its base should have.
        relays: whether invalid supports are replaced.
        watch_dog: whether supports are ended that are slower than the best of their group.
        is_log: whether the models add logarithms of times.
    """
    space = evaluator.space
    supports: dict[Choice, list[Support]] = {}
    failed = 0
    with contextlib.suppress(BudgetSpentError):
        for combination in combinations:
            base = _measured_base(evaluator, combination)
            if base is None:
                failed += 1
                continue
            supports[base] = list(supports_of(space, base, relays))
            _measure_supports(evaluator, base, supports[base], watch_dog)
    times = {trial.choice: trial.time for trial in evaluator.trace if trial.time is not None}
    models = tuple(fitted(space, base, pairs, times, is_log) for base, pairs in supports.items())
    relayed = sum(
        pair.before != base and pair.after in times for base, pairs in supports.items() for pair in pairs
    )
    unreached = len(combinations) - len(models) - failed
    unranked = sum(_unranked(space, model) for model in models)
    return Design(models, failed, unreached, relayed, unranked)


def predictable_share(space: SearchSpace, models: Sequence[AdditiveModel], draw: random.Random) -> float:
    """Return the share of the valid choices that some model predicts, estimated on a sample of them."""
    sample = list(itertools.islice(random_order(space, draw), _SHARE_SAMPLE))
    return sum(model_of(models, choice) is not None for choice in sample) / max(1, len(sample))


def _measured_base(evaluator: BudgetedEvaluator, combination: Choice) -> Choice | None:
    for candidate in itertools.islice(base_candidates(evaluator.space, combination), _BASE_TRIES):
        if evaluator.evaluate(candidate).time is not None:
            return candidate
    return None


def _measure_supports(
    evaluator: BudgetedEvaluator, base: Choice, supports: Sequence[Support], watch_dog: bool
) -> None:
    groups = {place: WatchDog(evaluator, watch_dog) for place in independent_places(evaluator.space)}
    evaluator.prepare([choice for support in supports for choice in (support.before, support.after)])
    for support in supports:
        if support.before == base:
            groups[support.place].evaluate(base)  # opens the group with its time
            groups[support.place].evaluate(support.after)
        elif evaluator.evaluate(support.before).time is not None:
            evaluator.evaluate(support.after)


def _unranked(space: SearchSpace, model: AdditiveModel) -> int:
    return sum(len(space.axes[place].values) - len(model.terms[place]) for place in independent_places(space))
