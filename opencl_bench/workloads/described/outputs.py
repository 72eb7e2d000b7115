"""The outputs of a described kernel: which buffers are compared, and which of them in any order."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription
from coarsen.opencl_bench.workloads.described.table import Table


def read_outputs(top: Table) -> tuple[str, ...]:
    """Return the names of the outputs, each once. Raises InvalidInputError where there is none."""
    outputs = tuple(dict.fromkeys(top.texts("outputs")))
    if not outputs:
        raise top.error("outputs", "name at least one buffer that the kernel writes")
    return outputs


def read_order_free(
    top: Table, outputs: tuple[str, ...], arguments: tuple[ArgumentDescription, ...]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of outputs whose elements may come in any order. Raises InvalidInputError."""
    images = [argument.name for argument in arguments if isinstance(argument, ImageDescription)]
    shaped = [each.name for each in arguments if isinstance(each, BufferDescription) and each.shape]
    groups = tuple(_group(top, entry) for entry in top.array("order_free", []))
    named = [name for group in groups for name in group]
    for name in named:
        if name not in outputs:
            raise top.error("order_free", f"'{name}' is none of the outputs, {', '.join(outputs)}")
        if name in images:
            raise top.error("order_free", f"'{name}' is an image, whose pixels have their places")
        if name in shaped:
            raise top.error("order_free", f"'{name}' has a shape, whose elements have their places; give elements")
        if named.count(name) > 1:
            raise top.error("order_free", f"'{name}' is named twice")
    return groups


def output_buffers(
    top: Table, arguments: tuple[ArgumentDescription, ...], outputs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the buffers of the outputs: one that is given twice is an output by either name.

    Raises:
        InvalidInputError: there is no such buffer, or it is scratch.
    """
    buffer_of = {
        each.name: each.name for each in arguments if isinstance(each, BufferDescription | ImageDescription)
    }
    buffer_of |= {each.name: each.same_as for each in arguments if isinstance(each, SharedDescription)}
    scratch = [each.name for each in arguments if isinstance(each, BufferDescription) and each.is_scratch]
    for name in outputs:
        if name not in buffer_of:
            raise top.error("outputs", f"there is no buffer and no image '{name}' among the arguments")
        if buffer_of[name] in scratch:
            raise top.error("outputs", f"'{name}' is scratch, whose contents do not count")
    return tuple(dict.fromkeys(buffer_of[name] for name in outputs))


def _group(top: Table, entry: object) -> tuple[str, ...]:
    names = entry if isinstance(entry, list) else [entry]
    if not names or not all(isinstance(name, str) for name in names):
        raise top.error("order_free", f"it must hold names of outputs, or arrays of those, not {entry!r}")
    return tuple(map(str, names))
