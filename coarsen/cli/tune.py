"""`coarsen tune`: the fastest variant of a described kernel, searched for some seconds and remembered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.bench_options import PresetName
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format
from coarsen.cli.space_options import ArrayLayouts, ArrayOrders
from coarsen.cli.stores import check_packages
from coarsen.cli.tune_inputs_options import (
    ColdCheck,
    ColdInputs,
    Inputs,
    InputsBudget,
    InputsFrom,
    InputsRequest,
    InputsSearch,
    MostVersions,
    TunedOutput,
)
from coarsen.cli.tune_layouts import AllLayouts, LayoutRequest, Runs
from coarsen.cli.tune_options import (
    DEFAULT_LEVELS,
    DEFAULT_PRESET,
    DEFAULT_SECONDS,
    KernelToTune,
    NoDistinct,
    NoWideAccesses,
    Seconds,
    SizeRequest,
    Trials,
    TunedDevice,
    TuneLevels,
    TuneSeed,
)
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription


def tune(
    kernels: KernelToTune,
    device: TunedDevice = None,
    preset: PresetName = DEFAULT_PRESET,
    seconds: Seconds = DEFAULT_SECONDS,
    trials: Trials = None,
    seed: TuneSeed = 0,
    levels: TuneLevels = DEFAULT_LEVELS,
    no_wide_accesses: NoWideAccesses = False,
    no_distinct: NoDistinct = False,
    inputs: Inputs = None,
    inputs_from: InputsFrom = None,
    most: MostVersions = None,
    search: InputsSearch = None,
    budget: InputsBudget = None,
    cold_cache: ColdInputs = False,
    cold_check: ColdCheck = False,
    layouts: AllLayouts = False,
    layout: ArrayLayouts = None,
    order: ArrayOrders = None,
    runs: Runs = None,
    output: TunedOutput = None,
    store: StoreUrl = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Search the best variant of a kernel on a device for some seconds, and remember it.

    Every variant is verified against the kernel as it is, and the best are timed again in new processes. Programs
    made with coarsen.Program use what is remembered for launches of such sizes.

    A file that declares inputs is tuned over these: for each launch a tree then chooses one of several versions by
    its arguments. What is found is a tuned file, for coarsen.Program(..., tuned=FILE) and for `coarsen tune show`
    and `coarsen tune export`; `coarsen tune init` writes a description to begin with, and
    --inputs-from takes the launches of a recorded program for its inputs. --search and --budget say how versions
    are searched, --cold-check looks at what is found with cold caches.

    With --layouts, --layout or --order, arrays may lie otherwise, too: the best of that is told beside the best
    without, with what converting the arrays took the host and after how many runs it pays. Both go into a tuned
    file: coarsen.LaidOutProgram(..., tuned=FILE) takes the one, every other program the other.

    Example: coarsen tune captured/sgemm.toml --device intel --seconds 60
    """
    check_packages()
    # Imported late: they load the store's packages and the suite.
    from coarsen.cli.tune_inputs import tune_inputs
    from coarsen.cli.tune_one_size import tune_one_size

    kernel, distinct = _the_only(kernels), not no_distinct
    laid_out = LayoutRequest(layouts, tuple(layout or ()), tuple(order or ()), runs)
    over_inputs = InputsRequest(
        inputs,
        most,
        output,
        seed,
        store,
        inputs_from,
        distinct=distinct,
        search=search,
        budget=budget,
        is_cold=cold_cache,
        cold_check=cold_check,
    )
    at_one_size = SizeRequest(preset, seconds, trials, levels, no_wide_accesses, seed, distinct, store)
    subject = _subject_over_inputs(kernel, over_inputs, laid_out)
    device_to_use = partial(_device, device)
    if subject is None:
        tune_one_size(kernel, device_to_use, at_one_size, laid_out, output, output_format)
        return
    at_one_size.refuse_over_inputs()
    tune_inputs(subject, device_to_use, over_inputs, output_format)


def _the_only(kernels: list[str]) -> str:
    """Return the kernel that is named. Raises InvalidInputError for several, or for a misspelt subcommand."""
    # Imported late, as in `tune`.
    from coarsen.cli.bench_inputs import refuse_misspelt_subcommand
    from coarsen.cli.main import SUBCOMMANDS

    refuse_misspelt_subcommand("tune", kernels, SUBCOMMANDS["tune"])
    if len(kernels) > 1:
        raise InvalidInputError(f"one kernel is tuned at a time, not {len(kernels)}")
    return kernels[0]


def _subject_over_inputs(kernel: str, request: InputsRequest, layouts: LayoutRequest) -> Path | None:
    """Return what to tune over its inputs, as `subject_over_inputs`; None where it is tuned at one size.

    Raises:
        InvalidInputError: options that don't go together; inputs are asked for, and there are none.
    """
    # Imported late, as in `tune`.
    from coarsen.cli.tune_inputs import check_output, subject_over_inputs

    if not layouts.is_asked_for:
        return subject_over_inputs(kernel, request)
    if replace(request, output=None).is_asked_for:
        raise InvalidInputError(
            "layouts are tuned at one size: leave out --inputs, --inputs-from and --most, --search and --budget, "
            "--cold-cache and --cold-check"
        )
    check_output(request.output)
    return None


def _device(word: str | None) -> DeviceDescription:
    """The device of this name, or the first that works. Raises DeviceError."""
    from coarsen.devices.selection import find_device, find_working_device

    if word is not None:
        return find_device(word)
    device = find_working_device()
    note(f"measuring on {device}")
    return device
