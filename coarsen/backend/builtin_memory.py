"""OpenCL's selections, vector loads and stores, atomic functions, and copies by a whole work-group, in LLVM IR.

By hand since each becomes plain loads, stores, selections or one atomic instruction; LLVM's libclc has them, at
half a second to read it for each kernel (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from coarsen.backend.builtin_library import I32, I64, Body, Declaration, Item, element_count, same_shape, width
from coarsen.backend.opencl_c.c.types import CType, Pointer, Vector, element_of
from coarsen.backend.opencl_c.decide.builtins import parameters
from coarsen.ir.opencl.queries import DIMENSIONS, Query, mangled_name
from coarsen.ir.types import AddressSpace, FloatType, IntegerType, Type, VectorType, scalar

_LOAD = re.compile(r"vload(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)$")
_STORE = re.compile(r"vstore(?P<aligned>a?)(?P<half>_half)?(?P<count>\d*)(?:_rte)?$")
_HALF = FloatType("half")


def vector_body(body: Body) -> list[str] | None:
    """Return the body of a selection, a shuffle, or a vector load or store; None for another function."""
    name = body.declaration.builtin
    if name in _FUNCTIONS:
        return body.returned(_FUNCTIONS[name](*body.parameters))
    if match := _LOAD.match(name):
        return _load(body, match)
    if match := _STORE.match(name):
        return _store(body, match)
    return None


def _select(other: Item, chosen: Item, condition: Item) -> Item:
    return other.unless(condition.compared("slt" if element_count(condition.type) > 1 else "ne", 0), chosen)


def _select_bits(other: Item, chosen: Item, mask: Item) -> Item:
    result, (other, chosen, mask) = other.type, (item.bits() for item in (other, chosen, mask))
    return ((other & (mask ^ -1)) | (chosen & mask)).cast("bitcast", result)


def _over_elements(operation: str) -> Callable[[Item], Item]:
    """`any` and `all`: the highest bits of the elements, joined."""

    def write(item: Item) -> Item:
        joined = item.body.element(item, 0)
        for index in range(1, element_count(item.type)):
            joined = joined.binary(operation, item.body.element(item, index))
        return joined.compared("slt", 0).cast("zext", item.body.declaration.result)

    return write


def _shuffle(*items: Item) -> Item:
    """Elements chosen at run time, from one vector or from two behind each other."""
    *sources, mask = items
    body, elements = mask.body, [each for source in sources for each in mask.body.elements(source)]
    joined = body.vector(elements, VectorType(len(elements), elements[0].type))

    def chosen(place: Item) -> Item:
        within = place & (len(elements) - 1)
        return body.assign(elements[0].type, f"extractelement {joined}, {within}")

    return body.by_element(chosen, body.declaration.result, mask)


def _load(body: Body, match: re.Match[str]) -> list[str]:
    offset, pointer = body.parameters
    result = body.declaration.result
    stored = same_shape(result, _HALF) if match["half"] else result
    return body.returned(body.load(stored, *_place(pointer, offset, stored, match)).cast("fpext", result))


def _store(body: Body, match: re.Match[str]) -> list[str]:
    value, offset, pointer = body.parameters
    if match["half"]:
        value = value.cast("fptrunc", same_shape(value.type, _HALF))
    body.store(value, *_place(pointer, offset, value.type, match))
    return body.returned()


def _place(pointer: Item, offset: Item, stored: Type, match: re.Match[str]) -> tuple[Item, int]:
    """The address of the vector and its alignment; three aligned elements stand four apart."""
    count, element = int(match["count"] or 1), scalar(stored)
    stride = 4 if match["aligned"] and count == 3 else count
    size = width(element) // 8
    return pointer.body.at(pointer, element, offset * stride), size * stride if match["aligned"] else size


_FUNCTIONS: dict[str, Callable[..., Item]] = {
    "select": _select,
    "bitselect": _select_bits,
    "any": _over_elements("or"),
    "all": _over_elements("and"),
    "shuffle": _shuffle,
    "shuffle2": _shuffle,
}


# OpenCL 1.x's atomic functions as LLVM's atomic instructions, for targets that lack some of the functions.

# OpenCL 1.x orders nothing around an atomic function; it is seen by the whole device.
_ORDERING = 'syncscope("device") monotonic'
_STEPS = {"inc": "add", "dec": "sub"}


def atomic_body(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of `atomic_add` and its kind, by the older names (`atom_add`) too.

    None for other functions, those of OpenCL 2.0 (`atomic_fetch_add_explicit`) among them.
    """
    prefix, _, operation = declaration.builtin.partition("_")
    if prefix not in ("atom", "atomic"):
        return None
    value, type_ = "1" if operation in _STEPS else "%1", declaration.result
    if operation == "cmpxchg":
        return [
            f"%pair = cmpxchg {declaration.parameters[0]} %0, {type_} %1, {type_} %2 {_ORDERING} monotonic",
            f"%old = extractvalue {{ {type_}, i1 }} %pair, 0",
            f"ret {type_} %old",
        ]
    if operation in ("min", "max"):
        operation = f"u{operation}" if declaration.is_unsigned else operation
    elif operation not in ("add", "sub", "xchg", "and", "or", "xor", *_STEPS):
        return None
    instruction = _STEPS.get(operation, operation)
    return [
        f"%old = atomicrmw {instruction} {declaration.parameters[0]} %0, {type_} {value} {_ORDERING}",
        f"ret {type_} %old",
    ]


