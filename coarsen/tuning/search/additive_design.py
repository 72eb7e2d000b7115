"""What an additive search measures, and the predictions that follow: bases, supports, sums."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.tuning.search.evaluator import BudgetSpentError, Evaluator
from coarsen.tuning.search.spaces import (
    Choice,
    ConstrainedSpace,
    SearchSpace,
    independent_places,
    random_order,
    shared_places,
)

# A base that fails is replaced by the next nearest one, this many times in all.
_BASE_TRIES = 3
_ORIGIN_TESTS = 100_000
# Choices drawn to estimate the share of the space that can be predicted.
_SHARE_SAMPLE = 1_000


def origin_of(space: SearchSpace, start: Choice) -> Choice | None:
    """Return the valid choice nearest to another; None for a space that seems to have none."""
    near = itertools.islice(nearest_first(space, start, range(len(space.axes))), _ORIGIN_TESTS)
    found = next(filter(space.is_valid, near), None)
    return found if found is not None else next(random_order(space, random.Random(0)), None)


def planned_choices(space: SearchSpace, combinations: Iterable[Choice]) -> set[Choice]:
    """Return all that a design measures if nothing fails."""
    bases = [
        base for base in (next(base_candidates(space, each), None) for each in combinations) if base is not None
    ]
    supports = [support for base in bases for support in supports_of(space, base)]
    return {*bases, *(choice for support in supports for choice in (support.before, support.after))}


def measure_design(evaluator: Evaluator, combinations: Sequence[Choice]) -> tuple[AdditiveModel, ...]:
    """Measure bases and their supports, one combination after another, as far as the budget goes.

    What a user should know of it becomes notes of the evaluator.

    Args:
        evaluator: tries the choices.
        combinations: of values of the shared axes, each with the independent values that its base should have.

    Returns:
        The models, one for each base that has a time.
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
            supports[base] = list(supports_of(space, base))
            _measure_supports(evaluator, base, supports[base])
    times = evaluator.times
    models = tuple(fitted(base, pairs, times) for base, pairs in supports.items())
    relayed = sum(
        pair.before != base and pair.after in times for base, pairs in supports.items() for pair in pairs
    )
    unreached = len(combinations) - len(models) - failed
    values = [len(space.axes[place].values) for place in independent_places(space)]
    unranked = sum(
        count - len(model.terms[place])
        for model in models
        for place, count in zip(independent_places(space), values, strict=True)
    )
    said = {
        f"{failed} bases could not run, nor others near them": failed,
        f"bases that the budget did not allow: {unreached}": unreached,
        f"{relayed} values were measured by relay supports": relayed,
        f"{unranked} values could not be ranked: nothing valid differs in them alone, "
        "or what does so failed, or exceeded the budget": unranked,
    }
    evaluator.notes += [note for note, count in said.items() if count]
    return models


def predictable_share(space: SearchSpace, models: Sequence[AdditiveModel], draw: random.Random) -> float:
    """Return the share of the valid choices that some model predicts, estimated on a sample of them."""
    sample = list(itertools.islice(random_order(space, draw), _SHARE_SAMPLE))
    return sum(any(model.predicts(choice) for model in models) for choice in sample) / max(1, len(sample))


def _measured_base(evaluator: Evaluator, combination: Choice) -> Choice | None:
    for candidate in itertools.islice(base_candidates(evaluator.space, combination), _BASE_TRIES):
        if evaluator.evaluate(candidate).time is not None:
            return candidate
    return None


def _measure_supports(evaluator: Evaluator, base: Choice, supports: Sequence[Support]) -> None:
    evaluator.prepare([choice for support in supports for choice in (support.before, support.after)])
    for support in supports:
        if support.before == base or evaluator.evaluate(support.before).time is not None:
            evaluator.evaluate(support.after)


