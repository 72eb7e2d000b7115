"""What an instruction counts as. An instruction can be of several kinds, or of none but INSTRUCTION.

- Address arithmetic (`getelementptr`), casts, conversions, phis and selects are of no further kind.
- A vector operation counts once, whatever its width; a fused multiply-add from `a * b + c` counts once.
- An atomic read-modify-write, a `memcpy` and an asynchronous copy are one load and one store each.

For the counts of work each instruction also has a class: what it keeps busy.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

from coarsen.cost.work_counts import InstructionClass
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.opencl.builtins import Role, builtin_of
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace, FloatType, IntegerType, Type, VectorType, scalar, size_of


class Kind(enum.Enum):
    """Kinds of instructions that the features count."""

    INSTRUCTION = "any instruction"
    DIVERGENT = "instruction whose replicas differ"
    IN_DIVERGENT_REGION = "instruction in a divergent region"
    BRANCH = "conditional branch"
    FLOATING_POINT = "floating-point arithmetic or comparison"
    INTEGER = "integer arithmetic, logic or comparison"
    MATH = "mathematical builtin"
    LOAD = "load"
    STORE = "store"
    UNIFORM_LOAD = "load that is uniform along the coarsened dimension"
    BARRIER = "barrier"


Kinds = frozenset[Kind]

_NONE: Kinds = frozenset()
_LOAD, _STORE = frozenset({Kind.LOAD}), frozenset({Kind.STORE})
_INTEGER, _FLOATING_POINT = frozenset({Kind.INTEGER}), frozenset({Kind.FLOATING_POINT})

_BY_OPCODE: dict[str, Kinds] = {
    **dict.fromkeys(("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "icmp"), _INTEGER),
    **dict.fromkeys(("shl", "lshr", "ashr", "and", "or", "xor"), _INTEGER),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp"), _FLOATING_POINT),
    "load": _LOAD,
    "store": _STORE,
    "atomicrmw": _LOAD | _STORE,
    "cmpxchg": _LOAD | _STORE,
}

_FUSED = re.compile(r"llvm\.(?:fma|fmuladd)\b")
# Read in order: the first pattern that matches a builtin's name decides.
_BY_BUILTIN: tuple[tuple[re.Pattern[str], Kinds], ...] = (
    (re.compile(r"atomic_flag_clear"), _NONE),
    (re.compile(r"vload|read_image|atomic_load"), _LOAD),
    (re.compile(r"vstore|write_image|llvm\.memset|atomic_store|atomic_init"), _STORE),
    (re.compile(r"atom_|atomic_|async_work_group|llvm\.mem(?:cpy|move)"), _LOAD | _STORE),
    (re.compile(r"convert_|as_|shuffle|select$|bitselect$|printf$|get_image_|to_(?:global|local)"), _NONE),
    (re.compile(r"is(?:equal|notequal|greater|less|finite|inf|nan|(?:un)?ordered|normal)"), _FLOATING_POINT),
)
_WITHOUT_WORK = frozenset({Role.QUERY, Role.GROUP_WIDE, Role.FENCE, Role.IGNORED})
_DOUBLE_BYTES = 8
_CONVERSIONS = frozenset({"trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"})
_INTEGER_WORK = frozenset({"getelementptr", "select"})


def kinds_of(instruction: Instruction) -> Kinds:
    """Return what an instruction counts as, INSTRUCTION and what depends on divergence apart."""
    if instruction.opcode == "call":
        return _kinds_of_call(instruction)
    if instruction.opcode == "br" and len(instruction.targets) > 1:
        return frozenset({Kind.BRANCH})
    return _BY_OPCODE.get(instruction.opcode, _NONE)


def is_memory_access(instruction: Instruction) -> bool:
    """Return True if an instruction loads or stores."""
    return not kinds_of(instruction).isdisjoint((Kind.LOAD, Kind.STORE))


def _kinds_of_call(call: Instruction) -> Kinds:
    name, known = builtin_name(call.callee), builtin_of(call)
    if known.is_fence:
        return frozenset({Kind.BARRIER}) if known.is_convergent else _NONE
    for pattern, kinds in _BY_BUILTIN:
        if pattern.match(name):
            return kinds
    if known.role in _WITHOUT_WORK:
        return _NONE
    return _kinds_of_arithmetic(call, name)


def _kinds_of_arithmetic(call: Instruction, name: str) -> Kinds:
    """Builtins of OpenCL's mathematical, common, geometric and integer functions, judged by their types."""
    if _FUSED.match(name):
        return _FLOATING_POINT
    types = [call.type, *(argument.type for argument in call.arguments)]
    if any(isinstance(scalar(type_), FloatType) for type_ in types):
        return frozenset({Kind.MATH})
    return _INTEGER if isinstance(scalar(call.type), IntegerType) else _NONE


def instruction_classes(instruction: Instruction) -> Iterator[tuple[InstructionClass, int]]:
    """Return the classes of what an instruction does besides accesses to memory, each with a count.

    A vector's elements count one by one.
    """
    kinds = kinds_of(instruction)
    times = instruction.type.count if isinstance(instruction.type, VectorType) else 1
    if Kind.BRANCH in kinds or instruction.opcode in ("br", "switch"):
        yield InstructionClass.CONTROL, 1
    elif Kind.MATH in kinds:
        yield InstructionClass.MATH, times
    elif Kind.FLOATING_POINT in kinds:
        types = (instruction.type, *(each.type for each in instruction.operands))
        yield (InstructionClass.DOUBLE if any(map(_has_doubles, types)) else InstructionClass.FLOAT), times
    elif Kind.INTEGER in kinds or instruction.opcode in _INTEGER_WORK:
        yield InstructionClass.INTEGER, times
    elif instruction.opcode in _CONVERSIONS:
        yield InstructionClass.CONVERSION, times


def access_class(address_space: int) -> InstructionClass:
    """Return the class of an access to memory."""
    is_near = address_space in (AddressSpace.LOCAL, AddressSpace.PRIVATE)
    return InstructionClass.LOCAL_ACCESS if is_near else InstructionClass.GLOBAL_ACCESS


def _has_doubles(type_: Type) -> bool:
    element = scalar(type_)
    return isinstance(element, FloatType) and size_of(element) == _DOUBLE_BYTES
