"""`async_work_group_copy` and its strided form for PTX: each work-item copies its share; waiting is a barrier.

for (i = local linear id; i < count; i += work-items of the group)
    to[i * to_stride] = from[i * from_stride];

By hand since waiting needs a barrier, which libclc's build for PTX leaves undefined
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re

from coarsen.backend.body import I64, Body, Item, element_count, width
from coarsen.ir.opencl.names import mangled_name
from coarsen.ir.opencl.queries import DIMENSIONS, Query
from coarsen.ir.types import FloatType, IntegerType, VectorType

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
