"""Writes a launch of a real program as a workload: the kernel, its description, and a NumPy file for each buffer.

    CapturedLaunch ─▶ FOLDER/NAME.cl, NAME.toml, NAME.ARGUMENT.npy … ─▶ `coarsen bench FOLDER/NAME.toml`

The sizes, scalars and contents are those of the launch. What the kernel may write is an output.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.benchmark import Array, LocalSize
from coarsen.opencl_bench.workloads.described.check_signature import declared_type, kind_of
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.guess import guess_outputs
from coarsen.opencl_bench.workloads.described.pointer_use import pointer_uses
from coarsen.opencl_bench.workloads.described.toml_text import array, quoted

_FORMAT = """\
# A launch of the kernel {kernel}, captured from a program: its sizes, scalars and the contents of its buffers.
file = {file}
kernel = {name}
build_options = {options}
outputs = {outputs}

[ndrange]
global_size = {global_size}
local_size = {local_size}

# The same at every preset: a launch has one size.
[sizes.test]
[sizes.cpu]
[sizes.gpu]
"""


@dataclass(frozen=True, slots=True)
class CapturedBuffer:
    """The bytes of a buffer before the launch, as an array of bytes."""

    content: Array


@dataclass(frozen=True, slots=True)
class CapturedScalar:
    """A value in the bytes that the device was given."""

    content: bytes


@dataclass(frozen=True, slots=True)
class CapturedLocal:
    """Local memory of a work-group, in bytes."""

    byte_count: int


CapturedArgument = CapturedBuffer | CapturedScalar | CapturedLocal


@dataclass(frozen=True, slots=True)
class CapturedLaunch:
    """A launch with all that it was given.

    Args:
        source: the program's OpenCL C.
        options: its build options, one by one.
        kernel: the kernel's name.
        global_size: in work-items.
        local_size: in work-items.
        arguments: one for each of the kernel's parameters.
    """

    source: str
    options: tuple[str, ...]
    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[CapturedArgument, ...]


def write_capture(launch: CapturedLaunch, folder: Path, name: str) -> Path:
    """Write a launch as a workload; returns the description's path.

    Args:
        launch: what was captured.
        folder: where the files go; made if it isn't there.
        name: what the workload is called; files of this name in the folder are replaced.

    Raises:
        InvalidInputError: the kernel doesn't compile; an argument that no description can have (an image, a
            structure), or whose size isn't the parameter's; the files can't be written.
    """
    kernel = lower(launch.source, launch.kernel, list(launch.options))
    if len(kernel.arguments) != len(launch.arguments):
        raise InvalidInputError(
            f"the kernel '{kernel.name}' has {len(kernel.arguments)} parameters, and "
            f"{len(launch.arguments)} arguments were given"
        )
    pairs = list(zip(kernel.arguments, launch.arguments, strict=True))
    types = [_type_of(kernel, parameter, argument) for parameter, argument in pairs]
    files: dict[str, bytes] = {f"{name}.cl": launch.source.encode()}
    entries = []
    for (parameter, argument), kind in zip(pairs, types, strict=True):
        file = f"{name}.{parameter.name}.npy"
        if isinstance(argument, CapturedBuffer):
            files[file] = _npy(_elements(parameter, argument, kind))
        entries.append("\n".join(_entry(parameter, argument, kind, file)))
    files[f"{name}.toml"] = (_head(launch, kernel, f"{name}.cl") + "\n".join(entries)).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: can't be made: {error.strerror}") from None
    for file, data in files.items():  # the description last: what it names is there
        replace_file(data, folder / file)
    return folder / f"{name}.toml"


def _type_of(kernel: Kernel, parameter: Parameter, argument: CapturedArgument) -> ElementType:
    kinds = {CapturedBuffer: "buffer", CapturedScalar: "scalar", CapturedLocal: "local"}
    kind, wanted = kinds[type(argument)], kind_of(parameter)
    declared = declared_type(parameter)
    if declared is None or wanted is None:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': its parameter '{parameter.name}' is of type {parameter.type_name}, "
            "which a workload can't have"
        )
    if kind != wanted:
        raise InvalidInputError(f"the kernel '{kernel.name}': '{parameter.name}' is a {wanted}, not a {kind}")
    return declared


def _elements(parameter: Parameter, argument: CapturedBuffer, kind: ElementType) -> Array:
    """A buffer's bytes as numbers of its type; bytes beyond the last whole element are left out."""
    count = argument.content.nbytes // kind.byte_count
    if count == 0:
        raise InvalidInputError(f"the buffer '{parameter.name}' has no room for one {kind.name}")
    data = np.ascontiguousarray(argument.content).view(np.uint8).reshape(-1)[: count * kind.byte_count]
    numbers: Array = data.view(kind.scalar)
    return numbers


def _npy(numbers: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, numbers, allow_pickle=False)
    return file.getvalue()


def _head(launch: CapturedLaunch, kernel: Kernel, file: str) -> str:
    buffers = [parameter for parameter in kernel.arguments if kind_of(parameter) == "buffer"]
    outputs = guess_outputs(kernel, buffers, pointer_uses(kernel))
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer that it may write")
    return _FORMAT.format(
        kernel=kernel.name,
        file=quoted(file),
        name=quoted(kernel.name),
        options=array(launch.options),
        outputs=array(outputs),
        global_size=list(launch.global_size),
        local_size=list(launch.local_size),
    )


def _entry(parameter: Parameter, argument: CapturedArgument, kind: ElementType, file: str) -> Iterator[str]:
    yield "\n[[arguments]]"
    yield f"name = {quoted(parameter.name)}"
    if isinstance(argument, CapturedBuffer):
        yield f"buffer = {quoted(kind.name)}"
        yield f"elements = {argument.content.nbytes // kind.byte_count}"
        yield f"values = {quoted(f'file({quoted(file)})')}"
    elif isinstance(argument, CapturedLocal):
        yield f"local = {quoted(kind.name)}"
        yield f"bytes = {argument.byte_count}"
    else:
        numbers = _numbers(parameter, argument, kind)
        yield f"scalar = {quoted(kind.name)}"
        listed = ", ".join(map(_toml, numbers))
        yield f"value = {listed}" if kind.components == 1 else f"value = [{listed}]"
    yield ""


def _numbers(parameter: Parameter, argument: CapturedScalar, kind: ElementType) -> Sequence[int | float]:
    if len(argument.content) != kind.byte_count:
        raise InvalidInputError(
            f"'{parameter.name}' is of type {kind.name}, of {kind.byte_count} bytes, and {len(argument.content)} "
            "were given"
        )
    values = np.frombuffer(argument.content, kind.scalar)[: kind.components]
    numbers: list[int | float] = values.tolist()
    return numbers


def _toml(number: float) -> str:
    """A number as TOML has it: every finite float of whatever width is written exactly."""
    if isinstance(number, int):
        return str(number)
    if math.isnan(number):
        return "nan"
    return ("-inf" if number < 0 else "inf") if math.isinf(number) else repr(number)
