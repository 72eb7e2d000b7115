"""Requests of the cache of coarsened text, and a compiler that answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache import toolchain as cached
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.text_cache.toolchain import StoredKernel
from coarsen.runtime.toolchain import CoarsenedKernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Variant

SOURCE = """
kernel void scale(global int *values, int by) {
    size_t item = get_global_id(0);
    values[item] = values[item] * by + (int)get_local_id(0);
}
"""
REQUEST = Variant(coarsenings=(Coarsening(4),), transforms=Transforms(device_kind=DeviceKind.CPU))
ADDED = (AddedArgument("global-size", 1),)
KERNEL = StoredKernel("kernel void scale() {}", None, "-cl-std=CL1.2", ADDED, True, False, 1 << 34, 2, ((0, 2),))


@dataclass
class Compiler:
    """Stands in for the compiler: returns the kernel or raises the refusal, and counts its calls."""

    outcome: StoredKernel | RefusalError | InvalidInputError = KERNEL
    calls: list[str] = field(default_factory=list)

    def __call__(self, source: str, kernel: str, variant: Variant, options: Sequence[str]) -> CoarsenedKernel:
        self.calls.append(kernel)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def asked(
    compiler: Compiler,
    folder: Path,
    source: str = SOURCE,
    form: str = "opencl_c",
    *,
    kernel: str = "scale",
    variant: Variant = REQUEST,
    options: Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> CoarsenedKernel:
    """The answer of a fresh cache in the folder to a request."""
    function = cached.CachedCoarsening(compiler, macros, form, Store(folder))
    return function(source, kernel, variant, options)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file
