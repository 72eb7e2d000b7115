"""Writes a launch of a real program as a workload: the kernel, its description, and a NumPy file for each buffer.

    CapturedLaunch ─▶ FOLDER/NAME.cl, NAME.toml, NAME.ARGUMENT.npy … ─▶ `coarsen bench FOLDER/NAME.toml`

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from coarsen.base.files import replace_file, replace_file_by
from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.described.table import array, quoted
from coarsen.tuning.workload.argument_use import kind_of
from coarsen.tuning.workload.benchmark import Array
from coarsen.tuning.workload.captured_arguments import (
    UNREAD_BYTE,
    CapturedEntry,
    captured_elements,
    captured_entries,
    captured_outputs,
    captured_roundings,
    lowered_launch,
)
from coarsen.tuning.workload.captured_launch import (
    CapturedBuffer,
    CapturedImage,
    CapturedLaunch,
    CapturedSampler,
    CapturedUnread,
)
from coarsen.tuning.workload.launch_list import (
    PassedLocal,
    PassedNull,
    PassedScalar,
    PassedShared,
)

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
        f"{name}.{entry.parameter.name}.npy": captured_elements(kernel, entry)
        for entry in entries
        if isinstance(entry.argument, CapturedBuffer | CapturedUnread) and _is_in_file(entry)
    }
    arrays |= {
        f"{name}.{entry.parameter.name}.npy": entry.argument.content
        for entry in entries
        if isinstance(entry.argument, CapturedImage) and entry.argument.content is not None
    }
    lines = ["\n".join(_lines(entry, entries, name)) for entry in entries]
    description = _head(launch, kernel, entries, f"{name}.cl") + "\n".join(lines)
    _write(folder, {f"{name}.cl": launch.source, f"{name}.toml": description}, arrays)
    return folder / f"{name}.toml"


def content_files(launch: CapturedLaunch, path: Path) -> dict[int, str]:
    """Return the names of the files that buffers were written to, by the indices of the arguments.

    Args:
        launch: that was written.
        path: of its description.

    Raises:
        InvalidInputError: the kernel doesn't compile.
    """
    return {
        index: f"{path.stem}.{parameter.name}.npy"
        for index, (parameter, argument) in enumerate(
            zip(lowered_launch(launch).arguments, launch.arguments, strict=True)
        )
        if isinstance(argument, CapturedBuffer)
    }


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
        file=quoted(file),
        name=quoted(kernel.name),
        options=array(launch.options),
        outputs=array(outputs),
        roundings=captured_roundings(kernel, entries, outputs),
        global_size=list(launch.global_size),
        local_size=list(launch.local_size) or quoted("open"),
        global_offset=f"global_offset = {list(launch.global_offset)}\n" if any(launch.global_offset) else "",
    )


def _lines(entry: CapturedEntry, entries: Sequence[CapturedEntry], name: str) -> Iterator[str]:
    """The lines of an argument in the description."""
    argument, kind = entry.argument, entry.type
    yield "\n[[arguments]]"
    yield f"name = {quoted(entry.parameter.name)}"
    if isinstance(argument, CapturedImage | CapturedSampler):
        yield from _image_lines(entry, argument, name)
        return
    yield f"{kind_of(entry.parameter)} = {quoted(kind.name)}"
    if kind.is_opaque and not isinstance(argument, PassedScalar):
        yield f"element_bytes = {kind.byte_count}"
    if isinstance(argument, CapturedBuffer | CapturedUnread):
        yield f"elements = {entry.element_count}"
        yield f"values = {quoted(_file(entry, name) if _is_in_file(entry) else _pattern(entry))}"
    elif isinstance(argument, PassedShared):
        yield f"same_as = {quoted(entries[argument.index].parameter.name)}"
    elif isinstance(argument, PassedNull):
        yield "null = true"
    elif isinstance(argument, PassedLocal):
        yield f"bytes = {argument.byte_count}"
    else:
        yield f"value = {_value(entry, argument)}"
    yield ""


def _image_lines(entry: CapturedEntry, argument: CapturedImage | CapturedSampler, name: str) -> Iterator[str]:
    if isinstance(argument, CapturedSampler):
        sampler = argument.sampler
        yield f"sampler = {quoted(sampler.addressing)}"
        yield f"filter = {quoted(sampler.filter)}"
        yield f"normalized = {'true' if sampler.normalized else 'false'}"
    else:
        yield f"image = {quoted(argument.format.kind)}"
        yield f"extent = {list(argument.extents)}"
        yield f"channels = {quoted(argument.format.channels)}"
        yield f"format = {quoted(argument.format.channel_type)}"
        yield f"values = {quoted(_pattern(entry) if argument.content is None else _file(entry, name))}"
    yield ""


def _is_in_file(entry: CapturedEntry) -> bool:
    """Return True unless the description says what a buffer is filled with: of structures it can't."""
    return isinstance(entry.argument, CapturedBuffer) or entry.type.is_opaque


def _file(entry: CapturedEntry, name: str) -> str:
    return f"file({quoted(f'{name}.{entry.parameter.name}.npy')})"


def _pattern(entry: CapturedEntry) -> str:
    scalar = np.dtype(entry.type.scalar)
    (number,) = np.frombuffer(bytes([UNREAD_BYTE]) * scalar.itemsize, scalar).tolist()
    return f"constant({_toml(number)})"


def _value(entry: CapturedEntry, argument: PassedScalar) -> str:
    numbers = entry.numbers
    if entry.type.is_opaque:
        return quoted(argument.content.hex())
    listed = ", ".join(map(_toml, numbers))
    return listed if entry.type.components == 1 else f"[{listed}]"


def _toml(number: float) -> str:
    """A number as TOML has it: every finite float of whatever width is written exactly."""
    if isinstance(number, int):
        return str(number)
    if math.isnan(number):
        return "nan"
    return ("-inf" if number < 0 else "inf") if math.isinf(number) else repr(number)
