"""The functions that users call: coarsen a kernel, predict its factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from coarsen.backend.llvm_ir import write_llvm_ir
from coarsen.backend.opencl_c import OpenClC, write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import Observer, lower_and_coarsen
from coarsen.transform.configuration import Coarsening, Configuration, configuration_of

if TYPE_CHECKING:
    from coarsen.models import Prediction
    from coarsen.prediction import KernelPrediction

ModelName = Literal["default", "cascade"]


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


@overload
def predict(
    source: str | Path,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: Literal["default"] = "default",
    local_size: Sequence[int] | None = None,
    options: str | Sequence[str] = (),
) -> KernelPrediction: ...


@overload
def predict(
    source: str | Path,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: Literal["cascade"],
    local_size: None = None,
    options: str | Sequence[str] = (),
) -> Prediction: ...


def predict(
    source: str | Path,
    *,
    device: str,
    kernel: str | None = None,
    dim: int = 0,
    model: ModelName = "default",
    local_size: Sequence[int] | None = None,
    options: str | Sequence[str] = (),
) -> KernelPrediction | Prediction:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Args:
        source: as for `coarsen`.
        device: `tahiti`, or the index or a part of the name of an OpenCL device of this machine.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange to coarsen, 0, 1 or 2.
        model: "default", or "cascade" for the published predictor (Magni et al., PACT 2014).
        local_size: of the launch before coarsening, in work-items, one to three numbers. Where it is left out,
            what the kernel requires counts, else 256, 16×16 or 8×8×4 by the dimensions that the kernel uses. The
            cascade takes none.
        options: OpenCL build options as PyOpenCL takes them.

    Returns:
        The `factor` (1: leave the kernel as it is), and how it came about. By the default model: the speed-up over
        factor 1 at each factor with an 80 % interval (`curve`, natural logarithms), the probability that each step
        to the double helps, the features that moved it most, the nearest training kernels, whether it `abstained`.
        By the cascade: the steps that led to the factor.

    Raises:
        DeviceError: the device is not known, or the model has seen nothing like it.
        InvalidInputError: a bad source, option, dimension, model or local size.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    # Imported late: the models load NumPy, which a coarsening by a given factor does without.
    from coarsen import prediction

    dimension = Coarsening(1, dim).dimension
    if model not in ("default", "cascade"):
        raise InvalidInputError(f"the model is 'default' or 'cascade', not {model!r}")
    if model == "cascade" and local_size is not None:
        raise InvalidInputError("the cascade takes no local size: its features do not depend on it")
    lowered = lower(source, kernel, options)
    if model == "cascade":
        return prediction.published_prediction(lowered, device, dimension)
    return prediction.default_prediction(lowered, device, dimension, local_size)
