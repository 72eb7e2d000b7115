"""Numbers as OpenCL C writes them, exactly."""

from __future__ import annotations

import re

import numpy

from coarsen.backend.opencl_c.c.expression import POSTFIX, PRIMARY, UNARY, Expression, cast, literal_int, name
from coarsen.backend.opencl_c.c.types import DOUBLE, FLOAT, HALF, UINT, ULONG, USHORT, Scalar
from coarsen.backend.opencl_c.decide.constants import Real

_REPEATED_QUESTION = re.compile(r"(?<=\?)\?")
_NAN_BITS = {"half": (USHORT, 0x7E00), "float": (UINT, 0x7FC00000), "double": (ULONG, 0x7FF8000000000000)}


def real_literal(real: Real, type_: Scalar) -> Expression:
    """A floating-point literal that gives exactly the number, with the shortest digits that do."""
    if real.value is None:
        return _nan(real.bits, type_)
    if real.value in (float("inf"), float("-inf")):
        return _infinity(real.value, type_)
    digits = repr(float(real.value)) if type_ is DOUBLE else str(numpy.float32(real.value))
    if type_ is FLOAT:
        digits += "f"
    precedence = UNARY if digits.startswith("-") else PRIMARY
    minus = Expression(digits[1:], PRIMARY, type_) if precedence == UNARY and type_ is not HALF else None
    literal = Expression(digits, precedence, type_, minus=minus)
    # A half's digits are written as a float's, which hold it exactly.
    return cast(Expression(digits + "f", precedence, FLOAT), HALF) if type_ is HALF else literal


def _infinity(value: float, type_: Scalar) -> Expression:
    text = "INFINITY" if value > 0 else "-INFINITY"
    infinity = Expression(text, PRIMARY if value > 0 else UNARY, FLOAT)
    return infinity if type_ is FLOAT else cast(infinity, type_)


def _nan(bits: int, type_: Scalar) -> Expression:
    integer, plain = _NAN_BITS[type_.name]
    if bits == plain and type_ is FLOAT:
        return name("NAN", FLOAT)
    digits = literal_int(bits, UINT if integer is USHORT else integer).text
    if integer is USHORT:
        digits = f"(ushort){digits}"
    return Expression(f"as_{type_}({digits})", POSTFIX, type_)


def string_literal(content: bytes) -> str:
    """A string literal; an escape by number never runs into a digit after it, since it has three digits."""
    escapes = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}
    characters = (escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in content)
    # Two question marks may begin a trigraph.
    return '"' + _REPEATED_QUESTION.sub(r"\\?", "".join(characters)) + '"'
