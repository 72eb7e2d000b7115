"""Definitions, in LLVM IR, of builtins that a target has no counterpart of.

    before                                              after
    declare spir_func void @_Z9mem_fencej(i32) #2       define internal spir_func void @_Z9mem_fencej(i32 %0) … {
                                                          call spir_func void @_Z22atomic_work_item_fence…(…)
                                                          ret void
                                                        }

A library is a function from a declaration to the body that defines it, or None. Functions that a body calls are
declared here, by the types that stand in the call, unless the module knows them. The always-inliner does the rest.
`Body` writes one, an instruction after the other.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from coarsen.backend.opencl_c.c.types import Pointer, Scalar, Vector, element_of
from coarsen.backend.opencl_c.decide.builtins import parameters
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import FloatType, IntegerType, StructType, Type, VectorType, parse_type, scalar

_DECLARATION = re.compile(
    r"^declare (?P<head>[^\n@]*)@(?P<name>[\w.$]+)\((?P<parameters>[^\n]*)\)[^\n)]*$", re.MULTILINE
)
_DEFINED = re.compile(r"^define [^\n@]*@([\w.$]+)", re.MULTILINE)
_LINKAGE = re.compile(r"\b(?:dso_local|spir_func|zeroext|signext|noundef|noalias|nofpclass\([^)]*\)) ?")
_CALL = re.compile(
    r"\bcall (?:(?:fast|afn|nsz|contract) )*(?P<head>[^@\n]+?) @(?P<name>[\w.$]+)\((?P<arguments>[^\n]*)\)"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A builtin that a module declares; `name` is mangled, `builtin` its OpenCL name."""

    name: str
    builtin: str
    result: Type
    parameters: tuple[Type, ...]

    @property
    def is_unsigned(self) -> bool:
        """Return True if the first parameter, or what it points to, is unsigned (LLVM's types don't say)."""
        first = next(iter(parameters(self.name)), None)
        type_ = first.pointee if isinstance(first, Pointer) else first
        return isinstance(type_, Scalar | Vector) and element_of(type_).kind == "unsigned"


Library = Callable[[Declaration], Iterable[str] | None]


def with_definitions(text: str, library: Library, structures: Mapping[str, StructType]) -> str:
    """Return a module's text that defines all that the library has a body for, what bodies call included."""
    while True:
        definitions = {
            match["name"]: function(declaration.result, declaration.name, declaration.parameters, body)
            for match in _DECLARATION.finditer(text)
            if (body := library(declaration := _read(match, structures))) is not None
        }
        if not definitions:
            return text
        text = _DECLARATION.sub(lambda match: definitions.get(match["name"], match.group()), text)  # noqa: B023
        text += "".join(_declarations_for(definitions.values(), text))


def function(result: Type, name: str, parameters: Iterable[Type], body: Iterable[str]) -> str:
    """Return a definition that the inliner will remove; its parameters are %0, %1, …"""
    spelled = ", ".join(f"{type_} %{index}" for index, type_ in enumerate(parameters))
    lines = "".join(f"{line}\n" if line.endswith(":") else f"  {line}\n" for line in body)
    return f"define internal spir_func {result} @{name}({spelled}) alwaysinline nounwind {{\nstart:\n{lines}}}\n"


def _read(match: re.Match[str], structures: Mapping[str, StructType]) -> Declaration:
    parameters = (_type(spelling, structures) for spelling in split(match["parameters"]) if spelling != "...")
    return Declaration(
        match["name"], builtin_name(match["name"]), _type(match["head"], structures), tuple(parameters)
    )


def _type(spelling: str, structures: Mapping[str, StructType]) -> Type:
    """The type at the start of a parameter's spelling, `ptr addrspace(1) noundef` for one."""
    return parse_type(_LINKAGE.sub("", spelling).strip(), structures)


