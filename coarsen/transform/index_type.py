"""The type of indices that transforms build: as wide as addresses are."""

from __future__ import annotations

from coarsen.ir.types import IntegerType

INDEX = IntegerType(64)
