"""What can be an operand: constants, arguments, program-scope variables and functions, and the uses of them.

Instructions and blocks, which can be operands too, have files of their own (`instruction.py`, `function.py`).
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from coarsen.errors import InternalError
from coarsen.ir.types import PointerType, Type, quoted

_FUNCTION_TYPE = PointerType(0)


class ValueKind(enum.Enum):
    """What an operand is."""

    INSTRUCTION = "instruction"
    ARGUMENT = "argument"
    BLOCK = "block"
    GLOBAL = "global variable"
    FUNCTION = "function"
    CONSTANT = "constant"


class User(Protocol):
    """What has operands: an instruction (`instruction.py`)."""

    @property
    def operands(self) -> Sequence[Operand]:
        """The values it computes with."""
        ...

    def set_operand(self, index: int, operand: Operand) -> None:
        """Put another value in an operand's place."""
        ...


class Use(NamedTuple):
    """An instruction that names something: among its operands, or among its blocks (`is_edge`), at a slot."""

    user: User
    slot: int
    is_edge: bool = False


class Operand:
    """What an instruction may compute with.

    Attributes:
        kind: as what it is classified.
        type: of the value; of a variable or function that of its address.
    """

    __slots__ = ()
    kind: ValueKind
    type: Type

    @property
    def text(self) -> str:
        """The name without `%` or `@`, or the constant without its type."""
        raise NotImplementedError

    @property
    def spelling(self) -> str:
        """The operand as it stands in LLVM's text, without its type."""
        raise NotImplementedError

    @property
    def is_local(self) -> bool:
        """Return True if it is computed or passed at run time (an instruction's result or an argument)."""
        return self.kind in (ValueKind.INSTRUCTION, ValueKind.ARGUMENT)

    @property
    def number(self) -> int | None:
        """The number that an integer constant is, as LLVM prints it; None for anything else."""
        return None

    def referenced(self) -> Sequence[Named]:
        """Return what keeps uses where this is an operand: itself, or what a constant names."""
        raise NotImplementedError

    def replaced(self, old: Named, new: Operand) -> Operand:
        """Return the operand that stands in this one's place where `old` becomes `new`."""
        raise NotImplementedError


class Named(Operand):
    """An operand with a name, compared by identity.

    Attributes:
        name: without `%` or `@`: the one that is wanted, until `names.py` has made it unique.
        has_unique_name: whether it has.
        uses: by instructions, in the order in which they came about.
    """

    __slots__ = ("has_unique_name", "name", "type", "uses")

    def __init__(self, type_: Type, name: str) -> None:
        self.type = type_
        self.name = name
        self.has_unique_name = False
        self.uses: dict[Use, None] = {}

    @property
    def text(self) -> str:
        """The name without `%` or `@`."""
        return self.name

    @property
    def spelling(self) -> str:
        """The name with `%`."""
        return f"%{self.name}"

    def replace_all_uses(self, new: Operand) -> None:
        """Let whatever uses this use another operand. Raises InternalError in a sealed function."""
        for use in list(self.uses):
            if not use.is_edge:
                use.user.set_operand(use.slot, use.user.operands[use.slot].replaced(self, new))

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a graph is too deep to be pickled or copied link by link: use `stored` or `copy_module`")

    def referenced(self) -> Sequence[Named]:
        """Return itself."""
        return (self,)

    def replaced(self, old: Named, new: Operand) -> Operand:
        """Return `new` if this is `old`."""
        return new if self is old else self


class Argument(Named):
    """An argument of a function; `attributes` are LLVM's, such as `noundef align 4`."""

    __slots__ = ("attributes",)
    kind = ValueKind.ARGUMENT

    def __init__(self, type_: Type, name: str, attributes: str = "") -> None:
        super().__init__(type_, name)
        self.attributes = attributes


class Variable(Named):
    """A program-scope variable, or another name of one; `definition` is what LLVM writes after `@name = `."""

    __slots__ = ("address_space", "definition")
    kind = ValueKind.GLOBAL

    def __init__(self, name: str, address_space: int, definition: str) -> None:
        super().__init__(PointerType(address_space), name)
        self.address_space = address_space
        self.definition = definition

    @property
    def is_alias(self) -> bool:
        """Return True if it is another name of a variable or function, which nothing in a kernel can use."""
        words = self.definition.split(" ", 8)
        return not {"global", "constant"} & set(words) and bool({"alias", "ifunc"} & set(words))

    @property
    def spelling(self) -> str:
        """The name with `@`."""
        return f"@{quoted(self.name)}"


class Callee(Named):
    """A function as it is called; `declaration` is its `declare` line, empty for one with a body."""

    __slots__ = ("declaration",)
    kind = ValueKind.FUNCTION

    def __init__(self, name: str, declaration: str = "") -> None:
        super().__init__(_FUNCTION_TYPE, name)
        self.declaration = declaration

    @property
    def spelling(self) -> str:
        """The name with `@`."""
        return f"@{quoted(self.name)}"


class Constant(Operand):
    """A constant; two that say the same are equal.

    Attributes:
        parts: LLVM's text without the type, cut where it names program-scope variables or functions.
    """

    __slots__ = ("parts", "type")
    kind = ValueKind.CONSTANT

    def __init__(self, type_: Type, *parts: str | Named) -> None:
        self.type = type_
        self.parts = parts

    @property
    def text(self) -> str:
        """LLVM's text without the type."""
        first = self.parts[0]
        if len(self.parts) == 1 and isinstance(first, str):
            return first
        return "".join([part if isinstance(part, str) else part.spelling for part in self.parts])

    @property
    def spelling(self) -> str:
        """LLVM's text without the type."""
        return self.text

    @property
    def number(self) -> int | None:
        """The number that it is, as LLVM prints it; None for anything else."""
        text = self.text
        return int(text) if text.removeprefix("-").isdecimal() else None

    def referenced(self) -> Sequence[Named]:
        """Return the variables and functions that it names, each once."""
        if len(self.parts) == 1:
            return ()
        return tuple(dict.fromkeys(part for part in self.parts if not isinstance(part, str)))

    def replaced(self, old: Named, new: Operand) -> Operand:
        """Return the constant with another variable in it.

        Raises:
            InternalError: `new` is known at run time only.
        """
        if old not in self.parts:
            return self
        if not isinstance(new, Named) or new.is_local:
            raise InternalError(f"the constant '{self.text}' can't name '{new.spelling}'")
        return Constant(self.type, *(new if part is old else part for part in self.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and (self.type, self.parts) == (other.type, other.parts)

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return f"Constant({self.type} {self.text})"
