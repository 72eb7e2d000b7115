"""The logarithm to the base 2, of the same bits wherever doubles are IEEE's, and exact for powers of two.

No two mathematical libraries need agree on a logarithm, so it is computed by operations that are rounded in one
way. With x = m·2ᵉ, √½ ≤ m < √2, and t = (m − 1) / (m + 1):

    log2 x = e + 2/ln 2 · (t + t³/3 + t⁵/5 + …)

Of a power of two t is 0, so that nothing is added to e. Eleven terms leave an error of some last places.
"""

from __future__ import annotations

import math

# 2 / ((2k + 1) ln 2) for k from 0, each rounded to the nearest double.
COEFFICIENTS = (
    *(2.8853900817779268, 0.9617966939259756, 0.5770780163555853, 0.4121985831111324, 0.3205988979753252),
    *(0.2623081892525388, 0.22195308321368667, 0.19235933878519512, 0.16972882833987804, 0.15186263588304877),
    0.1373995277037108,
)
SQUARE_ROOT_OF_HALF = 0.7071067811865476
_LAST, *_OTHERS = reversed(COEFFICIENTS)


def binary_logarithm(value: float) -> float:
    """Return the logarithm to the base 2 of a positive finite number."""
    mantissa, exponent = math.frexp(value)
    if mantissa < SQUARE_ROOT_OF_HALF:
        mantissa += mantissa
        exponent -= 1
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = _LAST
    for coefficient in _OTHERS:
        total = total * square + coefficient
    return exponent + ratio * total
