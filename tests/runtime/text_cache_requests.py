"""Requests of the cache of coarsened text, and a compiler that answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Variant

SOURCE = """
kernel void scale(global int *values, int by) {
    size_t item = get_global_id(0);
    values[item] = values[item] * by + (int)get_local_id(0);
}
"""
VARIANT = Variant((), (Coarsening(4),), transforms=Transforms(device_kind=DeviceKind.CPU))
ADDED = (AddedArgument("global-size", 1),)
KERNEL = Code("kernel void scale() {}", b"", "-cl-std=CL1.2", ADDED, True, False, 1 << 34, 2, ((0, 2),))


@dataclass
class Compiler:
    """Stands in for the compiler: returns the kernel or raises the refusal, and counts its calls."""

    outcome: Code | RefusalError | InvalidInputError = KERNEL
    calls: list[str] = field(default_factory=list)

    def __call__(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
        self.calls.append(kernel)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def asked(
    compiler: Compiler,
    folder: Path,
    source: str = SOURCE,
    form: Form = "opencl_c",
    options: Sequence[str] = (),
    kernel: str = "scale",
    variant: Variant = VARIANT,
    macros: DeviceMacros = PORTABLE,
) -> Code:
    """The answer of a fresh cache in the folder to a request."""
    toolchain = Toolchain(macros, Store(folder))
    toolchain.coarsen_anew = compiler  # type: ignore[method-assign]
    return toolchain.coarsen(source, options, kernel, variant, form)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file
