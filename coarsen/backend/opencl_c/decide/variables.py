"""The C variables of a kernel: which values share one, its name, its type and what a private array starts with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from coarsen.backend.opencl_c.c.build import address_of
from coarsen.backend.opencl_c.c.tree import Expression, Name
from coarsen.backend.opencl_c.c.types import (
    CHAR,
    EVENT,
    INT,
    CType,
    Opaque,
    Pointer,
    Record,
    Vector,
    declared,
    from_llvm,
    integer,
    size_of,
)
from coarsen.backend.opencl_c.decide.constants import Constant, Zero, parse_constant
from coarsen.backend.opencl_c.decide.folding import Dataflow, Folding
from coarsen.backend.opencl_c.decide.pointees import Pointees, Signs
from coarsen.base.names import OPENCL_WORDS, is_opencl_word
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction, alignment, source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.graph.variables import GlobalVariable, name_in_source
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace, ArrayType, IntegerType, PointerType, StructType, Type, VectorType

_BY_OPCODE = {"load": "loaded", "icmp": "condition", "fcmp": "condition", "select": "chosen", "phi": "merged"}
_GET = "get_"


@dataclass(frozen=True, slots=True)
class PrivateArray:
    """An array or structure of the kernel's own, with its alignment in bytes."""

    name: str
    type: CType
    alignment: int
    initial: InitialValue | None


class Variables:
    """Names and types for all values that have a variable; arguments, arrays and program-scope ones included."""

    def __init__(
        self,
        kernel: Kernel,
        dataflow: Dataflow,
        folding: Folding,
        pointees: Pointees,
        signs: Signs,
        shared: Mapping[str, str],
        names: Names,
        parameters: Mapping[str, str],
    ) -> None:
        self.kernel = kernel
        self.dataflow = dataflow
        self.folding = folding
        self.pointees = pointees
        self.signs = signs
        self.shared = shared
        self.names = names
        self.parameters = parameters
        self.types: dict[str, CType] = {}
        self.arrays: list[PrivateArray] = []
        self.initial_values = initial_values(kernel)

    def expressions(self) -> dict[str, Expression]:
        """Return what stands for each value in the text, by its name (`@name` for a program-scope variable)."""
        found: dict[str, Expression] = {}
        for argument in self.kernel.arguments:
            found[argument.name] = self._argument(argument.name)
        for instruction in self.kernel.instructions():
            if instruction.opcode == "alloca":
                found[instruction.name] = self._array(instruction)
        for members in self._groups():
            expression = self._variable(members)
            found.update(dict.fromkeys(members, expression))
        for variable in self.kernel.globals.values():
            found[f"@{variable.name}"] = self._global(variable)
        return found

    def _global(self, variable: GlobalVariable) -> Expression:
        type_ = from_llvm(variable.value_type)
        place = Name(self.names.new(name_in_source(variable.name, self.kernel.name)), type_)
        return address_of(place, Pointer(type_, variable.address_space))

    def _argument(self, argument: str) -> Expression:
        type_ = self.pointees.arguments[argument]
        place = Name(self.parameters[argument], type_)
        if isinstance(type_, Record):
            return address_of(place, Pointer(type_, AddressSpace.PRIVATE))
        return place

    def _groups(self) -> Iterator[list[str]]:
        """The values of each variable, in the kernel's order."""
        groups: dict[str, list[str]] = {}
        for instruction in self.kernel.instructions():
            if instruction.name in self.folding.variables:
                groups.setdefault(self.shared.get(instruction.name, instruction.name), []).append(instruction.name)
        yield from groups.values()

    def _variable(self, members: list[str]) -> Expression:
        type_ = self._type(members)
        variable = self.names.new(self._wish(members))
        self.types[variable] = type_
        return Name(variable, type_)

    def _wish(self, members: list[str]) -> str:
        """The best name among those of the values: one from the source, and the shortest."""
        instructions = [self.kernel.definition[member] for member in members]
        given = [name for each in instructions if (name := each.origin.name.text)]
        if given:
            return min(given, key=lambda wish: (len(wish), wish))
        if any(instruction.opcode == "phi" and is_counter(instruction) for instruction in instructions):
            return "i"
        instruction = instructions[0]
        if instruction.callee and not instruction.callee.startswith("llvm."):
            return _wish_for_call(builtin_name(instruction.callee))
        return _BY_OPCODE.get(instruction.opcode, "value")

    def _type(self, members: list[str]) -> CType:
        instruction = self.kernel.definition[members[0]]
        if isinstance(instruction.type, PointerType):
            return Pointer(self.pointees(instruction) or CHAR, instruction.type.address_space)
        if instruction.opcode == "cmpxchg":
            return from_llvm(instruction.operands[1].type)
        if isinstance(instruction.type, VectorType) and instruction.type.element == IntegerType(1):
            return self._mask(instruction)
        if isinstance(instruction.type, (IntegerType, VectorType)):
            return from_llvm(instruction.type, signed=self.signs.is_signed(members[0]))
        return _variable_type(instruction)

    def _mask(self, instruction: Instruction) -> CType:
        """A mask as wide as the elements that were compared first on the way to it."""
        mask = from_llvm(instruction.type)
        seen: set[str] = set()
        pending = [instruction]
        while pending and isinstance(mask, Vector):
            current = pending.pop(0)
            if current.opcode in ("icmp", "fcmp"):
                compared = from_llvm(current.operands[0].type)
                size = compared.element.size if isinstance(compared, Vector) else INT.size
                return replace(mask, element=integer(size * 8, signed=True))
            seen.add(current.name)
            sources = [self.dataflow.definition(value) for value in current.operands]
            pending += [s for s in sources if s is not None and s.name not in seen and s.type == instruction.type]
        return mask

    def _array(self, instruction: Instruction) -> Expression:
        type_ = from_llvm(source_element_type(instruction), signed=True)
        variable = self.names.new(instruction.origin.name.text)
        space = instruction.type.address_space if isinstance(instruction.type, PointerType) else 0
        initial = self.initial_values.get(instruction.name)
        self.arrays.append(PrivateArray(variable, type_, alignment(instruction), initial))
        return address_of(Name(variable, type_), Pointer(type_, space))


