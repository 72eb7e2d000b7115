"""LLVM types as frozen dataclasses, parsed from LLVM's own spelling: `parse_type("<4 x float>")`.

`str(type_)` gives the spelling back, so that a type can be put into IR text. How types lie in memory is here, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class VoidType:
    """The type of an instruction without a result."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class LabelType:
    """The type of a block when it is an operand."""

    def __str__(self) -> str:
        return "label"


@dataclass(frozen=True, slots=True)
class IntegerType:
    """An integer of `width` bits; LLVM's integers have no sign."""

    width: int

    def __str__(self) -> str:
        return f"i{self.width}"


@dataclass(frozen=True, slots=True)
class FloatType:
    """A floating-point type, by LLVM's name: half, bfloat, float or double."""

    kind: str

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class PointerType:
    """An opaque pointer; `address_space` as SPIR numbers it (see `AddressSpace`)."""

    address_space: int

    def __str__(self) -> str:
        return f"ptr addrspace({self.address_space})" if self.address_space else "ptr"


@dataclass(frozen=True, slots=True)
class VectorType:
    """`count` elements in a vector register."""

    count: int
    element: Type

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`count` elements in memory."""

    count: int
    element: Type

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(frozen=True, slots=True)
class StructType:
    """A structure; `name` without `%`, empty for a literal one. An opaque one has no elements."""

    name: str
    elements: tuple[Type, ...]
    packed: bool = False

    def __hash__(self) -> int:
        # Not of the elements: they may be hundreds, nested, and types are looked up for each access to a field.
        return hash((self.name, len(self.elements), self.packed))

    def __str__(self) -> str:
        if self.name:
            return "%" + quoted(self.name)
        inner = f" {', '.join(map(str, self.elements))} " if self.elements else ""
        return f"<{{{inner}}}>" if self.packed else f"{{{inner}}}"


@dataclass(frozen=True, slots=True)
class TargetType:
    """A type of the target's own, such as `target("spirv.Image", …)` or `target("spirv.Event")`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class OtherType:
    """A type that no OpenCL kernel uses outside of metadata operands (`metadata`, `token`)."""

    text: str

    def __str__(self) -> str:
        return self.text


Type = (
    VoidType
    | LabelType
    | IntegerType
    | FloatType
    | PointerType
    | VectorType
    | ArrayType
    | StructType
    | TargetType
    | OtherType
)


class AddressSpace:
    """SPIR's numbers of the OpenCL address spaces."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4


_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*\Z")
_FLOATS = frozenset({"half", "bfloat", "float", "double"})
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[a-zA-Z_][a-zA-Z_0-9]*)|(?P<number>\d+)|(?P<named>%(?:\"[^\"]*\"|[-a-zA-Z$._0-9]+))"
    r"|(?P<string>\"[^\"]*\")|(?P<mark><\{|\}>|[\[\]<>{}(),*]))"
)


def quoted(name: str) -> str:
    """Return a name as LLVM writes it after `%` or `@`: in quotes if not all characters are plain."""
    return name if _PLAIN_NAME.match(name) or name.isdigit() else f'"{name}"'


def parse_type(text: str, structures: Mapping[str, StructType] | None = None) -> Type:
    """Parse one LLVM type.

    `structures` holds the module's named structures; a name that it lacks becomes an opaque structure.
    Raises ValueError if `text` does not start with a type.
    """
    return _TypeParser(text, structures or {}).parse()


def type_at(text: str, position: int, structures: Mapping[str, StructType]) -> tuple[Type, int]:
    """Parse the LLVM type that starts at a position of a text, and return it with where it ends.

    Raises ValueError if there is none.
    """
    parser = _TypeParser(text, structures)
    parser.position = position
    return parser.parse(), parser.position


class _TypeParser:
    """Recursive descent over LLVM's type grammar; `position` is where the next token starts."""

    def __init__(self, text: str, structures: Mapping[str, StructType]) -> None:
        self.text = text
        self.structures = structures
        self.position = 0

    def parse(self) -> Type:
        kind, token = self._next()
        if kind == "named":
            name = token[1:].strip('"')
            return self.structures.get(name, StructType(name, ()))
        if kind == "word":
            return self._word(token)
        if token == "<":
            count, element = self._sequence(">")
            return VectorType(count, element)
        if token == "[":
            count, element = self._sequence("]")
            return ArrayType(count, element)
        if token in ("{", "<{"):
            return StructType("", self._elements("}" if token == "{" else "}>"), packed=token == "<{")
        raise ValueError(f"not an LLVM type: {self.text!r}")

    def _word(self, word: str) -> Type:
        if word == "ptr":
            return PointerType(self._address_space())
        if re.fullmatch(r"i\d+", word):
            return IntegerType(int(word[1:]))
        if word in _FLOATS:
            return FloatType(word)
        if word == "void":
            return VoidType()
        if word == "label":
            return LabelType()
        if word == "target":
            return TargetType("target" + self._balanced())
        return OtherType(word)

    def _address_space(self) -> int:
        if self._peek() != "addrspace":
            return 0
        self._next()
        self._next()
        number = int(self._next()[1])
        self._next()
        return number

    def _sequence(self, end: str) -> tuple[int, Type]:
        count = int(self._next()[1])
        self._expect("x")
        element = self.parse()
        self._expect(end)
        return count, element

    def _elements(self, end: str) -> tuple[Type, ...]:
        elements = []
        while self._peek() != end:
            elements.append(self.parse())
            if self._peek() == ",":
                self._next()
        self._expect(end)
        return tuple(elements)

    def _balanced(self) -> str:
        start = self.position
        depth = 0
        while True:
            token = self._next()[1]
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth == 0:
                return self.text[start : self.position].strip()

    def _expect(self, token: str) -> None:
        if self._next()[1] != token:
            raise ValueError(f"not an LLVM type: {self.text!r}")

    def _peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match.group().strip() if match else ""

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise ValueError(f"not an LLVM type: {self.text!r}")
        self.position = match.end()
        return match.lastgroup or "", match.group().strip()


