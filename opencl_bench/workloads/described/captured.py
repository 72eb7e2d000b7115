"""Writes a launch of a real program as a workload: the kernel, its description, and a NumPy file for each buffer.

    CapturedLaunch ─▶ FOLDER/NAME.cl, NAME.toml, NAME.ARGUMENT.npy … ─▶ `coarsen bench FOLDER/NAME.toml`

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong. Structures are written with the fields that the kernel's types show,
so that their padding isn't compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file, replace_file_by
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.benchmark import Array, LocalSize
from coarsen.opencl_bench.workloads.described.check_signature import kind_of, parameter_type
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.guess import possible_outputs
from coarsen.opencl_bench.workloads.described.pointer_use import pointer_uses
from coarsen.opencl_bench.workloads.described.structures import fields_of, structure_of
from coarsen.opencl_bench.workloads.described.toml_text import array, quoted

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

# The bytes of the pattern: a finite number in any floating-point type, and none that programs often write.
UNREAD_BYTE = 0x40
# So many contractions of a multiplication with an addition lead to an element.
_ROUNDINGS = 256


@dataclass(frozen=True, slots=True)
class CapturedBuffer:
    """The bytes of a buffer before the launch, as an array of bytes."""

    content: Array


@dataclass(frozen=True, slots=True)
class CapturedUnread:
    """A buffer of so many bytes that the kernel does not read."""

    byte_count: int


@dataclass(frozen=True, slots=True)
class CapturedShared:
    """The buffer that an argument before this one was given, too, by that argument's index."""

    index: int


@dataclass(frozen=True, slots=True)
class CapturedNull:
    """A pointer that leads nowhere."""


@dataclass(frozen=True, slots=True)
class CapturedScalar:
    """A value in the bytes that the device was given."""

    content: bytes


@dataclass(frozen=True, slots=True)
class CapturedLocal:
    """Local memory of a work-group, in bytes."""

    byte_count: int


CapturedArgument = CapturedBuffer | CapturedUnread | CapturedShared | CapturedNull | CapturedScalar | CapturedLocal


@dataclass(frozen=True, slots=True)
class CapturedLaunch:
    """A launch with all that it was given.

    Args:
        source: the program's OpenCL C.
        options: its build options, one by one.
        kernel: the kernel's name.
        global_size: in work-items.
        local_size: in work-items; empty where it was left to the implementation.
        arguments: one for each of the kernel's parameters.
        global_offset: of the first work-item, an entry per dimension; empty where it is 0.
        macros: what the source may find out about its device.
    """

    source: str
    options: tuple[str, ...]
    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[CapturedArgument, ...]
    global_offset: tuple[int, ...] = ()
    macros: DeviceMacros = PORTABLE


@dataclass(frozen=True, slots=True)
class _Entry:
    """An argument with the parameter that it is for; `type` is that of the parameter, or of its elements."""

    parameter: Parameter
    argument: CapturedArgument
    type: ElementType


def write_capture(launch: CapturedLaunch, folder: Path, name: str) -> Path:
    """Write a launch as a workload; returns the description's path.

    Args:
        launch: what was captured.
        folder: where the files go; made if it isn't there.
        name: what the workload is called; files of this name in the folder are replaced.

    Raises:
        InvalidInputError: the kernel doesn't compile; an argument that no description can have (an image), or
            whose size isn't the parameter's; a buffer given twice that isn't made of whole elements; the files
            can't be written.
    """
    kernel = lower(launch.source, launch.kernel, list(launch.options), launch.macros)
    if len(kernel.arguments) != len(launch.arguments):
        raise InvalidInputError(
            f"the kernel '{kernel.name}' has {len(kernel.arguments)} parameters, and "
            f"{len(launch.arguments)} arguments were given"
        )
    entries = [
        _Entry(parameter, argument, _type_of(kernel, parameter, argument))
        for parameter, argument in zip(kernel.arguments, launch.arguments, strict=True)
    ]
    _check_shared(entries)
    arrays = {
        f"{name}.{entry.parameter.name}.npy": _elements(kernel, entry, entry.argument)
        for entry in entries
        if isinstance(entry.argument, CapturedBuffer | CapturedUnread) and _is_in_file(entry)
    }
    lines = ["\n".join(_lines(entry, entries, name)) for entry in entries]
    description = _head(launch, kernel, f"{name}.cl") + "\n".join(lines)
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


def _type_of(kernel: Kernel, parameter: Parameter, argument: CapturedArgument) -> ElementType:
    kinds = {CapturedScalar: "scalar", CapturedLocal: "local"}
    kind, wanted = kinds.get(type(argument), "buffer"), kind_of(parameter)
    if wanted is None:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': its parameter '{parameter.name}' is of type {parameter.type_name}, "
            "which a workload can't have"
        )
    if kind != wanted:
        raise InvalidInputError(f"the kernel '{kernel.name}': '{parameter.name}' is a {wanted}, not a {kind}")
    return parameter_type(kernel, parameter)


