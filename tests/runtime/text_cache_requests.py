"""Requests of the cache of coarsened text, and a compiler that answers them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache import toolchain as cached
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.text_cache.toolchain import StoredKernel
from coarsen.runtime.toolchain import CoarsenedKernel, CoarseningRequest

SOURCE = """
kernel void scale(global int *values, int by) {
    size_t item = get_global_id(0);
    values[item] = values[item] * by + (int)get_local_id(0);
}
"""
REQUEST: CoarseningRequest = {
    "kernel": "scale",
    "factor": (4,),
    "dim": (0,),
    "stride": (1,),
    "level": ("item",),
    "any_size": False,
    "fast_path": "auto",
    "lock_step": "auto",
    "wide_accesses": False,
    "clean_up": True,
    "device_kind": "cpu",
    "options": (),
}
ADDED = (AddedArgument("global-size", 1),)
KERNEL = StoredKernel("kernel void scale() {}", None, "-cl-std=CL1.2", ADDED, True, False, 1 << 34, 2, ((0, 2),))


@dataclass
class Compiler:
    """Stands in for the compiler: returns the kernel or raises the refusal, and counts its calls."""

    outcome: StoredKernel | RefusalError | InvalidInputError = KERNEL
    calls: list[str] = field(default_factory=list)

    def __call__(self, source: str, **request: Unpack[CoarseningRequest]) -> CoarsenedKernel:
        self.calls.append(request["kernel"])
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def asked(compiler: Compiler, folder: Path, source: str = SOURCE, form: str = "opencl_c", **other: Any) -> Any:  # noqa: ANN401 (values of the request; a kernel)
    """The answer of a fresh cache in the folder to a request."""
    macros = other.pop("macros", PORTABLE)
    function = cached.CachedCoarsening(compiler, macros, form, Store(folder))
    request: Any = {**REQUEST, **other}
    return function(source, **request)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file
