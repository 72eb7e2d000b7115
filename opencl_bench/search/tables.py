"""Spaces whose every valid configuration was measured before, as tables to look times up in.

    configurations by parameter ─▶ table_of ─▶ Table ─▶ with_base ─▶ the same times, searched from another base

A search sees `TableSpace`, which says what may be tried and knows no time. `ReplayEvaluator` alone gives times.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.evaluator import RememberingEvaluator, Trial
from coarsen.opencl_bench.search.spaces import Axis, Choice

Configuration = Mapping[str, Hashable]
# A configuration with a value for every axis, its time (None if it failed), and the seconds that trying it took.
Row = tuple[Configuration, float | None, float]


@dataclass(frozen=True)
class TableSpace:
    """The choices that a table has, failed ones too; any other is invalid.

    Args:
        axes: in the order of a choice's indices; the first value of each makes the base.
        choices: the valid ones.
    """

    axes: tuple[Axis, ...]
    choices: frozenset[Choice]

    def is_valid(self, choice: Choice) -> bool:
        """Return True if the table has the choice."""
        return choice in self.choices

    def valid_choices(self) -> Iterator[Choice]:
        """Enumerate the choices, each once, in ascending order."""
        return iter(self.ordered)

    @cached_property
    def ordered(self) -> tuple[Choice, ...]:
        """The choices in ascending order."""
        return tuple(sorted(self.choices))


@dataclass(frozen=True)
class Table:
    """A space of which everything is known.

    Attributes:
        name: what it is of.
        space: what may be tried; the first value of each axis together are one of its choices, the base.
        trials: by choice, one for each of the space.
        remarks: what a reader of a replay should know of it, a sentence each.
    """

    name: str
    space: TableSpace
    trials: Mapping[Choice, Trial]
    remarks: tuple[str, ...] = ()

    @cached_property
    def times(self) -> tuple[float, ...]:
        """The times of the choices that did not fail, in ascending order."""
        return tuple(sorted(trial.time for trial in self.trials.values() if trial.time is not None))

    @property
    def optimum(self) -> float:
        """The shortest time."""
        return self.times[0]


class ReplayEvaluator(RememberingEvaluator):
    """An evaluator that looks times up in a table.

    Args:
        table: the results of all valid choices.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table.space)
        self._table = table

    def _measure(self, choice: Choice) -> Trial:
        return self._table.trials[choice]


def table_of(
    name: str, axes: Sequence[Axis], rows: Iterable[Row], default: Configuration, remarks: Iterable[str] = ()
) -> Table:
    """Make a table of results.

    Args:
        name: of the space.
        axes: with all values that occur, in any order.
        rows: the results.
        default: the configuration to start from. Where it has no result, the nearest one that has is the base, and
            a remark says so.
        remarks: see `Table`.

    Raises:
        InvalidInputError: a value that no axis has, a configuration that is there twice, no result with a time.
    """
    places = [{value: place for place, value in enumerate(axis.values)} for axis in axes]
    trials: dict[Choice, Trial] = {}
    for configuration, time, seconds in rows:
        choice = tuple(_places(configuration, axes, places))
        if -1 in choice:
            axis = axes[choice.index(-1)]
            raise InvalidInputError(f"{name}: '{axis.name}' has no value {configuration.get(axis.name)!r}")
        if choice in trials:
            raise InvalidInputError(f"{name}: {words(configuration)} has two results")
        trials[choice] = Trial(choice, time, seconds)
    if all(trial.time is None for trial in trials.values()):
        raise InvalidInputError(f"{name}: none of its {len(trials)} configurations has a time")
    table = Table(name, TableSpace(tuple(axes), frozenset(trials)), trials, tuple(remarks))
    wanted = tuple(_places(default, axes, places))
    base = nearest(table.space, wanted)
    if base != wanted:
        remark = (
            f"the default ({words(default)}) is not valid: "
            f"the base is the nearest that is ({words(_values(table, base))})"
        )
        table = replace(table, remarks=(*table.remarks, remark))
    return with_base(table, base)


def with_base(table: Table, base: Choice) -> Table:
    """Return the table with its values ordered so that a choice is the base; no time changes.

    Args:
        table: any.
        base: one of its choices.
    """
    orders = [
        (own, *(place for place in range(len(axis.values)) if place != own))
        for axis, own in zip(table.space.axes, base, strict=True)
    ]
    axes = tuple(
        replace(axis, values=tuple(axis.values[place] for place in order))
        for axis, order in zip(table.space.axes, orders, strict=True)
    )
    moves = [{old: new for new, old in enumerate(order)} for order in orders]
    moved = {
        choice: tuple(move[place] for move, place in zip(moves, choice, strict=True)) for choice in table.trials
    }
    trials = {moved[choice]: replace(trial, choice=moved[choice]) for choice, trial in table.trials.items()}
    return replace(table, space=TableSpace(axes, frozenset(trials)), trials=trials)


def nearest(space: TableSpace, wanted: Sequence[int]) -> Choice:
    """Return the choice that differs from what is wanted in the fewest axes, then by the fewest steps along them.

    Of equally near ones the first in ascending order is taken.

    Args:
        space: with at least one choice.
        wanted: an index for each axis, -1 for a value that it lacks.
    """
    ranks = [_ranks(axis) for axis in space.axes]

    def distance(choice: Choice) -> tuple[int, int]:
        steps = [
            abs(rank[own] - rank[place]) if place >= 0 else len(rank)
            for rank, own, place in zip(ranks, choice, wanted, strict=True)
            if own != place
        ]
        return len(steps), sum(steps)

    return min(space.ordered, key=distance)


def words(configuration: Configuration) -> str:
    """Write a configuration for people."""
    return ", ".join(f"{name} = {value}" for name, value in configuration.items())


def _ranks(axis: Axis) -> list[int]:
    """Return the rank of each value: by size where all are numbers, or else their order."""
    values = axis.values
    if not all(isinstance(value, int | float) for value in values):
        return list(range(len(values)))
    ordered = sorted(values)
    return [ordered.index(value) for value in values]


def _places(
    configuration: Configuration, axes: Sequence[Axis], places: Sequence[Mapping[Hashable, int]]
) -> Iterator[int]:
    """The index of each value on its axis, -1 where the axis lacks it."""
    return (place.get(configuration.get(axis.name), -1) for axis, place in zip(axes, places, strict=True))


def _values(table: Table, choice: Choice) -> dict[str, Hashable]:
    """The values of a choice, those apart that all choices share."""
    pairs = zip(table.space.axes, choice, strict=True)
    return {axis.name: axis.values[place] for axis, place in pairs if len(axis.values) > 1}
