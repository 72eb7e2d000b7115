"""Automatic thread coarsening for unmodified OpenCL kernels.

    program = coarsen.Program(context, source, factor=4, dim=0).build()
    coarsen.coarsen(source, kernel="sgemm", factor=4).opencl_c
    coarsen.predict(source, device="tahiti").factor

Names are loaded when first used: neither PyOpenCL nor LLVM nor any model is loaded before something needs it.
What does happen here is that the OpenCL loader is told of the drivers that pip packages carry, since it looks
for drivers once per process, and PyOpenCL may ask it before this package does.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from coarsen.errors import (
    CoarsenError,
    DeviceError,
    InternalError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
)
from coarsen.runtime.vendors import prepare_loader

if TYPE_CHECKING:
    from coarsen.api import CoarsenedKernel, coarsen, predict
    from coarsen.runtime.devices import DeviceDescription, discover_devices, open_device
    from coarsen.runtime.kernel import enqueue_nd_range_kernel
    from coarsen.runtime.program import Program
    from coarsen.runtime.selection import find_device
    from coarsen.transform.configuration import Coarsening

    __version__: str

__all__ = [
    "CoarsenError",
    "CoarsenedKernel",
    "Coarsening",
    "DeviceDescription",
    "DeviceError",
    "InternalError",
    "InvalidInputError",
    "Program",
    "RefusalError",
    "SourcePosition",
    "VerificationError",
    "__version__",
    "coarsen",
    "discover_devices",
    "enqueue_nd_range_kernel",
    "find_device",
    "open_device",
    "predict",
]

_MODULE_OF = {
    "CoarsenedKernel": "coarsen.api",
    "Coarsening": "coarsen.transform.configuration",
    "DeviceDescription": "coarsen.runtime.devices",
    "Program": "coarsen.runtime.program",
    "coarsen": "coarsen.api",
    "discover_devices": "coarsen.runtime.devices",
    "enqueue_nd_range_kernel": "coarsen.runtime.kernel",
    "find_device": "coarsen.runtime.selection",
    "open_device": "coarsen.runtime.devices",
    "predict": "coarsen.api",
}

# A folder that can't be written must not stand in the way of an import; discovering devices meets it again.
with contextlib.suppress(OSError):
    prepare_loader()


def __getattr__(name: str) -> Any:  # noqa: ANN401 (each name has its own type, see above)
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("coarsen")
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"module 'coarsen' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
