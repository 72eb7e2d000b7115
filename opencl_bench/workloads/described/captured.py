"""Writes a launch of a real program as a workload: the kernel, its description, and a NumPy file for each buffer.

    CapturedLaunch ─▶ FOLDER/NAME.cl, NAME.toml, NAME.ARGUMENT.npy … ─▶ `coarsen bench FOLDER/NAME.toml`

The sizes, scalars and contents are those of the launch. What the kernel may write is an output. What it does not
read holds a pattern in place of the program's own content, which may be the results already: a variant that leaves
out some of the work would not be found wrong. Structures are written with the fields that the kernel's types show,
so that their padding isn't compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.files import replace_file, replace_file_by
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.described.captured_launch import (
    CapturedArgument,
    CapturedBuffer,
    CapturedImage,
    CapturedLaunch,
    CapturedSampler,
    CapturedUnread,
)
from coarsen.opencl_bench.workloads.described.captured_text import (
    UNREAD_BYTE,
    CapturedEntry,
    byte_count,
    description_text,
    element_count,
    is_in_file,
)
from coarsen.opencl_bench.workloads.described.check_signature import kind_of, parameter_type
from coarsen.opencl_bench.workloads.described.element_types import ElementType, opaque_type
from coarsen.opencl_bench.workloads.described.image_arguments import pixel_type
from coarsen.opencl_bench.workloads.described.image_use import image_kind
from coarsen.opencl_bench.workloads.described.passed_arguments import PassedLocal, PassedScalar, PassedShared
from coarsen.opencl_bench.workloads.described.structures import fields_of, structure_of


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
    kernel = lower(launch.source, launch.kernel, list(launch.options), launch.macros)
    if len(kernel.arguments) != len(launch.arguments):
        raise InvalidInputError(
            f"the kernel '{kernel.name}' has {len(kernel.arguments)} parameters, and "
            f"{len(launch.arguments)} arguments were given"
        )
    entries = [
        CapturedEntry(parameter, argument, _type_of(kernel, parameter, argument))
        for parameter, argument in zip(kernel.arguments, launch.arguments, strict=True)
    ]
    _check_shared(entries)
    arrays = {
        f"{name}.{entry.parameter.name}.npy": _elements(kernel, entry, entry.argument)
        for entry in entries
        if isinstance(entry.argument, CapturedBuffer | CapturedUnread) and is_in_file(entry)
    }
    arrays |= {
        f"{name}.{entry.parameter.name}.npy": entry.argument.content
        for entry in entries
        if isinstance(entry.argument, CapturedImage) and entry.argument.content is not None
    }
    description = description_text(launch, kernel, entries, name)
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
    kernel = lower(launch.source, launch.kernel, list(launch.options), launch.macros)
    return {
        index: f"{path.stem}.{parameter.name}.npy"
        for index, (parameter, argument) in enumerate(zip(kernel.arguments, launch.arguments, strict=True))
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


def _type_of(kernel: Kernel, parameter: Parameter, argument: CapturedArgument) -> ElementType:
    kinds = {
        PassedScalar: "scalar",
        PassedLocal: "local",
        CapturedImage: "image",
        CapturedSampler: "sampler",
    }
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
    if isinstance(argument, CapturedSampler):
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
        given = byte_count(entry.argument) if isinstance(entry.argument, CapturedBuffer | CapturedUnread) else 0
        if given % entry.type.byte_count:
            raise InvalidInputError(
                f"the buffer '{entry.parameter.name}' is given twice, and its {given} bytes are no whole number "
                f"of elements of {entry.type.content}"
            )


def _elements(kernel: Kernel, entry: CapturedEntry, argument: CapturedBuffer | CapturedUnread) -> Array:
    """A buffer's bytes as elements of its type; bytes beyond the last whole element are left out."""
    used = element_count(entry, argument) * entry.type.byte_count
    if isinstance(argument, CapturedBuffer):
        data = np.ascontiguousarray(argument.content).view(np.uint8).reshape(-1)[:used]
    else:
        data = np.full(used, UNREAD_BYTE, np.uint8)
    elements: Array = data.view(_stored_type(kernel, entry))
    return elements


def _stored_type(kernel: Kernel, entry: CapturedEntry) -> np.dtype[Any]:
    structure = structure_of(kernel, entry.parameter) if entry.type.is_opaque else None
    fields = None if structure is None else fields_of(kernel, structure)
    return fields if fields is not None and fields.names else np.dtype(entry.type.scalar)
