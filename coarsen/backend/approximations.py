"""What GPU targets define alike: elementary functions by the hardware's approximations, and atomic functions.

In single precision a GPU computes 2^x, log2 x, sine, cosine, quotient and roots by one instruction each, to some
22 bits; the other functions follow from those.

By hand since libclc calls LLVM's intrinsics for these functions, `llvm.exp.f32` for one, at which the NVPTX back
end ends the process (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from coarsen.backend.builtin_library import FLOAT, Body, Declaration, Item, scalar
from coarsen.backend.ptx_floats import real

_APPROXIMATIONS = ("native_", "half_")
Function = Callable[..., Item]


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a GPU computes itself: functions of a body and one or, for the quotient, two scalar floats."""

    sine: Function
    cosine: Function
    power_of_two: Function
    logarithm: Function
    quotient: Function
    root: Function
    reciprocal_root: Function


def intrinsic(name: str) -> Function:
    """Return a function that is one of LLVM's intrinsics, by its name after `llvm.`."""
    return lambda body, *items: body.call(FLOAT, f"llvm.{name}", *items)


def approximation_body(body: Body, hardware: Hardware, *, relaxed: bool) -> list[str] | None:
    """Return the body of an elementary function on floats; None for others, and for precise ones unless `relaxed`.

    `native_` and `half_` functions may always be approximated.
    """
    name = body.declaration.builtin
    for prefix in _APPROXIMATIONS:
        if name.startswith(prefix):
            name, relaxed = name.removeprefix(prefix), True
    if not relaxed or name not in NAMES or scalar(body.parameters[0].type) != FLOAT:
        return None
    if name == "sincos":
        return _sine_and_cosine(body, hardware)
    function = _FUNCTIONS[name](hardware)

    def compute(*items: Item) -> Item:
        return function(body, *items)

    return body.returned(body.by_element(compute, body.declaration.result, *body.operands))


def _times(body: Body, x: Item, factor: float) -> Item:
    return body.binary("fmul", x, real(body, x, factor))


def _exponential(hardware: Hardware, base: float) -> Function:
    """base^x as 2^(x·log2(base))."""
    return lambda body, x: hardware.power_of_two(body, _times(body, x, math.log2(base)))


def _logarithm_to(hardware: Hardware, base: float) -> Function:
    return lambda body, x: _times(body, hardware.logarithm(body, x), 1 / math.log2(base))


def _power(hardware: Hardware) -> Function:
    def compute(body: Body, x: Item, y: Item) -> Item:
        return hardware.power_of_two(body, body.binary("fmul", y, hardware.logarithm(body, x)))

    return compute


def _tangent(hardware: Hardware) -> Function:
    return lambda body, x: hardware.quotient(body, hardware.sine(body, x), hardware.cosine(body, x))


def _reciprocal(hardware: Hardware) -> Function:
    return lambda body, x: hardware.quotient(body, real(body, x, 1.0), x)


def _hypotenuse(hardware: Hardware) -> Function:
    def compute(body: Body, x: Item, y: Item) -> Item:
        squares = body.binary("fadd", body.binary("fmul", x, x), body.binary("fmul", y, y))
        return hardware.root(body, squares)

    return compute


def _of_turns(function: Function) -> Function:
    """`sinpi` and `cospi`: the argument is in half turns."""
    return lambda body, x: function(body, _times(body, x, math.pi))


def _hyperbolic_tangent(hardware: Hardware) -> Function:
    """1 − 2 / (e^2x + 1)."""

    def compute(body: Body, x: Item) -> Item:
        grown = _exponential(hardware, math.e)(body, _times(body, x, 2.0))
        share = hardware.quotient(body, real(body, x, 2.0), body.binary("fadd", grown, real(body, x, 1.0)))
        return body.binary("fsub", real(body, x, 1.0), share)

    return compute


def _sine_and_cosine(body: Body, hardware: Hardware) -> list[str]:
    angle, pointer = body.parameters
    cosine = body.by_element(lambda x: hardware.cosine(body, x), angle.type, angle)
    body.store(cosine, pointer, 4)
    return body.returned(body.by_element(lambda x: hardware.sine(body, x), angle.type, angle))


_FUNCTIONS: dict[str, Callable[[Hardware], Function]] = {
    "sin": lambda hardware: hardware.sine,
    "cos": lambda hardware: hardware.cosine,
    "tan": _tangent,
    "sinpi": lambda hardware: _of_turns(hardware.sine),
    "cospi": lambda hardware: _of_turns(hardware.cosine),
    "exp": lambda hardware: _exponential(hardware, math.e),
    "exp2": lambda hardware: hardware.power_of_two,
    "exp10": lambda hardware: _exponential(hardware, 10.0),
    "log": lambda hardware: _logarithm_to(hardware, math.e),
    "log2": lambda hardware: hardware.logarithm,
    "log10": lambda hardware: _logarithm_to(hardware, 10.0),
    "pow": _power,
    "powr": _power,
    "sqrt": lambda hardware: hardware.root,
    "rsqrt": lambda hardware: hardware.reciprocal_root,
    "recip": _reciprocal,
    "divide": lambda hardware: hardware.quotient,
    "hypot": _hypotenuse,
    "tanh": _hyperbolic_tangent,
}
NAMES = frozenset({*_FUNCTIONS, "sincos"})


# OpenCL 1.x's atomic functions as LLVM's atomic instructions, for targets that lack some of the functions.
#
# By hand since each is one instruction, with the scope and order that OpenCL 1.x asks for
# (`docs/explanation/own-builtins.md`).

# OpenCL 1.x orders nothing around an atomic function; it is seen by the whole device.
_ORDERING = 'syncscope("device") monotonic'
_OPERATIONS = {"add": "add", "sub": "sub", "xchg": "xchg", "and": "and", "or": "or", "xor": "xor"}
_STEPS = {"inc": "add", "dec": "sub"}
_EXTREMES = frozenset({"min", "max"})


def atomic_body(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of `atomic_add` and its kind, by the older names (`atom_add`) too.

    None for another function.
    """
    prefix, _, operation = declaration.builtin.partition("_")
    if prefix not in ("atom", "atomic"):
        return None
    if operation == "cmpxchg":
        return _compare_and_exchange(declaration)
    value = "%1"
    if operation in _STEPS:
        instruction, value = _STEPS[operation], "1"
    elif operation in _EXTREMES:
        instruction = f"u{operation}" if declaration.is_unsigned else operation
    elif operation in _OPERATIONS:
        instruction = _OPERATIONS[operation]
    else:
        return None
    type_ = declaration.result
    return [
        f"%old = atomicrmw {instruction} {declaration.parameters[0]} %0, {type_} {value} {_ORDERING}",
        f"ret {type_} %old",
    ]


def _compare_and_exchange(declaration: Declaration) -> Iterable[str]:
    type_ = declaration.result
    pointer = declaration.parameters[0]
    return [
        f"%pair = cmpxchg {pointer} %0, {type_} %1, {type_} %2 {_ORDERING} monotonic",
        f"%old = extractvalue {{ {type_}, i1 }} %pair, 0",
        f"ret {type_} %old",
    ]
