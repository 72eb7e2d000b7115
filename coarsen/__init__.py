"""Automatic thread coarsening for unmodified OpenCL kernels.

    program = coarsen.Program(context, source, factor=4, dim=0).build()
    coarsen.coarsen(source, kernel="sgemm", factor=4).opencl_c
    coarsen.predict(source, device="tahiti").factor
    print(coarsen.explain(source, kernel="sgemm"))

Names are loaded when first used: neither PyOpenCL nor LLVM nor any model is loaded before something needs it.
What does happen here is that the OpenCL loader is told of the drivers that pip packages carry, since it looks
for drivers once per process, and PyOpenCL may ask it before this package does.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from coarsen.errors import (
    CoarsenError,
    DeviceError,
    InternalError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
)
from coarsen.lazy_names import lazy_names
from coarsen.runtime.vendors import prepare_loader

if TYPE_CHECKING:
    from coarsen.api import CoarsenedKernel, coarsen, explain, predict
    from coarsen.distribution import __version__
    from coarsen.explanation import Explanation
    from coarsen.frontend.lower import lower
    from coarsen.runtime.devices import DeviceDescription, discover_devices, open_device
    from coarsen.runtime.health import Health, check_health
    from coarsen.runtime.kernel import enqueue_nd_range_kernel
    from coarsen.runtime.program import Program
    from coarsen.runtime.selection import find_device
    from coarsen.runtime.targets import Target, target_of
    from coarsen.transform.configuration import Coarsening

__all__ = [
    "CoarsenError",
    "CoarsenedKernel",
    "Coarsening",
    "DeviceDescription",
    "DeviceError",
    "Explanation",
    "Health",
    "InternalError",
    "InvalidInputError",
    "Program",
    "RefusalError",
    "SourcePosition",
    "Target",
    "VerificationError",
    "__version__",
    "check_health",
    "coarsen",
    "discover_devices",
    "enqueue_nd_range_kernel",
    "explain",
    "find_device",
    "lower",
    "open_device",
    "predict",
    "target_of",
]

_MODULE_OF = {
    "CoarsenedKernel": "coarsen.api",
    "Coarsening": "coarsen.transform.configuration",
    "DeviceDescription": "coarsen.runtime.devices",
    "Explanation": "coarsen.explanation",
    "Health": "coarsen.runtime.health",
    "Program": "coarsen.runtime.program",
    "Target": "coarsen.runtime.targets",
    "__version__": "coarsen.distribution",
    "check_health": "coarsen.runtime.health",
    "coarsen": "coarsen.api",
    "discover_devices": "coarsen.runtime.devices",
    "enqueue_nd_range_kernel": "coarsen.runtime.kernel",
    "explain": "coarsen.api",
    "find_device": "coarsen.runtime.selection",
    "lower": "coarsen.frontend.lower",
    "open_device": "coarsen.runtime.devices",
    "predict": "coarsen.api",
    "target_of": "coarsen.runtime.targets",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)

# A folder that can't be written must not stand in the way of an import; discovering devices meets it again.
with contextlib.suppress(OSError):
    prepare_loader()
