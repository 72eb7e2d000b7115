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
from coarsen.errors import makes_readable

if TYPE_CHECKING:
    from coarsen import stream as stream
    from coarsen.api import coarsen as coarsen
    from coarsen.api import explain as explain
    from coarsen.api import predict as predict
    from coarsen.base.version import __version__ as __version__
    from coarsen.devices.discovery import DeviceDescription as DeviceDescription
    from coarsen.devices.discovery import discover_devices as discover_devices
    from coarsen.devices.discovery import open_device as open_device
    from coarsen.devices.health import Health as Health
    from coarsen.devices.health import check_health as check_health
    from coarsen.devices.selection import find_device as find_device
    from coarsen.drop_in.ahead import tune as tune
    from coarsen.drop_in.loop_program import LoopProgram as LoopProgram
    from coarsen.drop_in.program import Program as Program
    from coarsen.errors import CoarsenError as CoarsenError
    from coarsen.errors import DeviceError as DeviceError
    from coarsen.errors import InternalError as InternalError
    from coarsen.errors import InvalidInputError as InvalidInputError
    from coarsen.errors import RefusalError as RefusalError
    from coarsen.errors import SourcePosition as SourcePosition
    from coarsen.errors import VerificationError as VerificationError
    from coarsen.frontend.lower import compile_source as compile_source
    from coarsen.frontend.lower import lower as lower
    from coarsen.frontend.translation_unit import TranslationUnit as TranslationUnit
    from coarsen.fused import FusedKernel as FusedKernel
    from coarsen.fused import fuse as fuse
    from coarsen.pipeline import CoarsenedKernel as CoarsenedKernel
    from coarsen.remarks.explanation import Explanation as Explanation
    from coarsen.runtime.kernel import enqueue_nd_range_kernel as enqueue_nd_range_kernel
    from coarsen.runtime.laid_out_kernel import LaidOutArray as LaidOutArray
    from coarsen.runtime.layout import Layout as Layout
    from coarsen.targets import Target as Target
    from coarsen.targets import target_of as target_of
    from coarsen.tuning.settings import Tune as Tune
    from coarsen.tuning.tuned import Tuned as Tuned
    from coarsen.variant.coarsening import Coarsening as Coarsening
    from coarsen.variant.data_plan import array_plan as array_plan

_MODULE_OF = {
    "CoarsenError": "coarsen.errors",
    "CoarsenedKernel": "coarsen.pipeline",
    "Coarsening": "coarsen.variant.coarsening",
    "DeviceDescription": "coarsen.devices.discovery",
    "DeviceError": "coarsen.errors",
    "Explanation": "coarsen.remarks.explanation",
    "FusedKernel": "coarsen.fused",
    "Health": "coarsen.devices.health",
    "InternalError": "coarsen.errors",
    "InvalidInputError": "coarsen.errors",
    "LaidOutArray": "coarsen.runtime.laid_out_kernel",
    "Layout": "coarsen.runtime.layout",
    "LoopProgram": "coarsen.drop_in.loop_program",
    "Program": "coarsen.drop_in.program",
    "RefusalError": "coarsen.errors",
    "SourcePosition": "coarsen.errors",
    "Target": "coarsen.targets",
    "TranslationUnit": "coarsen.frontend.translation_unit",
    "Tune": "coarsen.tuning.settings",
    "Tuned": "coarsen.tuning.tuned",
    "VerificationError": "coarsen.errors",
    "__version__": "coarsen.base.version",
    "array_plan": "coarsen.variant.data_plan",
    "check_health": "coarsen.devices.health",
    "coarsen": "coarsen.api",
    "compile_source": "coarsen.frontend.lower",
    "discover_devices": "coarsen.devices.discovery",
    "enqueue_nd_range_kernel": "coarsen.runtime.kernel",
    "explain": "coarsen.api",
    "find_device": "coarsen.devices.selection",
    "fuse": "coarsen.fused",
    "lower": "coarsen.frontend.lower",
    "open_device": "coarsen.devices.discovery",
    "predict": "coarsen.api",
    "target_of": "coarsen.targets",
    "tune": "coarsen.drop_in.ahead",
}
__all__ = [*_MODULE_OF]
# A package with names of its own.
_MODULE_OF["stream"] = "coarsen.stream"

# Whatever handlers a program gives it.
logging.getLogger("coarsen").addFilter(makes_readable)
__path__ += folders_of_parts(Path(__file__).parent)
__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
