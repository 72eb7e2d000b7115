"""A captured launch as a benchmark of its own: as `coarsen run --record` keeps it, or on its way to be measured.

    CapturedLaunch ─▶ `write_launch` ─▶ one .npz: arrays, and the rest as JSON ─▶ `read_launch` ─▶ Benchmark

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast, get_args

import numpy as np

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    Benchmark,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    Preset,
    ScalarArgument,
    Size,
    Workload,
)
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
from coarsen.tuning.workload.driver_tools import check_whole_groups
from coarsen.tuning.workload.element_types import ImageFormat, SamplerArgument
from coarsen.tuning.workload.launch_list import PassedBuffer, PassedScalar, PassedShared, tagged, untagged

# The one preset of a launch on its way to be measured; of one that is kept, all presets are alike.
PRESET = "launch"
_PRESETS = ("test", "cpu", "gpu")
_LAUNCH, _SCALAR = "launch", "ScalarArgument"
_KINDS: tuple[type[Argument], ...] = get_args(Argument)
# What NumPy raises at a file that is no archive of arrays.
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A buffer or an image; of what the kernel does not read there is no content, but so many bytes."""

    name: str
    unread_bytes: int | None
    image: ImageFormat | None


@dataclass(frozen=True, slots=True)
class _Launch:
    """A captured launch without the contents of its buffers and the values of its scalars.

    `name` is what the benchmark of one that is kept is called; empty for one on its way to be measured.
    """

    name: str
    source: str
    options: tuple[str, ...]
    launch: Launch
    buffers: tuple[_Buffer, ...]
    outputs: tuple[str, ...]
    rounding_steps: int


def write_launch(launch: CapturedLaunch, file: Path | BinaryIO, name: str = "") -> None:
    """Write a launch as one file of NumPy arrays.

    Args:
        launch: what was captured.
        file: where it goes.
        name: what the benchmark is called, of a launch that is kept.

    Raises:
        InvalidInputError: the kernel doesn't compile; an argument that no workload can have (an event), or whose
            size isn't the parameter's; a buffer given twice that isn't made of whole elements; the file can't be
            written.
    """
    kernel = lowered_launch(launch)
    entries = captured_entries(launch, kernel)
    held = [each for each in entries if isinstance(each.argument, CapturedBuffer | PassedBuffer | CapturedImage)]
    arguments = tuple(_argument(entry, entries) for entry in entries)
    outputs = captured_outputs(kernel, entries)
    described = _Launch(
        name,
        launch.source,
        launch.options,
        Launch(launch.kernel, launch.global_size, launch.local_size, arguments, launch.global_offset),
        tuple(map(_buffer, held)),
        tuple(dict.fromkeys(_owner(name, entries) for name in outputs)),
        captured_roundings(kernel, entries, outputs),
    )
    text = json.dumps(encoded(described, dict.fromkeys(_KINDS, _argument_as_data))).encode()
    arrays: dict[str, Array] = {_LAUNCH: np.frombuffer(text, np.uint8)}
    for entry in held:
        arrays |= _stored(entry.parameter.name, _contents(kernel, entry))
    for index, argument in enumerate(arguments):
        if isinstance(argument, ScalarArgument):
            arrays[f"scalar {index}"] = np.asarray(argument.value)
    try:
        np.savez(file, **cast("Any", arrays))
    except OSError as error:
        raise InvalidInputError(f"what its buffers hold can't be copied to a file: {error.strerror}") from None


