"""What a program takes from the rest of the package: coarsened code of a kernel.

It is kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from coarsen.base.codec import encoded
from coarsen.frontend.clang import find_clang
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.key import Key, digest_of, kept
from coarsen.runtime.text_cache.store import Store
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.frontend.translation_unit import TranslationUnit
    from coarsen.pipeline import CoarsenedKernel


Form = Literal["opencl_c", "spirv"]


class Code(NamedTuple):
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


class Toolchain:
    """Coarsens for a program; a source is compiled once for all of its kernels and variants.

    A class that is derived from it may do so by other means.

    Args:
        macros: what sources may find out about their device.
        store: where what is made is kept; None for nowhere.
    """

    def __init__(self, macros: DeviceMacros = PORTABLE, store: Store | None = None) -> None:
        self.macros = macros
        self._store = store
        self._sources = CompiledSources()

    def coarsen(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
        """Return the code of a kernel's variant, from the store where it is there.

        Args:
            source: OpenCL C.
            options: build options, one by one.
            kernel: its name.
            variant: its configuration; its macros don't count, and its local size only where it has tiles.
            form: of the code.

        Raises:
            RefusalError: the kernel can't be coarsened so, or has no such form.
            InvalidInputError: the source does not compile.
        """
        make = partial(self.coarsen_anew, source, options, kernel, variant, form)
        if self._store is None:
            return make()
        told = {"coarsened": kernel, "variant": encoded(variant), "form": form}
        return kept(self._store, Code, source, options, self.macros, told, make)

    # It imports late: a program that finds its text needs no compiler.
    def coarsen_anew(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
        """As `coarsen`, without the store."""
        from coarsen.api import coarsen_variant

        unit = self._sources.unit(source, options, self.macros)
        return Code.of(coarsen_variant(unit, variant, kernel=kernel), form)


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
