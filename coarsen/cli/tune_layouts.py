"""`coarsen tune` with other layouts of arrays: what is tried, what converting costs, and the tuned file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.cli.space_options import ArrayOptions, array_choices
from coarsen.errors import InvalidInputError
from coarsen.variant.variant_json import variant_to_json

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.opencl_bench.tuning.tuned import Tuned
    from coarsen.opencl_bench.workloads.benchmark import Benchmark
    from coarsen.variant.space import ArrayChoices

AllLayouts = Annotated[
    bool,
    typer.Option(
        "--layouts",
        help="Try other layouts, too: those that the description names, and for all other arrays of records soa, "
        "aosoa:16 and, where these hold arrays, deep-soa.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="NUMBER",
        min=1,
        help="With layouts: charge what converting takes to so many runs on the same data.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """What a person asks for about layouts.

    Args:
        every: whether all that may do are tried.
        layouts: of arguments' arrays, as `--layout` has them.
        orders: of their dimensions, as `--order` has them.
        runs: on the same data; None where that isn't known.

    Raises:
        InvalidInputError: runs of no layouts.
    """

    every: bool
    layouts: tuple[str, ...]
    orders: tuple[str, ...]
    runs: int | None

    def __post_init__(self) -> None:
        if self.runs is not None and not self.is_asked_for:
            raise InvalidInputError("--runs goes with --layouts, --layout and --order")

    @property
    def is_asked_for(self) -> bool:
        """Return True if arrays may lie otherwise."""
        return bool(self.every or self.layouts or self.orders)

    def choices(self, benchmark: Benchmark, device: DeviceDescription) -> tuple[ArrayChoices, ...]:
        """Return how arrays may lie; a note says of arrays of records why they can't.

        Raises:
            InvalidInputError: a layout that can't be read, an argument that isn't there, nothing to try.
            RefusalError: the kernel can't be read, or not be rewritten for a layout that is named.
        """
        if not self.is_asked_for:
            return ()
        # Imported late: it loads LLVM.
        from coarsen.opencl_bench.tuning.layout_choices import FoundLayouts, check_choices, layout_choices

        named = array_choices(ArrayOptions(self.layouts, self.orders))
        check_choices(benchmark, named, device.macros)
        known = layout_choices(benchmark, device.macros) if self.every else FoundLayouts(benchmark.arrays)
        for sentence in known.refused:
            note(sentence)
        arguments = {choices.argument for choices in named}
        found = (*(choices for choices in known.choices if choices.argument not in arguments), *named)
        if not found:
            raise InvalidInputError(f"{benchmark.kernel} has no array of records that could lie otherwise")
        return found


def tuned_path(name: str | Path, output: Path | None) -> Path | None:
    """Return where the tuned file goes: beside the description if no place is given; None where there is none.

    Args:
        name: of the suite, or the path of a description.
        output: as it was given.

    Raises:
        InvalidInputError: no place is given, and one that was tuned over inputs is there, or something else.
    """
    if output is not None or not isinstance(name, Path):
        return output
    # Imported late: they load NumPy.
    from coarsen.cli.tune_inputs import beside
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.tuning.layout_choices import is_of_one_size

    path = beside(name)
    if path.exists() and not is_of_one_size(TunedFile.read(path)):
        raise InvalidInputError(f"{path} was tuned over inputs: say by -o where a file with layouts is to go")
    return path


def laid_out_fields(tuned: Tuned, runs: int | None) -> Iterator[tuple[str, str]]:
    """Yield what was found with arrays that lie otherwise, for people.

    Args:
        tuned: with layouts among what was tried.
        runs: to charge the conversion to; None where that isn't known.
    """
    found = tuned.laid_out
    if found is None:
        tried = tuned.laid_out_trials
        nothing = f"of {counted(tried, 'variant')} nothing is faster than the launch as it was"
        yield "with arrays laid out", nothing if tried else "nothing was tried: give it more --seconds or --trials"
        return
    yield "with arrays laid out", str(found.variant)
    yield "speed-up of that, conversion apart", str(found.speedup)
    yield "conversion", found.conversion.sentence
    if runs is not None:
        yield f"over {runs} runs, conversion included", f"{found.gain_over(runs):.3g} times as fast as without it"


def laid_out_as_data(tuned: Tuned, runs: int | None, file: Path | None) -> dict[str, Any]:
    """Return the same for JSON, and the tuned file's path."""
    found = tuned.laid_out
    if found is None:
        return {
            "laid_out": None,
            "laid_out_trials": tuned.laid_out_trials,
            "tuned_file": str(file) if file else None,
        }
    charged = {"runs": runs, "gain_over_runs": None if runs is None else found.gain_over(runs)}
    data = {
        "choice": variant_to_json(found.variant),
        "speedup": asdict(found.speedup),
        "conversion_seconds": found.conversion.seconds,
        "runs_until_it_pays": found.conversion.runs,
    }
    return {
        "laid_out": {**data, **charged},
        "laid_out_trials": tuned.laid_out_trials,
        "tuned_file": str(file) if file else None,
    }