def read_launch(path: Path) -> Benchmark:
    """Return the benchmark of a launch that `write_launch` wrote. Raises InvalidInputError for any other file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            text = file[_LAUNCH].tobytes()
            checks = [(each.filename, each.CRC, each.file_size) for each in file.zip.infolist()]
            kept = decoded(_Launch, json.loads(text), "the launch", {Argument: _read_argument})
            launch = replace(
                kept.launch,
                arguments=tuple(
                    ScalarArgument(file[f"scalar {index}"][()]) if isinstance(each, ScalarArgument) else each
                    for index, each in enumerate(kept.launch.arguments)
                ),
            )
    except _UNREADABLE as error:
        raise InvalidInputError(f"the captured launch can't be read: {error}") from None
    dimensions = tuple(range(len(launch.global_size)))
    return Benchmark(
        name=kept.name or launch.kernel,
        dimensions=dimensions,
        presets=dict.fromkeys(_PRESETS if kept.name else (PRESET,), Preset({}, launch.local_size)),
        make_workload=partial(_make_workload, replace(kept, launch=launch), path),
        build_options=kept.options,
        make_launches=partial(_make_launches, launch),
        kernel_name=launch.kernel,
        source_text=kept.source,
        inputs_hash=hashlib.sha256(repr(checks).encode()).hexdigest() if kept.name else "",
        input_macros=(),
        buffers_fit_any_local_size=True,
    )


def _argument_as_data(argument: Argument) -> dict[str, Any]:
    """An argument by the name of its kind; the values of scalars are arrays of the file."""
    return {_SCALAR: {}} if isinstance(argument, ScalarArgument) else tagged(argument)


def _read_argument(data: Mapping[str, Any]) -> Argument:
    """The argument that `_argument_as_data` wrote, a scalar without its value. Raises KeyError or ValueError."""
    return ScalarArgument(np.uint8(0)) if _SCALAR in data else untagged(data, _KINDS)


def _buffer(entry: CapturedEntry) -> _Buffer:
    argument, name = entry.argument, entry.parameter.name
    if isinstance(argument, CapturedImage):
        shape = argument.format.shape(argument.extents)
        unread = math.prod(shape) * np.dtype(argument.format.scalar).itemsize
        return _Buffer(name, unread if argument.content is None else None, argument.format)
    used = entry.element_count * entry.type.byte_count
    return _Buffer(name, used if isinstance(argument, PassedBuffer) else None, None)


def _contents(kernel: Kernel, entry: CapturedEntry) -> Array:
    """The contents of a buffer or an image, in the shape that a workload has them in."""
    argument = entry.argument
    if isinstance(argument, CapturedImage):
        shape = argument.format.shape(argument.extents)
        empty = np.empty((0, *shape[1:]), argument.format.scalar)
        return empty if argument.content is None else argument.content.reshape(shape)
    elements = captured_elements(kernel, entry)
    if isinstance(argument, PassedBuffer):
        elements = elements[:0]
    is_plain = elements.dtype.names or entry.type.components == 1
    return elements if is_plain else elements.reshape(-1, entry.type.stored_components)


def _stored(name: str, contents: Array) -> dict[str, Array]:
    """A buffer's bytes, and an array without elements of its shape and type.

    As bytes: a copy of structures would leave out what is between their fields.
    """
    return {
        f"content {name}": np.ascontiguousarray(contents).reshape(-1).view(np.uint8),
        f"type {name}": contents[:0],
    }


def _owner(name: str, entries: Sequence[CapturedEntry]) -> str:
    """The name of the buffer that a parameter is given: of one that is given twice, the first."""
    argument = next(entry.argument for entry in entries if entry.parameter.name == name)
    return entries[argument.index].parameter.name if isinstance(argument, PassedShared) else name


def _argument(entry: CapturedEntry, entries: Sequence[CapturedEntry]) -> Argument:
    """The launch's argument; of a scalar the value in the parameter's type."""
    argument = entry.argument
    if isinstance(argument, SamplerArgument | LocalArgument | NullArgument):
        return argument
    if isinstance(argument, PassedScalar):
        return ScalarArgument(entry.type.value(entry.numbers))
    return BufferArgument(_owner(entry.parameter.name, entries))


def _make_workload(
    launch: _Launch, path: Path, size: Size, local_size: LocalSize, _generator: np.random.Generator
) -> Workload:
    return Workload(
        buffers=_read_buffers(launch, path),
        launches=_make_launches(launch.launch, size, local_size),
        outputs=launch.outputs,
        reference=None,
        images={buffer.name: buffer.image for buffer in launch.buffers if buffer.image is not None},
        rounding_steps=launch.rounding_steps,
    )


def _read_buffers(launch: _Launch, path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {buffer.name: _read_buffer(file, buffer) for buffer in launch.buffers}
    except _UNREADABLE as error:
        raise InvalidInputError(f"what its buffers hold can't be read: {error}") from None


def _read_buffer(file: Mapping[str, Array], buffer: _Buffer) -> Array:
    shape: Array = file[f"type {buffer.name}"]
    content: Array = (
        file[f"content {buffer.name}"]
        if buffer.unread_bytes is None
        else np.full(buffer.unread_bytes, UNREAD_BYTE, np.uint8)
    )
    return content.view(shape.dtype).reshape(-1, *shape.shape[1:])


def _make_launches(launch: Launch, _size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launch at a local size. Raises InvalidInputError where that does not divide the global size."""
    check_whole_groups(launch.global_size, local_size)
    return (replace(launch, local_size=local_size),)
