"""OpenCL's queries of the NDRange: the ids of a work-item, and the sizes that a launch has."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.types import FloatType, IntegerType, PointerType, Type, VectorType

DIMENSIONS = 3
_AXES = "xyz"
_Number = TypeVar("_Number")


class Query(enum.Enum):
    """A query, by its name in OpenCL C."""

    GLOBAL_ID = "get_global_id"
    LOCAL_ID = "get_local_id"
    GROUP_ID = "get_group_id"
    GLOBAL_LINEAR_ID = "get_global_linear_id"
    LOCAL_LINEAR_ID = "get_local_linear_id"
    GLOBAL_SIZE = "get_global_size"
    LOCAL_SIZE = "get_local_size"
    ENQUEUED_LOCAL_SIZE = "get_enqueued_local_size"
    GROUP_COUNT = "get_num_groups"
    GLOBAL_OFFSET = "get_global_offset"
    DIMENSION_COUNT = "get_work_dim"

    @property
    def is_linear(self) -> bool:
        """Return True for an id over all dimensions."""
        return self in LINEAR_PARTS

    @property
    def has_dimension(self) -> bool:
        """Return True if its argument is a dimension; the others have no argument."""
        return not self.is_linear and self is not Query.DIMENSION_COUNT

    def short_name(self, dimension: int | None = None) -> str:
        """Return what an answer is called: `global_id.x` for `get_global_id(0)`."""
        axis = "" if dimension is None else f".{_AXES[dimension]}"
        return self.value.removeprefix("get_") + axis


# A linear id: the id and the size along each dimension that it is made of.
LINEAR_PARTS = {
    Query.GLOBAL_LINEAR_ID: (Query.GLOBAL_ID, Query.GLOBAL_SIZE),
    Query.LOCAL_LINEAR_ID: (Query.LOCAL_ID, Query.LOCAL_SIZE),
}
# The ids in which work-items of one work-group differ, and those in which work-items of several groups always do.
IDS_OF_ITEMS = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID, *LINEAR_PARTS})
IDS_OF_GROUPS = frozenset({Query.GLOBAL_ID, Query.GROUP_ID, Query.GLOBAL_LINEAR_ID})
# The sizes that merging work-items of one work-group changes.
SIZES_IN_ITEMS = frozenset({Query.GLOBAL_SIZE, Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE})
# What a kernel learns of how the launch groups its work-items.
ABOUT_GROUPS = frozenset(
    {Query.LOCAL_ID, Query.LOCAL_LINEAR_ID, Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE}
) | frozenset({Query.GROUP_ID, Query.GROUP_COUNT})

# What OpenCL C 2.0 brought.
NEWER_QUERIES = (Query.ENQUEUED_LOCAL_SIZE, *LINEAR_PARTS)


@lru_cache(maxsize=4096)
def query_named(callee: str) -> Query | None:
    """Return the query that a function is, by its name in IR or in OpenCL C; None for any other."""
    try:
        return Query(builtin_name(callee))
    except ValueError:
        return None


def query_of(instruction: Instruction) -> Query | None:
    """Return the query that an instruction is a call of; None for any other instruction."""
    return query_named(instruction.callee) if instruction.opcode == "call" else None


def queried_dimension(call: Instruction) -> int | None:
    """Return the dimension that a query is called for; None where it has none or it is known only at run time.

    It may be none that an NDRange has: -1 stands for a constant that is no number (`poison`).
    """
    queried = call.arguments[0] if call.arguments else None
    if queried is None or queried.kind is not ValueKind.CONSTANT:
        return None
    return int(queried.text) if queried.text.lstrip("-").isdigit() else -1


def may_concern(call: Instruction, dimension: int) -> bool:
    """Return True if the answer to a query may depend on the NDRange along a dimension (0, 1 or 2).

    A linear id does; so does a query whose dimension is known only at run time.
    """
    return queried_dimension(call) in (None, dimension)


def linear_id(
    place: Callable[[int], _Number],
    size: Callable[[int], _Number],
    product: Callable[[_Number, _Number], _Number],
    total: Callable[[_Number, _Number], _Number],
) -> _Number:
    """Return (place₂·size₁ + place₁)·size₀ + place₀, the one formula of linear ids, in any arithmetic.

    Args:
        place: the id along a dimension, for global ids without the launch's offset.
        size: the size along a dimension, 0 or 1.
        product: of two numbers.
        total: the sum of two numbers.
    """
    found = place(DIMENSIONS - 1)
    for dimension in reversed(range(DIMENSIONS - 1)):
        found = total(product(found, size(dimension)), place(dimension))
    return found


# The names of builtin functions in IR: Itanium-mangled (`_Z13get_global_idj`); LLVM's intrinsics keep theirs.

_MANGLED = re.compile(r"_Z(\d+)(.*)", re.DOTALL)


@lru_cache(maxsize=4096)
def builtin_name(callee: str) -> str:
    """Return the OpenCL name of a function: `get_global_id` of `_Z13get_global_idj`; other names come back."""
    match = _MANGLED.match(callee)
    return match[2][: int(match[1])] if match else callee


def mangled_name(name: str, parameters: str) -> str:
    """Return a builtin's name in IR.

    Args:
        name: in OpenCL C.
        parameters: the mangled types of its parameters, `j` for one `uint`, `v` for none.
    """
    return f"_Z{len(name)}{name}{parameters}"


# Of integers the signed one and the unsigned one.
INTEGER_CODES = {8: "ch", 16: "st", 32: "ij", 64: "lm"}
_FLOAT_CODES = {"half": "Dh", "float": "f", "double": "d"}


def mangled_type(type_: Type, *, is_unsigned: bool = False) -> str:
    """Return how the Itanium ABI writes a type in a function's name; LLVM's integers don't say their sign."""
    if isinstance(type_, IntegerType):
        return INTEGER_CODES.get(type_.width, "ij")[is_unsigned]
    if isinstance(type_, FloatType):
        return _FLOAT_CODES.get(type_.kind, "f")
    if isinstance(type_, VectorType):
        return f"Dv{type_.count}_{mangled_type(type_.element, is_unsigned=is_unsigned)}"
    return f"PU3AS{type_.address_space}v" if isinstance(type_, PointerType) else "v"
