"""OpenCL's builtins for GPU targets: ids and synchronisation, elementary functions, and what is exact anyway.

In single precision a GPU computes 2^x, log2 x, sine, cosine, quotient and roots by one instruction each, to some
22 bits; the other functions follow from those. A launch has no global offset: a global id is
`group id · group size + local id`, and the offset is 0.

By hand since libclc leaves ids and barriers undefined for PTX, or needs NVIDIA's libdevice with them, and calls
LLVM's intrinsics for elementary functions, `llvm.exp.f32` for one, at which the NVPTX back end ends the process
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

from coarsen.backend.builtin_library import FLOAT, I32, Body, Declaration, Item, Library, scalar
from coarsen.backend.builtin_memory import atomic_body, copy_body, vector_body
from coarsen.backend.builtin_numbers import conversion_body, number_body
from coarsen.ir.opencl.builtins import Reach, Role, builtin_named
from coarsen.ir.opencl.queries import Query, linear_id, query_named

_AXES = "xyz"
_APPROXIMATIONS = ("native_", "half_")
_BODIES = (number_body, conversion_body, vector_body, copy_body)
Function = Callable[..., Item]


def _intrinsic(name: str) -> Function:
    return lambda x, *others: x.body.call(FLOAT, f"llvm.nvvm.{name}", x, *others)


# What an NVIDIA GPU computes itself, on floats, and the registers that it has for a work-item.
_SINE, _COSINE = _intrinsic("sin.approx.f"), _intrinsic("cos.approx.f")
_POWER_OF_TWO, _LOGARITHM = _intrinsic("ex2.approx.f"), _intrinsic("lg2.approx.f")
_QUOTIENT = _intrinsic("div.approx.f")
_ROOT, _RECIPROCAL_ROOT = _intrinsic("sqrt.approx.f"), _intrinsic("rsqrt.approx.f")
_LOCAL_ID, _GROUP_ID, _LOCAL_SIZE, _GROUP_COUNT = "tid", "ctaid", "ntid", "nctaid"


def gpu_library(relaxed: frozenset[str]) -> Library:
    """Return what defines builtins for PTX; those of some mangled names may be approximated."""

    def define(declaration: Declaration) -> Iterable[str] | None:
        found = _approximation_body(Body(declaration), relaxed=declaration.name in relaxed)
        found = _work_item_body(Body(declaration)) if found is None else found
        if found is None:
            found = next(filter(None, (write(Body(declaration)) for write in _BODIES)), None)
        return atomic_body(declaration) if found is None else found

    return define


# Elementary functions on floats.


def _approximation_body(body: Body, *, relaxed: bool) -> list[str] | None:
    """Return the body of an elementary function on floats; None for others, and for precise ones."""
    name = body.declaration.builtin
    for prefix in _APPROXIMATIONS:
        if name.startswith(prefix):
            name, relaxed = name.removeprefix(prefix), True
    if not relaxed or name not in APPROXIMATED or scalar(body.parameters[0].type) != FLOAT:
        return None
    if name == "sincos":
        return _sine_and_cosine(body)
    return body.returned(body.by_element(_ELEMENTARY[name], body.declaration.result, *body.operands))


def _sine_and_cosine(body: Body) -> list[str]:
    angle, pointer = body.parameters
    body.store(body.by_element(_COSINE, angle.type, angle), pointer, 4)
    return body.returned(body.by_element(_SINE, angle.type, angle))


def _hyperbolic_tangent(x: Item) -> Item:
    """1 − 2 / (e^2x + 1)."""
    grown = _POWER_OF_TWO(x * 2.0 * math.log2(math.e))
    return x.like(1) - _QUOTIENT(x.like(2), grown + 1)


_ELEMENTARY: dict[str, Function] = {
    "sin": _SINE,
    "cos": _COSINE,
    "tan": lambda x: _QUOTIENT(_SINE(x), _COSINE(x)),
    "sinpi": lambda x: _SINE(x * math.pi),
    "cospi": lambda x: _COSINE(x * math.pi),
    "exp": lambda x: _POWER_OF_TWO(x * math.log2(math.e)),
    "exp2": _POWER_OF_TWO,
    "exp10": lambda x: _POWER_OF_TWO(x * math.log2(10)),
    "log": lambda x: _LOGARITHM(x) * (1 / math.log2(math.e)),
    "log2": _LOGARITHM,
    "log10": lambda x: _LOGARITHM(x) * (1 / math.log2(10)),
    **dict.fromkeys(("pow", "powr"), lambda x, y: _POWER_OF_TWO(y * _LOGARITHM(x))),
    "sqrt": _ROOT,
    "rsqrt": _RECIPROCAL_ROOT,
    "recip": lambda x: _QUOTIENT(x.like(1), x),
    "divide": _QUOTIENT,
    "hypot": lambda x, y: _ROOT(x * x + y * y),
    "tanh": _hyperbolic_tangent,
}
APPROXIMATED = frozenset({*_ELEMENTARY, "sincos"})


# Work-items.


def _work_item_body(body: Body) -> list[str] | None:
    """Return the body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    known, query = builtin_named(name), query_named(name)
    if query in _ANSWERS:
        return body.returned(_ANSWERS[query](body))
    if known.is_convergent and known.writes is Reach.EVERYTHING:
        body.do("call void @llvm.nvvm.barrier0()")
    elif known.role is Role.FENCE:
        body.do("call void @llvm.nvvm.membar.gl()")
    elif name != "prefetch":
        return None
    return body.returned()


