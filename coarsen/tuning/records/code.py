"""The code of a variant, as a device is given it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import WrittenArgument
from coarsen.variant.data_layout import Arrangement, ArrayLayout, Order, RecordType
from coarsen.variant.placement import PlacedArgument

Form = Literal["opencl_c", "spirv", "ptx"]
FORMS: tuple[Form, ...] = ("opencl_c", "spirv", "ptx")


@dataclass(frozen=True, slots=True)
class LaidArgument:
    """An argument of a code whose array lies otherwise than in the source.

    Attributes:
        argument: its name.
        index: among the kernel's arguments.
        record: of its elements, as text (`RecordType`).
        layout: as text: `soa`, `aosoa:32`.
        order: of its dimensions in memory; empty where that is as written.
        shape: for which the code was made; empty where the launch passes the extents.
    """

    argument: str
    index: int
    record: str
    layout: str
    order: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, argument: str, index: int, arrangement: Arrangement) -> LaidArgument:
        """Return what an argument's arrangement is in a code."""
        order = arrangement.order.permutation if arrangement.order else ()
        shape = arrangement.shape or ()
        return cls(argument, index, str(arrangement.record), str(arrangement.layout), order, shape)

    def arrangement(self, shape: tuple[int, ...]) -> Arrangement:
        """Return where the bytes of an array of a shape lie. Raises InvalidInputError where it does not fit."""
        order = Order(self.order) if self.order else None
        if self.shape and self.shape != shape:
            raise InvalidInputError(f"{self.argument} is of the shape {shape}, and the code of {self.shape}")
        return Arrangement(RecordType.parse(self.record), ArrayLayout.parse(self.layout), shape, order)


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel as a device is given it: OpenCL C text or SPIR-V bytes, with its build options.

    `added_arguments` are those that a launch passes after the kernel's own.

    Where launches name several kernels, `kernels` are the others that the content holds, and `others` the programs
    of those that it doesn't hold: a coarsened kernel is alone in its program. `alike` are the programs of further
    kernels, coarsened as this one is.

    `arrays` are the arguments whose arrays have to be packed before a launch, `placed` those whose arrays are read
    from another memory. `written` are the arguments through which the kernels as they are written may write, if
    any of them leads to padding.
    """

    form: Form
    kernel: str
    content: str | bytes
    options: tuple[str, ...] = ()
    added_arguments: tuple[AddedArgument, ...] = ()
    kernels: tuple[str, ...] = ()
    others: tuple[Code, ...] = ()
    alike: tuple[Code, ...] = ()
    arrays: tuple[LaidArgument, ...] = ()
    placed: tuple[PlacedArgument, ...] = ()
    written: tuple[WrittenArgument, ...] = ()

    @property
    def hash(self) -> str:
        """SHA-256 of content, options and other programs, in hexadecimal digits."""
        content = self.content.encode() if isinstance(self.content, str) else self.content
        others = "".join(f"\0{other.hash}" for other in (*self.others, *self.alike))
        return hashlib.sha256(content + ("\0".join(self.options) + others).encode()).hexdigest()

    @property
    def is_sequence(self) -> bool:
        """Return True if launches name the kernels, of which there are several."""
        return bool(self.kernels or self.others)

    def kernel_of(self, launched: str, is_alike: bool = False) -> tuple[Code, str]:
        """Return the program with the kernel that a launch names, and the kernel's name in it.

        Where there is one kernel, it is that of all launches. `is_alike` asks for another that is coarsened alike.

        Raises:
            InvalidInputError: no program has it.
        """
        if not self.is_sequence:
            return self, self.kernel
        for program in self.alike if is_alike else (self, *self.others):
            if launched in (program.kernel, *program.kernels):
                return program, launched
        raise InvalidInputError(f"a launch names the kernel '{launched}', which none of the programs has")

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON takes it; `code_from_json` reads it back."""
        value: dict[str, Any] = encoded(self, {bytes: lambda binary: {_BASE64: base64.b64encode(binary).decode()}})
        return value


def code_from_json(value: object) -> Code:
    """Read the code that `to_json` wrote. Raises InvalidInputError where it is none."""
    value = {"alike": [], **value} if isinstance(value, Mapping) else value
    return decoded(Code, value, "the code of a kernel", {str | bytes: _content})


_BASE64 = "base64"


def _content(value: object) -> str | bytes:
    """Text, or the bytes that an object of one field has."""
    if isinstance(value, str):
        return value
    try:
        return base64.b64decode(dict(value)[_BASE64], validate=True)  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError("the code of a kernel is neither text nor base64") from error