def _check_shared(entries: Sequence[_Entry]) -> None:
    """Raise InvalidInputError where what one argument leaves out of a buffer is there for another."""
    for shared in (entry.argument for entry in entries if isinstance(entry.argument, CapturedShared)):
        entry = entries[shared.index]
        given = _byte_count(entry.argument) if isinstance(entry.argument, CapturedBuffer | CapturedUnread) else 0
        if given % entry.type.byte_count:
            raise InvalidInputError(
                f"the buffer '{entry.parameter.name}' is given twice, and its {given} bytes are no whole number "
                f"of elements of {entry.type.content}"
            )


def _byte_count(buffer: CapturedBuffer | CapturedUnread) -> int:
    return buffer.content.nbytes if isinstance(buffer, CapturedBuffer) else buffer.byte_count


def _count(entry: _Entry, buffer: CapturedBuffer | CapturedUnread) -> int:
    """The number of whole elements in a buffer. Raises InvalidInputError for none."""
    count = _byte_count(buffer) // entry.type.byte_count
    if count == 0:
        raise InvalidInputError(f"the buffer '{entry.parameter.name}' has no room for one {entry.type.content}")
    return count


def _is_in_file(entry: _Entry) -> bool:
    """Return True unless the description says what a buffer is filled with: of structures it can't."""
    return isinstance(entry.argument, CapturedBuffer) or entry.type.is_opaque


def _elements(kernel: Kernel, entry: _Entry, argument: CapturedBuffer | CapturedUnread) -> Array:
    """A buffer's bytes as elements of its type; bytes beyond the last whole element are left out."""
    used = _count(entry, argument) * entry.type.byte_count
    if isinstance(argument, CapturedBuffer):
        data = np.ascontiguousarray(argument.content).view(np.uint8).reshape(-1)[:used]
    else:
        data = np.full(used, UNREAD_BYTE, np.uint8)
    elements: Array = data.view(_stored_type(kernel, entry))
    return elements


def _stored_type(kernel: Kernel, entry: _Entry) -> np.dtype[Any]:
    structure = structure_of(kernel, entry.parameter) if entry.type.is_opaque else None
    fields = None if structure is None else fields_of(kernel, structure)
    return fields if fields is not None and fields.names else np.dtype(entry.type.scalar)


def _head(launch: CapturedLaunch, kernel: Kernel, file: str) -> str:
    buffers = [parameter for parameter in kernel.arguments if kind_of(parameter) == "buffer"]
    given = {parameter.name: each for parameter, each in zip(kernel.arguments, launch.arguments, strict=True)}
    buffers = [parameter for parameter in buffers if not isinstance(given[parameter.name], CapturedNull)]
    outputs = possible_outputs(buffers, pointer_uses(kernel))
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer that it may write")
    return _FORMAT.format(
        kernel=kernel.name,
        file=quoted(file),
        name=quoted(kernel.name),
        options=array(launch.options),
        outputs=array(outputs),
        roundings=_ROUNDINGS,
        global_size=list(launch.global_size),
        local_size=list(launch.local_size) or quoted("open"),
        global_offset=f"global_offset = {list(launch.global_offset)}\n" if any(launch.global_offset) else "",
    )


def _lines(entry: _Entry, entries: Sequence[_Entry], name: str) -> Iterator[str]:
    """The lines of an argument in the description."""
    argument, kind = entry.argument, entry.type
    yield "\n[[arguments]]"
    yield f"name = {quoted(entry.parameter.name)}"
    yield f"{kind_of(entry.parameter)} = {quoted(kind.name)}"
    if kind.is_opaque and not isinstance(argument, CapturedScalar):
        yield f"element_bytes = {kind.byte_count}"
    if isinstance(argument, CapturedBuffer | CapturedUnread):
        yield f"elements = {_count(entry, argument)}"
        yield f"values = {quoted(_values(entry, name))}"
    elif isinstance(argument, CapturedShared):
        yield f"same_as = {quoted(entries[argument.index].parameter.name)}"
    elif isinstance(argument, CapturedNull):
        yield "null = true"
    elif isinstance(argument, CapturedLocal):
        yield f"bytes = {argument.byte_count}"
    else:
        yield f"value = {_value(entry, argument)}"
    yield ""


def _values(entry: _Entry, name: str) -> str:
    if _is_in_file(entry):
        return f"file({quoted(f'{name}.{entry.parameter.name}.npy')})"
    scalar = np.dtype(entry.type.scalar)
    (number,) = np.frombuffer(bytes([UNREAD_BYTE]) * scalar.itemsize, scalar).tolist()
    return f"constant({_toml(number)})"


def _value(entry: _Entry, argument: CapturedScalar) -> str:
    kind = entry.type
    if len(argument.content) != kind.byte_count:
        raise InvalidInputError(
            f"'{entry.parameter.name}' is of type {kind.name}, of {kind.byte_count} bytes, and "
            f"{len(argument.content)} were given"
        )
    if kind.is_opaque:
        return quoted(argument.content.hex())
    numbers = np.frombuffer(argument.content, kind.scalar)[: kind.components].tolist()
    listed = ", ".join(map(_toml, numbers))
    return listed if kind.components == 1 else f"[{listed}]"


def _toml(number: float) -> str:
    """A number as TOML has it: every finite float of whatever width is written exactly."""
    if isinstance(number, int):
        return str(number)
    if math.isnan(number):
        return "nan"
    return ("-inf" if number < 0 else "inf") if math.isinf(number) else repr(number)
