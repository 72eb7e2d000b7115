"""Records launches as workloads: the first of each kernel, device and class of sizes, before it runs.

AdviceRequest ─▶ captured, within the bytes that are left ─▶ FOLDER/NAME.toml …
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyopencl

from coarsen.drop_in.launch_table import LaunchRow, digest_of
from coarsen.drop_in.measured_launch import check_sizes_are_known
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.opencl_bench.results.remembered.size_class import SizeClass
from coarsen.opencl_bench.tuning.recording import ProgramText, captured_launch
from coarsen.opencl_bench.workloads.described.captured import write_capture
from coarsen.runtime.advice import AdviceRequest

MOST_BYTES = 1 << 30
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_]")
# File systems take 255 bytes; an argument's name, a number and an ending come after it.
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Recorded:
    """A workload that was written: its description, the kernel, the device's name, the bytes of its buffers."""

    path: Path
    kernel: str
    device: str
    byte_count: int


class Recorder:
    """Writes workloads into one folder; what can't be written is noted, and the program runs on.

    Args:
        folder: where they go; made with the first. Files that are there are kept.
        most_bytes: what the buffers of all of them may hold together.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._left = most_bytes
        self._seen: set[tuple[str, tuple[str, ...], str, int, SizeClass]] = set()
        self._lock = threading.Lock()
        self.recorded: list[Recorded] = []
        self.skipped: list[str] = []

    def missed(self, rows: Iterable[LaunchRow]) -> tuple[str, ...]:
        """Return a sentence for each kind of launch that was made, and never with its arguments at hand."""
        looked_at = {_kind(digest_of(source), kernel, size) for source, _, kernel, _, size in self._seen}
        kinds = {_kind(row.source, row.kernel, row.size_class): row for row in rows}
        return tuple(
            f"a launch is not recorded: the kernel '{row.kernel}': {_why_missed(row)}"
            for kind, row in kinds.items()
            if kind not in looked_at
        )

    def record(self, request: AdviceRequest) -> None:
        """Record a launch whose arguments are at hand, unless one like it was seen before."""
        if request.queue is None or request.arguments is None:
            return
        launch = request.launch
        size_class = SizeClass.of(launch.global_size, launch.local_size)
        key = request.source, request.options, request.kernel, launch.device.int_ptr, size_class
        with self._lock:
            if key in self._seen:
                return
            self._seen.add(key)
            try:
                self._write(request, request.queue)
            except (CoarsenError, pyopencl.Error, OSError, MemoryError) as error:
                of_kernel = f"the kernel '{request.kernel}'"
                reason = str(error) if of_kernel in str(error) else f"{of_kernel}: {error}"
                self.skipped.append(f"a launch is not recorded: {reason}")

    def _write(self, request: AdviceRequest, queue: pyopencl.CommandQueue) -> None:
        check_sizes_are_known(request)
        launch = request.launch
        captured = captured_launch(
            ProgramText(request.source, request.options),
            request.kernel,
            queue,
            launch.global_size,
            launch.local_size or (),
            request.arguments or (),
            global_offset=request.offset,
            most_bytes=self._left,
        )
        path = write_capture(captured, self._folder, self._name(request))
        self._left -= captured.byte_count
        self.recorded.append(Recorded(path, request.kernel, launch.device.name.strip(), captured.byte_count))

    def _name(self, request: AdviceRequest) -> str:
        """Return a name that no workload of the folder has: the kernel's, the sizes, a number if need be."""
        kernel = _NO_FILE_NAME.sub("_", request.kernel)[:_LONGEST_NAME]
        first = f"{kernel}-{'x'.join(map(str, request.launch.global_size))}"
        names = itertools.chain((first,), (f"{first}-{number}" for number in itertools.count(2)))
        return next(name for name in names if not self._is_taken(name))

    def _is_taken(self, name: str) -> bool:
        return any((self._folder / f"{name}{ending}").exists() for ending in (".toml", ".cl"))


def _kind(source: str, kernel: str, size_class: SizeClass | str) -> tuple[str, str, str]:
    """The source, the kernel and the class of global sizes: the local size may be one that the kernel demands."""
    return source, kernel, str(size_class).partition("/")[0]


def _why_missed(row: LaunchRow) -> str:
    if math.prod(row.global_size) <= 1:
        return "it has no more than one work-item"
    return "what comes before it did not end in time, or what it was given is not known"


def checked_folder(folder: Path) -> Path:
    """Return the folder as an absolute path; raise InvalidInputError if it is something else."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder")
    return folder.absolute()
