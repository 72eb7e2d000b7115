"""The package's toolchain with what it has coarsened and predicted kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coarsen.base.codec import encoded
from coarsen.errors import InternalError, RefusalError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.text_cache.key import Key, digest_of, is_certain
from coarsen.runtime.text_cache.store import (
    PASSING,
    CacheFolder,
    Store,
    StoredRefusal,
    entry_of,
    file_of,
    text_folder,
)
from coarsen.runtime.text_cache.versions import versions
from coarsen.runtime.toolchain import (
    CoarsenedKernel,
    CoarsenFunction,
    PredictedFactor,
    PredictFunction,
    Toolchain,
    package_toolchain,
)
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant


class CachedCoarsening:
    """Coarsens what is not in the cache, and puts it there; a `toolchain.CoarsenFunction`.

    Args:
        coarsen: the function whose results are kept.
        macros: those that it coarsens with.
        form: "opencl_c" or "spirv", the only form that kernels are asked for.
        store: where results are kept.
    """

    def __init__(self, coarsen: CoarsenFunction, macros: DeviceMacros, form: str, store: Store) -> None:
        self._coarsen = coarsen
        self._macros = macros
        self._form = form
        self._store = store

    def __call__(self, source: str, kernel: str, variant: Variant, options: Sequence[str]) -> CoarsenedKernel:
        """Return the coarsened kernel. Raises as `coarsen` does, and RefusalError for one without the form."""
        request = (source, kernel, variant, options)
        key = request_key(*request, self._macros, self._form)
        if key is None:
            return self._coarsen(*request)
        file = self._store.read(key.digest)
        entry = None if file is None else read_entry(file, key.digest, self._form)
        if entry is None:
            entry = self._made(key, *request)
        return entry.outcome()

    def _made(self, key: Key, source: str, kernel: str, variant: Variant, options: Sequence[str]) -> Entry:
        request = (source, kernel, variant, options)
        try:
            entry = Entry(key.digest, stored_kernel(self._coarsen(*request), self._form))
        except RefusalError as refusal:
            if refusal.code in PASSING:
                raise
            entry = Entry(key.digest, None, StoredRefusal(refusal.code, refusal.reason, refusal.position))
        # A header may have been changed meanwhile.
        is_kept = is_certain(key, source, options, self._macros)
        if is_kept and request_key(*request, self._macros, self._form) == key:
            self._store.write(key.digest, entry_file(entry))
        return entry


def cached_toolchain(macros: DeviceMacros, form: str, cache_dir: CacheFolder) -> Toolchain:
    """Return this package's functions, their results kept in the folder that `cache_dir` stands for.

    Args:
        macros: what sources may find out about their device.
        form: "opencl_c" or "spirv".
        cache_dir: as `pyopencl.Program.build` takes it.
    """
    toolchain = package_toolchain(macros)
    folder: Path | None = text_folder(cache_dir)
    if folder is None:
        return toolchain
    store = Store(folder)
    return Toolchain(
        CachedCoarsening(toolchain.coarsen, macros, form, store),
        partial(_predicted, toolchain.predict, macros, store),
    )


def _predicted(
    predict: PredictFunction,
    macros: DeviceMacros,
    store: Store,
    source: str,
    **request: Any,  # noqa: ANN401 (as a `PredictFunction` has it)
) -> PredictedFactor:
    # Imported late: most programs predict nothing.
    from coarsen.runtime.text_cache.prediction import CachedPrediction

    return CachedPrediction(predict, macros, store)(source, **request)


# One entry of the cache: a coarsened kernel, or the reason why there is none.


@dataclass(frozen=True, slots=True)
class StoredKernel:
    """A coarsened kernel in one form, as `toolchain.CoarsenedKernel` has it in all."""

    text: str | None
    code: bytes | None
    standard: str
    added_arguments: tuple[AddedArgument, ...]
    needs_whole_groups: bool
    groups_matter: bool
    objects_below: int | None
    ways_by_barriers: int
    apart: tuple[tuple[int, int], ...] = ()
    placed_arguments: tuple[PlacedArgument, ...] = ()

    @property
    def opencl_c(self) -> str:
        """The kernel as OpenCL C text."""
        if self.text is None:
            raise InternalError("a kernel that was cached as SPIR-V was asked for as OpenCL C; please report it")
        return self.text

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the text needs."""
        return self.standard

    @property
    def spirv(self) -> bytes:
        """The kernel as a SPIR-V module."""
        if self.code is None:
            raise InternalError("a kernel that was cached as OpenCL C was asked for as SPIR-V; please report it")
        return self.code

    @property
    def spirv_standard(self) -> str:
        """The standard that a driver may want named when it builds the module."""
        return self.standard


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel, or a refusal."""

    key: str
    kernel: StoredKernel | None = None
    refusal: StoredRefusal | None = None

    def outcome(self) -> StoredKernel:
        """Return the kernel. Raises RefusalError where it is refused."""
        if self.refusal is not None:
            raise RefusalError(self.refusal.code, self.refusal.reason, self.refusal.position)
        if self.kernel is None:
            raise InternalError("an entry of the cache holds nothing; please report it")
        return self.kernel


def stored_kernel(kernel: CoarsenedKernel, form: str) -> StoredKernel:
    """Return a kernel in one form. Raises RefusalError where it has no such form."""
    facts = (
        *(kernel.added_arguments, kernel.needs_whole_groups, kernel.groups_matter),
        *(kernel.objects_below, kernel.ways_by_barriers, kernel.apart, kernel.placed_arguments),
    )
    if form == "spirv":
        return StoredKernel(None, kernel.spirv, kernel.spirv_standard, *facts)
    return StoredKernel(kernel.opencl_c, None, kernel.opencl_c_standard, *facts)


def entry_file(entry: Entry) -> bytes:
    """Return what is written to an entry's file."""
    return file_of(entry)


def read_entry(file: bytes, key: str, form: str) -> Entry | None:
    """Return the entry of a file; None where it is not whole, or not of this key and form.

    Args:
        file: what is in it.
        key: the entry's.
        form: "opencl_c" or "spirv".
    """
    entry = entry_of(file, Entry)
    if entry is None:
        return None
    return entry if entry.key == key and _is_complete(entry, form) else None


def _is_complete(entry: Entry, form: str) -> bool:
    if entry.kernel is None:
        return entry.refusal is not None
    is_there = (entry.kernel.text is not None, entry.kernel.code is not None)
    return entry.refusal is None and is_there == (form == "opencl_c", form == "spirv")


def request_key(
    source: str, kernel: str, variant: Variant, options: Sequence[str], macros: DeviceMacros, form: str
) -> Key | None:
    """Return the key of a coarsened kernel.

    Args:
        source: OpenCL C.
        kernel: its name.
        variant: by what it is coarsened, and how.
        options: the build options.
        macros: what the source may find out about its device.
        form: "opencl_c" or "spirv".

    Returns:
        The key; None for a kernel that can't be cached, since not all that its text depends on is known.
    """
    code = versions()
    if code is None:
        return None
    asked = {"kernel": kernel, "variant": encoded(variant.code_variant()), "form": form, "versions": code}
    return digest_of(source, options, macros, asked)
