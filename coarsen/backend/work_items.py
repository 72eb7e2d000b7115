"""OpenCL's work-item functions and synchronisation, from a GPU's registers of ids and sizes.

A launch has no global offset: a global id is `group id · group size + local id`, and the offset is 0.

By hand since libclc leaves them undefined for PTX, or needs NVIDIA's libdevice with them
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.backend.body import I32, Body, Item
from coarsen.ir.types import Type

_AXES = "xyz"
_FENCES = frozenset({"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"})


@dataclass(frozen=True, slots=True)
class Registers:
    """A GPU's intrinsics, by name after `llvm.`, for what a work-item knows; `.x`, `.y` or `.z` is added.

    `barrier` and `fence` are whole instructions, `barrier` one or several.
    """

    local_id: str
    group_id: str
    local_size: str
    group_count: str
    barrier: tuple[str, ...]
    fence: str


def work_item_body(body: Body, registers: Registers) -> list[str] | None:
    """The body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    if name in _QUERIES:
        return body.returned(_QUERIES[name](_WorkItem(body, registers)))
    if name in ("barrier", "work_group_barrier", "wait_group_events"):
        for instruction in registers.barrier:
            body.do(instruction)
        return body.returned()
    if name in _FENCES:
        body.do(registers.fence)
        return body.returned()
    if name == "prefetch":
        return body.returned()
    return None


class _WorkItem:
    """Reads registers into a body; sizes and ids have the type that the queried function returns."""

    def __init__(self, body: Body, registers: Registers) -> None:
        self._body = body
        self._type: Type = body.declaration.result
        self.registers = registers

    @property
    def dimension(self) -> Item:
        """The dimension that was asked about."""
        return self._body.parameters[0]

    def along(self, register: str, outside: int, dimension: Item) -> Item:
        """A register's value along a dimension; `outside` for a dimension above 2."""
        value = Item(self._type, str(outside))
        for number, axis in enumerate(_AXES):
            is_meant = self._body.compare("eq", dimension, Item(I32, str(number)))
            value = self._body.select(is_meant, self.register(register, axis), value)
        return value

    def register(self, register: str, axis: str) -> Item:
        """A register's value along one axis."""
        read = self._body.call(I32, f"llvm.{register}.{axis}")
        return self._body.cast("zext", read, self._type)  # none where a size_t has 32 bits

    def product(self, left: Item, right: Item) -> Item:
        """left · right."""
        return self._body.binary("mul", left, right)

    def sum(self, left: Item, right: Item) -> Item:
        """left + right."""
        return self._body.binary("add", left, right)

    def zero(self) -> Item:
        """0."""
        return Item(self._type, "0")


def _local_id(item: _WorkItem) -> Item:
    return item.along(item.registers.local_id, 0, item.dimension)


def _local_size(item: _WorkItem) -> Item:
    return item.along(item.registers.local_size, 1, item.dimension)


def _group_id(item: _WorkItem) -> Item:
    return item.along(item.registers.group_id, 0, item.dimension)


def _group_count(item: _WorkItem) -> Item:
    return item.along(item.registers.group_count, 1, item.dimension)


def _global_id(item: _WorkItem) -> Item:
    return item.sum(item.product(_group_id(item), _local_size(item)), _local_id(item))


def _global_size(item: _WorkItem) -> Item:
    return item.product(_group_count(item), _local_size(item))


def _local_linear_id(item: _WorkItem) -> Item:
    total = item.register(item.registers.local_id, "z")
    for axis in ("y", "x"):
        rows = item.product(total, item.register(item.registers.local_size, axis))
        total = item.sum(rows, item.register(item.registers.local_id, axis))
    return total


def _global_linear_id(item: _WorkItem) -> Item:
    total = _position(item, "z")
    for axis in ("y", "x"):
        groups = item.register(item.registers.group_count, axis)
        size = item.product(groups, item.register(item.registers.local_size, axis))
        total = item.sum(item.product(total, size), _position(item, axis))
    return total


def _position(item: _WorkItem, axis: str) -> Item:
    group = item.register(item.registers.group_id, axis)
    start = item.product(group, item.register(item.registers.local_size, axis))
    return item.sum(start, item.register(item.registers.local_id, axis))


_QUERIES: dict[str, Callable[[_WorkItem], Item]] = {
    "get_global_id": _global_id,
    "get_global_size": _global_size,
    "get_global_offset": _WorkItem.zero,
    "get_local_id": _local_id,
    "get_local_size": _local_size,
    "get_enqueued_local_size": _local_size,
    "get_group_id": _group_id,
    "get_num_groups": _group_count,
    "get_local_linear_id": _local_linear_id,
    "get_global_linear_id": _global_linear_id,
}
