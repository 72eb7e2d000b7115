"""`coarsen tune` over the inputs that a description declares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted
from coarsen.cli.stores import STORE_PACKAGES, check_packages
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.tune_inputs_options import InputsRequest
    from coarsen.devices.discovery import DeviceDescription

TUNED_SUFFIX = ".tuned.json"
_PACKAGES = (*STORE_PACKAGES, "scipy", "sklearn")


def subject_over_inputs(kernel: str, request: InputsRequest) -> Path | None:
    """Return the description that is to be tuned over its inputs; None where the kernel is tuned at a preset.

    Args:
        kernel: as a person names it.
        request: what is asked for.

    Raises:
        InvalidInputError: inputs are asked for, and there are none.
    """
    # Imported late: they load NumPy.
    from coarsen.cli.bench_inputs import described_name
    from coarsen.opencl_bench.workloads.described.inputs import KEY
    from coarsen.opencl_bench.workloads.described.read import read_table
    from coarsen.opencl_bench.workloads.described.recorded_inputs import KEY as RECORDED

    name = described_name(kernel)
    if isinstance(name, Path):
        table = read_table(name)
        return name if request.is_asked_for or table.has(KEY) or table.has(RECORDED) else None
    if request.is_asked_for:
        raise InvalidInputError(f"{kernel} has no inputs to tune over: name a description, KERNEL.toml")
    return None


def tune_inputs(
    path: Path, find_device: Callable[[], DeviceDescription], request: InputsRequest, output_format: Format
) -> None:
    """Tune a described kernel over its inputs, and write its tuned file.

    Args:
        path: of the description.
        find_device: returns where, asked once the inputs are known.
        request: what is asked for.
        output_format: of what is printed.

    Raises:
        InvalidInputError: the file declares no inputs, a mistake in it, a package is missing, or no place is given
            and a tuned file is there that would be lost.
        VerificationError: the default version has wrong results at an input.
        DeviceError: the device can't be opened (any more).
    """
    output = request.output or beside(path)
    check_output(output)
    check_packages(_PACKAGES)
    # Imported late: they load the store's packages, SciPy and scikit-learn.
    from coarsen.cli.coverage_text import listed_inputs
    from coarsen.cli.tuned_inputs_end import keep_and_tell, measured_rows
    from coarsen.opencl_bench.inputs.described_check import check_described
    from coarsen.opencl_bench.inputs.over_inputs import listed_presets, tune_over_inputs
    from coarsen.opencl_bench.workloads.described.read import read_description

    request.stage_one()  # a mistake in it is said before anything is written
    listed = listed_inputs(path, request.inputs, request.recording)
    if request.output is None:
        _check_no_loss(output, listed.path.name, len(listed_presets(read_description(listed.path), listed.count)))
    for line in check_described(listed.path):
        note(line)
    device = find_device()
    if output_format is Format.TABLE:
        listed.covered.show()
    settings = request.settings(listed.count)
    tuned = measured_rows(
        request.store,
        lambda store, progress: tune_over_inputs(listed.path, device, store, settings, progress),
    )
    keep_and_tell(tuned, output, str(listed.path), listed.covered, output_format)


def _check_no_loss(path: Path, origin: str, inputs: int) -> None:
    """Check that a tuned file that nobody named takes the place of none that is worth more.

    Args:
        path: where it goes.
        origin: the name of the description that lists its inputs.
        inputs: how many there are.

    Raises:
        InvalidInputError: one is there that was tuned over more inputs, over other ones, or with layouts, or that
            doesn't say.
    """
    # Imported late: they load NumPy.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.evidence import evidence_of
    from coarsen.opencl_bench.tuning.layout_choices import is_of_one_size

    if not path.exists():
        return
    there = TunedFile.read(path)
    if is_of_one_size(there):
        raise InvalidInputError(f"{path} was tuned with layouts: say by -o where a file over inputs is to go")
    if not there.evidence:
        raise InvalidInputError(f"{path} doesn't say what it was tuned over: say by -o where a new one is to go")
    kept = evidence_of(there)
    known = len(kept.times.inputs)
    if known > inputs or kept.description != origin:
        raise InvalidInputError(
            f"{path} was tuned over {counted(known, 'input')} of {kept.description}: say by -o where one over "
            f"{counted(inputs, 'input')} of {origin} is to go"
        )


def beside(description: Path) -> Path:
    """Return where the tuned file of a description goes if nobody says where."""
    return description.with_name(f"{description.stem}{TUNED_SUFFIX}")


def check_output(output: Path | None) -> None:
    """Raise InvalidInputError for the name of a tuned file that doesn't end with .json."""
    if output is not None and not output.name.endswith(".json"):
        raise InvalidInputError(f"{output}: the tuned file's name must end with .json, {TUNED_SUFFIX} for one")
