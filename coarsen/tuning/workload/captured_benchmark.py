"""A captured launch as a benchmark of its own, on its way to the processes that compile and measure it.

    CapturedLaunch ─▶ `write_launch` ─▶ one .npz: arrays, and the rest as JSON ─▶ `read_launch` ─▶ Benchmark

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

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
from coarsen.tuning.workload.image_format import ImageFormat, SamplerArgument
from coarsen.tuning.workload.launch_list import PassedLocal, PassedNull, PassedShared

# The one preset of such a benchmark: a launch has one size.
PRESET = "launch"
_LAUNCH = "launch"
# What NumPy raises at a file that is no archive of arrays.
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True, slots=True)
class _Passed:
    """An argument; `name` is that of the buffer or image that is passed, or of the parameter."""

    kind: Literal["buffer", "scalar", "local", "null", "sampler"]
    name: str
    byte_count: int = 0
    sampler: SamplerArgument | None = None


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A buffer or an image; of what the kernel does not read there is no content, but so many bytes."""

    name: str
    unread_bytes: int | None
    image: ImageFormat | None


@dataclass(frozen=True, slots=True)
class _Launch:
    """A captured launch without the contents of its buffers."""

    source: str
    options: tuple[str, ...]
    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    global_offset: tuple[int, ...]
    arguments: tuple[_Passed, ...]
    buffers: tuple[_Buffer, ...]
    outputs: tuple[str, ...]
    rounding_steps: int


def write_launch(launch: CapturedLaunch, path: Path) -> None:
    """Write a launch as one file of NumPy arrays.

    Raises:
        InvalidInputError: the kernel doesn't compile; an argument that no workload can have (an event), or whose
            size isn't the parameter's; a buffer given twice that isn't made of whole elements; the file can't be
            written.
    """
    kernel = lowered_launch(launch)
    entries = captured_entries(launch, kernel)
    held = [entry for entry in entries if _holds_memory(entry)]
    described = _Launch(
        launch.source,
        launch.options,
        launch.kernel,
        launch.global_size,
        launch.local_size,
        launch.global_offset,
        tuple(_passed(entry, entries) for entry in entries),
        tuple(_buffer(entry) for entry in held),
        tuple(dict.fromkeys(_owner(name, entries) for name in captured_outputs(kernel, entries))),
        captured_roundings(kernel, entries, captured_outputs(kernel, entries)),
    )
    text = json.dumps(encoded(described)).encode()
    arrays: dict[str, Array] = {_LAUNCH: np.frombuffer(text, np.uint8)}
    for entry in held:
        arrays |= _stored(entry.parameter.name, _contents(kernel, entry))
    for entry, passed in zip(entries, described.arguments, strict=True):
        if passed.kind == "scalar":
            arrays[f"scalar {passed.name}"] = np.asarray(entry.type.value(entry.numbers))
    try:
        with path.open("wb") as file:
            np.savez(file, **cast("Any", arrays))
    except OSError as error:
        raise InvalidInputError(f"what its buffers hold can't be copied to a file: {error.strerror}") from None


def read_launch(path: Path) -> Benchmark:
    """Return the benchmark of a launch that `write_launch` wrote. Raises InvalidInputError for any other file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            text = file[_LAUNCH].tobytes()
            scalars = {name: file[name][()] for name in file.files if name.startswith("scalar ")}
        launch = decoded(_Launch, json.loads(text), "the launch")
    except _UNREADABLE as error:
        raise InvalidInputError(f"the captured launch can't be read: {error}") from None
    dimensions = tuple(range(len(launch.global_size)))
    return Benchmark(
        name=launch.kernel,
        dimensions=dimensions,
        presets={PRESET: Preset({}, launch.local_size)},
        divisible_local_sizes=dict.fromkeys(dimensions, launch.local_size),
        make_workload=partial(_make_workload, launch, scalars, path),
        build_options=launch.options,
        make_launches=partial(_make_launches, launch, scalars),
        source_text=launch.source,
        input_macros=(),
        buffers_fit_any_local_size=True,
    )


def _holds_memory(entry: CapturedEntry) -> bool:
    return isinstance(entry.argument, CapturedBuffer | CapturedUnread | CapturedImage)


def _buffer(entry: CapturedEntry) -> _Buffer:
    argument, name = entry.argument, entry.parameter.name
    if isinstance(argument, CapturedImage):
        shape = argument.format.shape(argument.extents)
        unread = math.prod(shape) * np.dtype(argument.format.scalar).itemsize
        return _Buffer(name, unread if argument.content is None else None, argument.format)
    used = entry.element_count * entry.type.byte_count
    return _Buffer(name, used if isinstance(argument, CapturedUnread) else None, None)


def _contents(kernel: Kernel, entry: CapturedEntry) -> Array:
    """The contents of a buffer or an image, in the shape that a workload has them in."""
    argument = entry.argument
    if isinstance(argument, CapturedImage):
        shape = argument.format.shape(argument.extents)
        empty = np.empty((0, *shape[1:]), argument.format.scalar)
        return empty if argument.content is None else argument.content.reshape(shape)
    elements = captured_elements(kernel, entry)
    if isinstance(argument, CapturedUnread):
        elements = elements[:0]
    return elements if elements.dtype.names or entry.type.components == 1 else _in_vectors(entry, elements)


def _in_vectors(entry: CapturedEntry, elements: Array) -> Array:
    return elements.reshape(-1, entry.type.stored_components)


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


def _passed(entry: CapturedEntry, entries: Sequence[CapturedEntry]) -> _Passed:
    argument, name = entry.argument, entry.parameter.name
    if isinstance(argument, CapturedSampler):
        return _Passed("sampler", name, sampler=argument.sampler)
    if isinstance(argument, PassedLocal):
        return _Passed("local", name, argument.byte_count)
    if isinstance(argument, PassedNull):
        return _Passed("null", name)
    if _holds_memory(entry) or isinstance(argument, PassedShared):
        return _Passed("buffer", _owner(name, entries))
    return _Passed("scalar", name)


def _make_workload(
    launch: _Launch,
    scalars: Mapping[str, np.generic],
    path: Path,
    size: Size,
    local_size: LocalSize,
    _generator: np.random.Generator,
) -> Workload:
    return Workload(
        buffers=_read_buffers(launch, path),
        launches=_make_launches(launch, scalars, size, local_size),
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


def _make_launches(
    launch: _Launch, scalars: Mapping[str, np.generic], _size: Size, local_size: LocalSize
) -> tuple[Launch, ...]:
    """The launch at a local size. Raises InvalidInputError where that does not divide the global size."""
    for dimension, (total, group) in enumerate(zip(launch.global_size, local_size, strict=bool(local_size))):
        if total % group:
            raise InvalidInputError(
                f"the local size {group} does not divide the global size {total} along dimension {dimension}"
            )
    arguments = tuple(_argument(each, scalars) for each in launch.arguments)
    return (Launch(launch.kernel, launch.global_size, local_size, arguments, launch.global_offset),)


def _argument(passed: _Passed, scalars: Mapping[str, np.generic]) -> Argument:
    if passed.sampler is not None:
        return passed.sampler
    if passed.kind == "local":
        return LocalArgument(passed.byte_count)
    if passed.kind == "null":
        return NullArgument()
    if passed.kind == "scalar":
        return ScalarArgument(scalars[f"scalar {passed.name}"])
    return BufferArgument(passed.name)
