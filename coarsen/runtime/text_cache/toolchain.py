"""The package's toolchain with what it has coarsened and predicted kept on disk."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Unpack

from coarsen.errors import RefusalError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.entry import PASSING, Entry, StoredRefusal, entry_file, read_entry, stored_kernel
from coarsen.runtime.text_cache.key import Key, is_certain
from coarsen.runtime.text_cache.location import CacheFolder, text_folder
from coarsen.runtime.text_cache.request_key import key_of
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.toolchain import (
    CoarsenedKernel,
    CoarsenFunction,
    CoarseningRequest,
    PredictedFactor,
    PredictFunction,
    Toolchain,
    package_toolchain,
)


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

    def __call__(self, source: str, **request: Unpack[CoarseningRequest]) -> CoarsenedKernel:
        """Return the coarsened kernel. Raises as `coarsen` does, and RefusalError for one without the form."""
        key = key_of(source, request, self._macros, self._form)
        if key is None:
            return self._coarsen(source, **request)
        file = self._store.read(key.digest)
        entry = None if file is None else read_entry(file, key.digest, self._form)
        if entry is None:
            entry = self._made(key, source, request)
        return entry.outcome()

    def _made(self, key: Key, source: str, request: CoarseningRequest) -> Entry:
        try:
            entry = Entry(key.digest, stored_kernel(self._coarsen(source, **request), self._form))
        except RefusalError as refusal:
            if refusal.code in PASSING:
                raise
            entry = Entry(key.digest, None, StoredRefusal(refusal.code, refusal.reason, refusal.position))
        if self._is_certain(key, source, request):
            self._store.write(key.digest, entry_file(entry))
        return entry

    def _is_certain(self, key: Key, source: str, request: CoarseningRequest) -> bool:
        """Return True if the compiler has read only what is in the key, and as it is there."""
        if not is_certain(key, source, request["options"], self._macros):
            return False
        # A header may have been changed meanwhile.
        return key_of(source, request, self._macros, self._form) == key


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
