"""LLVM's intrinsics as OpenCL builtins or expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce

from coarsen.backend.opencl_c.c.build import call, coerce, comparison, literal_int, negated_number
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Integer, Retyped, Unary
from coarsen.backend.opencl_c.c.types import (
    INT,
    UCHAR,
    CType,
    Scalar,
    Vector,
    element_of,
    from_llvm,
    with_sign,
)
from coarsen.backend.opencl_c.express.arithmetic import vector_operation
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.backend.opencl_c.express.vectors import components
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand

_TYPE_SUFFIX = re.compile(r"(?:\.(?:[ifp]\d+|v\d+[ifp]\d+|bf16))+$")


def stem(callee: str) -> str:
    """Return an intrinsic's name without prefix and types: `llvm.smax.v4i32` gives `smax`."""
    return _TYPE_SUFFIX.sub("", callee.removeprefix("llvm."))


def intrinsic(translator: Translator, instruction: Instruction) -> Expression:
    """Return the expression of an intrinsic that computes a value."""
    writer = _INTRINSICS.get(stem(instruction.callee))
    if writer is None:
        raise unsupported(f"LLVM's intrinsic '{instruction.callee}'")
    return writer(translator, instruction)


def _function(name: str) -> Handler:
    """The builtin of that name on operands as they are (floating-point ones)."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        operands = [translator.value(value) for value in instruction.arguments]
        return call(name, operands, operands[0].type)

    return write


def _integers(name: str, signed: bool, count: int | None = None, *, signed_result: bool | None = None) -> Handler:
    """The builtin of that name on integers of a sign: its first `count` operands, or all."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        type_ = with_sign(from_llvm(instruction.type), signed=signed)
        operands = [exact_operand(translator, value, type_) for value in instruction.arguments[:count]]
        result = type_ if signed_result is None else with_sign(type_, signed=signed_result)
        return call(name, operands, result)

    return write


def exact_operand(translator: Translator, value: Operand, type_: CType) -> Expression:
    """Return an argument of exactly this type, so that the right overload is taken."""
    operand = translator.as_type(value, type_)
    if isinstance(operand, Integer) and isinstance(type_, Scalar) and type_.size < INT.size:
        return Cast(operand, type_)
    return operand


def _multiply_add(translator: Translator, instruction: Instruction) -> Expression:
    """`a * b + c` in one expression, which C may contract as LLVM may."""
    left, right, addend = (translator.value(value) for value in instruction.arguments)
    if isinstance(left.type, Vector):
        product = vector_operation(left, "*", right)
    else:
        product = Binary(left, "*", right, left.type)
    subtracted = negated_number(addend)
    if subtracted is not None:
        return Binary(product, "-", subtracted, left.type)
    return Binary(product, "+", addend, left.type)


def _trailing_zeros(translator: Translator, instruction: Instruction) -> Expression:
    """The bits below the lowest one that is set: `popcount(~x & (x - 1))`, which OpenCL C 1.2 has."""
    type_ = with_sign(from_llvm(instruction.type), signed=False)
    operand = exact_operand(translator, instruction.arguments[0], type_)
    below = Binary(operand, "-", literal_int(1), type_)
    bits: Expression = Binary(Unary("~", operand, type_), "&", below, type_)
    if isinstance(type_, Scalar) and type_.size < INT.size:
        bits = Cast(bits, type_)
    return call("popcount", [bits], type_)


def _funnel(left: bool) -> Handler:
    """Funnel shifts: of a value with itself a rotation, else two shifts joined."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        type_ = with_sign(from_llvm(instruction.type), signed=False)
        high, low, amount = (exact_operand(translator, value, type_) for value in instruction.arguments)
        if translator.dataflow.origin(instruction.arguments[0]) == translator.dataflow.origin(
            instruction.arguments[1]
        ):
            turned = amount if left else coerce_result(Unary("-", amount, type_), type_)
            return call("rotate", [high, turned], type_)
        return _joined_shifts(high, low, amount, type_, left=left)

    return write


def coerce_result(expression: Expression, type_: CType) -> Expression:
    """Return an expression that C computes as int, as its narrow type."""
    is_narrow = isinstance(type_, Scalar) and type_.size < INT.size
    return Cast(Retyped(expression, INT), type_) if is_narrow else expression


def _joined_shifts(
    high: Expression, low: Expression, amount: Expression, type_: CType, *, left: bool
) -> Expression:
    bits = element_of(type_).size * 8
    limit = literal_int(bits - 1)
    used: Expression = Binary(amount, "&", limit, type_)
    rest: Expression = Binary(Unary("~", amount, type_), "&", limit, type_)
    if isinstance(amount, Integer) and isinstance(type_, Scalar):
        used, rest = literal_int(amount.value % bits), literal_int(bits - 1 - amount.value % bits)
    one = literal_int(1)
    if left:
        upper = Binary(high, "<<", used, type_)
        lower = Binary(Binary(low, ">>", one, type_), ">>", rest, type_)
    else:
        upper = Binary(Binary(high, "<<", one, type_), "<<", rest, type_)
        lower = Binary(low, ">>", used, type_)
    return coerce_result(Binary(upper, "|", lower, type_), type_)


def _byte_swap(translator: Translator, instruction: Instruction) -> Expression:
    type_ = with_sign(from_llvm(instruction.type), signed=False)
    if not isinstance(type_, Scalar):
        raise unsupported("a byte swap of a vector")
    count = type_.size
    parts = call(
        f"as_uchar{count}", [exact_operand(translator, instruction.arguments[0], type_)], Vector(UCHAR, count)
    )
    return call(f"as_{type_}", [components(parts, range(count - 1, -1, -1))], type_)


def _first(translator: Translator, instruction: Instruction) -> Expression:
    return translator.value(instruction.arguments[0])


def _three_way(signed: bool) -> Handler:
    """`(a > b) - (a < b)`."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(value, signed=signed) for value in instruction.arguments)
        right = coerce(right, left.type)
        greater, less = (Retyped(comparison(left, sign, right), INT) for sign in "><")
        difference = Binary(greater, "-", less, INT)
        return coerce(difference, from_llvm(instruction.type))

    return write


