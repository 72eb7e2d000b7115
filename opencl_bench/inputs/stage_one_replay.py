"""The first stage on stored times: a full grid of versions, measured once on all inputs.

An evaluation replays it without the inputs that it holds out: what a search would have left is then known of each
fold, and nothing of the held-out inputs is in it. Folds have most searches in common; these are run once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coarsen.models.inputs.parameters import parameters_of
from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.stage_one import StageOne, StageOneSettings, stage_one
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.spaces import Axis, Choice, values_of
from coarsen.opencl_bench.search.tables import ReplayEvaluator, Row, Table, table_of
from coarsen.variant.variant import Variant

_LOCAL_SIZE = "local_size"


@dataclass(frozen=True, slots=True)
class ReplayedStageOne:
    """The first stage as the evaluation takes it: times of some inputs to numbers of versions.

    Attributes:
        settings: how it searches.
        searches: those that were run, by all that they depend on but the searcher's own program (`search_key`).
    """

    settings: StageOneSettings
    searches: MutableMapping[str, Found] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, times: VersionTimes) -> tuple[int, ...]:
        """Return the versions that the searches leave, in ascending order."""
        grid = _Grid(times)
        return tuple(sorted(grid.column(choice) for choice in self.run(times).choices))

    def run(self, times: VersionTimes) -> StageOne:
        """Return the whole result of the searches on the times."""
        grid = _Grid(times)
        searcher = _RememberingSearcher(self.settings.searcher, self.searches)
        return stage_one(times.inputs, grid.evaluator, grid.default, replace(self.settings, searcher=searcher))


def grid_tables(times: VersionTimes) -> tuple[Table, ...]:
    """Return the times of each input as a table to search, whose base is the default version."""
    grid = _Grid(times)
    return tuple(grid.table(number) for number in range(len(times.inputs)))


def replayed_versions(times: VersionTimes, replayed: StageOne) -> frozenset[tuple[str, int]]:
    """Return what a replayed first stage, and the measurement that follows it, look at: inputs with versions.

    Args:
        times: those of the replay.
        replayed: its result.
    """
    grid = _Grid(times)
    tried = {
        (times.inputs[row].name, grid.column(trial.choice))
        for row, found in zip(replayed.searched, replayed.found, strict=True)
        for trial in found.trace
    }
    left = {grid.column(choice) for choice in replayed.choices}
    return frozenset(tried | {(point.name, column) for point in times.inputs for column in left})


@dataclass(frozen=True, slots=True)
class _RememberingSearcher:
    """A searcher that runs the same search of the same times once."""

    searcher: Searcher
    searches: MutableMapping[str, Found]

    @property
    def name(self) -> str:
        return self.searcher.name

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Return what was found by the same search, or search."""
        if not isinstance(evaluator, GridEvaluator):
            return self.searcher.search(evaluator, budget, seed)
        key = search_key(self.searcher, evaluator, budget, seed)
        if key not in self.searches:
            self.searches[key] = self.searcher.search(evaluator, budget, seed)
        return self.searches[key]


def search_key(searcher: Searcher, evaluator: GridEvaluator, budget: Budget, seed: int) -> str:
    """Return the SHA-256 of all that a search depends on but its program, in hexadecimal digits.

    Args:
        searcher: with its settings.
        evaluator: has the times, and what was tried before.
        budget: of the search.
        seed: likewise.
    """
    content = repr(searcher), evaluator.times, evaluator.trace, budget, seed
    return hashlib.sha256(repr(content).encode()).hexdigest()


class GridEvaluator(ReplayEvaluator):
    """Looks times up, and tells all of them to whoever must know whether they are the same."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.times: Hashable = (table.space.axes, tuple(table.trials.values()))


class _Grid:
    """Versions as a space to search, and their times on each input as tables."""

    def __init__(self, times: VersionTimes) -> None:
        self._times = times
        self._configurations = _configurations(times.versions)
        names = self._configurations[0]
        self._axes = [
            Axis(name, tuple(sorted({configuration[name] for configuration in self._configurations})))
            for name in names
        ]
        self._columns = {_key(configuration): n for n, configuration in enumerate(self._configurations)}
        # All inputs' tables have their axes in one order: that of the first one, whose base is the default.
        self._space = self.table(0).space
        self.default: Choice = (0,) * len(self._axes)

    def evaluator(self, number: int) -> Evaluator:
        """Return what looks times on an input up."""
        return GridEvaluator(self.table(number))

    def column(self, choice: Choice) -> int:
        """Return the number of a choice's version."""
        return self._columns[_key(values_of(self._space, choice))]

    def table(self, number: int) -> Table:
        """Return the times on an input; what failed there is a configuration that failed."""
        seconds = self._times.seconds[number].tolist()
        rows: list[Row] = [
            (configuration, None if np.isnan(time) else time, 0.0)
            for configuration, time in zip(self._configurations, seconds, strict=True)
        ]
        default = self._configurations[self._times.default]
        return table_of(self._times.inputs[number].name, self._axes, rows, default)


def _configurations(versions: Sequence[Variant]) -> list[dict[str, Hashable]]:
    """The parameters of each version by name; a local size is one of them."""
    parameters = [each for each in parameters_of(versions) if not each.name.startswith("local size")]
    found: list[dict[str, Hashable]] = []
    for number, version in enumerate(versions):
        configuration: dict[str, Hashable] = {each.name: each.values[number] for each in parameters}
        found.append({**configuration, _LOCAL_SIZE: version.local_size})
    return found


def _key(configuration: dict[str, Hashable]) -> tuple[tuple[str, Hashable], ...]:
    return tuple(sorted(configuration.items(), key=lambda item: item[0]))
