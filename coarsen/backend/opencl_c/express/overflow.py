"""`llvm.sadd.with.overflow` and its like: the wrapped result, and a test by OpenCL's saturating builtins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from coarsen.backend.opencl_c.c.build import call, comparison, literal_int
from coarsen.backend.opencl_c.c.coerce import coerce
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression
from coarsen.backend.opencl_c.c.types import INT, UINT, CType, Scalar, from_llvm, size_of, with_sign
from coarsen.backend.opencl_c.express.intrinsics import exact_operand
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.ir.kernel import Instruction


def overflow_member(translator: Translator, source: Instruction, *, want_flag: bool) -> Expression:
    """Return the result of an operation that tells overflow, or with `want_flag` whether it overflowed."""
    match = re.match(r"llvm\.([su])(add|sub|mul)\.with\.overflow", source.callee)
    if match is None:
        raise unsupported(f"LLVM's intrinsic '{source.callee}'")
    signed = match[1] == "s"
    type_ = with_sign(from_llvm(source.arguments[0].type), signed=signed)
    left, right = (exact_operand(translator, value, type_) for value in source.arguments)
    operator = {"add": "+", "sub": "-", "mul": "*"}[match[2]]
    wrapped = _wrapped(left, operator, right, type_)
    if not want_flag:
        return wrapped
    return _OVERFLOW_TESTS[match[1] + match[2]](left, right, wrapped, type_)


def _wrapped(left: Expression, operator: str, right: Expression, type_: CType) -> Expression:
    unsigned = with_sign(type_, signed=False)
    wide = UINT if isinstance(type_, Scalar) and type_.size < INT.size else unsigned
    result = Binary(coerce(left, wide), operator, coerce(right, wide), wide)
    return Cast(result, type_) if wide != type_ else result


_Test = Callable[[Expression, Expression, Expression, CType], Expression]


def _saturates(function: str) -> _Test:
    def test(left: Expression, right: Expression, wrapped: Expression, type_: CType) -> Expression:
        return comparison(call(function, [left, right], type_), "!=", wrapped)

    return test


def _unsigned_high(left: Expression, right: Expression, wrapped: Expression, type_: CType) -> Expression:
    return comparison(call("mul_hi", [left, right], type_), "!=", literal_int(0))


def _signed_high(left: Expression, right: Expression, wrapped: Expression, type_: CType) -> Expression:
    sign = Binary(wrapped, ">>", literal_int(size_of(type_) * 8 - 1), type_)
    return comparison(call("mul_hi", [left, right], type_), "!=", sign)


_OVERFLOW_TESTS: Mapping[str, _Test] = {
    "uadd": _saturates("add_sat"),
    "usub": _saturates("sub_sat"),
    "sadd": _saturates("add_sat"),
    "ssub": _saturates("sub_sat"),
    "umul": _unsigned_high,
    "smul": _signed_high,
}
