"""`coarsen features --compiled`: what the compiler of a device at hand made of a kernel at each factor."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.kernel_input import is_ir_file
from coarsen.cli.messages import note
from coarsen.cli.output import print_line, print_table
from coarsen.errors import InvalidInputError
from coarsen.files import read_file
from coarsen.frontend.file_directives import file_directives
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.models.compiled.inputs import compiled_inputs
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms, device_kind_of
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.devices.compiled.reading import Reading

CompiledOn = Annotated[
    str | None,
    typer.Option(
        "--compiled",
        metavar="DEVICE",
        help="Also what the compiler of a device of this machine makes of it; nothing is launched.",
    ),
]
_UNKNOWN = "-"
_WORDS = {
    "item_lanes": "work-items in a vector",
    "loop_lanes": "iterations in a vector",
    "operation_bytes": "bytes of an operation",
    "gathers": "gathers",
    "scatters": "scatters",
    "registers": "registers per work-item",
    "spilled_bytes": "spilled bytes",
    "frame_bytes": "bytes of the stack frame",
    "private_bytes": "private bytes of a work-item",
    "local_bytes": "local bytes of a group",
    "occupancy": "occupancy",
    "code_bytes": "bytes of code",
    "instructions": "instructions",
    "weighted_instructions": "instructions, weighted by loops",
    "group_multiple": "preferred multiple of a group",
    "largest_group": "largest group",
}


@dataclass(frozen=True, slots=True)
class CompiledByFactor:
    """The readings at each factor, 1 being the kernel as it is, and what they are of."""

    device: str
    local_size: tuple[int, ...]
    readings: Mapping[int, Reading]


def compiled_by_factor(
    path: Path,
    kernel: str,
    options: str,
    dimension: int,
    factors: Sequence[int],
    device: str,
    local_size: Sequence[int] | None,
) -> CompiledByFactor:
    """Compile a kernel as it is, and coarsened by each factor, on a device of this machine.

    Args:
        path: of the file, OpenCL C.
        kernel: its name.
        options: build options, as one string.
        dimension: along which work-items are merged.
        factors: 1 stands for the kernel as it is, which is always compiled.
        device: what the user calls it.
        local_size: of the launch before coarsening, None where it isn't given.

    Raises:
        InvalidInputError: the file is LLVM IR, which has no text that a device could be given.
        DeviceError: there is no such device.
    """
    # Imported late: PyOpenCL is slow to import, and the other features need no device.
    from coarsen.devices.selection import find_device
    from coarsen.runtime.compiled_variants import KernelSource, compiled_variants

    if is_ir_file(path):
        raise InvalidInputError(f"{path}: --compiled needs OpenCL C, which a device can be given as it is")
    found = find_device(device)
    source = read_file(path).decode(errors="replace")
    words = [*shlex.split(options), *_include_options(path, source)]
    local, transforms = tuple(local_size or ()), Transforms(device_kind=device_kind_of(found.device_types))
    wanted = tuple(dict.fromkeys((1, *factors)))
    variants = [Variant(local, _coarsenings(factor, dimension), transforms=transforms) for factor in wanted]
    readings = compiled_variants(KernelSource(kernel, source, tuple(words)), found, variants)
    _note_on_machine_code(readings[0])
    return CompiledByFactor(str(found), local, dict(zip(wanted, readings, strict=True)))


def _note_on_machine_code(reading: Reading) -> None:
    facts = reading.facts
    if facts is not None and facts.code_bytes is not None and facts.instructions is None:
        note("the machine code is not read: pip install 'coarsen[compiled]' adds a disassembler")


def _coarsenings(factor: int, dimension: int) -> tuple[Coarsening, ...]:
    return (Coarsening(factor, dimension),) if factor > 1 else ()


def _include_options(path: Path, source: str) -> tuple[str, ...]:
    """The folder of a file that includes others."""
    if next(file_directives(source), None) is None:
        return ()
    return (f"-I{shlex.quote(str(path.resolve().parent))}",)


def compiled_as_data(compiled: CompiledByFactor) -> dict[str, object]:
    """Return the facts as JSON, unknown ones as null, and the changes that a model takes, by factor."""
    original = compiled.readings[1].facts
    return {
        "compiled": {
            "device": compiled.device,
            "local_size": list(compiled.local_size) or None,
            "facts": {str(factor): _as_data(reading) for factor, reading in compiled.readings.items()},
            "inputs": {
                str(factor): compiled_inputs(original, reading.facts)
                for factor, reading in compiled.readings.items()
                if factor > 1
            },
        }
    }


def _as_data(reading: Reading) -> dict[str, object]:
    facts = reading.facts
    if facts is None:
        return {"failure": reading.failure}
    return {**asdict(facts), "vectorised": facts.vectorised}


def print_compiled(compiled: CompiledByFactor) -> None:
    """Print a row per fact that is known and a column per factor; notes say why a factor has none."""
    facts = [reading.facts or CompiledFacts() for reading in compiled.readings.values()]
    headings = ["as it is" if factor == 1 else str(factor) for factor in compiled.readings]
    print_line()
    print_line(f"compiled for {compiled.device}")
    print_line()
    rows = [
        [_WORDS[field.name], *(_cell(getattr(each, field.name)) for each in facts)] for field in fields(facts[0])
    ]
    rows.insert(0, ["vectorised over", *(each.vectorised or _UNKNOWN for each in facts)])
    print_table(["fact", *headings], [row for row in rows if set(row[1:]) != {_UNKNOWN}], numbers=headings)
    for factor, reading in compiled.readings.items():
        if reading.failure:
            note(f"factor {factor}: {reading.failure}")


def _cell(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
