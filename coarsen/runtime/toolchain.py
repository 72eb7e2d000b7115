"""What a program needs of the rest of the package: coarsening a kernel's source, and predicting a factor for
it.

A program holds these two functions as values, so that tests can give it others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class CoarsenedKernel(Protocol):
    """A coarsened kernel in the forms that a device may be given; writing one may raise RefusalError."""

    @property
    def opencl_c(self) -> str:
        """The kernel as OpenCL C text."""
        ...

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the text needs, `-cl-std=CL1.2` for example."""
        ...

    @property
    def spirv(self) -> bytes:
        """The kernel as a SPIR-V module."""
        ...


class CoarsenFunction(Protocol):
    """Coarsens one kernel of a source; raises RefusalError or InvalidInputError."""

    def __call__(
        self,
        source: str,
        *,
        kernel: str,
        factor: Sequence[int],
        dim: Sequence[int],
        stride: Sequence[int],
        options: Sequence[str],
    ) -> CoarsenedKernel:
        """The kernel named `kernel`, coarsened along each of `dim` by the factor and stride of the same
        position.
        """
        ...


class PredictFunction(Protocol):
    """Predicts the factor and dimension of a kernel on a device; None where there is no model of the device."""

    def __call__(
        self, source: str, kernel: str, options: Sequence[str], device_name: str
    ) -> tuple[int, int] | None:
        """Factor and dimension for the kernel named `kernel` on the device with the OpenCL name
        `device_name`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The two functions that a program coarsens and predicts with."""

    coarsen: CoarsenFunction
    predict: PredictFunction


def package_toolchain() -> Toolchain:
    """This package's own functions."""
    # Imported late: a program with explicit factors needs no models, one that only delegates needs no
    # compiler.
    from coarsen import api

    return Toolchain(api.coarsen, api.predicted_coarsening)
