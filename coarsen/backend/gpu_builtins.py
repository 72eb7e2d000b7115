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
from dataclasses import dataclass

from coarsen.backend.builtin_library import FLOAT, I32, Body, Declaration, Item, Library, scalar
from coarsen.backend.builtin_memory import atomic_body, copy_body, vector_body
from coarsen.backend.builtin_numbers import conversion_body, number_body
from coarsen.ir.opencl.builtins import Reach, Role, builtin_named
from coarsen.ir.opencl.queries import Query, linear_id, query_named

_AXES = "xyz"
_APPROXIMATIONS = ("native_", "half_")
_BODIES = (number_body, conversion_body, vector_body, copy_body)
Function = Callable[..., Item]


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a GPU computes and knows itself.

    Attributes:
        sine, cosine, power_of_two, logarithm, quotient, root, reciprocal_root: of one or, for the quotient, two
            scalar floats.
        local_id, group_id, local_size, group_count: intrinsics, by name after `llvm.`, for what a work-item knows;
            `.x`, `.y` or `.z` is added.
        barrier: whole instructions, one or several.
        fence: a whole instruction.
    """

    sine: Function
    cosine: Function
    power_of_two: Function
    logarithm: Function
    quotient: Function
    root: Function
    reciprocal_root: Function
    local_id: str
    group_id: str
    local_size: str
    group_count: str
    barrier: tuple[str, ...]
    fence: str


def intrinsic(name: str) -> Function:
    """Return a function that is one of LLVM's intrinsics, by its name after `llvm.`."""
    return lambda x, *others: x.body.call(FLOAT, f"llvm.{name}", x, *others)


def gpu_library(gpu: Gpu, is_relaxed: Callable[[Declaration], bool]) -> Library:
    """Return what defines builtins for a GPU; functions that are relaxed may be approximated."""

    def define(declaration: Declaration) -> Iterable[str] | None:
        found = _approximation_body(Body(declaration), gpu, relaxed=is_relaxed(declaration))
        if found is None:
            found = _work_item_body(Body(declaration), gpu)
        if found is None:
            found = next(filter(None, (write(Body(declaration)) for write in _BODIES)), None)
        return atomic_body(declaration) if found is None else found

    return define


# Elementary functions on floats.


def _approximation_body(body: Body, gpu: Gpu, *, relaxed: bool) -> list[str] | None:
    """Return the body of an elementary function on floats; None for others, and for precise ones."""
    name = body.declaration.builtin
    for prefix in _APPROXIMATIONS:
        if name.startswith(prefix):
            name, relaxed = name.removeprefix(prefix), True
    if not relaxed or name not in APPROXIMATED or scalar(body.parameters[0].type) != FLOAT:
        return None
    if name == "sincos":
        return _sine_and_cosine(body, gpu)
    function = _ELEMENTARY[name]
    compute = body.by_element(lambda *items: function(gpu, *items), body.declaration.result, *body.operands)
    return body.returned(compute)


def _sine_and_cosine(body: Body, gpu: Gpu) -> list[str]:
    angle, pointer = body.parameters
    body.store(body.by_element(gpu.cosine, angle.type, angle), pointer, 4)
    return body.returned(body.by_element(gpu.sine, angle.type, angle))


def _hyperbolic_tangent(gpu: Gpu, x: Item) -> Item:
    """1 − 2 / (e^2x + 1)."""
    grown = gpu.power_of_two(x * 2.0 * math.log2(math.e))
    return x.like(1) - gpu.quotient(x.like(2), grown + 1)


