"""The type of an instruction's result, by those of its operands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.errors import InternalError
from coarsen.ir.graph.details import Indices, Mask
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import ArrayType, IntegerType, StructType, Type, VectorType

_ELEMENT = re.compile(r"i32 (-?\d+|poison|undef)")


def compared(type_: Type) -> Type:
    """Return the type of a comparison of two values: one bit, or a vector of them."""
    return VectorType(type_.count, IntegerType(1)) if isinstance(type_, VectorType) else IntegerType(1)


def element_of(type_: Type) -> Type:
    """Return the type of a vector's element. Raises InternalError if it is none."""
    if not isinstance(type_, VectorType):
        raise InternalError(f"'{type_}' is not a vector")
    return type_.element


def pointer_like(types: Iterable[Type]) -> Type:
    """Return the type of a `getelementptr`, by those of the base and the indices: a vector if one of them is."""
    base, *indices = types
    wide = next((index for index in indices if isinstance(index, VectorType)), None)
    return base if wide is None or isinstance(base, VectorType) else VectorType(wide.count, base)


def shuffled(vector: Type, mask: Operand) -> tuple[Type, Mask]:
    """Return the type of a `shufflevector`, and its mask as numbers."""
    if not isinstance(mask.type, VectorType):
        raise InternalError(f"'{mask.type}' is no mask")
    count = mask.type.count
    if mask.text == "zeroinitializer":
        elements: tuple[int | None, ...] = (0,) * count
    elif mask.text in ("poison", "undef"):
        elements = (None,) * count
    elif mask.text.startswith("splat"):
        elements = (int(_ELEMENT.findall(mask.text)[0]),) * count
    else:
        elements = tuple(int(e) if e[-1].isdigit() else None for e in _ELEMENT.findall(mask.text))
    return VectorType(count, element_of(vector)), Mask(elements)


def within(aggregate: Type, path: Indices) -> Type:
    """Return the type of what indices lead to in an aggregate. Raises InternalError if they lead nowhere."""
    found = aggregate
    for index in path.indices:
        if isinstance(found, StructType) and index < len(found.elements):
            found = found.elements[index]
        elif isinstance(found, ArrayType):
            found = found.element
        else:
            raise InternalError(f"'{aggregate}' has no element {path.indices}")
    return found
