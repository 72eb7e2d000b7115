"""The coarsened kernel objects that one kernel object of a program launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyopencl

from coarsen.runtime.launches import KernelLaunches, LaunchedVariant, added_types


class LaunchedKernels:
    """The coarsened kernel objects of one `Kernel`; others may use them once it is gone."""

    __slots__ = ("_launches", "_types", "kernels")

    def __init__(self, launches: KernelLaunches) -> None:
        self._launches = launches
        self._types: tuple[Any, ...] | None = None
        self.kernels: dict[LaunchedVariant, pyopencl.Kernel] = {}

    def __del__(self) -> None:
        if self._types is None:
            for launched, kernel in self.kernels.items():
                launched.unused.append(kernel)

    def get(self, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if the kernel refuses it. Raises DeviceError."""
        known = self.kernels.get(launched)
        if known is None:
            known = self._launches.kernel(launched)
            if known is not None:
                self.kernels[launched] = known
                self._set_types(launched, known)
        return known

    def set_argument_types(self, types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`, for all variants, those of later too."""
        self._types = tuple(types)
        for launched, kernel in self.kernels.items():
            self._set_types(launched, kernel)

    def _set_types(self, launched: LaunchedVariant, kernel: pyopencl.Kernel) -> None:
        if self._types is not None:
            kernel.set_arg_types((*self._types, *added_types(launched.added)))
