"""Elementary functions for PTX by the hardware's approximations, in single precision.

They stand for `native_` and `half_` functions always, and for the precise ones where the build options allow it
(`-cl-fast-relaxed-math`). Without NVIDIA's libdevice PTX has no precise ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from coarsen.backend.body import FLOAT, Body, Item
from coarsen.backend.builtin_library import scalar
from coarsen.backend.ptx_floats import real

_APPROXIMATIONS = ("native_", "half_")
Scalar = Callable[..., Item]


def approximation_body(body: Body, *, relaxed: bool) -> list[str] | None:
    """The body of an elementary function on floats; None for others, and for precise ones that must be precise."""
    name = body.declaration.builtin
    for prefix in _APPROXIMATIONS:
        if name.startswith(prefix):
            name, relaxed = name.removeprefix(prefix), True
    if not relaxed or name not in NAMES or scalar(body.parameters[0].type) != FLOAT:
        return None
    if name == "sincos":
        return _sine_and_cosine(body)

    def compute(*items: Item) -> Item:
        return _FUNCTIONS[name](body, *items)

    return body.returned(body.by_element(compute, body.declaration.result, *body.operands))


def _nvvm(name: str) -> Scalar:
    return lambda body, *items: body.call(FLOAT, f"llvm.nvvm.{name}", *items)


_sine, _cosine = _nvvm("sin.approx.f"), _nvvm("cos.approx.f")
_power_of_two, _logarithm = _nvvm("ex2.approx.f"), _nvvm("lg2.approx.f")
_quotient, _root = _nvvm("div.approx.f"), _nvvm("sqrt.approx.f")


def _times(body: Body, x: Item, factor: float) -> Item:
    return body.binary("fmul", x, real(body, x, factor))


def _exponential(base: float) -> Scalar:
    """base^x as 2^(x·log2(base))."""
    return lambda body, x: _power_of_two(body, _times(body, x, math.log2(base)))


def _logarithm_to(base: float) -> Scalar:
    return lambda body, x: _times(body, _logarithm(body, x), 1 / math.log2(base))


def _power(body: Body, x: Item, y: Item) -> Item:
    return _power_of_two(body, body.binary("fmul", y, _logarithm(body, x)))


def _tangent(body: Body, x: Item) -> Item:
    return _quotient(body, _sine(body, x), _cosine(body, x))


def _reciprocal(body: Body, x: Item) -> Item:
    return _quotient(body, real(body, x, 1.0), x)


def _hypotenuse(body: Body, x: Item, y: Item) -> Item:
    squares = body.binary("fadd", body.binary("fmul", x, x), body.binary("fmul", y, y))
    return _root(body, squares)


def _of_turns(function: Scalar) -> Scalar:
    """`sinpi` and `cospi`: the argument is in half turns."""
    return lambda body, x: function(body, _times(body, x, math.pi))


def _hyperbolic_tangent(body: Body, x: Item) -> Item:
    """1 − 2 / (e^2x + 1)."""
    grown = _exponential(math.e)(body, _times(body, x, 2.0))
    share = _quotient(body, real(body, x, 2.0), body.binary("fadd", grown, real(body, x, 1.0)))
    return body.binary("fsub", real(body, x, 1.0), share)


def _sine_and_cosine(body: Body) -> list[str]:
    angle, pointer = body.parameters
    cosine = body.by_element(lambda x: _cosine(body, x), angle.type, angle)
    body.store(cosine, pointer, 4)
    return body.returned(body.by_element(lambda x: _sine(body, x), angle.type, angle))


_FUNCTIONS: dict[str, Scalar] = {
    "sin": _sine,
    "cos": _cosine,
    "tan": _tangent,
    "sinpi": _of_turns(_sine),
    "cospi": _of_turns(_cosine),
    "exp": _exponential(math.e),
    "exp2": _power_of_two,
    "exp10": _exponential(10.0),
    "log": _logarithm_to(math.e),
    "log2": _logarithm,
    "log10": _logarithm_to(10.0),
    "pow": _power,
    "powr": _power,
    "sqrt": _root,
    "rsqrt": _nvvm("rsqrt.approx.f"),
    "recip": _reciprocal,
    "divide": _quotient,
    "hypot": _hypotenuse,
    "tanh": _hyperbolic_tangent,
}
NAMES = frozenset({*_FUNCTIONS, "sincos"})