_ELEMENTARY: dict[str, Function] = {
    "sin": lambda gpu, x: gpu.sine(x),
    "cos": lambda gpu, x: gpu.cosine(x),
    "tan": lambda gpu, x: gpu.quotient(gpu.sine(x), gpu.cosine(x)),
    "sinpi": lambda gpu, x: gpu.sine(x * math.pi),
    "cospi": lambda gpu, x: gpu.cosine(x * math.pi),
    "exp": lambda gpu, x: gpu.power_of_two(x * math.log2(math.e)),
    "exp2": lambda gpu, x: gpu.power_of_two(x),
    "exp10": lambda gpu, x: gpu.power_of_two(x * math.log2(10)),
    "log": lambda gpu, x: gpu.logarithm(x) * (1 / math.log2(math.e)),
    "log2": lambda gpu, x: gpu.logarithm(x),
    "log10": lambda gpu, x: gpu.logarithm(x) * (1 / math.log2(10)),
    **dict.fromkeys(("pow", "powr"), lambda gpu, x, y: gpu.power_of_two(y * gpu.logarithm(x))),
    "sqrt": lambda gpu, x: gpu.root(x),
    "rsqrt": lambda gpu, x: gpu.reciprocal_root(x),
    "recip": lambda gpu, x: gpu.quotient(x.like(1), x),
    "divide": lambda gpu, x, y: gpu.quotient(x, y),
    "hypot": lambda gpu, x, y: gpu.root(x * x + y * y),
    "tanh": _hyperbolic_tangent,
}
APPROXIMATED = frozenset({*_ELEMENTARY, "sincos"})


# Work-items.


def _work_item_body(body: Body, gpu: Gpu) -> list[str] | None:
    """Return the body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    known, query = builtin_named(name), query_named(name)
    if query in _ANSWERS:
        return body.returned(_ANSWERS[query](_WorkItem(body, gpu)))
    if known.is_convergent and known.writes is Reach.EVERYTHING:
        body.do(*gpu.barrier)
    elif known.role is Role.FENCE:
        body.do(gpu.fence)
    elif name != "prefetch":
        return None
    return body.returned()


@dataclass(frozen=True, slots=True)
class _WorkItem:
    """Reads registers into a body; sizes and ids have the type that the queried function returns."""

    body: Body
    gpu: Gpu

    def number(self, value: int) -> Item:
        """Return a constant."""
        return Item(self.body, self.body.declaration.result, str(value))

    def asked(self, register: str, outside: int) -> Item:
        """Return a register's value along the dimension that was asked about; `outside` for one above 2."""
        value, dimension = self.number(outside), self.body.parameters[0]
        for number, axis in enumerate(_AXES):
            is_meant = dimension.compared("eq", Item(self.body, I32, str(number)))
            value = value.unless(is_meant, self.register(register, axis))
        return value

    def register(self, register: str, axis: str) -> Item:
        """Return a register's value along one axis."""
        read = self.body.call(I32, f"llvm.{register}.{axis}")
        return read.cast("zext", self.body.declaration.result)  # none where a size_t has 32 bits

    def global_id(self) -> Item:
        """Return the id along the dimension that was asked about."""
        start = self.asked(self.gpu.group_id, 0) * self.asked(self.gpu.local_size, 1)
        return start + self.asked(self.gpu.local_id, 0)

    def local_linear_id(self) -> Item:
        """Return the id over all dimensions of the group."""
        return self._linear(lambda axis: self.register(self.gpu.local_id, axis), self._size)

    def global_linear_id(self) -> Item:
        """Return the id over all dimensions of the launch."""
        return self._linear(
            lambda axis: (
                self.register(self.gpu.group_id, axis) * self._size(axis) + self.register(self.gpu.local_id, axis)
            ),
            lambda axis: self.register(self.gpu.group_count, axis) * self._size(axis),
        )

    def _size(self, axis: str) -> Item:
        return self.register(self.gpu.local_size, axis)

    @staticmethod
    def _linear(place: Callable[[str], Item], size: Callable[[str], Item]) -> Item:
        return linear_id(lambda d: place(_AXES[d]), lambda d: size(_AXES[d]), Item.__mul__, Item.__add__)


_ANSWERS: dict[Query, Callable[[_WorkItem], Item]] = {
    Query.GLOBAL_ID: _WorkItem.global_id,
    Query.GLOBAL_SIZE: lambda item: item.asked(item.gpu.group_count, 1) * item.asked(item.gpu.local_size, 1),
    Query.GLOBAL_OFFSET: lambda item: item.number(0),
    Query.LOCAL_ID: lambda item: item.asked(item.gpu.local_id, 0),
    **dict.fromkeys(
        (Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE), lambda item: item.asked(item.gpu.local_size, 1)
    ),
    Query.GROUP_ID: lambda item: item.asked(item.gpu.group_id, 0),
    Query.GROUP_COUNT: lambda item: item.asked(item.gpu.group_count, 1),
    Query.LOCAL_LINEAR_ID: _WorkItem.local_linear_id,
    Query.GLOBAL_LINEAR_ID: _WorkItem.global_linear_id,
}
