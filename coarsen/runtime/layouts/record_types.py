"""The record that a NumPy type is: its fields as an OpenCL compiler sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.variant.records import MOST_FIELDS, Field, RecordType


def record_of(dtype: np.dtype[Any], *, is_deep: bool = False) -> RecordType:
    """Return the record that elements of a type are; a vector type of `pyopencl.cltypes` is one field.

    Args:
        dtype: of the host's elements.
        is_deep: whether the elements of a member that is an array of numbers or of such vectors are fields.

    Raises:
        InvalidInputError: the type holds Python objects, fields that overlap, or too many to take arrays apart.
    """
    if dtype.hasobject or dtype.itemsize == 0:
        raise InvalidInputError(f"elements of type {dtype} have no bytes that a device could read")
    if dtype.names is None or _is_vector(dtype):
        return RecordType.plain(dtype.itemsize)
    assert dtype.fields is not None
    members = [(name, dtype.fields[name]) for name in dtype.names]
    fields = [Field(member[1], member[0].itemsize, name) for name, member in members]
    if is_deep:
        sizes = [_part_size(member[0]) for _, member in members]
        count = sum(each.size // size for each, size in zip(fields, sizes, strict=True))
        if count > MOST_FIELDS:
            raise InvalidInputError(f"a deep layout has at most {MOST_FIELDS} fields, and here are {count}")
        fields = [part for each, size in zip(fields, sizes, strict=True) for part in each.parts(size)]
    return RecordType.with_tail(dtype.itemsize, fields, is_deep=is_deep)


def _part_size(member: np.dtype[Any]) -> int:
    """Return the bytes of an element of an array of numbers or vectors; of all where it is something else."""
    base = member.base
    return base.itemsize if base.names is None or _is_vector(base) else member.itemsize


def _is_vector(dtype: np.dtype[Any]) -> bool:
    """Return True if the fields are those of a vector of `pyopencl.cltypes`: s0, s1, …; three are padded."""
    count = len(dtype.names or ())
    names = tuple(f"s{index}" for index in range(count))
    return dtype.names in (names, (*names[:3], "padding0"))
