"""The record that a NumPy type is: its fields as an OpenCL compiler sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.variant.records import Field, RecordType


def record_of(dtype: np.dtype[Any]) -> RecordType:
    """Return the record that elements of a type are; a vector type of `pyopencl.cltypes` is one field.

    Raises:
        InvalidInputError: the type holds Python objects, or fields that overlap.
    """
    if dtype.hasobject or dtype.itemsize == 0:
        raise InvalidInputError(f"elements of type {dtype} have no bytes that a device could read")
    if dtype.names is None or _is_vector(dtype):
        return RecordType.plain(dtype.itemsize)
    assert dtype.fields is not None
    members = [(name, dtype.fields[name]) for name in dtype.names]
    fields = [Field(member[1], member[0].itemsize, name) for name, member in members]
    return RecordType.with_tail(dtype.itemsize, fields)


def _is_vector(dtype: np.dtype[Any]) -> bool:
    """Whether the fields are those that `pyopencl.cltypes` gives its vectors: s0, s1, …"""
    return dtype.names == tuple(f"s{index}" for index in range(len(dtype.names or ())))
