"""The functions that a program takes from the rest of the package: coarsening a kernel's source, and predicting
a factor for it.

A program holds these two functions as values, so that tests can give it others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from coarsen.frontend.clang import find_clang
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.key import Key, digest_of
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.frontend.translation_unit import TranslationUnit


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

    @property
    def spirv_standard(self) -> str:
        """The standard that a driver may want named when it builds the module, as `opencl_c_standard`."""
        ...

    @property
    def added_arguments(self) -> tuple[AddedArgument, ...]:
        """The arguments that a launch passes after the kernel's own, in this order."""
        ...

    @property
    def needs_whole_groups(self) -> bool:
        """Return True if it matters to the kernel how a launch groups its work-items, along dimensions along which
        they are merged.
        """
        ...

    @property
    def groups_matter(self) -> bool:
        """Return False if the original kernel gives the same results however a launch groups its work-items."""
        ...

    @property
    def objects_below(self) -> int | None:
        """The size in bytes that every memory object of a launch must stay below; None if any will do."""
        ...

    @property
    def apart(self) -> tuple[tuple[int, int], ...]:
        """Pairs of the kernel's own arguments that must not lead to the same memory in a launch."""
        ...

    @property
    def placed_arguments(self) -> tuple[PlacedArgument, ...]:
        """Return what a launch keeps to for arrays that are read from another memory than global memory."""
        ...

    @property
    def ways_by_barriers(self) -> int:
        """The number of ways through the kernel that differ in the barriers on them."""
        ...


class CoarsenFunction(Protocol):
    """Coarsens one kernel of a source; raises RefusalError or InvalidInputError."""

    def __call__(self, source: str, kernel: str, variant: Variant, options: Sequence[str]) -> CoarsenedKernel:
        """Coarsen the kernel that is called so, which is built with these options, as the variant says."""
        ...


class PredictedFactor(Protocol):
    """The prediction for a kernel."""

    @property
    def factor(self) -> int:
        """The factor, 1 where the kernel should stay as it is."""
        ...

    @property
    def dimension(self) -> int:
        """The dimension of the NDRange that the factor goes with."""
        ...


class PredictFunction(Protocol):
    """Predicts the factor of a kernel on a device; raises DeviceError where nothing is known of such devices."""

    def __call__(
        self,
        source: str,
        *,
        device: str,
        kernel: str,
        options: Sequence[str],
        local_size: Sequence[int] | None,
    ) -> PredictedFactor:
        """Predict the factor for the kernel named `kernel` along dimension 0.

        On the device with the index `device`, launched with `local_size` work-items per group (None: left to the
        implementation).
        """
        ...


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The two functions that a program coarsens and predicts with."""

    coarsen: CoarsenFunction
    predict: PredictFunction


def package_toolchain(macros: DeviceMacros = PORTABLE) -> Toolchain:
    """Return this package's own functions, for sources that may ask for these facts about their device.

    They compile a source once for all of its kernels and variants.
    """
    sources = CompiledSources()
    return Toolchain(partial(_coarsen, sources, macros), partial(_predict, sources, macros))


# Both import late: a program with explicit factors needs no models, one that only delegates, or finds its
# coarsened text in the cache, no compiler.
def _coarsen(
    sources: CompiledSources,
    macros: DeviceMacros,
    source: str,
    kernel: str,
    variant: Variant,
    options: Sequence[str],
) -> CoarsenedKernel:
    from coarsen.api.coarsening import coarsen_variant

    return coarsen_variant(sources.unit(source, options, macros), variant, kernel=kernel)


def _predict(
    sources: CompiledSources,
    macros: DeviceMacros,
    source: str,
    *,
    device: str,
    kernel: str,
    options: Sequence[str],
    local_size: Sequence[int] | None,
) -> PredictedFactor:
    from coarsen import api

    unit = sources.unit(source, options, macros)
    return api.predict_factor(unit, device=device, kernel=kernel, local_size=local_size)


# Sources that clang has compiled, each once for all of its kernels and variants.
#
#     coarsen kernel a ─┐                                  ┌─▶ lower a
#     predict kernel a ─┼─▶ one source, one set of options ┼─▶ lower a
#     coarsen kernel b ─┘    compiled once                 └─▶ lower b
#
# In memory, and for as long as whoever holds them: what is kept on disk is text (`text_cache`).

# A program has one source, and few sets of options.
_MOST = 4


class CompiledSources:
    """Compiles sources, and keeps the last few that it has compiled."""

    def __init__(self) -> None:
        self._units: dict[str, TranslationUnit] = {}

    def unit(self, source: str, options: Sequence[str], macros: DeviceMacros) -> TranslationUnit:
        """Return a source as it is compiled now, its headers included.

        A source is compiled anew where it reads files that can't be told from its text, or that have changed.

        Args:
            source: OpenCL C.
            options: build options, one by one.
            macros: what the source may find out about its device.

        Raises:
            InvalidInputError: it does not compile.
        """
        # Imported late: it loads LLVM, which a program does without that finds its text in the cache.
        from coarsen.frontend.lower import compile_source

        key = _key_of(source, options, macros)
        if key is None or not key.files.are_all:
            return compile_source(source, options, macros)
        known = self._units.pop(key.digest, None)
        unit = compile_source(source, options, macros) if known is None else known
        # A header may have been changed meanwhile.
        if known is not None or _key_of(source, options, macros) == key:
            self._keep(key.digest, unit)
        return unit

    def _keep(self, digest: str, unit: TranslationUnit) -> None:
        """Put a source last, and forget the first ones beyond what is kept."""
        self._units[digest] = unit
        for first in list(self._units)[:-_MOST]:
            self._units.pop(first, None)


def _key_of(source: str, options: Sequence[str], macros: DeviceMacros) -> Key | None:
    return digest_of(source, options, macros, {"clang": list(find_clang().command)})
