"""The functions that users call: coarsen a kernel, predict its factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.backend.llvm_ir import write_llvm_ir
from coarsen.backend.opencl_c import OpenClC, write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import Observer, lower_and_coarsen
from coarsen.transform.configuration import Coarsening, Configuration, configuration_of

if TYPE_CHECKING:
    from coarsen.models import Prediction


@dataclass(frozen=True)
class CoarsenedKernel:
    """A coarsened kernel, in whichever form it is asked for.

    A launch of it must divide global and local size by each coarsening's factor, along its dimension, and the
    coarsened local size must be a multiple of the stride.
    """

    kernel: Kernel
    configuration: Configuration
    assumptions: tuple[str, ...]

    @cached_property
    def _source(self) -> OpenClC:
        return write_opencl_c(self.kernel)

    @property
    def opencl_c(self) -> str:
        """OpenCL C source that holds this kernel alone. Raises RefusalError if it can't be written as such."""
        return self._source.text

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the source needs: `-cl-std=CL1.2`, or `-cl-std=CL2.0` for generic pointers."""
        return self._source.standard

    @cached_property
    def llvm_ir(self) -> str:
        """LLVM IR text for the `spir64` target."""
        return write_llvm_ir(self.kernel)

    @cached_property
    def spirv(self) -> bytes:
        """A SPIR-V module (physical 64-bit addressing, kernel execution model)."""
        return write_spirv(self.kernel)

    def ptx(self, architecture: str = "sm_75") -> str:
        """PTX for an NVIDIA architecture. Raises RefusalError for builtins that PTX has no counterpart of."""
        return write_ptx(self.kernel, architecture)


def coarsen(
    source: str | Path,
    *,
    kernel: str | None = None,
    factor: int | Sequence[int] = 2,
    dim: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
    options: str | Sequence[str] = (),
    observer: Observer | None = None,
) -> CoarsenedKernel:
    """Coarsen one kernel.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file.
        kernel: its name; may be left out where there is just one.
        factor: how many work-items to merge into one; several numbers with as many dimensions.
        dim: the dimension of the NDRange, 0, 1 or 2.
        stride: how far apart the merged work-items stand; must divide the coarsened local size of a launch.
        options: OpenCL build options as PyOpenCL takes them.
        observer: sees the stages of the pipeline.

    Raises:
        InvalidInputError: a bad source, option, factor, dimension or stride.
        RefusalError: the kernel can't be coarsened faithfully.
    """
    chosen = configuration_of(factor, dim, stride)
    observer = observer or Observer()
    coarsened = lower_and_coarsen(source, chosen, kernel, options, observer)
    return CoarsenedKernel(coarsened, chosen, tuple(observer.assumptions))


def predict(
    source: str | Path,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    options: str | Sequence[str] = (),
) -> Prediction:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Args:
        source: as for `coarsen`.
        device: a model's name (`tahiti`), or the index or a part of the name of an OpenCL device that has a model.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange to coarsen, 0, 1 or 2.
        options: OpenCL build options as PyOpenCL takes them.

    Returns:
        the factor and the steps of the cascade that led to it.

    Raises:
        DeviceError: there is no model of the device.
        InvalidInputError: a bad source, option or dimension.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    # Imported late: the models load NumPy, which a coarsening by a given factor does without.
    from coarsen.prediction import model_for, predict_kernel

    dimension = Coarsening(1, dim).dimension
    model = model_for(device)
    return predict_kernel(lower(source, kernel, options), model, dimension)


def predicted_coarsening(
    source: str | Path, kernel: str, options: str | Sequence[str], device_name: str
) -> tuple[int, int] | None:
    """The factor and the dimension that are best for a kernel on an OpenCL device, as predicted.

    Args:
        source: as for `coarsen`.
        kernel: its name.
        options: OpenCL build options as PyOpenCL takes them.
        device_name: the name that the OpenCL driver gives the device.

    Returns:
        factor and dimension, or None where there is no model of the device.

    Raises:
        InvalidInputError, RefusalError: as for `predict`.
    """
    from coarsen.prediction import model_of_opencl_device, predict_kernel

    model = model_of_opencl_device(device_name)
    if model is None:
        return None
    return predict_kernel(lower(source, kernel, options), model).factor, 0
