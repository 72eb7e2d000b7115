"""Lists what the launches of a program pass, without reading a buffer: `FOLDER/launches.json`.

each launch ─▶ counted with others that pass the same ─▶ written when the program has ended
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyopencl

from coarsen.base.files import replace_file
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.frontend.source_text import hash_with_headers
from coarsen.policy.tuned_checks import without_own_folder
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.recording import passed_arguments
from coarsen.tuning.workload.launch_list import (
    LIST_FILE,
    ListedKernel,
    ListedLaunch,
    read_launch_list,
    write_launch_list,
)

# Of one kernel; a program whose launches all differ, by the number of a step for one, would fill its memory.
MOST_LAUNCHES = 4096
_DIGITS = 12


class _Kernel(NamedTuple):
    """A kernel of a program, by its source and its build options."""

    source: str
    options: tuple[str, ...]
    name: str


class PassedLaunches:
    """Counts launches by what they pass, of several threads too.

    Args:
        folder: of the recording. What is listed there is kept, and counted on.

    Raises:
        InvalidInputError: there is a list that can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Of each kernel its launches, each as it is listed with a count of 1; None stands for those not listed.
        self._kernels: dict[_Kernel, Counter[ListedLaunch | None]] = {}
        self._sources: dict[str, str] = {}
        self._hashes: dict[tuple[str, tuple[str, ...]], str] = {}
        self._before = read_launch_list(folder) if (folder / LIST_FILE).exists() else ()
        self._lock = threading.Lock()
        self._process = os.getpid()

    def add(self, launch: LaunchRequest) -> None:
        """Count a launch."""
        with self._lock:
            self._count(self._kernel_of(launch), listed_launch(launch))

    def write(self) -> Path | None:
        """Write the list and the sources; return the list's path, None where there is nothing to list.

        A process that the program forked writes nothing.

        Raises:
            InvalidInputError: they can't be written.
        """
        with self._lock:
            if not self._kernels or os.getpid() != self._process:
                return None
            self._add_those_before()
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInputError(f"{self._folder}: can't be made: {error.strerror}") from None
            for source, text in self._sources.items():
                replace_file(text.encode(errors="surrogatepass"), self._folder / _source_file(source))
            listed = (
                ListedKernel(name, source, _source_file(source), options, _listed(counts), counts[None])
                for (source, options, name), counts in self._kernels.items()
            )
            return write_launch_list(listed, self._folder)

    def _count(self, kernel: _Kernel, launch: ListedLaunch | None, count: int = 1) -> None:
        counts = self._kernels.setdefault(kernel, Counter())
        is_listed = launch in counts or len(counts) - (None in counts) < MOST_LAUNCHES
        counts[launch if is_listed else None] += count

    def _kernel_of(self, launch: LaunchRequest) -> _Kernel:
        source, options = launch.source, launch.options
        if (source, options) not in self._hashes:
            text = source.encode(errors="replace").decode()
            self._hashes[source, options] = hash_with_headers(text, options)
        source_hash = self._hashes[source, options]
        self._sources.setdefault(source_hash, source)
        return _Kernel(source_hash, without_own_folder(options), launch.kernel)

    def _add_those_before(self) -> None:
        for kernel in self._before:
            key = _Kernel(kernel.source_hash, kernel.options, kernel.kernel)
            self._count(key, None, kernel.further)
            for each in kernel.launches:
                self._count(key, replace(each, count=1), each.count)
        self._before = ()


def _listed(counts: Mapping[ListedLaunch | None, int]) -> tuple[ListedLaunch, ...]:
    return tuple(replace(each, count=count) for each, count in counts.items() if each is not None)


def _source_file(source_hash: str) -> str:
    return f"source-{source_hash[:_DIGITS]}.cl"


def listed_launch(launch: LaunchRequest) -> ListedLaunch | None:
    """Return a launch as it is listed; None where what it passes isn't known, or it has no work-items."""
    whole, local = launch.launch.global_size, launch.launch.local_size
    if launch.arguments is None or not whole or min((*whole, *(local or ()))) < 1:
        return None
    try:
        arguments = passed_arguments(launch.kernel, tuple(launch.arguments))
    except (CoarsenError, pyopencl.Error):
        return None
    offset = tuple(map(int, launch.offset or ()))
    return ListedLaunch(
        tuple(map(int, whole)),
        None if local is None else tuple(map(int, local)),
        offset if any(offset) else (),
        arguments,
    )
