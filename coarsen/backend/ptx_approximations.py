"""Elementary functions for PTX by the hardware's approximations, in single precision.

They stand for `native_` and `half_` functions always, and for the precise ones where the build options allow it
(`-cl-fast-relaxed-math`). Without NVIDIA's libdevice PTX has no precise ones.
"""

from __future__ import annotations

from coarsen.backend import approximations
from coarsen.backend.approximations import NAMES, intrinsic
from coarsen.backend.builtin_library import Body

__all__ = ["NAMES", "approximation_body"]

_HARDWARE = approximations.Hardware(
    sine=intrinsic("nvvm.sin.approx.f"),
    cosine=intrinsic("nvvm.cos.approx.f"),
    power_of_two=intrinsic("nvvm.ex2.approx.f"),
    logarithm=intrinsic("nvvm.lg2.approx.f"),
    quotient=intrinsic("nvvm.div.approx.f"),
    root=intrinsic("nvvm.sqrt.approx.f"),
    reciprocal_root=intrinsic("nvvm.rsqrt.approx.f"),
)


def approximation_body(body: Body, *, relaxed: bool) -> list[str] | None:
    """Return the body of an elementary function on floats.

    None for others, and for precise ones that must be precise.
    """
    return approximations.approximation_body(body, _HARDWARE, relaxed=relaxed)
