"""Which instructions access memory, through which pointer, and how much of it.

Loads and stores, LLVM's atomics, and of OpenCL's builtins `vload`, `vstore`, their versions for half, and atomics.
Copies of whole blocks (`memcpy`, asynchronous copies) and images are no accesses in this sense.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.layout import content_bytes
from coarsen.ir.opencl.builtins import Reach, builtin_of
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import PointerType, Type, VectorType

_VECTOR_BUILTIN = re.compile(r"v(?P<way>load|store)(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)(?:_r\w\w)?$")
_HALF_BYTES = 2
# What an aligned vector of three is spaced like.
_ALIGNED_THREE = 4


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """An access: at `pointer`, or `index` times `index_bytes` behind it where a builtin takes an index.

    `element_bytes` is the size of a scalar or of a vector's component, `width` the number of components.
    """

    pointer: Value
    element_bytes: int
    width: int
    is_load: bool
    is_store: bool
    is_atomic: bool = False
    index: Value | None = None
    index_bytes: int = 0


def memory_access(instruction: Instruction) -> MemoryAccess | None:
    """Return the access that an instruction makes, or None."""
    if instruction.opcode == "load":
        size, width = _parts(instruction.type)
        return MemoryAccess(instruction.operands[0], size, width, True, False, instruction.is_atomic)
    if instruction.opcode == "store":
        size, width = _parts(instruction.operands[0].type)
        return MemoryAccess(instruction.operands[1], size, width, False, True, instruction.is_atomic)
    if instruction.opcode in ("atomicrmw", "cmpxchg"):
        size, width = _parts(instruction.operands[1].type)
        return MemoryAccess(instruction.operands[0], size, width, True, True, True)
    return _access_of_builtin(instruction) if instruction.opcode == "call" else None


def _access_of_builtin(call: Instruction) -> MemoryAccess | None:
    name = builtin_name(call.callee)
    known = builtin_of(call)
    match = _VECTOR_BUILTIN.match(name)
    if match is not None and known.is_known:
        return _vector_access(call, match)
    if not known.is_atomic or not isinstance(call.arguments[0].type, PointerType):
        return None
    values = [argument.type for argument in call.arguments[1:2]]
    size, width = _parts(call.type) if content_bytes(call.type) > 1 or not values else _parts(values[0])
    is_load, is_store = known.reads is not Reach.NOTHING, known.writes is not Reach.NOTHING
    return MemoryAccess(call.arguments[0], max(1, size), width, is_load, is_store, True)


def _vector_access(call: Instruction, match: re.Match[str]) -> MemoryAccess:
    """`vload4(index, pointer)` or `vstore4(value, index, pointer)`."""
    is_store = match["way"] == "store"
    size, width = _parts(call.arguments[0].type if is_store else call.type)
    size = _HALF_BYTES if match["half"] else size
    spacing = _ALIGNED_THREE if match["aligned"] and match["count"] == "3" else width
    index, pointer = call.arguments[is_store : is_store + 2]
    return MemoryAccess(pointer, size, width, not is_store, is_store, False, index, spacing * size)


def _parts(type_: Type) -> tuple[int, int]:
    """The size of a component in bytes, and how many there are."""
    if isinstance(type_, VectorType):
        return content_bytes(type_.element), type_.count
    return content_bytes(type_), 1
