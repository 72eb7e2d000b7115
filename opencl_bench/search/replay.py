"""Replay of searches on tables, many times over, as a frame that figures and tables are made from.

tables × searchers × seeds ─▶ runs, each from a base of its own ─▶ a row for each trial
                               │  ▲
                               ▼  └── those that had ended before, where a journal has them
                              journal

The rows are in `replay_rows.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.search.additive import AdditiveSearcher
from coarsen.opencl_bench.search.additive_design import planned_choices
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.compared import REPLAYED
from coarsen.opencl_bench.search.notes import merged
from coarsen.opencl_bench.search.replay_journal import Entry, Journal
from coarsen.opencl_bench.search.replay_origin import Origin, program_digest, table_digest
from coarsen.opencl_bench.search.replay_processes import as_they_end
from coarsen.opencl_bench.search.replay_rows import COLUMNS, RANDOM, TYPES, random_rows, run_rows
from coarsen.opencl_bench.search.replay_run import Base, Run, based, run_on
from coarsen.opencl_bench.search.spaces import SearchSpace
from coarsen.opencl_bench.search.tables import Table

# A space, a searcher, and what it said of a run on it.
Note = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Searchers, runs and budget to be replayed on each table.

    Attributes:
        searchers: by name. Random search is computed and not run.
        seeds: how many runs of each searcher; seeds are counted from 0.
        budget: of a run.
        base: what a run starts from: a valid choice that its seed draws, failed ones too, or the table's own.
    """

    searchers: tuple[str, ...]
    seeds: int
    budget: Budget
    base: Base = "random"

    def __post_init__(self) -> None:
        for name in self.searchers:
            if name not in REPLAYED:
                known = ", ".join(REPLAYED)
                raise InvalidInputError(
                    f"there is no searcher '{name}'{did_you_mean(name, REPLAYED)}; known: {known}"
                )
        if not self.searchers or len(set(self.searchers)) < len(self.searchers):
            raise InvalidInputError("name at least one searcher, and each of them once")
        if self.seeds < 1:
            raise InvalidInputError(f"the number of seeds must be at least 1, not {self.seeds}")


@dataclass(frozen=True, slots=True)
class Replay:
    """Rows and notes of a replay.

    Attributes:
        rows: one for each trial; see above.
        notes: what searchers said of their runs, and of how many; numbers are medians over the runs.
    """

    rows: pd.DataFrame
    notes: Mapping[Note, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a replay is.

    Attributes:
        runs: how many there are; random search has none.
        kept: of how many an earlier replay had left the results.
        done: how many this one has done.
    """

    runs: int
    kept: int
    done: int


@dataclass(frozen=True, slots=True)
class _Task:
    """One run that is to be done."""

    plan: Plan
    table: Table
    searcher: str
    seed: int


def replay(
    tables: Sequence[Table],
    plan: Plan,
    processes: int = 1,
    journal: Journal | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Replay:
    """Search each table by each searcher with each seed.

    All searchers do the first seed on all tables, then the second, so that a replay that was interrupted has as
    many runs of one as of the others.

    Args:
        tables: of different names.
        plan: what is replayed.
        processes: how many run at once; what is returned is the same for any number.
        journal: has the runs of earlier replays, which are not done again, and gets each new one at its end.
        watch: is told how far the replay is, at its start and after each run.

    Raises:
        InvalidInputError: two tables have one name, a searcher lacks a package, or the journal can't be used.
    """
    if len({table.name for table in tables}) < len(tables):
        raise InvalidInputError("two of the spaces have one name")
    runs = _runs(tables, plan, processes, journal, watch)
    rows: list[tuple[object, ...]] = []
    said: dict[Note, int] = {}
    for table in tables:
        for searcher in plan.searchers:
            if searcher == RANDOM:
                rows += random_rows(table, plan.budget)
                continue
            own = [runs[table.name, searcher, seed] for seed in range(plan.seeds)]
            for seed, run in enumerate(own):
                rows += run_rows(table, searcher, seed, run)
            notes = merged(note for run in own for note in run.notes)
            said |= {(table.name, searcher, text): count for text, count in notes.items()}
    return Replay(pd.DataFrame(rows, columns=list(COLUMNS)).astype(TYPES), MappingProxyType(said))


def planned_trials(searcher: AdditiveSearcher, space: SearchSpace, seed: int) -> int:
    """Return how many bases and supports a searcher measures before its checks, where its budget allows them."""
    draw = random.Random(seed)
    origin = searcher.origin(space, draw)
    if origin is None:
        return 0
    return len(planned_choices(space, searcher.combinations(space, origin, draw), searcher.relays))


def _runs(
    tables: Sequence[Table],
    plan: Plan,
    processes: int,
    journal: Journal | None,
    watch: Callable[[Progress], None],
) -> dict[tuple[str, str, int], Run]:
    """The runs by table, searcher and seed, as far as they were kept, and the others anew."""
    tasks = [
        _Task(plan, table, searcher, seed)
        for seed in range(plan.seeds)
        for table in tables
        for searcher in plan.searchers
        if searcher != RANDOM
    ]
    origins = _origins(tables, plan)
    kept = {} if journal is None else journal.runs()
    found: dict[tuple[str, str, int], Run] = {}
    left = []
    for task in tasks:
        origin = origins[task.table.name, task.searcher].of_seed(task.seed)
        if origin in kept:
            found[task.table.name, task.searcher, task.seed] = kept[origin]
        else:
            left.append((task, origin))
    before = len(found)
    watch(Progress(len(tasks), before, 0))
    for number, run in as_they_end(_run, [task for task, _ in left], processes):
        task, origin = left[number]
        if journal is not None:
            journal.add(Entry(origin, task.table.name, task.searcher, task.seed, run))
        found[task.table.name, task.searcher, task.seed] = run
        watch(Progress(len(tasks), before, len(found) - before))
    return found


def _origins(tables: Sequence[Table], plan: Plan) -> dict[tuple[str, str], Origin]:
    programs = {name: program_digest(REPLAYED[name]) for name in plan.searchers}
    return {
        (table.name, name): Origin(digest, program, name, plan.budget, plan.base)
        for table, digest in ((table, table_digest(table)) for table in tables)
        for name, program in programs.items()
    }


def _run(task: _Task) -> Run:
    searcher = REPLAYED[task.searcher]
    table = based(task.table, task.plan.base, task.seed)
    planned = planned_trials(searcher, table.space, task.seed) if isinstance(searcher, AdditiveSearcher) else None
    return run_on(table, searcher, task.plan.budget, task.seed, planned)
