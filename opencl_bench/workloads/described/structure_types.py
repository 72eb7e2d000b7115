"""Reads `[structures]`: structures that buffers hold, field by field, in their order.

    [structures.Body]
    place = "float4"
    tags = "uchar[5]"
    ─▶ 4 of float32 at 0, 5 of uint8 at 16, 32 bytes in all

Structures within structures and unions can't be described; those are `bytes`.
"""

from __future__ import annotations

import re

from coarsen.opencl_bench.workloads.described.element_types import (
    OPAQUE,
    SCALAR_NAMES,
    ElementType,
    Structure,
    StructureField,
    element_type,
    structure_type,
)
from coarsen.opencl_bench.workloads.described.table import Table

KEY = "structures"
LARGEST_STRUCTURE = 1 << 20
_ARRAY = re.compile(r"(\w+)\s*\[\s*([0-9]{1,7})\s*\]", re.ASCII)


def read_structures(top: Table) -> dict[str, ElementType]:
    """Return the types that a file names, by their names; none where it names none.

    Args:
        top: the file's outermost table.

    Raises:
        InvalidInputError: a structure that is none, with its key.
    """
    structures = top.table(KEY)
    return {name: _structure(structures, name) for name in structures.values}


def _structure(structures: Table, name: str) -> ElementType:
    if not name.isidentifier():
        raise structures.error(name, "a structure's name has letters, digits and _ only")
    if _is_known(name):
        raise structures.error(name, "that is a type of OpenCL C or of descriptions; choose another name")
    table = structures.table(name)
    if not table.values:
        raise structures.error(name, 'it must have fields, in their order: x = "float"')
    kind = structure_type(Structure(name, tuple(_field(table, field) for field in table.values)))
    if kind.byte_count > LARGEST_STRUCTURE:
        raise structures.error(name, f"it has {kind.byte_count} bytes; {LARGEST_STRUCTURE} are the most")
    return kind


def _is_known(name: str) -> bool:
    scalar = name.rstrip("0123456789")
    return name == OPAQUE or scalar in SCALAR_NAMES


def _field(table: Table, name: str) -> StructureField:
    if not name.isidentifier():
        raise table.error(name, "a field's name has letters, digits and _ only")
    text = table.text(name).strip()
    array = _ARRAY.fullmatch(text)
    if text == OPAQUE:
        raise table.error(name, 'bytes of a field are "uchar[8]"')
    kind = table.parse_text(name, element_type, array[1] if array else text)
    count = int(array[2]) if array else None
    if count == 0:
        raise table.error(name, "an array must have at least one element")
    if count is not None and kind.components == 3:
        raise table.error(name, f"{text} can't be described; an element of it lies like {kind.scalar_name}4")
    return StructureField(name, kind, count)
