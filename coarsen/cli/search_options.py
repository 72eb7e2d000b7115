"""The options of `coarsen search`."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.search.budget import Budget


class BaseChoice(enum.StrEnum):
    """The configuration that a run starts from."""

    RANDOM = "random"
    DEFAULT = "default"


ReplayedFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Results of a whole space: T4 of another tuner (.json, .json.gz); a sweep (.parquet, .csv, .json, "
        ".jsonl, or the name of one that comes along, intel for example), each kernel a space.",
        show_default=False,
    ),
]
SpaceFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--space",
        metavar="FILE",
        help="The space (T1) of the T4 files with its parameters: defaults, conditions. May be repeated.",
    ),
]
SharedParameters = Annotated[
    str,
    typer.Option(
        "--shared", metavar="NAME,...", help="The parameters of other tuners that the effects of others depend on."
    ),
]
BenchmarkNames = Annotated[
    list[str] | None,
    typer.Option("-b", "--benchmark", metavar="NAME", help="Only this kernel of the sweeps. May be repeated."),
]
SearcherNames = Annotated[
    str,
    typer.Option(
        "--searchers",
        metavar="NAME,...",
        help="What is compared: searchers of `bench --search`, and with the extra `compare` optuna:tpe, "
        "kernel-tuner:genetic-algorithm and others.",
    ),
]
SeedCount = Annotated[
    int, typer.Option("--seeds", metavar="NUMBER", min=1, help="How many runs of each searcher on each space.")
]
BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="SHARE%|NUMBER",
        help="How much of a space a run may try, failures too: a share, or a number of configurations.",
    ),
]
StartsFrom = Annotated[
    BaseChoice,
    typer.Option("--base", help="What a run starts from: a valid configuration drawn anew, or the default."),
]
ProcessCount = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="NUMBER",
        min=1,
        help="How many runs are done at once, each by one thread; the result is the same for any number.  "
        "[default: as many as there are processors]",
    ),
]
RowsOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write a row for each trial: .parquet or .csv. Finished runs are kept beside it (.runs.jsonl), so "
        "that the same command goes on after an interruption.",
    ),
]
FigureOutput = Annotated[
    Path | None,
    typer.Option("--figure", metavar="FILE", help="Draw quality against share: .png, .svg or .pdf."),
]
RowsInput = Annotated[
    Path, typer.Argument(metavar="ROWS", help="What `coarsen search replay -o` wrote.", show_default=False)
]
DrawnFigure = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="FILE", help="The figure: .png, .svg or .pdf.", show_default=False),
]


def listed(text: str) -> tuple[str, ...]:
    """Return the names in a text that separates them by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parsed_budget(text: str, *, in_seconds: bool = False) -> Budget:
    """Return the budget that a text means: `5%`, `200`, and where seconds are allowed `90s`.

    Args:
        text: of `--budget`.
        in_seconds: a search takes time at all.

    Raises:
        InvalidInputError: the text is none, or out of range.
    """
    from coarsen.opencl_bench.search.budget import Budget

    words = text.strip()
    try:
        if words.endswith("%"):
            return Budget(share=float(words.removesuffix("%")) / 100)
        if in_seconds and words.endswith("s"):
            return Budget(seconds=float(words.removesuffix("s")))
        return Budget(trials=int(words))
    except ValueError:
        kinds = "a share such as 5%, seconds such as 90s," if in_seconds else "a share such as 5%"
        raise InvalidInputError(f"--budget is {kinds} or a whole number, not '{text}'") from None
