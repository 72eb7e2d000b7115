"""OpenCL's selections, vector loads and stores, and copies by a whole work-group for PTX.

By hand since each becomes plain loads, stores or selections; LLVM's libclc has them, at half a second to read it
for each kernel (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coarsen.backend.builtin_library import I64, Body, Item, element_count, same_shape, scalar, width
from coarsen.ir.opencl.queries import DIMENSIONS, Query, mangled_name
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


# `async_work_group_copy` and its strided form: each work-item copies its share; waiting is a barrier.
#
# for (i = local linear id; i < count; i += work-items of the group)
#     to[i * to_stride] = from[i * from_stride];
#
# By hand since waiting needs a barrier, which libclc's build for PTX leaves undefined
# (`docs/explanation/own-builtins.md`).

_NAME = re.compile(
    r"_Z\d+async_work_group_(?P<strided>strided_)?copyPU3AS(?P<to_space>\d)(?P<type>Dv\d+_)?(?P<code>Dh|[a-z])"
)
_ELEMENTS: dict[str, IntegerType | FloatType] = {
    **dict.fromkeys("cha", IntegerType(8)),
    **dict.fromkeys("st", IntegerType(16)),
    **dict.fromkeys("ij", IntegerType(32)),
    **dict.fromkeys("lm", IntegerType(64)),
    "Dh": FloatType("half"),
    "f": FloatType("float"),
    "d": FloatType("double"),
}
_ONE = Item(I64, "1")


def copy_body(body: Body) -> list[str] | None:
    """Return the body of a copy by the work-group; None for another function."""
    match = _NAME.match(body.declaration.name)
    if match is None:
        return None
    to, source, count = body.parameters[:3]
    event = body.parameters[-1]
    strides = _strides(body, match)
    item = body.call(I64, mangled_name(Query.LOCAL_LINEAR_ID.value, "v"))
    group = _group_items(body)
    _loop(body, item, group, count)
    index = Item(I64, "%index")
    value_type = _element(match)
    alignment = width(value_type) // 8 * element_count(value_type)
    value = body.load(value_type, body.at(source, value_type, body.binary("mul", index, strides[0])), alignment)
    body.store(value, body.at(to, value_type, body.binary("mul", index, strides[1])), alignment)
    body.do(f"%index.next = add {index}, {group.text}")
    body.do("br label %again")
    body.do("done:")
    return body.returned(event)


def _loop(body: Body, first: Item, step: Item, count: Item) -> None:
    """The head of the loop; what follows is its body."""
    body.do("br label %again")
    body.do("again:")
    body.do(f"%index = phi i64 [ {first.text}, %start ], [ %index.next, %copy ]")
    body.do(f"%more = icmp ult i64 %index, {count.text}")
    body.do("br i1 %more, label %copy, label %done")
    body.do("copy:")


def _group_items(body: Body) -> Item:
    """Return how many work-items the group has."""
    function = mangled_name(Query.LOCAL_SIZE.value, "j")
    sizes = [body.call(I64, function, Item(IntegerType(32), str(d))) for d in range(DIMENSIONS)]
    return body.binary("mul", body.binary("mul", sizes[0], sizes[1]), sizes[2])


def _strides(body: Body, match: re.Match[str]) -> tuple[Item, Item]:
    """The strides of source and destination: the given one is that of global memory."""
    if not match["strided"]:
        return _ONE, _ONE
    stride = body.parameters[3]
    return (_ONE, stride) if match["to_space"] == "1" else (stride, _ONE)


def _element(match: re.Match[str]) -> IntegerType | FloatType | VectorType:
    element = _ELEMENTS[match["code"]]
    if not match["type"]:
        return element
    count = int(match["type"][2:-1])
    return VectorType(4 if count == 3 else count, element)
