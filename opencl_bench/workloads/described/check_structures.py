"""Compares the fields of a described structure with those that clang gives the kernel's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coarsen.ir.kernel import Argument, Kernel
from coarsen.opencl_bench.workloads.described.element_types import Structure
from coarsen.opencl_bench.workloads.described.structures import fields_of, structure_of

_KINDS = {"f": "a floating-point number", "i": "an integer", "u": "an integer"}
# Bytes of which the front end does not know what they mean are unsigned; the integers that it knows are signed.
_UNKNOWN = np.dtype(np.uint8)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a structure: its place and its size in bytes, its letter in NumPy."""

    place: int
    kind: str
    size: int

    @property
    def text(self) -> str:
        return f"{_KINDS.get(self.kind, 'something else')} of {self.size} bytes"


def structure_difference(kernel: Kernel, parameter: Argument, described: Structure) -> str | None:
    """Return in what a structure differs from a parameter's; None where nothing does, as far as can be told.

    Names of fields and the sign of integers aren't in the kernel's code.

    Args:
        kernel: the kernel.
        parameter: a pointer to structures.
        described: what the description calls them.
    """
    own = structure_of(kernel, parameter)
    if own is None:
        return None
    wanted, given = fields_of(kernel, own), described.dtype
    if wanted.itemsize != given.itemsize:
        return f"{described.name} has {given.itemsize} bytes, and {wanted.itemsize} in the kernel"
    known = {number.place: number for number in _numbers(wanted, 0)}
    covered = {number.place + at for number in known.values() for at in range(number.size)}
    unknown = {place for place in covered if known.get(place) == _Number(place, _UNKNOWN.kind, 1)}
    for number in _numbers(given, 0):
        found = known.pop(number.place, None)
        bytes_of = range(number.place, number.place + number.size)
        if found is not None and _same(found, number):
            continue
        # Last bytes that the kernel doesn't address look like padding.
        is_last_byte = number.size == 1 and number.place > max(covered)
        if set(bytes_of) <= unknown or is_last_byte:
            continue
        has = found.text if found is not None else "no number that begins there"
        return f"{described.name} has {number.text} at byte {number.place}, and the kernel {has}"
    missing = [number for place, number in known.items() if place not in unknown]
    if missing:
        return f"{described.name} has nothing at byte {missing[0].place}, and the kernel {missing[0].text}"
    return None


def _same(one: _Number, other: _Number) -> bool:
    return one.size == other.size and (one.kind == "f") == (other.kind == "f")


def _numbers(kind: np.dtype[Any], start: int) -> Iterator[_Number]:
    """The numbers of a type one by one, those of arrays and of structures within it, too."""
    if kind.subdtype is not None:
        element, extents = kind.subdtype
        for index in range(int(np.prod(extents))):
            yield from _numbers(element, start + index * element.itemsize)
    elif kind.names is not None:
        fields: Mapping[str, Any] = kind.fields or {}
        for name in kind.names:
            content, place, *_ = fields[name]
            yield from _numbers(content, start + place)
    else:
        yield _Number(start, kind.kind, kind.itemsize)
