"""Sources that clang has compiled, each once for all of its kernels and variants.

    coarsen kernel a ─┐                                  ┌─▶ lower a
    predict kernel a ─┼─▶ one source, one set of options ┼─▶ lower a
    coarsen kernel b ─┘    compiled once                 └─▶ lower b

In memory, and for as long as whoever holds them: what is kept on disk is text (`text_cache`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coarsen.frontend.clang import find_clang
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.key import Key, digest_of

if TYPE_CHECKING:
    from coarsen.frontend.translation_unit import TranslationUnit

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