def split(arguments: str) -> list[str]:
    """Return a list between parentheses, cut at its own commas."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(arguments):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(arguments[start:position].strip())
            start = position + 1
    return [part for part in (*parts, arguments[start:].strip()) if part]


def _declarations_for(definitions: Iterable[str], text: str) -> Iterator[str]:
    known = {match["name"] for match in _DECLARATION.finditer(text)} | set(_DEFINED.findall(text))
    for definition in definitions:
        for match in _CALL.finditer(definition):
            if match["name"] not in known:
                known.add(match["name"])
                types = ", ".join(str(parse_type(argument)) for argument in split(match["arguments"]))
                yield f"declare {match['head']} @{match['name']}({types})\n"


# Writing the body of a builtin's definition, one LLVM instruction after the other.
#
#     x, y = Body(declaration).operands            define float @_Z4fdimff(float %0, float %1) {
#     x - y                                          %v0 = fsub float %0, %1
#
# Operations work on scalars and vectors alike; a scalar operand beside vectors is spread over a vector first.

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)
FLOAT = FloatType("float")
_FLOAT_WIDTHS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def _operator(operation: str) -> Callable[[Item, Item | float], Item]:
    def compute(item: Item, other: Item | float) -> Item:
        return item.binary("f" * isinstance(scalar(item.type), FloatType) + operation, other)

    return compute


@dataclass(frozen=True, slots=True)
class Item:
    """A value in a body; each operation on it adds an instruction to the body and gives its result.

    Numbers beside it are constants of its type, the same in all elements.
    """

    body: Body = field(repr=False, compare=False)
    type: Type
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"

    def like(self, value: Item | float) -> Item:
        """Return a number as a constant of this item's type, rounded to its precision; an item as it is."""
        if isinstance(value, Item):
            return value
        text = str(value)
        if isinstance(scalar(self.type), FloatType):
            text = f"{value:.6e}"
            if float(text) != value:
                exact = value if width(self.type) == 64 else struct.unpack("f", struct.pack("f", value))[0]
                text = f"0x{struct.pack('>d', exact).hex().upper()}"
        return self.body.constant(self.type, text)

    def binary(self, opcode: str, other: Item | float) -> Item:
        """Add an instruction of two operands of one type and a result of that type."""
        return self.body.assign(self.type, f"{opcode} {self}, {self.like(other).text}")

    __add__, __sub__ = _operator("add"), _operator("sub")
    __mul__, __truediv__ = _operator("mul"), _operator("div")
    __and__, __or__, __xor__ = _operator("and"), _operator("or"), _operator("xor")

    def compared(self, predicate: str, other: Item | float) -> Item:
        """`icmp` or `fcmp`, by the operands' type."""
        opcode = "fcmp" if isinstance(scalar(self.type), FloatType) else "icmp"
        return self.body.assign(same_shape(self.type, I1), f"{opcode} {predicate} {self}, {self.like(other).text}")

    def unless(self, condition: Item, other: Item | float) -> Item:
        """Element by element: `condition ? other : this`."""
        return self.body.assign(self.type, f"select {condition}, {self.like(other)}, {self}")

    def cast(self, opcode: str, to: Type) -> Item:
        """Add a conversion instruction; none where the type is the same."""
        return self if self.type == to else self.body.assign(to, f"{opcode} {self} to {to}")

    def bits(self) -> Item:
        """Return the bits as an integer, or a vector of them."""
        return self.cast("bitcast", same_shape(self.type, IntegerType(width(self.type))))

    def called(self, name: str, *others: Item) -> Item:
        """Add a call of LLVM's `llvm.NAME`, overloaded on this item's type, which is its result's too."""
        return self.body.call(self.type, f"llvm.{name}.{suffix(self.type)}", self, *others)


