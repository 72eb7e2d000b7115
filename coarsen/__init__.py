"""Automatic thread coarsening for unmodified OpenCL kernels.

    program = coarsen.Program(context, source, factor=4, dim=0).build()
    coarsen.coarsen(source, kernel="sgemm", factor=4).opencl_c
    coarsen.predict(source, device="tahiti").factor
    print(coarsen.explain(source, kernel="sgemm"))

Names are loaded when first used: neither PyOpenCL nor LLVM nor any model is loaded before something needs it, and
the import changes nothing outside of Python. A program that wants the drivers that pip packages carry calls
`discover_devices` before its first OpenCL query: the OpenCL loader looks for drivers once per process.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.names import folders_of_parts, lazy_names
from coarsen.errors import (
    CoarsenError,
    DeviceError,
    InternalError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
    makes_readable,
)

if TYPE_CHECKING:
    from coarsen.api import explain, predict
    from coarsen.api.coarsening import coarsen
    from coarsen.base.bug_report import __version__
    from coarsen.coarsened_kernel import CoarsenedKernel
    from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
    from coarsen.devices.health import Health, check_health
    from coarsen.devices.selection import find_device
    from coarsen.drop_in.ahead import tune
    from coarsen.drop_in.program import Program
    from coarsen.frontend.lower import compile_source, lower
    from coarsen.frontend.translation_unit import TranslationUnit
    from coarsen.remarks.explanation import Explanation
    from coarsen.runtime.kernel import enqueue_nd_range_kernel
    from coarsen.runtime.laid_out_kernel import LaidOutArray
    from coarsen.runtime.layout import Layout
    from coarsen.targets import Target, target_of
    from coarsen.tuning.settings import Tune
    from coarsen.tuning.tuned import Tuned
    from coarsen.variant.coarsening import Coarsening
    from coarsen.variant.data_plan import array_plan

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
    "LaidOutArray",
    "Layout",
    "Program",
    "RefusalError",
    "SourcePosition",
    "Target",
    "TranslationUnit",
    "Tune",
    "Tuned",
    "VerificationError",
    "__version__",
    "array_plan",
    "check_health",
    "coarsen",
    "compile_source",
    "discover_devices",
    "enqueue_nd_range_kernel",
    "explain",
    "find_device",
    "lower",
    "open_device",
    "predict",
    "target_of",
    "tune",
]

_MODULE_OF = {
    "CoarsenedKernel": "coarsen.coarsened_kernel",
    "Coarsening": "coarsen.variant.coarsening",
    "DeviceDescription": "coarsen.devices.discovery",
    "Explanation": "coarsen.remarks.explanation",
    "Health": "coarsen.devices.health",
    "LaidOutArray": "coarsen.runtime.laid_out_kernel",
    "Layout": "coarsen.runtime.layout",
    "Program": "coarsen.drop_in.program",
    "Target": "coarsen.targets",
    "TranslationUnit": "coarsen.frontend.translation_unit",
    "Tune": "coarsen.tuning.settings",
    "Tuned": "coarsen.tuning.tuned",
    "__version__": "coarsen.base.bug_report",
    "array_plan": "coarsen.variant.data_plan",
    "check_health": "coarsen.devices.health",
    "coarsen": "coarsen.api",
    "compile_source": "coarsen.frontend.lower",
    "discover_devices": "coarsen.devices.discovery",
    "enqueue_nd_range_kernel": "coarsen.runtime.kernel",
    "explain": "coarsen.api",
    "find_device": "coarsen.devices.selection",
    "lower": "coarsen.frontend.lower",
    "open_device": "coarsen.devices.discovery",
    "predict": "coarsen.api",
    "target_of": "coarsen.targets",
    "tune": "coarsen.drop_in.ahead",
}

# Whatever handlers a program gives it.
logging.getLogger("coarsen").addFilter(makes_readable)
__path__ += folders_of_parts(Path(__file__).parent)
_INSTEAD_OF = {"LaidOutProgram": 'coarsen.Program(context, source, arrays={"name": layout})'}
__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF, _INSTEAD_OF)
