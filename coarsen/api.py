"""The functions that users call: coarsen a kernel, predict its factor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coarsen.backend.llvm_ir import write_llvm_ir
from coarsen.backend.opencl_c import write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import Observer, lower_and_coarsen
from coarsen.transform.configuration import Coarsening, Configuration, configuration


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
    def opencl_c(self) -> str:
        """OpenCL C source that holds this kernel alone. Raises RefusalError if it can't be written as such."""
        return write_opencl_c(self.kernel).text

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the source needs: `-cl-std=CL1.2`, or `-cl-std=CL2.0` for generic pointers."""
        return write_opencl_c(self.kernel).standard

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
    chosen = configuration(coarsenings(factor, dim, stride))
    observer = observer or Observer()
    coarsened = lower_and_coarsen(source, chosen, kernel, options, observer)
    return CoarsenedKernel(coarsened, chosen, tuple(observer.assumptions))


def coarsenings(
    factor: int | Sequence[int], dim: int | Sequence[int] = 0, stride: int | Sequence[int] = 1
) -> Iterable[Coarsening]:
    """Factors, dimensions and strides, each one number or as many as there are dimensions, as coarsenings.

    Raises:
        InvalidInputError: their numbers differ, or one is out of range.
    """
    factors = [factor] if isinstance(factor, int) else list(factor)
    dimensions = _as_many(dim, factors, "dimension")
    strides = _as_many(stride, factors, "stride")
    return [Coarsening(*triple) for triple in zip(factors, dimensions, strides, strict=True)]


def _as_many(values: int | Sequence[int], factors: list[int], what: str) -> list[int]:
    if isinstance(values, int):
        if what == "dimension" and len(factors) > 1:
            raise InvalidInputError("several factors need as many dimensions")
        return [values] * len(factors)
    if len(values) != len(factors):
        raise InvalidInputError(f"there are {len(factors)} factors and {len(values)} {what}s")
    return list(values)