def _along(body: Body, register: str, dimension: int) -> Item:
    """A register's value along a dimension, of the type that the queried function returns."""
    read = body.call(I32, f"llvm.nvvm.read.ptx.sreg.{register}.{_AXES[dimension]}")
    return read.cast("zext", body.declaration.result)  # none where a size_t has 32 bits


def _asked(body: Body, register: str, outside: int) -> Item:
    """A register's value along the dimension that was asked about; `outside` for one above 2."""
    value = Item(body, body.declaration.result, str(outside))
    for number in range(len(_AXES)):
        is_meant = body.parameters[0].compared("eq", Item(body, I32, str(number)))
        value = value.unless(is_meant, _along(body, register, number))
    return value


def _linear(place: Callable[[int], Item], size: Callable[[int], Item]) -> Item:
    return linear_id(place, size, Item.__mul__, Item.__add__)


def _global_linear_id(body: Body) -> Item:
    along = partial(_along, body)
    return _linear(
        lambda d: along(_GROUP_ID, d) * along(_LOCAL_SIZE, d) + along(_LOCAL_ID, d),
        lambda d: along(_GROUP_COUNT, d) * along(_LOCAL_SIZE, d),
    )


_SIZE: Callable[[Body], Item] = partial(_asked, register=_LOCAL_SIZE, outside=1)
_GROUP: Callable[[Body], Item] = partial(_asked, register=_GROUP_ID, outside=0)
_GROUPS: Callable[[Body], Item] = partial(_asked, register=_GROUP_COUNT, outside=1)
_ITEM: Callable[[Body], Item] = partial(_asked, register=_LOCAL_ID, outside=0)
_ANSWERS: dict[Query, Callable[[Body], Item]] = {
    Query.GLOBAL_ID: lambda body: _GROUP(body) * _SIZE(body) + _ITEM(body),
    Query.GLOBAL_SIZE: lambda body: _GROUPS(body) * _SIZE(body),
    Query.GLOBAL_OFFSET: lambda body: Item(body, body.declaration.result, "0"),
    Query.LOCAL_ID: _ITEM,
    **dict.fromkeys((Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE), _SIZE),
    Query.GROUP_ID: _GROUP,
    Query.GROUP_COUNT: _GROUPS,
    Query.LOCAL_LINEAR_ID: lambda body: _linear(
        partial(_along, body, _LOCAL_ID), partial(_along, body, _LOCAL_SIZE)
    ),
    Query.GLOBAL_LINEAR_ID: _global_linear_id,
}
