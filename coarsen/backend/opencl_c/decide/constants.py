"""LLVM's constants as data, parsed from LLVM's spelling, and their bits as another type has them.

<2 x i32> <i32 1, i32 -2>             → Elements(((i32, Number(1)), (i32, Number(-2))))
float 0x3FB99999A0000000              → Real(0.1…)
ptr addrspacecast (ptr addrspace(3) @tile to ptr) → Operation("addrspacecast", …)
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.types import FloatType, IntegerType, StructType, Type, VectorType, unescaped


@dataclass(frozen=True, slots=True)
class Number:
    """An integer, as LLVM prints it (with a sign); i1 is 0 or 1."""

    value: int


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point number by its bits, which also tell NaNs apart; `value` is None for a NaN."""

    value: float | None
    bits: int


@dataclass(frozen=True, slots=True)
class Zero:
    """Zero of any type: `zeroinitializer`, `null`, `none`."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """`undef` or `poison`."""


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a vector, an array or a structure."""

    items: tuple[tuple[Type, Constant], ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A program-scope variable's address (or a function's)."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A constant expression; `type` is a `getelementptr`'s source type or what a conversion leads to."""

    opcode: str
    type: Type
    operands: tuple[tuple[Type, Constant], ...]


Constant = Number | Real | Zero | Undefined | Elements | Symbol | Operation

_TOKEN = re.compile(
    r'c"(?:[^"])*"|@"[^"]*"|@[-a-zA-Z$._0-9]+|%"[^"]*"|[-+]?[0-9][-+.0-9a-zA-Z]*|[-+]?[a-zA-Z_][\w.]*'
    r"|<\{|\}>|[\[\]<>{}(),]"
)
_WORDS: Mapping[str, Constant] = {
    "zeroinitializer": Zero(),
    "null": Zero(),
    "none": Zero(),
    "undef": Undefined(),
    "poison": Undefined(),
    "true": Number(1),
    "false": Number(0),
}
_CLOSING = {"<": ">", "[": "]", "{": "}", "<{": "}>"}
_AFTER_TYPES = frozenset({"noundef", "inrange"})
_FLAGS = frozenset({"inbounds", "nuw", "nsw", "nusw", "exact"})


def parse_constant(type_: Type, text: str, structures: Mapping[str, StructType] | None = None) -> Constant:
    """Parse a constant of a type. Raises RefusalError for one that no OpenCL kernel has (`blockaddress`, …)."""
    try:
        return _constant(Scanner(text, structures or {}), type_)
    except RefusalError:
        message = f"the constant '{text}' can't be written as OpenCL C"
        raise RefusalError("constant-expression", message) from None


def _constant(line: Scanner, type_: Type) -> Constant:
    token = line.matched(_TOKEN)
    if token in _WORDS:
        return _WORDS[token]
    if token.startswith("@"):
        return Symbol(token[1:].strip('"'))
    if token.startswith('c"'):
        return _string(token[2:-1])
    if token in _CLOSING:
        return Elements(_items(line, _CLOSING[token]))
    if token == "splat" and isinstance(type_, VectorType):
        line.expect("(")
        return Elements(_items(line, ")") * type_.count)
    if isinstance(type_, IntegerType) and re.fullmatch(r"-?\d+", token):
        return Number(int(token))
    return _real(type_, token) if isinstance(type_, FloatType) else _operation(line, token)


def _operation(line: Scanner, opcode: str) -> Constant:
    line.words_of(_FLAGS)
    if line.take("inrange"):
        line.bracketed()
    line.expect("(")
    if opcode == "getelementptr":
        source = line.type()
        line.expect(",")
        return Operation(opcode, source, _items(line, ")"))
    first = _typed(line)
    if line.take("to "):
        target = line.type()
        line.expect(")")
        return Operation(opcode, target, (first,))
    line.take(",")
    return Operation(opcode, first[0], (first, *_items(line, ")")))


def _items(line: Scanner, end: str) -> tuple[tuple[Type, Constant], ...]:
    items = []
    while not line.take(end):
        items.append(_typed(line))
        line.take(",")
    return tuple(items)


def _typed(line: Scanner) -> tuple[Type, Constant]:
    type_ = line.type()
    line.words_of(_AFTER_TYPES)
    return type_, _constant(line, type_)


def _string(body: str) -> Constant:
    """The bytes of `c"…"`, with a sign."""
    byte = IntegerType(8)
    return Elements(tuple((byte, Number(number - 256 if number > 127 else number)) for number in unescaped(body)))


def _real(type_: FloatType, token: str) -> Constant:
    """The number that LLVM prints; a float as the double of the same value, other bits as they are."""
    if token.startswith("0xH"):
        return _real_of(type_, int(token[3:], 16))
    bits = int(token[2:], 16) if token.startswith("0x") else int.from_bytes(struct.pack(">d", float(token)))
    if type_.kind != "float":
        return _real_of(type_, bits)
    value = struct.unpack(">d", bits.to_bytes(8))[0]
    if value != value:
        return Real(None, (bits >> 63) << 31 | 0x7F800000 | (bits >> 29 & 0x7FFFFF))
    return _real_of(type_, int.from_bytes(struct.pack(">f", value)))


# What a constant `bitcast` is.
#
# bitcast (<1 x i64> <i64 1> to <2 x i32>)   →   <2 x i32> <i32 1, i32 0>

_FLOAT_CODES = {"half": "e", "float": "f", "double": "d"}


def reinterpreted(source: Type, constant: Constant, target: Type) -> Constant | None:
    """Return the constant of the target type that has a constant's bits; None for other than numbers."""
    width = _width(source)
    bits = _bits(source, constant)
    if not width or width != _width(target) or bits is None:
        return None
    return _of_bits(target, bits)


def _width(type_: Type) -> int:
    """The width in bits of a number or a vector of numbers, 0 of anything else."""
    if isinstance(type_, VectorType):
        return type_.count * _width(type_.element)
    if isinstance(type_, FloatType):
        return 8 * struct.calcsize(_FLOAT_CODES.get(type_.kind, ""))
    return type_.width if isinstance(type_, IntegerType) and type_.width % 8 == 0 else 0


def _bits(type_: Type, constant: Constant) -> int | None:
    if isinstance(constant, (Zero, Undefined)):
        return 0
    if isinstance(constant, Number):
        return constant.value & ((1 << _width(type_)) - 1)
    if isinstance(constant, Real):
        return constant.bits
    if not isinstance(constant, Elements) or not isinstance(type_, VectorType):
        return None
    parts = [_bits(type_.element, item) for _, item in constant.items]
    known = [part for part in parts if part is not None]
    width = _width(type_.element)
    return sum(part << (number * width) for number, part in enumerate(known)) if len(known) == len(parts) else None


def _of_bits(type_: Type, bits: int) -> Constant | None:
    if isinstance(type_, VectorType):
        width = _width(type_.element)
        parts = [_of_bits(type_.element, bits >> (number * width)) for number in range(type_.count)]
        return Elements(tuple((type_.element, part) for part in parts if part is not None))
    bits &= (1 << _width(type_)) - 1
    if isinstance(type_, IntegerType):
        return Number(bits)
    return _real_of(type_, bits) if isinstance(type_, FloatType) else None


def _real_of(type_: FloatType, bits: int) -> Real:
    code = _FLOAT_CODES[type_.kind]
    value = struct.unpack(f">{code}", bits.to_bytes(struct.calcsize(code)))[0]
    return Real(None if value != value else value, bits)
