"""A private array with an element for each replica, written by index, also one that is known only at run time."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.types import FloatType, IntegerType, Type, VectorType
from coarsen.transform.names import NameSupply


def can_be_kept(type_: Type) -> bool:
    """Whether an array can hold values of a type: numbers and vectors of them, not pointers or the like."""
    element = type_.element if isinstance(type_, VectorType) else type_
    if isinstance(type_, VectorType) and str(element) == "i1":
        return False
    return isinstance(element, IntegerType | FloatType)


@dataclass(frozen=True)
class ReplicaArray:
    """A private array `name` (with `%`) of `count` values of one type; truth values are kept as bytes."""

    name: str
    type: Type
    count: int
    supply: NameSupply

    @property
    def variable(self) -> str:
        """The instruction that reserves it, at the kernel's start."""
        return f"{self.name} = alloca {self._array}"

    def store(self, value: str, index: str) -> list[str]:
        """Stores a value at an index, a 32-bit integer or a constant."""
        if not self._is_truth:
            place, lines = self._place(index)
            return [*lines, f"store {self.type} {value}, ptr {place}"]
        byte = self._fresh("byte")
        place, lines = self._place(index)
        return [f"{byte} = zext i1 {value} to i8", *lines, f"store i8 {byte}, ptr {place}"]

    def load(self, name: str, index: str) -> list[str]:
        """Loads the value at an index as `name` (with `%`)."""
        place, lines = self._place(index)
        if not self._is_truth:
            return [*lines, f"{name} = load {self.type}, ptr {place}"]
        byte = self._fresh("byte")
        return [*lines, f"{byte} = load i8, ptr {place}", f"{name} = trunc i8 {byte} to i1"]

    @property
    def _is_truth(self) -> bool:
        return str(self.type) == "i1"

    @property
    def _array(self) -> str:
        return f"[{self.count} x {'i8' if self._is_truth else self.type}]"

    def _place(self, index: str) -> tuple[str, list[str]]:
        place = self._fresh("place")
        return place, [f"{place} = getelementptr inbounds {self._array}, ptr {self.name}, i32 0, i32 {index}"]

    def _fresh(self, what: str) -> str:
        return "%" + self.supply.fresh(f"{self.name[1:]}.{what}")