@dataclass
class Body:
    """The instructions of one definition, in the order in which they were asked for."""

    declaration: Declaration
    lines: list[str] = field(default_factory=list)
    _count: int = 0

    @cached_property
    def parameters(self) -> tuple[Item, ...]:
        """The parameters as they are declared."""
        return tuple(Item(self, type_, f"%{index}") for index, type_ in enumerate(self.declaration.parameters))

    @cached_property
    def operands(self) -> tuple[Item, ...]:
        """The parameters, scalars among vectors spread over vectors of their own element type."""
        count = max(element_count(item.type) for item in self.parameters)
        return tuple(self.spread(item, count) for item in self.parameters)

    def assign(self, type_: Type, text: str) -> Item:
        """`%vN = text`, whose result has the type."""
        item = Item(self, type_, f"%v{self._count}")
        self._count += 1
        self.lines.append(f"{item.text} = {text}")
        return item

    def do(self, *texts: str) -> None:
        """Add instructions without a result."""
        self.lines.extend(texts)

    def returned(self, item: Item | None = None) -> list[str]:
        """Return the whole body, which ends here."""
        return [*self.lines, f"ret {item}" if item else "ret void"]

    def call(self, result: Type, callee: str, *arguments: Item) -> Item:
        """Add a call of a function with a result."""
        return self.assign(result, f"call {result} @{callee}({', '.join(map(str, arguments))})")

    def constant(self, type_: Type, value: str) -> Item:
        """Return a constant, the same in all elements."""
        text = f"splat ({type_.element} {value})" if isinstance(type_, VectorType) else value
        return Item(self, type_, text)

    def spread(self, item: Item, count: int) -> Item:
        """Return a scalar as a vector of equal elements; anything else as it is."""
        if count == 1 or not isinstance(item.type, IntegerType | FloatType):
            return item
        type_ = VectorType(count, item.type)
        first = self.assign(type_, f"insertelement {type_} poison, {item}, i32 0")
        mask = f"<{count} x i32> zeroinitializer"
        return self.assign(type_, f"shufflevector {first}, {type_} poison, {mask}")

    def element(self, item: Item, index: int) -> Item:
        """Return one element of a vector; a scalar is its own only one."""
        if not isinstance(item.type, VectorType):
            return item
        return self.assign(item.type.element, f"extractelement {item}, i32 {index}")

    def elements(self, item: Item) -> list[Item]:
        """Return the elements of a vector; a scalar alone."""
        return [self.element(item, index) for index in range(element_count(item.type))]

    def vector(self, items: Iterable[Item], type_: Type) -> Item:
        """Return a vector of such elements; of a scalar type the only item."""
        elements = list(items)
        if not isinstance(type_, VectorType):
            return elements[0]
        result = Item(self, type_, "poison")
        for index, item in enumerate(elements):
            result = self.assign(type_, f"insertelement {result}, {item}, i32 {index}")
        return result

    def by_element(self, compute: Callable[..., Item], result: Type, *items: Item) -> Item:
        """Apply a function of scalars to each element."""
        computed = [
            compute(*(self.element(item, index) for item in items)) for index in range(element_count(result))
        ]
        return self.vector(computed, result)

    def at(self, pointer: Item, element: Type, index: Item) -> Item:
        """Return the address of `pointer[index]`."""
        return self.assign(pointer.type, f"getelementptr {element}, {pointer}, {index}")

    def load(self, type_: Type, pointer: Item, alignment: int) -> Item:
        """Add a load; the alignment in bytes."""
        return self.assign(type_, f"load {type_}, {pointer}, align {alignment}")

    def store(self, item: Item, pointer: Item, alignment: int) -> None:
        """Add a store; the alignment in bytes."""
        self.do(f"store {item}, {pointer}, align {alignment}")


def element_count(type_: Type) -> int:
    """Return the number of elements of a vector; 1 for anything else."""
    return type_.count if isinstance(type_, VectorType) else 1


def same_shape(type_: Type, element: Type) -> Type:
    """Return a vector of as many elements of another type; the element type itself for a scalar."""
    return VectorType(type_.count, element) if isinstance(type_, VectorType) else element


def width(type_: Type) -> int:
    """Return the bits of a scalar, or of a vector's element."""
    element = scalar(type_)
    if isinstance(element, IntegerType):
        return element.width
    return _FLOAT_WIDTHS[element.kind] if isinstance(element, FloatType) else 0


def suffix(type_: Type) -> str:
    """Return how an overloaded intrinsic's name ends: `v4f32` for `<4 x float>`."""
    vector = f"v{type_.count}" if isinstance(type_, VectorType) else ""
    letter = "f" if isinstance(scalar(type_), FloatType) else "i"
    return f"{vector}{letter}{width(type_)}"
