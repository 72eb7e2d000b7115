"""Numbers as OpenCL C writes them, exactly."""

from __future__ import annotations

import numpy

from coarsen.backend.opencl_c.c.build import call, literal_int
from coarsen.backend.opencl_c.c.tree import Cast, Expression, Name, Real, Unary
from coarsen.backend.opencl_c.c.types import DOUBLE, FLOAT, HALF, UINT, ULONG, USHORT, Scalar
from coarsen.backend.opencl_c.decide import constants

_NAN_BITS = {"half": (USHORT, 0x7E00), "float": (UINT, 0x7FC00000), "double": (ULONG, 0x7FF8000000000000)}


def real_literal(real: constants.Real, type_: Scalar) -> Expression:
    """Return a floating-point literal that gives exactly the number, with the shortest digits that do."""
    if real.value is None:
        return _nan(real.bits, type_)
    if real.value in (float("inf"), float("-inf")):
        return _infinity(real.value, type_)
    digits = repr(float(real.value)) if type_ is DOUBLE else str(numpy.float32(real.value))
    if type_ is FLOAT:
        digits += "f"
    # A half's digits are written as a float's, which hold it exactly.
    return Cast(Real(f"{digits}f", FLOAT), HALF) if type_ is HALF else Real(digits, type_)


def _infinity(value: float, type_: Scalar) -> Expression:
    infinity: Expression = Name("INFINITY", FLOAT)
    if value < 0:
        infinity = Unary("-", infinity, FLOAT)
    return infinity if type_ is FLOAT else Cast(infinity, type_)


def _nan(bits: int, type_: Scalar) -> Expression:
    integer, plain = _NAN_BITS[type_.name]
    if bits == plain and type_ is FLOAT:
        return Name("NAN", FLOAT)
    pattern = Cast(literal_int(bits, UINT), USHORT) if integer is USHORT else literal_int(bits, integer)
    return call(f"as_{type_}", [pattern], type_)


def string_literal(content: bytes) -> str:
    """Return a string literal; an escape by number never runs into a digit after it, since it has three digits."""
    escapes = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}
    characters = (escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in content)
    # Two question marks may begin a trigraph.
    both = zip(content, b" " + content, strict=False)
    text = "".join("\\?" if pair == (63, 63) else one for one, pair in zip(characters, both, strict=True))
    return f'"{text}"'
