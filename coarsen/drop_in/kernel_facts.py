"""Facts that a choice for a kernel depends on: its normal form's hash, and whether other local sizes suit it.

source, options, device's macros, code ──▶ key ──▶ facts on disk, beside coarsened text
    └── where there are none: compiled, and stored
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.compiled_sources import CompiledSources
from coarsen.runtime.text_cache.checked_file import entry_of, file_of
from coarsen.runtime.text_cache.key import Key, digest_of, is_certain
from coarsen.runtime.text_cache.location import CacheFolder, text_folder
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.text_cache.versions import versions

# Of these facts: with another meaning of one of them, it is another number.
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """The SHA-256 of a kernel's normal form, in hexadecimal digits, and whether its work-groups matter to it."""

    ir_hash: str
    groups_matter: bool


@dataclass(frozen=True, slots=True)
class FactsEntry:
    """Facts as a file of the cache has them."""

    key: str
    facts: KernelFacts


def kernel_facts(
    source: str,
    kernel: str,
    options: Sequence[str],
    macros: DeviceMacros,
    cache_dir: CacheFolder = None,
    sources: CompiledSources | None = None,
) -> KernelFacts:
    """Return the facts of a kernel: from the cache, or compiled to its normal form.

    Args:
        source: OpenCL C.
        kernel: its name.
        options: build options, one by one.
        macros: what the source may find out about its device.
        cache_dir: as `pyopencl.Program.build` takes it.
        sources: compiles it, if it must be; None where no other kernel of the source is asked for.

    Raises:
        InvalidInputError: it does not compile.
        RefusalError: it can't be read.
    """
    folder = text_folder(cache_dir)
    key = None if folder is None else _key_of(source, kernel, options, macros)
    sources = sources or CompiledSources()
    if folder is None or key is None:
        return _compiled(sources, source, kernel, options, macros)
    store = Store(folder)
    file = store.read(key.digest)
    entry = None if file is None else entry_of(file, FactsEntry)
    if entry is not None and entry.key == key.digest:
        return entry.facts
    facts = _compiled(sources, source, kernel, options, macros)
    # A header may have been changed meanwhile.
    if is_certain(key, source, options, macros) and _key_of(source, kernel, options, macros) == key:
        store.write(key.digest, file_of(FactsEntry(key.digest, facts)))
    return facts


def _key_of(source: str, kernel: str, options: Sequence[str], macros: DeviceMacros) -> Key | None:
    """Return the key of a kernel's facts; None where not all that they depend on is known."""
    code = versions()
    if code is None:
        return None
    return digest_of(source, options, macros, {"facts": _FORMAT, "kernel": kernel, "versions": code})


def _compiled(
    sources: CompiledSources, source: str, kernel: str, options: Sequence[str], macros: DeviceMacros
) -> KernelFacts:
    # Imported late: these load LLVM, which takes longer than the start of a program of PyOpenCL's.
    from coarsen.analysis.whole_groups import groups_matter
    from coarsen.frontend.lower import lower
    from coarsen.ir.graph.printer import module_text
    from coarsen.ir.hashed_text import hashed_text

    lowered = lower(sources.unit(source, options, macros), kernel)
    text = hashed_text(module_text(lowered.graph))
    return KernelFacts(hashlib.sha256(text.encode()).hexdigest(), groups_matter(lowered))