# The least sums of one term from each of several lists, in order, by a heap.
#
#     terms of axis 0 + terms of axis 1 + …  ──▶  choices by ascending sum
#
# Only what is asked for is visited, and one step more along each axis: a space of 10⁹ points costs nothing.

Terms = Mapping[int, float]


def ascending_sums(terms: Sequence[Terms]) -> Iterator[tuple[float, Choice]]:
    """Enumerate every choice of one term for each axis, the least sum first, each once.

    Args:
        terms: the term of each index that may be chosen, one mapping for each axis.
    """
    if not all(terms):
        return
    orders = [sorted(entries, key=entries.__getitem__) for entries in terms]
    values = [[entries[index] for index in order] for entries, order in zip(terms, orders, strict=True)]
    start = (0,) * len(terms)
    heap = [(_sum(values, start), start, 0)]
    while heap:
        total, ranks, advanced = heapq.heappop(heap)
        yield total, tuple(order[rank] for order, rank in zip(orders, ranks, strict=True))
        # One way alone leads to each choice: its axes are advanced from the first to the last.
        for place in range(advanced, len(ranks)):
            if ranks[place] + 1 < len(orders[place]):
                after = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
                heapq.heappush(heap, (_sum(values, after), after, place))


def _sum(values: Sequence[Sequence[float]], ranks: Sequence[int]) -> float:
    # Added up anew in one order: a larger term never makes a smaller sum, which adding differences would not keep.
    return sum(column[rank] for column, rank in zip(values, ranks, strict=True))


# Additive predictions: a base's time and what each value of each independent axis adds to it.
#
#     P(C_P) = T(C_B) + Σ_{d ∈ D_I} (T(C_{S,d}) − T(C_B))        (Weber et al. 2015, equation 7)
#
# Values whose support failed or is missing are in no prediction.


@dataclass(frozen=True, slots=True)
class AdditiveModel:
    """The predictions from one base, for all choices with its shared values.

    Attributes:
        base: where the terms are 0.
        level: the base's time.
        terms: what each index adds to it, one mapping for each axis; what is not there can't be predicted.
    """

    base: Choice
    level: float
    terms: tuple[Terms, ...]

    def predicts(self, choice: Choice) -> bool:
        """Return True if there is a term for each value of a choice."""
        return all(index in terms for index, terms in zip(choice, self.terms, strict=True))

    def predicted(self, choice: Choice) -> float:
        """Return the predicted time of a choice, in the unit of the trials; it may be below 0."""
        return self.level + sum(terms[i] for i, terms in zip(choice, self.terms, strict=True))

    def ranked(self) -> Iterator[tuple[float, Choice]]:
        """Enumerate what this predicts, the least time first."""
        return ((self.level + total, choice) for total, choice in ascending_sums(self.terms))


def fitted(base: Choice, supports: Iterable[Support], times: Mapping[Choice, float]) -> AdditiveModel:
    """Fit the model of a base to what was measured.

    Args:
        base: one that has a time.
        supports: its supports; those without two times are left out.
        times: of whatever ended correctly, above 0.
    """
    terms: list[dict[int, float]] = [{index: 0.0} for index in base]
    for support in supports:
        if support.before in times and support.after in times:
            terms[support.place][support.index] = times[support.after] - times[support.before]
    return AdditiveModel(base, times[base], tuple(terms))


def ranked(models: Sequence[AdditiveModel]) -> Iterator[tuple[float, Choice]]:
    """Enumerate what several models predict, the least time first; their bases differ in shared values."""
    return heapq.merge(*(model.ranked() for model in models))


# Bases and supports: what an additive prediction has to measure (Weber et al. 2015, section 4.1).
#
#     base      a combination of values of the shared axes, the independent axes at their defaults
#     support   a base with one value of one independent axis changed
#
# Where a combination is invalid beside the defaults, the valid choice nearest to these is its base: the values of
# the independent axes do not matter there. Where changing one value is invalid, a *relay support* may replace the
# support: the valid pair nearest to the base that differs in this value alone.

