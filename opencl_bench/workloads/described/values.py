"""Contents of buffers from files, and those that several buffers share.

values = 'file("x.npy")'         a NumPy file in the description's folder or below
values = "net.starts"            a part of shared contents:

[contents]
net = "graph(nodes, edges)"
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from coarsen.base.files import opened
from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, checked_expression, function_of, parsed
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads import contents
from coarsen.opencl_bench.workloads.described.distributions import Filling, parse_distribution
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.tuning.workload.benchmark import Array
from coarsen.tuning.workload.element_types import ElementType

KEY = "contents"
FORM = 'file("NAME.npy")'
# NumPy's letters for truth values, signed and unsigned integers and floating-point numbers.
_NUMBERS = "biuf"
_INTEGERS = ("int", "uint", "long", "ulong")


@dataclass(frozen=True, slots=True)
class FileValues(Filling):
    """Numbers that a file holds, for buffers of its type and length.

    Args:
        text: how the description says it.
        path: of the file.
        digest: SHA-256 of the file's bytes, in hexadecimal digits: another content is another workload.
    """

    text: str
    path: Path
    digest: str

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return f"{self.text} {self.digest}"

    def check(self, _values: Mapping[str, int], kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where the file's numbers are of another type, or more or fewer."""
        array = self._opened(kind)
        held, needed = array.size, math.prod(_shape(array, kind, elements))
        if held != needed:
            what = "structures" if array.dtype.names else "numbers"
            raise InvalidInputError(f"{self.path} holds {held} {what}, and {elements} of {kind.name} are {needed}")

    def fill(
        self, _generator: np.random.Generator, kind: ElementType, elements: int, _values: Mapping[str, int]
    ) -> Array:
        """Return the numbers as an array of so many elements. Raises InvalidInputError as `check` does."""
        self.check({}, kind, elements)
        array = self._opened(kind)
        # As bytes: a copy of structures would leave out what is between their fields.
        content = np.array(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        if kind.structure is not None:
            return content.view(kind.structure.dtype)
        return content.view(array.dtype).reshape(_shape(array, kind, elements))

    def _opened(self, kind: ElementType) -> Array:
        try:
            with opened(self.path):
                pass  # NumPy would wait for a pipe
            # Never unpickled: whoever wrote the file must not run code here.
            array: Array = np.lib.format.open_memmap(str(self.path), mode="r")
        except OSError as error:
            raise InvalidInputError(f"{self.path}: can't be read: {error.strerror or 'no NumPy array'}") from None
        except (ValueError, EOFError):
            raise InvalidInputError(f"{self.path} is no NumPy array of numbers (.npy)") from None
        if kind.is_opaque and array.dtype.names:
            if not _has_numbers_only(array.dtype):
                raise InvalidInputError(f"{self.path} holds structures whose fields aren't all numbers")
            if array.dtype.itemsize != kind.byte_count:
                raise InvalidInputError(
                    f"{self.path} holds structures of {array.dtype.itemsize} bytes, not of {kind.byte_count}"
                )
            if kind.structure is not None and array.dtype != kind.structure.dtype:
                raise InvalidInputError(
                    f"{self.path} holds structures of other fields than {kind.name}: {array.dtype}"
                )
            return array
        if array.dtype != np.dtype(kind.scalar):
            wanted = np.dtype(kind.scalar)
            raise InvalidInputError(f"{self.path} holds {array.dtype}, and {kind.name} is of {wanted}")
        return array


def _shape(array: Array, kind: ElementType, elements: int) -> tuple[int, ...]:
    """The shape of an array of so many elements, of which a structure of named fields is one number."""
    return (elements,) if array.dtype.names else kind.shape(elements)


def _has_numbers_only(kind: np.dtype[Any]) -> bool:
    """Return True if every field is a number, an array of numbers or a structure of those."""
    content = kind.base
    if content.names:
        return all(_has_numbers_only(content[field]) for field in content.names)
    return content.kind in _NUMBERS


@dataclass(frozen=True, slots=True)
class _Maker:
    """What makes shared contents.

    Args:
        fields: of what it makes, in their order, with the types that buffers of them may have.
        make: takes the source of random numbers and the parameters' values.
    """

    fields: Mapping[str, tuple[str, ...]]
    make: Callable[..., tuple[Array, ...]]

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return [*inspect.signature(self.make).parameters][1:]


_MAKERS: Mapping[str, _Maker] = MappingProxyType(
    {
        "graph": _Maker({"starts": _INTEGERS, "targets": _INTEGERS, "in_degrees": _INTEGERS}, contents.make_graph),
        "cube": _Maker(
            {"starts": _INTEGERS, "neighbours": _INTEGERS}, lambda _, side: contents.cube_neighbours(side)
        ),
        "atoms": _Maker(
            {"positions": ("float4",), "neighbours": _INTEGERS, "counts": _INTEGERS}, contents.make_atoms
        ),
    }
)


def _form(maker: str) -> str:
    return f"{maker}({', '.join(_MAKERS[maker].parameters)})"


@dataclass(frozen=True, slots=True)
class SharedContents:
    """Arrays that go together, made once for a workload; `parameters` are expressions of the sizes."""

    name: str
    text: str
    maker: str
    parameters: tuple[Expression, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return frozenset().union(*(entry.names for entry in self.parameters))

    @property
    def fields(self) -> Mapping[str, tuple[str, ...]]:
        """The names of its arrays, with the types that buffers of them may have."""
        return _MAKERS[self.maker].fields

    def make(self, generator: np.random.Generator, values: Mapping[str, int]) -> dict[str, Array]:
        """Return the arrays, by the names of the fields. Raises InvalidInputError for settings that are none."""
        numbers = (entry.evaluate(values) for entry in self.parameters)
        return dict(zip(self.fields, _MAKERS[self.maker].make(generator, *numbers), strict=True))


@dataclass(frozen=True, slots=True)
class SharedValues(Filling):
    """A buffer's part of shared contents, `matrix.row_starts`."""

    text: str
    name: str
    field: str

    def check(self, _values: Mapping[str, int], kind: ElementType, _elements: int) -> None:
        """Raise InvalidInputError for a buffer of another type."""
        wanted = next(each.fields[self.field] for each in _MAKERS.values() if self.field in each.fields)
        if kind.name not in wanted:
            raise InvalidInputError(f"'{self.text}' is for {', '.join(wanted)}, not for {kind.name}")

    def part(self, made: Mapping[str, Mapping[str, Array]], kind: ElementType, elements: int) -> Array:
        """Return the buffer's array.

        Args:
            made: the arrays of all shared contents.
            kind: the buffer's type.
            elements: how many it has.

        Raises:
            InvalidInputError: the contents have more or fewer.
        """
        found = made[self.name][self.field]
        if found.size != math.prod(kind.shape(elements)):
            held = found.size // kind.components
            raise InvalidInputError(f"'{self.text}' has {held} elements, and the buffer {elements}")
        self.check({}, kind, elements)
        return found.astype(kind.scalar).reshape(kind.shape(elements))


def read_shared_contents(top: Table) -> tuple[SharedContents, ...]:
    """Read the table `contents`. Raises InvalidInputError for a mistake in it."""
    table = top.table(KEY)
    return tuple(_read(table, name) for name in table.values)


def _read(table: Table, name: str) -> SharedContents:
    if not name.isidentifier():
        raise table.error(name, "a name has letters, digits and _ only")
    text = table.text(name)
    maker, parameters = table.parse_text(name, _call, text)
    return SharedContents(name, text, maker, parameters)


def _call(text: str) -> tuple[str, tuple[Expression, ...]]:
    tree = parsed(text)
    maker = function_of(tree) if isinstance(tree, ast.Call) else ""
    if maker not in _MAKERS:
        hint = did_you_mean(text.partition("(")[0], _MAKERS)
        raise InvalidInputError(f"'{text}' must have the form {' or '.join(map(_form, _MAKERS))}{hint}")
    arguments = tree.args if isinstance(tree, ast.Call) else []
    if len(arguments) != len(_MAKERS[maker].parameters):
        raise InvalidInputError(f"'{text}' must have the form {_form(maker)}")
    return maker, tuple(checked_expression(argument, text) for argument in arguments)


def _shared_values(text: str) -> SharedValues | None:
    """Read `NAME.FIELD`; None for a text that isn't of this form. Raises InvalidInputError for another field."""
    tree = parsed(text)
    if not isinstance(tree, ast.Attribute) or not isinstance(tree.value, ast.Name):
        return None
    fields = tuple(dict.fromkeys(field for maker in _MAKERS.values() for field in maker.fields))
    if tree.attr not in fields:
        raise InvalidInputError(f"'{text}': contents have {', '.join(fields)}")
    return SharedValues(text.strip(), tree.value.id, tree.attr)


def parse_values(text: str, folder: Path) -> Filling:
    """Read what a buffer is filled with: a distribution, a part of shared contents, or a file.

    Args:
        text: as the description has it.
        folder: the description's.

    Raises:
        InvalidInputError: no such distribution; no such file in the folder or below.
    """
    if not text.strip().startswith("file("):
        return _shared_values(text) or parse_distribution(text)
    path = (folder / _name_of(parsed(text), text)).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InvalidInputError(f"'{text}' must name a file in the folder of the description, or below")
    if not path.is_file():
        raise InvalidInputError(f"{path}: there is no such file")
    try:
        with opened(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be read: {error.strerror}") from None
    return FileValues(text, path, digest)


def _name_of(tree: ast.expr, text: str) -> str:
    """The file's name in `file("x.npy")`. Raises InvalidInputError for any other form."""
    if isinstance(tree, ast.Call) and not tree.keywords:
        match tree.args:
            case [ast.Constant(value=str(name))]:
                return name
    raise InvalidInputError(f"'{text}' must have the form {FORM}")