_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")


def unescaped(body: str) -> bytes:
    """Return the bytes of a string.

    Args:
        body: what stands between the quotes, where LLVM writes a backslash as two of them, and what can't be
            printed as a backslash and two hexadecimal digits.
    """
    return _ESCAPE.sub(
        lambda match: b"\\" if match[1] == b"\\" else bytes.fromhex(match[1].decode()), body.encode()
    )


# Types in memory, by SPIR's data layout: sizes, alignments and the offsets of fields, in bytes.
#
# A vector of three is as large as one of four; pointers have 64 bits.

_FLOAT_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_POINTER_BYTES = 8
_BITS_PER_BYTE = 8


def size_of(type_: Type) -> int:
    """Return the distance between neighbouring values in an array; 0 for a type that has no size."""
    if isinstance(type_, StructType):
        return _aligned(field_starts(type_)[-1], alignment_of(type_))
    if isinstance(type_, ArrayType):
        return type_.count * size_of(type_.element)
    if isinstance(type_, VectorType):
        return _power_of_two(content_bytes(type_))
    return content_bytes(type_)


def content_bytes(type_: Type) -> int:
    """Return the number of bytes that a load or store of a value touches: a vector of three has three elements."""
    if isinstance(type_, IntegerType):
        return _power_of_two(-(-type_.width // _BITS_PER_BYTE))
    if isinstance(type_, FloatType):
        return _FLOAT_BYTES[type_.kind]
    if isinstance(type_, PointerType):
        return _POINTER_BYTES
    if isinstance(type_, VectorType):
        return type_.count * content_bytes(type_.element)
    return size_of(type_) if isinstance(type_, StructType | ArrayType) else 0


@lru_cache(maxsize=4096)
def alignment_of(type_: Type) -> int:
    """Return the number that addresses of such values are multiples of, at least 1."""
    if isinstance(type_, StructType):
        return 1 if type_.packed else max(map(alignment_of, type_.elements), default=1)
    return alignment_of(type_.element) if isinstance(type_, ArrayType) else max(1, size_of(type_))


# Kept, since each access to a field asks, and structures may be nested deeply.
@lru_cache(maxsize=4096)
def field_starts(structure: StructType) -> tuple[int, ...]:
    """Return the offset of each field from the start of its structure, and at last where the last one ends."""
    starts, end = [], 0
    for element in structure.elements:
        starts.append(_aligned(end, 1 if structure.packed else alignment_of(element)))
        end = starts[-1] + size_of(element)
    return (*starts, end)


def scalar(type_: Type) -> Type:
    """Return the type of a vector's elements; of what is none, the type itself."""
    return type_.element if isinstance(type_, VectorType) else type_


def field_offset(structure: StructType, index: int) -> int:
    """Return the offset of a field from the start of its structure."""
    return field_starts(structure)[index]


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _power_of_two(size: int) -> int:
    """Return the smallest power of two that is not below a size."""
    return 1 << (size - 1).bit_length() if size > 0 else 0
