"""The coarsened kernel objects of one kernel: made when first needed, and what a launch passes to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyopencl

from coarsen.errors import InternalError
from coarsen.runtime.local_memory import like_passed
from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.variant import Variant

# Whatever PyOpenCL takes as a kernel's argument; its annotations leave some out.
Argument: TypeAlias = Any


class Variants:
    """The variants of the kernel `name`, which takes `argument_count` arguments."""

    def __init__(self, name: str, argument_count: int, plan: CoarseningPlan) -> None:
        self._name = name
        self._argument_count = argument_count
        self._plan = plan
        self._kernels: dict[Variant, pyopencl.Kernel | None] = {}
        self._argument_types: tuple[Any, ...] | None = None

    def get(self, wanted: Variant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if it has none. Raises DeviceError."""
        if wanted not in self._kernels:
            kernel = self._plan.variant(self._name, wanted)
            if kernel is not None:
                self._adopt(kernel, wanted)
            self._kernels[wanted] = kernel
        return self._kernels[wanted]

    def added_values(
        self, wanted: Variant, global_size: Sequence[int], passed: Sequence[Argument]
    ) -> tuple[Argument, ...] | None:
        """Return what is passed after the kernel's own arguments; None if the argument it mirrors was not set.

        Args:
            wanted: the variant.
            global_size: the original launch's, in work-items.
            passed: the kernel's own arguments.
        """
        code = self._plan.code(self._name, wanted)
        values = list(passed)
        for added in code.added_arguments if code else ():
            if added.meaning == "global-size":
                values.append(np.uint64(global_size[added.dimension]))
            elif (local := like_passed(added, values)) is not None:
                values.append(local)
            else:
                return None
        return tuple(values[len(passed) :])

    def set_argument_types(self, types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`, for all variants, those of later too."""
        self._argument_types = tuple(types)
        for wanted, kernel in self._kernels.items():
            if kernel is not None:
                self._set_types(kernel, wanted)

    def _adopt(self, kernel: pyopencl.Kernel, wanted: Variant) -> None:
        code = self._plan.code(self._name, wanted)
        expected = self._argument_count + len(code.added_arguments if code else ())
        if kernel.num_args != expected:
            raise InternalError(
                f"the coarsened kernel {self._name} takes {kernel.num_args} arguments, not {expected}; "
                "please report it with the kernel's source"
            )
        self._set_types(kernel, wanted)

    def _set_types(self, kernel: pyopencl.Kernel, wanted: Variant) -> None:
        if self._argument_types is None:
            return
        code = self._plan.code(self._name, wanted)
        added = code.added_arguments if code else ()
        types = [np.uint64 if entry.meaning == "global-size" else None for entry in added]
        kernel.set_arg_types((*self._argument_types, *types))
