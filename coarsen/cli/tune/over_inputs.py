"""`coarsen tune` over the inputs that a description declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coarsen.cli.bench.inputs import described_name
from coarsen.cli.messages import INTERRUPTED, note, say_interrupted
from coarsen.cli.output import Format, counted, print_json, print_line, print_table
from coarsen.cli.progress import Tally, watching
from coarsen.cli.stores import STORE_PACKAGES, check_packages
from coarsen.cli.tune.tuned_text import print_summary
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import list_inputs, numbers_of
from coarsen.opencl_bench.inputs.evidence import worth_of_choice
from coarsen.opencl_bench.inputs.over_inputs import TunedOverInputs, listed_presets
from coarsen.opencl_bench.workloads.described.inputs import KEY, list_file
from coarsen.opencl_bench.workloads.described.read import read_description, read_table
from coarsen.tuning.store.database import Store, open_store
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX

if TYPE_CHECKING:
    from coarsen.cli.tune.options import TuneOptions
    from coarsen.devices.discovery import DeviceDescription


TUNED_SUFFIX = ".tuned.json"
_PACKAGES = (*STORE_PACKAGES, "scipy", "sklearn")


def described_over_inputs(asked: TuneOptions) -> Path | None:
    """Return the description whose inputs a kernel is tuned over; None where it is to be tuned at one size.

    Raises:
        InvalidInputError: inputs are asked for, and there are none.
    """
    name, is_asked_for = described_name(asked.kernel), asked.has_inputs or asked.output is not None
    if isinstance(name, Path) and name.suffix != CAPTURED_SUFFIX:
        table = read_table(name)
        return name if is_asked_for or table.has(KEY) else None
    if is_asked_for:
        raise InvalidInputError(f"{asked.kernel} has no inputs to tune over: name a description, KERNEL.toml")
    return None


def tune_inputs(path: Path, find_device: Callable[[], DeviceDescription], asked: TuneOptions) -> None:
    """Tune a described kernel over its inputs, and write its tuned file.

    Args:
        path: of the description.
        find_device: returns where, asked once the inputs are known.
        asked: the options.

    Raises:
        InvalidInputError: the file declares no inputs, a mistake in it, a package is missing, or no place is given
            and a tuned file is there that would be lost.
        VerificationError: the default version has wrong results at an input.
        DeviceError: the device can't be opened (any more).
    """
    output = asked.output or beside(path)
    check_output(output)
    check_packages(_PACKAGES)
    # Imported late: they load SciPy and scikit-learn.
    from coarsen.opencl_bench.inputs.described import check_described
    from coarsen.opencl_bench.inputs.over_inputs import tune_over_inputs

    asked.over_inputs(asked.inputs)  # a mistake in it is said before anything is written
    listed = listed_inputs(path, asked.inputs)
    if asked.output is None:
        _check_no_loss(output, listed.path.name, len(listed_presets(read_description(listed.path), listed.count)))
    for line in check_described(listed.path):
        note(line)
    device = find_device()
    if asked.output_format is Format.TABLE:
        listed.show()
    settings = asked.over_inputs(listed.count)
    tuned = measured_rows(
        asked.store, lambda store, progress: tune_over_inputs(listed.path, device, store, settings, progress)
    )
    _keep_and_tell(tuned, output, listed, asked.output_format)


def _check_no_loss(path: Path, origin: str, inputs: int) -> None:
    """Check that a tuned file that nobody named takes the place of none that is worth more.

    Args:
        path: where it goes.
        origin: what lists its inputs: the name of the description.
        inputs: how many there are.

    Raises:
        InvalidInputError: one is there that was tuned over more inputs, over other ones, or with layouts, or that
            doesn't say.
    """
    # Imported late: they load NumPy.
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.evidence import evidence_of
    from coarsen.tuning.layout_choices import is_of_one_size

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


# The inputs over which a kernel is tuned, listed beside its description, and what they cover in words.


@dataclass(frozen=True, slots=True)
class ListedInputs:
    """Inputs to tune over.

    Args:
        path: of the description.
        count: how many of those that it lists; None for all.
        places: the numbers of each, by name.
    """

    path: Path
    count: int | None
    places: tuple[Mapping[str, float], ...]

    def show(self) -> None:
        """Print what they cover."""
        headings = ["of the inputs", "least", "largest", "different"]
        numbers = (
            (name, _number(low), _number(high), str(count)) for name, low, high, count in numbers_of(self.places)
        )
        print_table(headings, numbers, numbers=headings[1:])
        print_line()

    @property
    def coverage(self) -> dict[str, Any]:
        """Return what they cover, for JSON."""
        return {
            name: {"least": low, "largest": high, "different": count}
            for name, low, high, count in numbers_of(self.places)
        }


def listed_inputs(path: Path, count: int | None) -> ListedInputs:
    """List the inputs of a kernel beside its description, unless they are listed.

    Args:
        path: of the description.
        count: how many are asked for; None for as many as it declares.

    Raises:
        InvalidInputError: no inputs are declared, or they can't be read.
    """
    if read_table(path).has(KEY) or not list_file(path).is_file():
        listed, is_new = list_inputs(path)
        if is_new:
            note(f"listed the inputs in {listed}")
    description = read_description(path)
    sizes = [description.sizes[name] for name in listed_presets(description, count)]
    return ListedInputs(path, count, tuple({**each} for each in sizes))


def _number(value: float) -> str:
    """A number in full where it is whole: sizes are to be read as they are declared."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


# How `coarsen tune` over inputs ends: rows are kept whatever happens, the tuned file is written and summarised.


def measured_rows(url: str | None, tune: Callable[[Store, Tally], TunedOverInputs]) -> TunedOverInputs:
    """Return what a tuning finds, its rows in a store; where it is interrupted, say what is kept and exit.

    Args:
        url: of the store; None for the user's.
        tune: measures.
    """
    progress = Tally()
    with open_store(url) as store:
        try:
            with watching(progress):
                return tune(store, progress)
        except KeyboardInterrupt:
            say_interrupted(progress.measured, store.location)
            raise typer.Exit(INTERRUPTED) from None


def _keep_and_tell(tuned: TunedOverInputs, output: Path, listed: ListedInputs, output_format: Format) -> None:
    """Write a tuned file and print what was found."""
    for name, reason in tuned.left_out.items():
        note(f"{name} is left out, for the default version does not run there: {reason}")
    for version, reason in tuned.wrong.items():
        note(f"{version} is left out, for its results are wrong at {reason}")
    tuned.file.write(output)
    choice = worth_of_choice(tuned.file)
    if output_format is Format.JSON:
        rows = {"inputs": len(tuned.times.inputs), "versions_tried": len(tuned.times.versions)}
        made = {"tuned_file": str(output), "description": str(listed.path), "versions": len(tuned.file.versions)}
        print_json({**made, **rows, "choice": asdict(choice), "coverage": listed.coverage})
    else:
        print_summary(tuned.file, len(tuned.times.inputs), str(output), choice)
