"""The nodes of expressions over sizes (`expressions.py`, which makes them): numbers, names, operators."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

Quantity = int | float


class Operator(enum.StrEnum):
    """What a node of a tree does with its operands."""

    SUM = "sum"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    CEILING = "ceiling"
    FLOOR = "floor"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    LOGARITHM = "logarithm"
    POWER = "power"
    OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: Quantity

    @property
    def names(self) -> frozenset[str]:
        """No names."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Name:
    """A size by its name."""

    text: str

    @property
    def names(self) -> frozenset[str]:
        """Its own."""
        return frozenset({self.text})


@dataclass(frozen=True)
class Combined:
    """An operator and what it combines."""

    operator: Operator
    operands: tuple[Expression, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """All names of sizes in it."""
        return frozenset().union(*(operand.names for operand in self.operands))


Expression = Number | Name | Combined

ZERO = Number(0)
ONE = Number(1)
