"""OpenCL's selections and vector loads and stores for PTX.

By hand since each becomes plain loads, stores or selections; LLVM's libclc has them, at half a second to read it
for each kernel (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coarsen.backend.body import Body, Item, element_count, same_shape, width
from coarsen.backend.builtin_library import scalar
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType

_LOAD = re.compile(r"vload(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)$")
_STORE = re.compile(r"vstore(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)(?:_rte)?$")
_HALF = FloatType("half")


def vector_body(body: Body) -> list[str] | None:
    """Return the body of a selection, a shuffle, or a vector load or store; None for another function."""
    name = body.declaration.builtin
    if name in _FUNCTIONS:
        return body.returned(_FUNCTIONS[name](body))
    if match := _LOAD.match(name):
        return _load(body, match)
    if match := _STORE.match(name):
        return _store(body, match)
    return None


def _bits(body: Body, item: Item) -> Item:
    return body.cast("bitcast", item, same_shape(item.type, IntegerType(width(item.type))))


def _select(body: Body) -> Item:
    other, chosen, condition = body.parameters
    is_vector = element_count(condition.type) > 1
    zero = body.constant(condition.type, "0")
    return body.select(body.compare("slt" if is_vector else "ne", condition, zero), chosen, other)


def _select_bits(body: Body) -> Item:
    other, chosen, mask = (_bits(body, item) for item in body.parameters)
    kept = body.binary("and", other, body.binary("xor", mask, body.constant(mask.type, "-1")))
    result = body.binary("or", kept, body.binary("and", chosen, mask))
    return body.cast("bitcast", result, body.declaration.result)


def _over_elements(operation: str) -> Callable[[Body], Item]:
    """`any` and `all`: the highest bits of the elements, joined."""

    def write(body: Body) -> Item:
        (item,) = body.parameters
        joined = body.element(item, 0)
        for index in range(1, element_count(item.type)):
            joined = body.binary(operation, joined, body.element(item, index))
        is_set = body.compare("slt", joined, body.constant(joined.type, "0"))
        return body.cast("zext", is_set, body.declaration.result)

    return write


def _shuffle(body: Body) -> Item:
    """Elements chosen at run time, from one vector or from two behind each other."""
    *sources, mask = body.parameters
    elements = [body.element(source, i) for source in sources for i in range(element_count(source.type))]
    memory_type = VectorType(len(elements), elements[0].type)
    joined = body.vector(elements, memory_type)
    chosen = []
    for index in range(element_count(mask.type)):
        place = body.element(mask, index)
        within = body.binary("and", place, body.constant(place.type, str(len(elements) - 1)))
        chosen.append(body.assign(elements[0].type, f"extractelement {joined}, {within}"))
    return body.vector(chosen, body.declaration.result)


def _load(body: Body, match: re.Match[str]) -> list[str]:
    offset, pointer = body.parameters
    result = body.declaration.result
    stored = same_shape(result, _HALF) if match["half"] else result
    loaded = body.load(stored, *_place(body, pointer, offset, stored, match))
    return body.returned(body.cast("fpext", loaded, result))


def _store(body: Body, match: re.Match[str]) -> list[str]:
    value, offset, pointer = body.parameters
    if match["half"]:
        value = body.cast("fptrunc", value, same_shape(value.type, _HALF))
    body.store(value, *_place(body, pointer, offset, value.type, match))
    return body.returned()


def _place(body: Body, pointer: Item, offset: Item, stored: Type, match: re.Match[str]) -> tuple[Item, int]:
    """The address of the vector and its alignment; three aligned elements stand four apart."""
    count = int(match["count"] or 1)
    element = scalar(stored)
    stride = 4 if match["aligned"] and count == 3 else count
    index = body.binary("mul", offset, body.constant(offset.type, str(stride)))
    size = width(element) // 8
    return body.at(pointer, element, index), size * stride if match["aligned"] else size


_FUNCTIONS: dict[str, Callable[[Body], Item]] = {
    "select": _select,
    "bitselect": _select_bits,
    "any": _over_elements("or"),
    "all": _over_elements("and"),
    "shuffle": _shuffle,
    "shuffle2": _shuffle,
}
