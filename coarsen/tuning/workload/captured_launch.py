"""A launch of a real program with all that it was given: its arguments beside the kernel's parameters.

    CapturedLaunch ─▶ `write_launch` ─▶ one .npz: arrays, and the rest as JSON (`captured_benchmark.py` reads it)

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from coarsen.base.codec import encoded
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace
from coarsen.tuning.workload.argument_use import (
    PointerUse,
    declared_type,
    fields_of,
    image_kind,
    is_writable,
    kind_of,
    parameter_type,
    pointer_uses,
    structure_of,
)
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    BufferArgument,
    ByMacros,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    ScalarArgument,
)
from coarsen.tuning.workload.captured_benchmark import KINDS, LAUNCH, SCALAR, UNREAD_BYTE, KeptBuffer, KeptLaunch
from coarsen.tuning.workload.element_types import (
    ElementType,
    ImageFormat,
    SamplerArgument,
    opaque_type,
    pixel_type,
)
from coarsen.tuning.workload.launch_list import PassedBuffer, PassedScalar, PassedShared, tagged
from coarsen.tuning.workload.roundings import rounding_steps

# Coarsening changes the order of no operations: all that may differ is which of them are contracted. So many
# contractions of a multiplication with an addition lead to an element.
_ROUNDINGS = 256
# In half precision so many would explain a difference of 9 %. What the code counts is taken if it is less; where
# loops run as often as data say, so many, which explain 5 %.
_ROUNDINGS_OF_HALVES = 64


@dataclass(frozen=True, slots=True)
class CapturedBuffer:
    """The bytes of a buffer before the launch, as an array of bytes."""

    content: Array


@dataclass(frozen=True, slots=True)
class CapturedImage:
    """An image; `content` has the shape that its format gives it, None where the kernel does not read it."""

    format: ImageFormat
    extents: tuple[int, ...]
    content: Array | None


# Of a `PassedBuffer` the kernel does not read what it holds.
CapturedArgument = (
    CapturedBuffer
    | PassedBuffer
    | PassedShared
    | NullArgument
    | PassedScalar
    | LocalArgument
    | CapturedImage
    | SamplerArgument
)


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
        lowered: the kernel, where it was lowered already.
        by_macros: its sizes by values of the source's macros; None where these aren't tried.
    """

    source: str
    options: tuple[str, ...]
    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[CapturedArgument, ...]
    global_offset: tuple[int, ...] = ()
    macros: DeviceMacros = PORTABLE
    lowered: Kernel | None = field(default=None, compare=False, repr=False)
    by_macros: ByMacros | None = None

    @property
    def byte_count(self) -> int:
        """The bytes that were copied from the device."""
        held = (each.content for each in self.arguments if isinstance(each, CapturedBuffer | CapturedImage))
        return sum(content.nbytes for content in held if content is not None)


@dataclass(frozen=True, slots=True)
class CapturedEntry:
    """An argument with the parameter that it is for; `type` is that of the parameter, or of its elements."""

    parameter: Parameter
    argument: CapturedArgument
    type: ElementType

    @property
    def byte_count(self) -> int:
        """Return the bytes of a buffer; 0 of anything else."""
        if isinstance(self.argument, CapturedBuffer):
            return self.argument.content.nbytes
        return self.argument.byte_count if isinstance(self.argument, PassedBuffer) else 0

    @property
    def element_count(self) -> int:
        """Return the number of whole elements in a buffer. Raises InvalidInputError for none."""
        count = self.byte_count // self.type.byte_count
        if count == 0:
            raise InvalidInputError(f"the buffer '{self.parameter.name}' has no room for one {self.type.content}")
        return count

    @property
    def numbers(self) -> tuple[int | float, ...]:
        """Return the components of a scalar. Raises InvalidInputError where its size isn't the parameter's."""
        content = self.argument.content if isinstance(self.argument, PassedScalar) else b""
        if len(content) != self.type.byte_count:
            raise InvalidInputError(
                f"'{self.parameter.name}' is of type {self.type.name}, of {self.type.byte_count} bytes, and "
                f"{len(content)} were given"
            )
        return tuple(np.frombuffer(content, self.type.scalar)[: self.type.components].tolist())


