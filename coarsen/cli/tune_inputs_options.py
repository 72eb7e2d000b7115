"""Options of `coarsen tune` that only tuning over inputs has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.bench_search import searcher_called
from coarsen.cli.search_options import parsed_budget
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.inputs.over_inputs import OverInputs
    from coarsen.opencl_bench.inputs.stage_one import StageOneSettings

Inputs = Annotated[
    int | None,
    typer.Option(
        "--inputs",
        metavar="NUMBER",
        min=1,
        help="Use only the first NUMBER inputs of the file.  [default: all]",
    ),
]
InputsFrom = Annotated[
    Path | None,
    typer.Option(
        "--inputs-from",
        metavar="FOLDER",
        help="Tune over the launches that a program made, as coarsen run --record FOLDER wrote them: as many as "
        "--inputs says (24), which differ as much as they can.",
        show_default=False,
    ),
]
MostVersions = Annotated[
    int | None,
    typer.Option(
        "--most",
        metavar="NUMBER",
        min=1,
        help="The most versions of a tuned file, with the default.  [default: 8]",
    ),
]
InputsSearch = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="NAME",
        help="Over inputs: how versions are searched on eight of them: guided, additive, additive-paper, "
        "staircase, random, exhaustive.  [default: guided, which begins with the best of the nearest "
        "inputs; the others begin anew]",
    ),
]
InputsBudget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="NUMBER|SHARE%",
        help="Over inputs: how many versions a search may try on each of the eight, failures too, or which share "
        "of all.  [default: guided 30%, or all of 40 or fewer; the others until they end by themselves]",
    ),
]
ColdInputs = Annotated[
    bool, typer.Option("--cold-cache", help="Over inputs: flush the caches before every timed run.")
]
ColdCheck = Annotated[
    bool,
    typer.Option(
        "--cold-check",
        help="Over inputs: time what is found with flushed caches too, at the least, the middle and the largest "
        "input, and say where another version is the fastest then.",
    ),
]
TunedOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE.tuned.json",
        help="Where the tuned file of inputs or layouts goes.  [default: beside the description]",
    ),
]


@dataclass(frozen=True, slots=True)
class InputsRequest:
    """What a person asks for beside the kernel and the device; None is the default.

    Attributes:
        inputs: how many inputs.
        most: how many versions at most.
        output: where the tuned file goes.
        seed: of the searches.
        store: where rows go.
        recording: the folder of recorded launches that are the inputs.
        distinct: whether versions may take it that arguments lead to distinct memory.
        search: the name of the search.
        budget: what it may try, in words.
        is_cold: whether the caches are flushed before every timed run.
        cold_check: whether what is found is timed with flushed caches too.

    Raises:
        InvalidInputError: a check of what is done anyway.
    """

    inputs: int | None
    most: int | None
    output: Path | None
    seed: int
    store: str | None
    recording: Path | None = None
    distinct: bool = True
    search: str | None = None
    budget: str | None = None
    is_cold: bool = False
    cold_check: bool = False

    def __post_init__(self) -> None:
        if self.is_cold and self.cold_check:
            raise InvalidInputError(
                "--cold-check is for times with warm caches; --cold-cache flushes them anyway: leave one out"
            )

    @property
    def is_asked_for(self) -> bool:
        """Return True if an option is given that only tuning over inputs has."""
        given = self.inputs, self.most, self.output, self.recording, self.search, self.budget
        return any(value is not None for value in given) or self.is_cold or self.cold_check

    def stage_one(self) -> StageOneSettings:
        """Return how versions are searched.

        Raises:
            InvalidInputError: there is no such search, or the budget is none.
        """
        # Imported late: they load NumPy and SciPy.
        from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
        from coarsen.opencl_bench.search.evaluator import Budget
        from coarsen.opencl_bench.search.guided import GuidedSearcher

        limit = None if self.budget is None else parsed_budget(self.budget)
        searcher = GuidedSearcher() if self.search is None else searcher_called(self.search)
        if isinstance(searcher, GuidedSearcher):
            return StageOneSettings(searcher, seed=self.seed, limit=limit)
        # These have a start of their own, and end by themselves.
        return StageOneSettings(searcher, is_warm=False, seed=self.seed, limit=limit or Budget())

    def settings(self, listed: int | None) -> OverInputs:
        """Return how it is tuned.

        Args:
            listed: how many of the listed inputs; all if None.

        Raises:
            InvalidInputError: as `stage_one` does.
        """
        from coarsen.opencl_bench.inputs.over_inputs import OverInputs
        from coarsen.opencl_bench.records.measurement import Method

        usual = OverInputs()
        return OverInputs(
            listed,
            self.most or usual.most,
            stage_one=self.stage_one(),
            method=Method(cold_cache=self.is_cold),
            distinct=self.distinct,
            cold_check=self.cold_check,
        )
