"""`coarsen tune`: the fastest variant of a described kernel, searched for some seconds and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coarsen.cli.bench.options import Caches, CachesOption, PresetName, Seed
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format
from coarsen.cli.stores import check_packages
from coarsen.cli.variant_options import space_values, variant_options
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Level

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.tuning.settings import Tune

DEFAULT_PRESET = "cpu"
DEFAULT_SECONDS = 20.0
# What a person may leave out of the search, by the names of `--space`.
_SPACE = ("level", "wide-accesses", "distinct")

KernelToTune = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="KERNEL.toml, or KERNEL.cl beside it: described (coarsen describe) or captured; or a name.",
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
    str | None,
    typer.Option(
        "--trials",
        metavar="NUMBER|SHARE%",
        help="The most variants that are tried; over inputs, on each of eight of them, or which share of all.  "
        "[default: no limit; over inputs 30%, or all of 40 or fewer]",
    ),
]
SearchedSpace = Annotated[
    list[str] | None,
    typer.Option(
        "--space",
        metavar="NAME=VALUE,...",
        help="Leave out of the search: level=item or level=group, wide-accesses=no, distinct=no. May be repeated.",
    ),
]
Inputs = Annotated[
    int | None,
    typer.Option(
        "--inputs", metavar="NUMBER", min=1, help="Use only the first NUMBER inputs of the file.  [default: all]"
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
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="NUMBER",
        min=1,
        help="With layouts: charge the conversion to NUMBER runs on the same data.",
        show_default=False,
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


@variant_options("layout", "order")
def tune(
    kernel: KernelToTune,
    chosen: Mapping[str, Any],
    device: TunedDevice = None,
    preset: PresetName = DEFAULT_PRESET,
    seconds: Seconds = DEFAULT_SECONDS,
    trials: Trials = None,
    seed: Seed = 0,
    space: SearchedSpace = None,
    inputs: Inputs = None,
    inputs_from: InputsFrom = None,
    caches: CachesOption = Caches.WARM,
    runs: Runs = None,
    output: TunedOutput = None,
    store: StoreUrl = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Find the fastest variant of a kernel, and remember it.

    Variants are searched for some seconds; each is verified against the kernel as it is, and the best are timed
    again in new processes. Programs made with coarsen.Program use what is remembered for launches of such sizes.

    A file that declares inputs (coarsen describe --inputs), or --inputs-from, is tuned over these: for each launch
    a tree then chooses one of several versions by its arguments. What is found is a tuned file, for
    coarsen.Program(..., tuned=FILE), coarsen results show FILE and coarsen apply --tuned FILE.

    With --layout or --order, it reports the best with and without other layouts, the conversion time, and after
    how many runs it pays off; --layout all tries all layouts that may do. Both go into a tuned file:
    coarsen.Program(..., arrays=..., tuned=FILE) takes the one, every other program the other.

    Example: coarsen tune captured/sgemm.toml --device intel --seconds 60
    """
    check_packages()
    # Imported late: they load the store's packages and the suite.
    from coarsen.cli.tune.one_size import LayoutRequest, tune_one_size
    from coarsen.cli.tune.over_inputs import InputsRequest, check_output, described_over_inputs, tune_inputs

    allowed = space_values(space or (), _SPACE)
    layouts = LayoutRequest.of(chosen["layout"] or (), chosen["order"] or (), runs)
    is_distinct = True in allowed.get("distinct", (True,))
    request = InputsRequest(
        inputs, output, seed, store, inputs_from, distinct=is_distinct, budget=_budget(trials), caches=caches
    )
    find = partial(_device, device)
    description = None if layouts.is_asked_for else described_over_inputs(kernel, request)
    if description is not None:
        if (preset, seconds) != (DEFAULT_PRESET, DEFAULT_SECONDS) or set(allowed) - {"distinct"}:
            raise InvalidInputError(
                "--preset, --seconds, and level and wide-accesses of --space are for tuning at one size, not over "
                "inputs"
            )
        tune_inputs(description, find, request, output_format)
        return
    if layouts.is_asked_for:
        if request.is_asked_for:
            raise InvalidInputError(
                "layouts are tuned at one size: leave out --inputs, --inputs-from and --caches"
            )
        check_output(output)
    settings = _settings(seconds, trials, seed, allowed, is_distinct, store)
    tune_one_size(kernel, find, preset, settings, layouts, output, output_format)


def _budget(trials: str | None) -> str | None:
    """Return the most that a search over inputs may try. Raises InvalidInputError for a text that is no budget."""
    if trials is not None:
        # Imported late, as in `tune`.
        from coarsen.cli.bench.options import parsed_budget

        parsed_budget(trials, "--trials")
    return trials


def _settings(
    seconds: float,
    trials: str | None,
    seed: int,
    allowed: Mapping[str, tuple[Any, ...]],
    distinct: bool,
    store: str | None,
) -> Tune:
    """Return how it is tuned at one size. Raises InvalidInputError for a value out of range."""
    # Imported late, as all that measures.
    from coarsen.tuning.settings import Tune

    if trials is not None and trials.endswith("%"):
        raise InvalidInputError("--trials is a number of variants; a share is for tuning over inputs")
    return Tune(
        seconds=seconds,
        trials=None if trials is None else int(trials),
        seed=seed,
        levels=allowed.get("level", tuple(Level)),
        wide_accesses=True in allowed.get("wide-accesses", (True,)),
        distinct=distinct,
        store=store,
    )


def _device(word: str | None) -> DeviceDescription:
    """The device of this name, or the first that works. Raises DeviceError."""
    from coarsen.devices.selection import find_device, find_working_device

    if word is not None:
        return find_device(word)
    device = find_working_device()
    note(f"measuring on {device}")
    return device
