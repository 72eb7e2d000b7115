"""The description of a captured launch, as text; a number as TOML has it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.described.captured_launch import (
    CapturedArgument,
    CapturedBuffer,
    CapturedImage,
    CapturedLaunch,
    CapturedSampler,
    CapturedUnread,
)
from coarsen.opencl_bench.workloads.described.check_signature import declared_type, kind_of
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.guess import possible_outputs
from coarsen.opencl_bench.workloads.described.passed_arguments import (
    PassedLocal,
    PassedNull,
    PassedScalar,
    PassedShared,
)
from coarsen.opencl_bench.workloads.described.pointer_use import pointer_uses
from coarsen.opencl_bench.workloads.described.roundings import rounding_steps
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

# The bytes of the pattern: a finite number in any floating-point type, and none that programs often write.
UNREAD_BYTE = 0x40
# So many contractions of a multiplication with an addition lead to an element.
_ROUNDINGS = 256
# In half precision so many would explain a difference of 9 %. What the code counts is taken if it is less; where
# loops run as often as data say, so many, which explain 5 %.
_ROUNDINGS_OF_HALVES = 64


@dataclass(frozen=True, slots=True)
class CapturedEntry:
    """An argument with the parameter that it is for; `type` is that of the parameter, or of its elements."""

    parameter: Parameter
    argument: CapturedArgument
    type: ElementType


def description_text(launch: CapturedLaunch, kernel: Kernel, entries: Sequence[CapturedEntry], name: str) -> str:
    """Return the text of a description.

    Args:
        launch: what was captured.
        kernel: the lowered kernel.
        entries: its arguments.
        name: what the workload is called.

    Raises:
        InvalidInputError: the kernel has nothing that it may write; an argument's size isn't the parameter's.
    """
    lines = ["\n".join(_lines(entry, entries, name)) for entry in entries]
    return _head(launch, kernel, f"{name}.cl") + "\n".join(lines)


def _head(launch: CapturedLaunch, kernel: Kernel, file: str) -> str:
    buffers = [parameter for parameter in kernel.arguments if kind_of(parameter) in ("buffer", "image")]
    given = {parameter.name: each for parameter, each in zip(kernel.arguments, launch.arguments, strict=True)}
    buffers = [parameter for parameter in buffers if not isinstance(given[parameter.name], PassedNull)]
    outputs = possible_outputs(buffers, pointer_uses(kernel))
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer and no image that it may write")
    return _FORMAT.format(
        kernel=kernel.name,
        file=quoted(file),
        name=quoted(kernel.name),
        options=array(launch.options),
        outputs=array(outputs),
        roundings=_roundings(kernel, [_scalar_name(kernel, given[name], name) for name in outputs]),
        global_size=list(launch.global_size),
        local_size=list(launch.local_size) or quoted("open"),
        global_offset=f"global_offset = {list(launch.global_offset)}\n" if any(launch.global_offset) else "",
    )


def _roundings(kernel: Kernel, types: Sequence[str]) -> int:
    """The number of roundings that lead to an element of outputs of these types.

    Where there are halves alone, as many as the code counts, at most: in their precision each counts for much.
    """
    floating = {name for name in types if name in ("half", "float", "double")}
    if floating != {"half"}:
        return _ROUNDINGS
    counted = rounding_steps(kernel, types) or ""
    return min(int(counted), _ROUNDINGS) if counted.isdecimal() else _ROUNDINGS_OF_HALVES


def _scalar_name(kernel: Kernel, argument: CapturedArgument, name: str) -> str:
    """The type of an output's numbers, in OpenCL C; empty where it has none."""
    if isinstance(argument, CapturedImage):
        return {"float": "float", "half_float": "half"}.get(argument.format.channel_type, "")
    parameter = next(each for each in kernel.arguments if each.name == name)
    declared = declared_type(parameter)
    return declared.scalar_name if declared is not None else ""


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
        yield f"elements = {element_count(entry, argument)}"
        yield f"values = {quoted(_values(entry, name))}"
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


def _values(entry: CapturedEntry, name: str) -> str:
    return _file(entry, name) if is_in_file(entry) else _pattern(entry)


def _file(entry: CapturedEntry, name: str) -> str:
    return f"file({quoted(f'{name}.{entry.parameter.name}.npy')})"


def _pattern(entry: CapturedEntry) -> str:
    scalar = np.dtype(entry.type.scalar)
    (number,) = np.frombuffer(bytes([UNREAD_BYTE]) * scalar.itemsize, scalar).tolist()
    return f"constant({_toml(number)})"


def _value(entry: CapturedEntry, argument: PassedScalar) -> str:
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


def byte_count(buffer: CapturedBuffer | CapturedUnread) -> int:
    """Return the bytes of a buffer."""
    return buffer.content.nbytes if isinstance(buffer, CapturedBuffer) else buffer.byte_count


def element_count(entry: CapturedEntry, buffer: CapturedBuffer | CapturedUnread) -> int:
    """Return the number of whole elements in a buffer. Raises InvalidInputError for none."""
    count = byte_count(buffer) // entry.type.byte_count
    if count == 0:
        raise InvalidInputError(f"the buffer '{entry.parameter.name}' has no room for one {entry.type.content}")
    return count


def is_in_file(entry: CapturedEntry) -> bool:
    """Return True unless the description says what a buffer is filled with: of structures it can't."""
    return isinstance(entry.argument, CapturedBuffer) or entry.type.is_opaque
