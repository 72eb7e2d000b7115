"""Reads one entry of a benchmark file's `arguments`: a buffer, a scalar, local memory; an image or a sampler."""

from __future__ import annotations

from functools import partial

from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.element_types import (
    OPAQUE,
    ElementType,
    element_type,
    opaque_type,
)
from coarsen.opencl_bench.workloads.described.file_values import parse_values
from coarsen.opencl_bench.workloads.described.image_arguments import read_image, read_sampler
from coarsen.opencl_bench.workloads.described.table import Table, is_number

KINDS = ("buffer", "scalar", "local", "image", "sampler")
_LARGEST_STRUCTURE = 1 << 20


def read_argument(table: Table, outputs: tuple[str, ...]) -> ArgumentDescription:
    """The argument that a table describes.

    Args:
        table: has the argument's name, and its type as the value of one of `KINDS`.
        outputs: names of the buffers and images that need no contents before the launch.

    Raises:
        InvalidInputError: a mistake in it.
    """
    kinds = [kind for kind in KINDS if table.has(kind)]
    if len(kinds) != 1:
        raise table.error("", f'it must have one of {", ".join(KINDS)}, with a type: buffer = "float"')
    readers = {
        "buffer": _buffer,
        "scalar": _scalar,
        "local": _local,
        "image": read_image,
        "sampler": read_sampler,
    }
    return readers[kinds[0]](table, outputs)


def _buffer(table: Table, outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "buffer", "element_bytes", "elements", "values", "same_as", "null", "scratch")
    name = table.text("name")
    kind = _type(table, "buffer")
    if table.has("same_as"):
        _check_lacks(table, "elements", "values", "null", "scratch")
        return SharedDescription(name, kind, table.text("same_as"))
    if table.has("null"):
        _check_lacks(table, "elements", "values", "scratch")
        if table.values["null"] is not True:
            raise table.error("null", "it must be true; leave it out where there is a buffer")
        return NullDescription(name, kind)
    is_scratch = _is_scratch(table)
    default = "unwritten" if name in outputs or is_scratch else None
    return BufferDescription(
        name,
        kind,
        table.parse("elements", parse_expression),
        table.parse("values", partial(parse_values, folder=table.path.parent), default),
        is_scratch,
    )


def _is_scratch(table: Table) -> bool:
    if not table.has("scratch"):
        return False
    if table.values["scratch"] is not True:
        raise table.error("scratch", "it must be true; leave it out of a buffer whose contents count")
    if table.has("values"):
        raise table.error("values", "scratch has none before a launch; leave it out")
    return True


def _check_lacks(table: Table, *keys: str) -> None:
    for key in keys:
        if table.has(key):
            raise table.error(key, "an argument with same_as or null has no memory of its own; leave it out")


def _type(table: Table, key: str) -> ElementType:
    """The type of an argument; `bytes` has as many as `element_bytes` says, one if it isn't there."""
    if table.values[key] != OPAQUE:
        if table.has("element_bytes"):
            raise table.error("element_bytes", f'it goes with {key} = "{OPAQUE}" alone')
        return table.parse(key, element_type)
    count = table.values.get("element_bytes", 1)
    if type(count) is not int or not 1 <= count <= _LARGEST_STRUCTURE:
        raise table.error(
            "element_bytes", f"it must be a whole number from 1 to {_LARGEST_STRUCTURE}, not {count!r}"
        )
    return opaque_type(count)


def _scalar(table: Table, _outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "scalar", "value")
    if table.values["scalar"] == OPAQUE:
        content = _bytes(table)
        return ScalarDescription(table.text("name"), opaque_type(len(content)), tuple(content))
    kind = table.parse("scalar", element_type)
    given = table.required("value")
    components = given if isinstance(given, list) else [given]
    if len(components) != kind.components:
        raise table.error("value", f"{kind.name} has {kind.components} components, not {len(components)}")
    return ScalarDescription(table.text("name"), kind, tuple(_component(table, entry) for entry in components))


def _bytes(table: Table) -> bytes:
    try:
        content = bytes.fromhex(table.text("value"))
    except ValueError:
        content = b""
    if not content:
        raise table.error(
            "value", 'it must be the bytes in hexadecimal digits, in the order of memory: "0100 ff07"'
        )
    return content


def _component(table: Table, value: object) -> Expression | float:
    if isinstance(value, str):
        return table.parse_text("value", parse_expression, value)
    if not is_number(value):
        raise table.error("value", f"it must be a number or an expression, not {value!r}")
    return value


def _local(table: Table, _outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "local", "element_bytes", "elements", "bytes")
    if table.has("elements") == table.has("bytes"):
        raise table.error("", "it must have either elements or bytes")
    in_bytes = table.has("bytes")
    count = table.parse("bytes" if in_bytes else "elements", parse_expression)
    return LocalDescription(table.text("name"), _type(table, "local"), count, in_bytes)
