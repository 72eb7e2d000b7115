"""Writes a launch of a real program as a workload: the kernel, its description, and a NumPy file for each buffer.

    CapturedLaunch ─▶ FOLDER/NAME.cl, NAME.toml, NAME.ARGUMENT.npy … ─▶ `coarsen bench FOLDER/NAME.toml`

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from coarsen.base.files import replace_file, replace_file_by
from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.described.table import toml, toml_lines
from coarsen.tuning.workload.argument_use import kind_of
from coarsen.tuning.workload.benchmark import Array, LocalArgument, NullArgument
from coarsen.tuning.workload.captured_launch import (
    UNREAD_BYTE,
    CapturedBuffer,
    CapturedEntry,
    CapturedImage,
    CapturedLaunch,
    captured_elements,
    captured_entries,
    captured_outputs,
    captured_roundings,
    lowered_launch,
)
from coarsen.tuning.workload.element_types import SamplerArgument
from coarsen.tuning.workload.launch_list import PassedBuffer, PassedScalar, PassedShared

_FORMAT = """\
# A launch of the kernel {kernel}, captured from a program: its sizes, scalars and the contents of its buffers.
file = {file}
kernel = {name}
build_options = {options}
outputs = {outputs}
# Coarsening changes the order of no operations: all that may differ is which of them are contracted.
roundings = {roundings}

[ndrange]
global_size = {global_size}
local_size = {local_size}
{global_offset}
# The same at every preset: a launch has one size.
[sizes.test]
[sizes.cpu]
[sizes.gpu]
"""


def write_capture(launch: CapturedLaunch, folder: Path, name: str) -> Path:
    """Write a launch as a workload; returns the description's path.

    Args:
        launch: what was captured.
        folder: where the files go; made if it isn't there.
        name: what the workload is called; files of this name in the folder are replaced.

    Raises:
        InvalidInputError: the kernel doesn't compile; an argument that no description can have (an event), or
            whose size isn't the parameter's; a buffer given twice that isn't made of whole elements; the files
            can't be written.
    """
    kernel = lowered_launch(launch)
    entries = captured_entries(launch, kernel)
    arrays = {
        f"{name}.{entry.parameter.name}.npy": content
        for entry in entries
        if (content := _content(kernel, entry)) is not None
    }
    tables = (f"\n[[arguments]]\n{toml_lines(_entry(entry, entries, name))}\n" for entry in entries)
    description = _head(launch, kernel, entries, f"{name}.cl") + "\n".join(tables)
    _write(folder, {f"{name}.cl": launch.source, f"{name}.toml": description}, arrays)
    return folder / f"{name}.toml"


def _write(folder: Path, texts: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write the files, arrays from where they are in memory; the texts last: what a description names is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: can't be made: {error.strerror}") from None
    for file, numbers in arrays.items():
        replace_file_by(partial(_write_array, numbers), folder / file)
    for file, text in texts.items():
        replace_file(text.encode(), folder / file)


def _write_array(numbers: Array, file: BinaryIO) -> None:
    np.lib.format.write_array(file, numbers, allow_pickle=False)


def _head(launch: CapturedLaunch, kernel: Kernel, entries: Sequence[CapturedEntry], file: str) -> str:
    outputs = captured_outputs(kernel, entries)
    return _FORMAT.format(
        kernel=kernel.name,
        file=toml(file),
        name=toml(kernel.name),
        options=toml(launch.options),
        outputs=toml(outputs),
        roundings=captured_roundings(kernel, entries, outputs),
        global_size=toml(launch.global_size),
        local_size=toml(launch.local_size or "open"),
        global_offset=f"global_offset = {toml(launch.global_offset)}\n" if any(launch.global_offset) else "",
    )


def _content(kernel: Kernel, entry: CapturedEntry) -> Array | None:
    """The content of a file of its own; None where the description says what is there."""
    if isinstance(entry.argument, CapturedImage):
        return entry.argument.content
    # Of structures it can't say a pattern.
    is_in_file = isinstance(entry.argument, CapturedBuffer) or (entry.type.is_opaque and entry.byte_count)
    return captured_elements(kernel, entry) if is_in_file else None


def _entry(entry: CapturedEntry, entries: Sequence[CapturedEntry], name: str) -> dict[str, object]:
    """An argument as the description has it."""
    argument, kind = entry.argument, entry.type
    own: dict[str, object] = {"name": entry.parameter.name}
    if isinstance(argument, SamplerArgument):
        return own | {
            "sampler": argument.addressing,
            "filter": argument.filter,
            "normalized": argument.normalized,
        }
    file = f"file({toml(f'{name}.{entry.parameter.name}.npy')})"
    if isinstance(argument, CapturedImage):
        return own | {
            "image": argument.format.kind,
            "extent": argument.extents,
            "channels": argument.format.channels,
            "format": argument.format.channel_type,
            "values": _pattern(entry) if argument.content is None else file,
        }
    own[kind_of(entry.parameter) or ""] = kind.name
    if isinstance(argument, PassedScalar):
        return own | {"value": _value(entry, argument)}
    own |= {"element_bytes": kind.byte_count} if kind.is_opaque else {}
    match argument:
        case PassedShared(index):
            return own | {"same_as": entries[index].parameter.name}
        case NullArgument():
            return own | {"null": True}
        case LocalArgument(byte_count):
            return own | {"bytes": byte_count}
    has_pattern = isinstance(argument, PassedBuffer) and not kind.is_opaque
    return own | {"elements": entry.element_count, "values": _pattern(entry) if has_pattern else file}


def _pattern(entry: CapturedEntry) -> str:
    scalar = np.dtype(entry.type.scalar)
    (number,) = np.frombuffer(bytes([UNREAD_BYTE]) * scalar.itemsize, scalar).tolist()
    return f"constant({toml(number)})"


def _value(entry: CapturedEntry, argument: PassedScalar) -> object:
    numbers = entry.numbers
    if entry.type.is_opaque:
        return argument.content.hex()
    return numbers[0] if entry.type.components == 1 else numbers
