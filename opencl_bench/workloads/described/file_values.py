"""Contents of a buffer from a NumPy file beside the description: `file("x.npy")`.

    parse_values('file("x.npy")', folder) ─▶ FileValues ─▶ fill ─▶ the array in it, whatever the seed

The file lies in the description's folder or below, so that a folder is all that a workload needs.
"""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.dispatch.expressions import parsed
from coarsen.errors import InvalidInputError
from coarsen.files import opened
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.described.distributions import Distribution, parse_distribution
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.record_values import RecordValues
from coarsen.opencl_bench.workloads.described.shared_contents import SharedValues, parse_shared_values

# NumPy's letters for truth values, signed and unsigned integers and floating-point numbers.
_NUMBERS = "biuf"

FORM = 'file("NAME.npy")'


@dataclass(frozen=True, slots=True)
class FileValues:
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
    def names(self) -> frozenset[str]:
        """The names that it needs: none."""
        return frozenset()

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return f"{self.text} {self.digest}"

    def numbers(self, _values: Mapping[str, int], kind: ElementType) -> tuple[int | float, ...]:
        """Check that the file's numbers are of the buffer's type. Raises InvalidInputError; returns none."""
        self._opened(kind)
        return ()

    def check_count(self, kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where the file does not hold so many elements."""
        array = self._opened(kind)
        held, needed = array.size, math.prod(_shape(array, kind, elements))
        if held != needed:
            raise InvalidInputError(
                f"{self.path} holds {held} {_content(array)}, and {elements} of {kind.name} are {needed}"
            )

    def fill(
        self, _generator: np.random.Generator, kind: ElementType, elements: int, _values: Mapping[str, int]
    ) -> Array:
        """Return the numbers as an array of so many elements. Raises InvalidInputError as `check_count` does."""
        self.check_count(kind, elements)
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


def _content(array: Array) -> str:
    return "structures" if array.dtype.names else "numbers"


def _has_numbers_only(kind: np.dtype[Any]) -> bool:
    """Return True if every field is a number, an array of numbers or a structure of those."""
    content = kind.base
    if content.names:
        return all(_has_numbers_only(content[field]) for field in content.names)
    return content.kind in _NUMBERS


Values = Distribution | FileValues | SharedValues | RecordValues


def parse_values(text: str, folder: Path) -> Values:
    """Read what a buffer is filled with: a distribution, a part of shared contents, or a file.

    Args:
        text: as the description has it.
        folder: the description's.

    Raises:
        InvalidInputError: no such distribution; no such file in the folder or below.
    """
    if not text.strip().startswith("file("):
        return parse_shared_values(text) or parse_distribution(text)
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
