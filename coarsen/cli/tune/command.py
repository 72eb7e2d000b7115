"""`coarsen tune`: the fastest variant of a described kernel, searched for some seconds and remembered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coarsen.cli.bench.options import parsed_budget
from coarsen.cli.declared import takes
from coarsen.cli.messages import note
from coarsen.cli.stores import check_packages
from coarsen.cli.tune.options import DEFAULT_PRESET, TuneOptions
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription


@takes(TuneOptions)
def tune(asked: TuneOptions) -> None:
    """Find the fastest variant of a kernel, and remember it.

    Variants are searched for some seconds; each is verified against the kernel as it is, and the best are timed
    again in new processes. Programs made with coarsen.Program use what is remembered for launches of such sizes.

    A file that declares inputs (coarsen describe --inputs) is tuned over these: for each launch a tree then
    chooses one of several versions by its arguments. What is found is a tuned file, for
    coarsen.Program(..., tuned=FILE), coarsen results show FILE and coarsen apply --tuned FILE.

    With --layout or --order, it reports the best with and without other layouts, the conversion time, and after
    how many runs it pays off; --layout all tries all layouts that may do. Both go into a tuned file:
    coarsen.Program(..., arrays=..., tuned=FILE) takes the one, every other program the other.

    Example: coarsen tune recorded/sgemm.npz --device intel --seconds 60
    """
    check_packages()
    # Imported late: they load the store's packages and the suite.
    from coarsen.cli.tune.one_size import tune_one_size
    from coarsen.cli.tune.over_inputs import check_output, described_over_inputs, tune_inputs

    if asked.runs is not None and not asked.has_layouts:
        raise InvalidInputError("--runs goes with --layout and --order")
    if asked.trials is not None:
        parsed_budget(asked.trials, "--trials")
    find = partial(_device, asked.device)
    description = None if asked.has_layouts else described_over_inputs(asked)
    if description is not None:
        if asked.preset != DEFAULT_PRESET or {*asked.allowed} - {"distinct"}:
            raise InvalidInputError(
                "--preset, and level and wide-accesses of --space are for tuning at one size, not over inputs"
            )
        tune_inputs(description, find, asked)
        return
    if asked.has_layouts:
        if asked.has_inputs:
            raise InvalidInputError("layouts are tuned at one size: leave out --inputs and --caches")
        check_output(asked.output)
    tune_one_size(asked, find)


def _device(word: str | None) -> DeviceDescription:
    """The device of this name, or the first that works. Raises DeviceError."""
    from coarsen.devices.selection import find_device, find_working_device

    if word is not None:
        return find_device(word)
    device = find_working_device()
    note(f"measuring on {device}")
    return device