def _variable_type(instruction: Instruction) -> CType:
    """The type of a variable that holds no number and no address: of those known by name only, events alone."""
    type_ = from_llvm(instruction.type)
    if isinstance(type_, Opaque) and type_ != EVENT:
        reason = f"OpenCL C has no variables of {type_}, and no choice between two: choose between what is read"
        raise RefusalError("unsupported-type", reason, instruction.position)
    return type_


def _wish_for_call(builtin: str) -> str:
    """A name for what a builtin gives."""
    if builtin.startswith(("atomic_", "atom_")):
        return "previous"
    return builtin.removeprefix(_GET) if builtin.startswith(_GET) else "result"


def array_declaration(variable: str, type_: CType, wanted: int, natural: int, space: str = "") -> str:
    """Return a variable in memory, declared with its address space and the alignment that the kernel relies on."""
    aligned = f" __attribute__((aligned({wanted})))" if wanted > natural else ""
    return f"{declared(type_, variable, space)}{aligned}"


# Private arrays that the kernel fills first of all, which a declaration can do.
#
# %kept = alloca [4 x float]; memcpy(%kept, @__const.k.kept, 16)   →   float kept[4] = {1.0f, 2.0f};

_FILLING = ("llvm.memcpy", "llvm.memset")


@dataclass(frozen=True, slots=True)
class InitialValue:
    """What an array starts with, and the instruction that the declaration stands for."""

    type: Type
    value: Constant
    instruction: Instruction


def initial_values(kernel: Kernel) -> Mapping[str, InitialValue]:
    """Return the initial values of private arrays and structures, by their names in LLVM."""
    found: dict[str, InitialValue] = {}
    if not any(callee.startswith(_FILLING) for callee in kernel.callees):
        return found
    touched: set[str] = set()
    for instruction in kernel.blocks[0].instructions:
        used = {operand.text for operand in instruction.operands if operand.is_local}
        target = _filled_whole(kernel, instruction)
        if target and target not in touched:
            value = _value(kernel, instruction, target)
            if value is not None:
                found[target] = value
        touched |= used
    return found


def _filled_whole(kernel: Kernel, instruction: Instruction) -> str:
    """The array that a copy or fill covers exactly, or an empty text."""
    if instruction.opcode != "call" or not instruction.callee.startswith(_FILLING) or instruction.is_volatile:
        return ""
    target, _, length, *_ = instruction.arguments
    source = kernel.definition.get(target.text) if target.kind is ValueKind.INSTRUCTION else None
    if source is None or source.opcode != "alloca":
        return ""
    type_ = source_element_type(source)
    is_aggregate = isinstance(type_, (ArrayType, StructType))
    return target.text if is_aggregate and length.text == str(size_of(from_llvm(type_))) else ""


def _value(kernel: Kernel, instruction: Instruction, target: str) -> InitialValue | None:
    type_ = source_element_type(kernel.definition[target])
    source = instruction.arguments[1]
    if "memset" in instruction.callee:
        return InitialValue(type_, Zero(), instruction) if source.text == "0" else None
    table = kernel.globals.get(source.text) if source.kind is ValueKind.GLOBAL else None
    if table is None or not table.is_constant or table.value_type != type_:
        return None
    return InitialValue(type_, parse_constant(type_, table.initializer, kernel.structures), instruction)


# Names for C variables, made safe and unique: float → float_, a second x → x_2.

_UNSAFE = re.compile(r"\W")


class Names:
    """Hands out names that nothing else has."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*OPENCL_WORDS, *taken}
        self._next: dict[str, int] = {}

    def new(self, wish: str) -> str:
        """Return a free name: the wished one, or that with a number."""
        wish = self._safe(wish)
        name = wish
        number = self._next.get(wish, 1)
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        if name != wish:
            self._next[wish] = number
        self._taken.add(name)
        return name

    @staticmethod
    def _safe(wish: str) -> str:
        name = _UNSAFE.sub("_", wish)
        if not name or name[0].isdigit():
            name = f"value_{name}".rstrip("_")
        return f"{name}_" if is_opencl_word(name) else name


# The source's names of a kernel's values, as their origins have them, and those of labels.

_DIGITS = "0123456789"
# What LLVM's passes add to the name of a block that they make of another one.
_OF_PASSES = frozenset({"i", "us", "ph", "in", "be", "sink", "loopexit", "prol", "epil", "unr"})


def label_name(block: str) -> str:
    """Return the name of a label for a block: the compiler's, without its numbers."""
    words = [word for word in block.split(".") if not word.isdecimal() and word not in _OF_PASSES]
    name = ".".join(words) or block
    shortened = name.rstrip(_DIGITS)
    return shortened if len(name) - len(shortened) > 1 else name


def is_counter(phi: Instruction) -> bool:
    """Return True if a phi is called `i`: the most frequent of counters, a name that LLVM could have made up."""
    first, *added = phi.name.split(".")
    return first.rstrip(_DIGITS) == "i" and all(word.isdecimal() or word == "lcssa" for word in added)
