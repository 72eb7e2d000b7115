"""`coarsen tune` over the inputs that a description declares, and the tuned file that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coarsen.cli.messages import INTERRUPTED, note, say_interrupted
from coarsen.cli.output import Format, print_json
from coarsen.cli.stores import STORE_PACKAGES, check_packages
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.tune_inputs_options import InputsRequest
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.opencl_bench.results.store.database import Store

TUNED_SUFFIX = ".tuned.json"


def description_over_inputs(kernel: str, request: InputsRequest) -> Path | None:
    """Return the description to tune over its inputs; None where the kernel is to be tuned at a preset.

    Raises:
        InvalidInputError: inputs are asked for, and there is no description.
    """
    # Imported late: they load NumPy.
    from coarsen.cli.bench_inputs import described_name
    from coarsen.opencl_bench.workloads.described.inputs import KEY
    from coarsen.opencl_bench.workloads.described.read import read_table
    from coarsen.opencl_bench.workloads.described.recorded_inputs import KEY as RECORDED

    name = described_name(kernel)
    if not isinstance(name, Path):
        if request.is_asked_for:
            raise InvalidInputError(f"{kernel} has no inputs to tune over: name a description, KERNEL.toml")
        return None
    table = read_table(name)
    return name if request.is_asked_for or table.has(KEY) or table.has(RECORDED) else None


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
        InvalidInputError: the file declares no inputs, a mistake in it, or a package is missing.
        VerificationError: the default version has wrong results at an input.
        DeviceError: the device can't be opened (any more).
    """
    output = request.output or beside(path)
    check_output(output)
    check_packages((*STORE_PACKAGES, "scipy", "sklearn"))
    # Imported late: they load the store's packages, SciPy and scikit-learn.
    from coarsen.cli.coverage_text import listed_inputs
    from coarsen.cli.tune_progress import InputsProgress
    from coarsen.cli.tuned_text import print_summary
    from coarsen.opencl_bench.inputs.cold_changes import cold_changes
    from coarsen.opencl_bench.inputs.described_check import check_described
    from coarsen.opencl_bench.inputs.over_inputs import tune_over_inputs
    from coarsen.opencl_bench.inputs.worth import worth_of_choice

    request.stage_one()  # a mistake in it is said before anything is written
    listed = listed_inputs(path, request.inputs, request.recording)
    for line in check_described(listed.path):
        note(line)
    device = find_device()
    if output_format is Format.TABLE:
        listed.show()
    settings = request.settings(listed.count)
    progress = InputsProgress()
    with _opened(request.store) as store:
        try:
            tuned = tune_over_inputs(listed.path, device, store, settings, progress)
        except KeyboardInterrupt:
            say_interrupted(progress.measured, store.location)
            raise typer.Exit(INTERRUPTED) from None
    for name, reason in tuned.left_out.items():
        note(f"{name} is left out, for the default version does not run there: {reason}")
    for version, reason in tuned.wrong.items():
        note(f"{version} is left out, for its results are wrong at {reason}")
    tuned.file.write(output)
    choice, caches = worth_of_choice(tuned.file), cold_changes(tuned.file)
    if output_format is Format.JSON:
        rows = {"inputs": len(tuned.times.inputs), "versions_tried": len(tuned.times.versions)}
        made = {"tuned_file": str(output), "description": str(listed.path), "versions": len(tuned.file.versions)}
        found = {"choice": asdict(choice), "cold_check": [asdict(each) for each in caches]}
        print_json({**made, **rows, **found, "coverage": listed.as_data()})
    else:
        print_summary(tuned.file, len(tuned.times.inputs), str(output), choice, caches)


def beside(description: Path) -> Path:
    """Return where the tuned file of a description goes if nobody says where."""
    return description.with_name(f"{description.stem}{TUNED_SUFFIX}")


def check_output(output: Path | None) -> None:
    """Raise InvalidInputError for the name of a tuned file that doesn't end with .json."""
    if output is not None and not output.name.endswith(".json"):
        raise InvalidInputError(f"{output}: the tuned file's name must end with .json, {TUNED_SUFFIX} for one")


@contextmanager
def _opened(url: str | None) -> Iterator[Store]:
    from coarsen.opencl_bench.results.store.database import open_store

    with open_store(url) as store:
        yield store
