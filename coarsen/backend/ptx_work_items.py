"""OpenCL's work-item functions and synchronisation for PTX.

A launch has no global offset there: a global id is `group id · group size + local id`, and the offset is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from coarsen.backend.body import I32, Body, Item
from coarsen.ir.types import Type

_AXES = "xyz"
_FENCES = frozenset({"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"})


def work_item_body(body: Body) -> list[str] | None:
    """The body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    if name in _QUERIES:
        return body.returned(_QUERIES[name](_WorkItem(body)))
    if name in ("barrier", "work_group_barrier", "wait_group_events"):
        body.do("call void @llvm.nvvm.barrier0()")
        return body.returned()
    if name in _FENCES:
        body.do("call void @llvm.nvvm.membar.gl()")
        return body.returned()
    if name == "prefetch":
        return body.returned()
    return None


class _WorkItem:
    """Reads special registers into a body; sizes and ids have the type that the queried function returns."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._type: Type = body.declaration.result

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
        read = self._body.call(I32, f"llvm.nvvm.read.ptx.sreg.{register}.{axis}")
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


def _register(name: str, outside: int) -> Callable[[_WorkItem], Item]:
    return lambda item: item.along(name, outside, item.dimension)


def _global_id(item: _WorkItem) -> Item:
    start = item.product(item.along("ctaid", 0, item.dimension), item.along("ntid", 1, item.dimension))
    return item.sum(start, item.along("tid", 0, item.dimension))


def _global_size(item: _WorkItem) -> Item:
    return item.product(item.along("nctaid", 1, item.dimension), item.along("ntid", 1, item.dimension))


def _local_linear_id(item: _WorkItem) -> Item:
    total = item.register("tid", "z")
    for axis in ("y", "x"):
        total = item.sum(item.product(total, item.register("ntid", axis)), item.register("tid", axis))
    return total


def _global_linear_id(item: _WorkItem) -> Item:
    total = _position(item, "z")
    for axis in ("y", "x"):
        size = item.product(item.register("nctaid", axis), item.register("ntid", axis))
        total = item.sum(item.product(total, size), _position(item, axis))
    return total


def _position(item: _WorkItem, axis: str) -> Item:
    start = item.product(item.register("ctaid", axis), item.register("ntid", axis))
    return item.sum(start, item.register("tid", axis))


_QUERIES: dict[str, Callable[[_WorkItem], Item]] = {
    "get_global_id": _global_id,
    "get_global_size": _global_size,
    "get_global_offset": lambda item: item.zero(),
    "get_local_id": _register("tid", 0),
    "get_local_size": _register("ntid", 1),
    "get_enqueued_local_size": _register("ntid", 1),
    "get_group_id": _register("ctaid", 0),
    "get_num_groups": _register("nctaid", 1),
    "get_local_linear_id": _local_linear_id,
    "get_global_linear_id": _global_linear_id,
}
