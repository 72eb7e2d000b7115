"""Options of `coarsen tune`: what is tuned, where, and how it is tuned at one size.

Those of tuning over inputs are in `tune_inputs_options.py`, those of layouts in `tune_layouts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.tuning.settings import Tune

DEFAULT_PRESET = "cpu"
DEFAULT_SECONDS = 20.0
DEFAULT_LEVELS = "item,group"

KernelToTune = Annotated[
    list[str],
    typer.Argument(
        metavar="KERNEL",
        help="KERNEL.toml, or KERNEL.cl beside it: described (`coarsen bench init`) or captured; or a name of the "
        "suite.",
        show_default=False,
    ),
]
TunedDevice = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="An index (0:1) or any part of the name.  [default: the first that works]",
    ),
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="SECONDS", help="The time for all, timing the best again included.")
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", metavar="NUMBER", help="The most variants that are tried.  [default: no limit]"),
]
TuneSeed = Annotated[int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the search.")]
TuneLevels = Annotated[
    str,
    typer.Option("--levels", metavar="LEVEL,...", help="Merge work-items (item), work-groups (group), or either."),
]
NoWideAccesses = Annotated[
    bool, typer.Option("--no-wide-accesses", help="Merge no accesses to consecutive addresses.")
]
NoDistinct = Annotated[
    bool, typer.Option("--no-distinct", help="Never assume that pointer arguments do not overlap.")
]


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """What a person asks for of tuning at one size.

    Attributes:
        preset: names the size.
        seconds: the time for all.
        trials: the most variants that are tried; None for no limit.
        levels: what may be merged, in words.
        no_wide_accesses: whether no accesses are merged.
        seed: of the search.
        distinct: whether variants may take it that arguments lead to distinct memory.
        store: where what was found is remembered; None for the user's store.
    """

    preset: str
    seconds: float
    trials: int | None
    levels: str
    no_wide_accesses: bool
    seed: int
    distinct: bool
    store: str | None

    def refuse_over_inputs(self) -> None:
        """Raise InvalidInputError if an option is given that only tuning at one size has."""
        given = self.preset, self.seconds, self.trials, self.levels, self.no_wide_accesses
        if given != (DEFAULT_PRESET, DEFAULT_SECONDS, None, DEFAULT_LEVELS, False):
            raise InvalidInputError(
                "--preset, --seconds, --trials, --levels and --no-wide-accesses are for tuning at one size, "
                "not over inputs"
            )

    def settings(self) -> Tune:
        """Return how it is tuned. Raises InvalidInputError for a value out of range."""
        # Imported late, as all that measures.
        from coarsen.opencl_bench.tuning.settings import Tune

        return Tune(
            seconds=self.seconds,
            trials=self.trials,
            seed=self.seed,
            levels=tuple(word.strip() for word in self.levels.split(",")),
            wide_accesses=not self.no_wide_accesses,
            distinct=self.distinct,
            store=self.store,
        )