# Choices tested for each base, and for each relay support, before there is taken to be none.
_BASE_TESTS = 5_000
_RELAY_TESTS = 2_000
_DRAWN_COMBINATIONS = 200
FEW_BASES = 4


@dataclass(frozen=True, slots=True)
class Support:
    """A pair of valid choices that differ in one value alone.

    Attributes:
        place: of the axis in which they differ.
        before: the one with the base's value: the base itself, unless this is a relay support.
        after: the one with the value that the support is for.
    """

    place: int
    before: Choice
    after: Choice

    @property
    def index(self) -> int:
        """Return the value that the support is for, as its index in the axis."""
        return self.after[self.place]


def base_count(space: SearchSpace) -> int:
    """Return |C_B|, the number of bases (equation 8)."""
    return math.prod(len(space.axes[place].values) for place in shared_places(space))


def few_combinations(space: SearchSpace, origin: Choice, draw: random.Random) -> list[Choice]:
    """Return at most four combinations of shared values that have a base, beside the other values of `origin`.

    The first is that of `origin`, the others are drawn.
    """
    wanted = itertools.chain((origin,), itertools.islice(_drawn_combinations(space, draw), _DRAWN_COMBINATIONS))
    found: dict[Choice, None] = {}
    for choice in wanted:
        triples = zip(space.axes, origin, choice, strict=True)
        combination = tuple(there if axis.shared else here for axis, here, there in triples)
        if combination not in found and next(base_candidates(space, combination), None) is not None:
            found[combination] = None
        if len(found) == min(FEW_BASES, base_count(space)):
            break
    return list(found)


def base_candidates(space: SearchSpace, combination: Choice) -> Iterator[Choice]:
    """Enumerate the valid choices with the same shared values, nearest first."""
    near = nearest_first(space, combination, independent_places(space))
    return filter(space.is_valid, itertools.islice(near, _BASE_TESTS))


def supports_of(space: SearchSpace, base: Choice) -> Iterator[Support]:
    """Enumerate the supports of a valid base, axis by axis; the relay supports come last.

    A value with neither a valid support nor a relay support is left out.
    """
    missing = []
    for place in independent_places(space):
        for index in _other_indices(space, base, place):
            after = changed(base, place, index)
            if space.is_valid(after):
                yield Support(place, base, after)
            else:
                missing.append((place, index))
    yield from filter(None, (_relay(space, base, place, index) for place, index in missing))


def nearest_first(space: SearchSpace, choice: Choice, places: Sequence[int]) -> Iterator[Choice]:
    """Enumerate the choices that differ from one in some of these places, in the fewest first."""
    for distance in range(len(places) + 1):
        for some in itertools.combinations(places, distance):
            for indices in itertools.product(*(_other_indices(space, choice, place) for place in some)):
                near = list(choice)
                for place, index in zip(some, indices, strict=True):
                    near[place] = index
                yield tuple(near)


def changed(choice: Choice, place: int, index: int) -> Choice:
    """Return a choice with one of its indices replaced."""
    return (*choice[:place], index, *choice[place + 1 :])


def _relay(space: SearchSpace, base: Choice, place: int, index: int) -> Support | None:
    others = [other for other in independent_places(space) if other != place]
    for before in itertools.islice(nearest_first(space, base, others), _RELAY_TESTS):
        after = changed(before, place, index)
        if space.is_valid(before) and space.is_valid(after):
            return Support(place, before, after)
    return None


def _other_indices(space: SearchSpace, choice: Choice, place: int) -> Iterator[int]:
    return (index for index in range(len(space.axes[place].values)) if index != choice[place])


def _drawn_combinations(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    shared = shared_places(space)
    for values in random_order(ConstrainedSpace(tuple(space.axes[place] for place in shared)), draw):
        choice = [0] * len(space.axes)
        for place, index in zip(shared, values, strict=True):
            choice[place] = index
        yield tuple(choice)
