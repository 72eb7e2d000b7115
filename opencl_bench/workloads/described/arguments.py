"""Reads one entry of a benchmark file's `arguments`: a buffer, a scalar or local memory."""

from __future__ import annotations

from functools import partial

from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    LocalDescription,
    ScalarDescription,
)
from coarsen.opencl_bench.workloads.described.element_types import element_type
from coarsen.opencl_bench.workloads.described.expressions import Expression, parse_expression
from coarsen.opencl_bench.workloads.described.file_values import parse_values
from coarsen.opencl_bench.workloads.described.table import Table, is_number

KINDS = ("buffer", "scalar", "local")


def read_argument(table: Table, outputs: tuple[str, ...]) -> ArgumentDescription:
    """The argument that a table describes.

    Args:
        table: has the argument's name, and its type as the value of `buffer`, `scalar` or `local`.
        outputs: names of the buffers that need no contents before the launch.

    Raises:
        InvalidInputError: a mistake in it.
    """
    kinds = [kind for kind in KINDS if table.has(kind)]
    if len(kinds) != 1:
        raise table.error("", f'it must have one of {", ".join(KINDS)}, with a type: buffer = "float"')
    readers = {"buffer": _buffer, "scalar": _scalar, "local": _local}
    return readers[kinds[0]](table, outputs)


def _buffer(table: Table, outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "buffer", "elements", "values")
    name = table.text("name")
    kind = table.parse("buffer", element_type)
    default = "unwritten" if name in outputs else None
    return BufferDescription(
        name,
        kind,
        table.parse("elements", parse_expression),
        table.parse("values", partial(parse_values, folder=table.path.parent), default),
    )


def _scalar(table: Table, _outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "scalar", "value")
    kind = table.parse("scalar", element_type)
    given = table.required("value")
    components = given if isinstance(given, list) else [given]
    if len(components) != kind.components:
        raise table.error("value", f"{kind.name} has {kind.components} components, not {len(components)}")
    return ScalarDescription(table.text("name"), kind, tuple(_component(table, entry) for entry in components))


def _component(table: Table, value: object) -> Expression | float:
    if isinstance(value, str):
        return table.parse_text("value", parse_expression, value)
    if not is_number(value):
        raise table.error("value", f"it must be a number or an expression, not {value!r}")
    return value


def _local(table: Table, _outputs: tuple[str, ...]) -> ArgumentDescription:
    table.check_names("name", "local", "elements", "bytes")
    if table.has("elements") == table.has("bytes"):
        raise table.error("", "it must have either elements or bytes")
    in_bytes = table.has("bytes")
    count = table.parse("bytes" if in_bytes else "elements", parse_expression)
    return LocalDescription(table.text("name"), table.parse("local", element_type), count, in_bytes)
