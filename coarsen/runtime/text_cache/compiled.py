"""Facts of compilations on disk, beside coarsened text: a device's compiler is asked once, not in every process.

source, options, kernel, local size; device, driver; code, disassembler ──▶ key ──▶ facts
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading
from coarsen.devices.compiled.x86 import disassembler_version
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.runtime.text_cache.checked_file import entry_of, file_of
from coarsen.runtime.text_cache.key import Key, digest_of, is_certain
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.text_cache.versions import prediction_versions

ReadFunction = Callable[[DeviceDescription, Sequence[ProgramText]], list[Reading]]

# Variables by which drivers compile otherwise.
_DRIVER_VARIABLES = ("POCL_", "CL_CONFIG_", "CUDA_", "PYOPENCL_BUILD_OPTIONS")
_CACHE_VARIABLES = ("POCL_CACHE_DIR", "CUDA_CACHE_PATH")


@dataclass(frozen=True, slots=True)
class FactsEntry:
    """The facts of a program."""

    key: str
    facts: CompiledFacts


class CachedFacts:
    """Reads the facts that are not in the cache, and puts them there; failures are not kept.

    Args:
        read: the function whose results are kept.
        store: where they are.
    """

    def __init__(self, read: ReadFunction, store: Store) -> None:
        self._read = read
        self._store = store

    def __call__(self, device: DeviceDescription, programs: Sequence[ProgramText]) -> list[Reading]:
        """Return a reading for each program."""
        keys = [_key(device, program) for program in programs]
        found = [self._stored(key) for key in keys]
        missing = [place for place, reading in enumerate(found) if reading is None]
        made = self._read(device, [programs[place] for place in missing]) if missing else []
        for place, reading in zip(missing, made, strict=True):
            found[place] = reading
            self._keep(device, programs[place], keys[place], reading)
        return [reading for reading in found if reading is not None]

    def _stored(self, key: Key | None) -> Reading | None:
        file = None if key is None else self._store.read(key.digest)
        entry = None if file is None else entry_of(file, FactsEntry)
        is_it = key is not None and entry is not None and entry.key == key.digest
        return Reading(entry.facts) if is_it and entry is not None else None

    def _keep(self, device: DeviceDescription, program: ProgramText, key: Key | None, reading: Reading) -> None:
        if key is None or reading.facts is None:
            return
        # A header may have been changed meanwhile.
        if is_certain(key, program.source, program.options, device.macros) and _key(device, program) == key:
            self._store.write(key.digest, file_of(FactsEntry(key.digest, reading.facts)))


def _key(device: DeviceDescription, program: ProgramText) -> Key | None:
    code = prediction_versions()
    if code is None:
        return None
    # Of another place among the devices, it is the same device.
    told = {name: value for name, value in asdict(device).items() if name != "index"}
    parts = {
        "compiled": program.kernel,
        "local_size": program.local_size,
        "device": told,
        "versions": code,
        "disassembler": disassembler_version(),
        "variables": _driver_variables(),
    }
    return digest_of(program.source, program.options, device.macros, parts)


def _driver_variables() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_DRIVER_VARIABLES) and name not in _CACHE_VARIABLES
    }