def _reduction(operator: str, signed: bool | None = None) -> Handler:
    """A vector's components joined, from the first on: by an operator, or by a function such as `max`."""
    is_function = operator.isalpha()

    def write(translator: Translator, instruction: Instruction) -> Expression:
        *start, vector_value = instruction.arguments
        vector = translator.value(vector_value, signed=False if operator in "+*" else signed)
        if not isinstance(vector.type, Vector):
            raise unsupported("a reduction of something else than a vector")
        if vector.type.is_mask:
            return _mask_reduction(vector, operator)
        element = vector.type.element
        total, *parts = [
            *map(translator.value, start),
            *(components(vector, [index]) for index in range(vector.type.count)),
        ]
        if is_function:
            return reduce(lambda left, right: call(operator, [left, right], element), parts, total)
        joined = reduce(lambda left, right: Binary(left, operator, right, element), parts, total)
        return coerce_result(joined, element)

    return write


def _mask_reduction(mask: Expression, operator: str) -> Expression:
    functions = {"|": "any", "&": "all"}
    if operator not in functions:
        raise unsupported("a reduction of conditions")
    return comparison(call(functions[operator], [mask], INT), "!=", literal_int(0))


_SAME_NAME = (
    *("fma", "fabs", "sqrt", "floor", "ceil", "trunc", "rint", "round", "copysign", "exp", "exp2", "exp10", "log"),
    *(
        "log2",
        "log10",
        "pow",
        "sin",
        "cos",
        "tan",
        "ldexp",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "atan2",
    ),
)
_INTRINSICS: Mapping[str, Handler] = {
    **{name: _function(name) for name in _SAME_NAME},
    "nearbyint": _function("rint"),
    "roundeven": _function("rint"),
    "minnum": _function("fmin"),
    "maxnum": _function("fmax"),
    "minimumnum": _function("fmin"),
    "maximumnum": _function("fmax"),
    "powi": _function("pown"),
    "fmuladd": _multiply_add,
    "smin": _integers("min", True),
    "smax": _integers("max", True),
    "umin": _integers("min", False),
    "umax": _integers("max", False),
    "sadd.sat": _integers("add_sat", True),
    "uadd.sat": _integers("add_sat", False),
    "ssub.sat": _integers("sub_sat", True),
    "usub.sat": _integers("sub_sat", False),
    "abs": _integers("abs", True, 1, signed_result=False),
    "ctpop": _integers("popcount", False, 1),
    "ctlz": _integers("clz", False, 1),
    "cttz": _trailing_zeros,
    "fshl": _funnel(True),
    "fshr": _funnel(False),
    "bswap": _byte_swap,
    "expect": _first,
    "canonicalize": _first,
    "arithmetic.fence": _first,
    "scmp": _three_way(True),
    "ucmp": _three_way(False),
    "vector.reduce.add": _reduction("+"),
    "vector.reduce.mul": _reduction("*"),
    "vector.reduce.and": _reduction("&"),
    "vector.reduce.or": _reduction("|"),
    "vector.reduce.xor": _reduction("^"),
    "vector.reduce.fadd": _reduction("+"),
    "vector.reduce.fmul": _reduction("*"),
    "vector.reduce.smin": _reduction("min", True),
    "vector.reduce.smax": _reduction("max", True),
    "vector.reduce.umin": _reduction("min", False),
    "vector.reduce.umax": _reduction("max", False),
    "vector.reduce.fmin": _reduction("fmin", None),
    "vector.reduce.fmax": _reduction("fmax", None),
}
