"""OpenCL's work-item functions and synchronisation, from a GPU's registers of ids and sizes.

A launch has no global offset: a global id is `group id · group size + local id`, and the offset is 0.

By hand since libclc leaves them undefined for PTX, or needs NVIDIA's libdevice with them
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.backend.builtin_library import I32, Body, Item
from coarsen.ir.opencl.builtins import Reach, Role, builtin_named
from coarsen.ir.opencl.queries import Query, linear_id, query_named
from coarsen.ir.types import Type

_AXES = "xyz"


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
    """Return the body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    known, query = builtin_named(name), query_named(name)
    if query in _ANSWERS:
        return body.returned(_ANSWERS[query](_WorkItem(body, registers)))
    if known.is_convergent and known.writes is Reach.EVERYTHING:
        for instruction in registers.barrier:
            body.do(instruction)
        return body.returned()
    if known.role is Role.FENCE:
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
        """Return a register's value along a dimension; `outside` for a dimension above 2."""
        value = Item(self._type, str(outside))
        for number, axis in enumerate(_AXES):
            is_meant = self._body.compare("eq", dimension, Item(I32, str(number)))
            value = self._body.select(is_meant, self.register(register, axis), value)
        return value

    def register(self, register: str, axis: str) -> Item:
        """Return a register's value along one axis."""
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
    return linear_id(
        lambda dimension: item.register(item.registers.local_id, _AXES[dimension]),
        lambda dimension: item.register(item.registers.local_size, _AXES[dimension]),
        item.product,
        item.sum,
    )


def _global_linear_id(item: _WorkItem) -> Item:
    def size(dimension: int) -> Item:
        groups = item.register(item.registers.group_count, _AXES[dimension])
        return item.product(groups, item.register(item.registers.local_size, _AXES[dimension]))

    return linear_id(lambda dimension: _position(item, _AXES[dimension]), size, item.product, item.sum)


def _position(item: _WorkItem, axis: str) -> Item:
    group = item.register(item.registers.group_id, axis)
    start = item.product(group, item.register(item.registers.local_size, axis))
    return item.sum(start, item.register(item.registers.local_id, axis))


_ANSWERS: dict[Query, Callable[[_WorkItem], Item]] = {
    Query.GLOBAL_ID: _global_id,
    Query.GLOBAL_SIZE: _global_size,
    Query.GLOBAL_OFFSET: _WorkItem.zero,
    Query.LOCAL_ID: _local_id,
    Query.LOCAL_SIZE: _local_size,
    Query.ENQUEUED_LOCAL_SIZE: _local_size,
    Query.GROUP_ID: _group_id,
    Query.GROUP_COUNT: _group_count,
    Query.LOCAL_LINEAR_ID: _local_linear_id,
    Query.GLOBAL_LINEAR_ID: _global_linear_id,
}
