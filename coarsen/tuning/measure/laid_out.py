"""A workload whose arrays lie as a code wants them: packed before its launches, unpacked before they are compared.

    workload ──▶ its arrays packed ──▶ on the machine ──▶ outputs, unpacked ──▶ compared as they always are

Which buffers that are follows from the launches of the code's kernel. A buffer that something else is given as
well, another kernel or an argument that lies otherwise, can't be packed for both (`layout-same-buffer`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.runtime.layout import packed, passed_twice, unpacked
from coarsen.tuning.measure.machine import LaunchError
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Array, BufferArgument, Launch, Workload
from coarsen.variant.data_layout import Arrangement, RecordType

Arrangements = Mapping[str, Arrangement]


def arrangements_of(workload: Workload, code: Code, launches: Sequence[Launch]) -> Arrangements:
    """Return how the buffers lie that a code's launches need otherwise, by their names.

    Args:
        workload: has them as the host does.
        code: says which arguments' arrays lie otherwise.
        launches: of the uncoarsened kernels.

    Raises:
        LaunchError: an argument is no buffer, or its elements are others than the kernel's, or its shape does not
            fit the order; `layout-same-buffer`, a buffer has other uses.
    """
    found: dict[str, Arrangement] = {}
    for launch in launches:
        if code.is_sequence and launch.kernel != code.kernel:
            continue
        for laid in code.arrays:
            argument = launch.arguments[laid.index]
            if not isinstance(argument, BufferArgument) or argument.name in workload.images:
                raise LaunchError(f"the argument {laid.argument} is no buffer, so it can't lie otherwise")
            try:
                shape = shape_in_elements(workload.buffers[argument.name], RecordType.parse(laid.record))
                arrangement = laid.arrangement(shape)
            except InvalidInputError as error:
                raise LaunchError(f"the buffer {argument.name}: {error}") from error
            if found.setdefault(argument.name, arrangement) != arrangement:
                raise LaunchError(str(passed_twice(f"the buffer {argument.name}")))
    for launch in launches:
        _check_other_uses(launch, code, found)
    return found


def shape_in_elements(array: Array, record: RecordType) -> tuple[int, ...]:
    """Return the shape of an array in elements of a kernel's; of vectors the last axis has the components.

    Raises:
        InvalidInputError: the array has no such elements.
    """
    if array.itemsize == record.size:
        return array.shape
    components = array.shape[-1] if array.ndim > 1 else 0
    # A vector of three has the size of one of four.
    if array.itemsize * components == record.size:
        return array.shape[:-1]
    raise InvalidInputError(f"its elements have {array.itemsize} bytes, the kernel's {record.size}")


def _check_other_uses(launch: Launch, code: Code, found: Arrangements) -> None:
    is_own = not code.is_sequence or launch.kernel == code.kernel
    laid = {array.index for array in code.arrays} if is_own else set()
    for index, argument in enumerate(launch.arguments):
        if isinstance(argument, BufferArgument) and argument.name in found and index not in laid:
            raise LaunchError(str(passed_twice(f"the buffer {argument.name}")))


def laid_out(workload: Workload, arrangements: Arrangements) -> Workload:
    """Return a workload with some buffers packed; there is no reference of what its outputs hold then.

    Args:
        workload: as the host has it.
        arrangements: of the buffers to be packed, by their names.
    """
    buffers = {
        name: packed(array, arrangements[name]) if name in arrangements else array
        for name, array in workload.buffers.items()
    }
    shapes = {name: each.shape for name, each in arrangements.items() if each.shape is not None}
    return replace(workload, buffers=buffers, reference=None, element_shapes=shapes)


def as_the_host_has_them(
    outputs: Mapping[str, Array], workload: Workload, arrangements: Arrangements
) -> Mapping[str, Array]:
    """Return outputs with those unpacked that lie otherwise on the device.

    Args:
        outputs: of a workload that `laid_out` made.
        workload: as the host has it.
        arrangements: of the buffers that lie otherwise.
    """
    return {
        name: _unpacked(array, workload.buffers[name], arrangements[name]) if name in arrangements else array
        for name, array in outputs.items()
    }


def _unpacked(array: Array, like: Array, arrangement: Arrangement) -> Array:
    elements = unpacked(array.view(np.uint8).reshape(-1), arrangement)
    assert elements.size == math.prod(like.shape) * like.itemsize
    return elements.reshape(-1).view(like.dtype).reshape(like.shape)