def lowered_launch(launch: CapturedLaunch) -> Kernel:
    """Return the kernel of a launch. Raises InvalidInputError where it doesn't compile, RefusalError."""
    return launch.lowered or lower(launch.source, launch.kernel, list(launch.options), launch.macros)


def captured_entries(launch: CapturedLaunch, kernel: Kernel) -> tuple[CapturedEntry, ...]:
    """Return the arguments of a launch with their parameters and types.

    Raises:
        InvalidInputError: an argument that no workload can have (an event), or that is not what the parameter
            says; a buffer given twice that isn't made of whole elements.
    """
    if len(kernel.arguments) != len(launch.arguments):
        raise InvalidInputError(
            f"the kernel '{kernel.name}' has {len(kernel.arguments)} parameters, and "
            f"{len(launch.arguments)} arguments were given"
        )
    entries = tuple(
        CapturedEntry(parameter, argument, _type_of(kernel, parameter, argument))
        for parameter, argument in zip(kernel.arguments, launch.arguments, strict=True)
    )
    _check_shared(entries)
    return entries


def captured_outputs(kernel: Kernel, entries: Sequence[CapturedEntry]) -> tuple[str, ...]:
    """Return the parameters through which the kernel may write. Raises InvalidInputError where there is none."""
    uses = pointer_uses(kernel)
    outputs = tuple(
        entry.parameter.name
        for entry in entries
        if kind_of(entry.parameter) in ("buffer", "image")
        and not isinstance(entry.argument, NullArgument)
        and _may_be_written(entry.parameter, uses)
    )
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer and no image that it may write")
    return outputs


def captured_roundings(kernel: Kernel, entries: Sequence[CapturedEntry], outputs: Sequence[str]) -> int:
    """Return the number of roundings that lead to an element of the outputs.

    Where there are halves alone, as many as the code counts, at most: in their precision each counts for much.
    """
    types = [_scalar_name(entry) for entry in entries if entry.parameter.name in outputs]
    if {name for name in types if name in ("half", "float", "double")} != {"half"}:
        return _ROUNDINGS
    counted = rounding_steps(kernel, types) or ""
    return min(int(counted), _ROUNDINGS) if counted.isdecimal() else _ROUNDINGS_OF_HALVES


def captured_elements(kernel: Kernel, entry: CapturedEntry) -> Array:
    """Return a buffer's bytes as elements of its type; bytes beyond the last whole element are left out.

    What the kernel does not read is a pattern. Structures have the fields that the kernel's types show, so that
    their padding isn't compared.
    """
    used = entry.element_count * entry.type.byte_count
    if isinstance(entry.argument, CapturedBuffer):
        data = np.ascontiguousarray(entry.argument.content).view(np.uint8).reshape(-1)[:used]
    else:
        data = np.full(used, UNREAD_BYTE, np.uint8)
    elements: Array = data.view(_stored_type(kernel, entry))
    return elements


def _may_be_written(parameter: Parameter, uses: Mapping[str, PointerUse]) -> bool:
    """Return True if the kernel may write there, also through an address that is not understood."""
    if image_kind(parameter):
        return is_writable(parameter)
    return parameter.address_space != AddressSpace.CONSTANT and uses[parameter.name].may_be_written


def _scalar_name(entry: CapturedEntry) -> str:
    """The type of an output's numbers, in OpenCL C; empty where it has none."""
    if isinstance(entry.argument, CapturedImage):
        return {"float": "float", "half_float": "half"}.get(entry.argument.format.channel_type, "")
    declared = declared_type(entry.parameter)
    return declared.scalar_name if declared is not None else ""