# `async_work_group_copy` and its strided form: each work-item copies its share; waiting is a barrier.
#
# for (i = local linear id; i < count; i += work-items of the group)
#     to[i * to_stride] = from[i * from_stride];
#
# By hand since waiting needs a barrier, which libclc's build for PTX leaves undefined
# (`docs/explanation/own-builtins.md`).


def copy_body(body: Body) -> list[str] | None:
    """Return the body of a copy by the work-group; None for another function."""
    strided = {"async_work_group_copy": False, "async_work_group_strided_copy": True}.get(body.declaration.builtin)
    pointer = parameters(body.declaration.name)[0] if strided is not None else None
    if not isinstance(pointer, Pointer):
        return None
    to, source, count = body.parameters[:3]
    one = Item(body, I64, "1")
    stride = body.parameters[3] if strided else one
    # The given one is that of global memory.
    from_stride, to_stride = (one, stride) if pointer.space == AddressSpace.GLOBAL else (stride, one)
    item = body.call(I64, mangled_name(Query.LOCAL_LINEAR_ID.value, "v"))
    group = _group_items(body)
    body.do("br label %again", "again:")
    body.do(f"%index = phi i64 [ {item.text}, %start ], [ %index.next, %copy ]")
    body.do(f"%more = icmp ult i64 %index, {count.text}", "br i1 %more, label %copy, label %done", "copy:")
    index, element = Item(body, I64, "%index"), _element(pointer.pointee)
    alignment = width(element) // 8 * element_count(element)
    value = body.load(element, body.at(source, element, index * from_stride), alignment)
    body.store(value, body.at(to, element, index * to_stride), alignment)
    body.do(f"%index.next = add {index}, {group.text}", "br label %again", "done:")
    return body.returned(body.parameters[-1])


def _group_items(body: Body) -> Item:
    """Return how many work-items the group has."""
    function = mangled_name(Query.LOCAL_SIZE.value, "j")
    sizes = [body.call(I64, function, Item(body, I32, str(dimension))) for dimension in range(DIMENSIONS)]
    return sizes[0] * sizes[1] * sizes[2]


def _element(type_: CType) -> IntegerType | FloatType | VectorType:
    kind = element_of(type_)
    element = FloatType(kind.name) if kind.kind == "float" else IntegerType(8 * kind.size)
    if not isinstance(type_, Vector):
        return element
    return VectorType(4 if type_.count == 3 else type_.count, element)
