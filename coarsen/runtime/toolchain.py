"""The functions that a program takes from the rest of the package: coarsening a kernel's source, and predicting
a factor for it.

A program holds these two functions as values, so that tests can give it others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from coarsen.frontend.clang import find_clang
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.key import Key, digest_of
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.frontend.translation_unit import TranslationUnit
    from coarsen.pipeline import CoarsenedKernel


Form = Literal["opencl_c", "spirv"]


@dataclass(frozen=True, slots=True)
class Code:
    """A coarsened kernel as the device is given it, and what its launches must know.

    Attributes:
        text: OpenCL C; empty for SPIR-V.
        spirv: the module; empty for OpenCL C.
        standard: the build option that it needs, `-cl-std=CL1.2` for example; for SPIR-V the one that a driver may
            want named.
        added_arguments: what a launch passes after the kernel's own, in this order.
        needs_whole_groups: whether it matters to the kernel how a launch groups its work-items, along dimensions
            along which they are merged.
        groups_matter: False if the original kernel gives the same results however a launch groups its work-items.
        objects_below: the size in bytes that every memory object must stay below; None if any will do.
        ways_by_barriers: the number of ways through the kernel that differ in the barriers on them.
        apart: pairs of the kernel's own arguments that must not lead to the same memory.
        placed_arguments: what a launch keeps to for arrays that are read from another memory than global memory.
    """

    text: str
    spirv: bytes = b""
    standard: str = "-cl-std=CL1.2"
    added_arguments: tuple[AddedArgument, ...] = ()
    needs_whole_groups: bool = False
    groups_matter: bool = True
    objects_below: int | None = None
    ways_by_barriers: int = 1
    apart: tuple[tuple[int, int], ...] = ()
    placed_arguments: tuple[PlacedArgument, ...] = ()

    @classmethod
    def of(cls, kernel: CoarsenedKernel, form: Form) -> Code:
        """Return the code of a coarsened kernel. Raises RefusalError where it has no such form."""
        return cls(
            kernel.opencl_c if form == "opencl_c" else "",
            kernel.spirv if form == "spirv" else b"",
            kernel.opencl_c_standard if form == "opencl_c" else kernel.spirv_standard,
            kernel.added_arguments,
            kernel.needs_whole_groups,
            kernel.groups_matter,
            kernel.objects_below,
            kernel.ways_by_barriers,
            kernel.apart,
            kernel.placed_arguments,
        )


# Coarsens one kernel of a source: its text, the build options, the kernel's name, the variant (its local size and
# macros don't count) and the form. Raises RefusalError or InvalidInputError.
CoarsenFunction: TypeAlias = Callable[[str, Sequence[str], str, Variant, Form], Code]


@dataclass(frozen=True, slots=True)
class PredictedFactor:
    """The prediction for a kernel: the factor, 1 where it should stay as it is, and its dimension."""

    factor: int
    dimension: int


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
    options: Sequence[str],
    kernel: str,
    variant: Variant,
    form: Form,
) -> Code:
    from coarsen.api import coarsen_variant

    coarsened = coarsen_variant(sources.unit(source, options, macros), variant, kernel=kernel)
    return Code.of(coarsened, form)


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
    from coarsen.frontend.lower import lower
    from coarsen.prediction import predict_by_launch_model

    lowered = lower(sources.unit(source, options, macros), kernel)
    found = predict_by_launch_model(lowered, device, None, local_size)
    return PredictedFactor(found.factor, found.dimension)


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
