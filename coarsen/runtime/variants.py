"""The coarsened kernel objects of one kernel that tell what a variant needs; they are never launched."""

from __future__ import annotations

import pyopencl

from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.variant import Variant


class Variants:
    """The variants of the kernel `name`, made when first needed."""

    def __init__(self, name: str, plan: CoarseningPlan) -> None:
        self._name = name
        self._plan = plan
        self._kernels: dict[Variant, pyopencl.Kernel | None] = {}

    def get(self, wanted: Variant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if it has none. Raises DeviceError."""
        if wanted not in self._kernels:
            self._kernels[wanted] = self._plan.variant(self._name, wanted)
        return self._kernels[wanted]