def _type_of(kernel: Kernel, parameter: Parameter, argument: CapturedArgument) -> ElementType:
    kinds = {PassedScalar: "scalar", LocalArgument: "local", CapturedImage: "image", SamplerArgument: "sampler"}
    kind, wanted = kinds.get(type(argument), "buffer"), kind_of(parameter)
    if wanted is None:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': its parameter '{parameter.name}' is of type {parameter.type_name}, "
            "which a workload can't have"
        )
    if kind != wanted:
        raise InvalidInputError(f"the kernel '{kernel.name}': '{parameter.name}' is a {wanted}, not a {kind}")
    if isinstance(argument, CapturedImage):
        _check_image(kernel, parameter, argument)
        return pixel_type(argument.format)
    if isinstance(argument, SamplerArgument):
        return opaque_type(1)
    return parameter_type(kernel, parameter)


def _check_image(kernel: Kernel, parameter: Parameter, image: CapturedImage) -> None:
    """Raise InvalidInputError for an image that is not what the kernel's parameter says."""
    wanted = image_kind(parameter)
    if image.format.kind != wanted:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': '{parameter.name}' is an {wanted}, not an {image.format.kind}"
        )


def _check_shared(entries: Sequence[CapturedEntry]) -> None:
    """Raise InvalidInputError where what one argument leaves out of a buffer is there for another."""
    for shared in (entry.argument for entry in entries if isinstance(entry.argument, PassedShared)):
        entry = entries[shared.index]
        if entry.byte_count % entry.type.byte_count:
            raise InvalidInputError(
                f"the buffer '{entry.parameter.name}' is given twice, and its {entry.byte_count} bytes are no "
                f"whole number of elements of {entry.type.content}"
            )


def _stored_type(kernel: Kernel, entry: CapturedEntry) -> np.dtype[Any]:
    structure = structure_of(kernel, entry.parameter) if entry.type.is_opaque else None
    fields = None if structure is None else fields_of(kernel, structure)
    return fields if fields is not None and fields.names else np.dtype(entry.type.scalar)


# The launch as one file.


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
    outputs, tried = captured_outputs(kernel, entries), launch.by_macros
    described = KeptLaunch(
        name,
        launch.source,
        launch.options,
        Launch(launch.kernel, launch.global_size, launch.local_size, arguments, launch.global_offset),
        tuple(map(_buffer, held)),
        tuple(dict.fromkeys(_owner(name, entries) for name in outputs)),
        (tried and tried.roundings) or captured_roundings(kernel, entries, outputs),
        tried.sizes if tried else (),
    )
    text = json.dumps(encoded(described, dict.fromkeys(KINDS, _argument_as_data))).encode()
    arrays: dict[str, Array] = {LAUNCH: np.frombuffer(text, np.uint8)}
    for entry in held:
        arrays |= _stored(entry.parameter.name, _contents(kernel, entry))
    for index, argument in enumerate(arguments):
        if isinstance(argument, ScalarArgument):
            arrays[f"scalar {index}"] = np.asarray(argument.value)
    try:
        np.savez(file, **cast("Any", arrays))
    except OSError as error:
        raise InvalidInputError(f"what its buffers hold can't be copied to a file: {error.strerror}") from None


def _argument_as_data(argument: Argument) -> dict[str, Any]:
    """An argument by the name of its kind; the values of scalars are arrays of the file."""
    return {SCALAR: {}} if isinstance(argument, ScalarArgument) else tagged(argument)


def _buffer(entry: CapturedEntry) -> KeptBuffer:
    argument, name = entry.argument, entry.parameter.name
    if isinstance(argument, CapturedImage):
        shape = argument.format.shape(argument.extents)
        unread = math.prod(shape) * np.dtype(argument.format.scalar).itemsize
        return KeptBuffer(name, unread if argument.content is None else None, argument.format)
    used = entry.element_count * entry.type.byte_count
    return KeptBuffer(name, used if isinstance(argument, PassedBuffer) else None, None)


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
