"""Records launches as workloads, before they run, and lists what all launches pass.

LaunchRequest ─▶ captured, within the bytes that are left ─▶ FOLDER/NAME.npz
              ─▶ counted (`passed_launches.py`)           ─▶ FOLDER/launches.json

Of each kernel and device the first launch with each class of sizes is captured with the contents of its buffers.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyopencl

from coarsen.base.files import replace_file_by
from coarsen.drop_in.launch_table import LaunchRow, LaunchTable, SourceObserver, digest_of
from coarsen.drop_in.passed_launches import PassedLaunches
from coarsen.drop_in.search import check_sizes_are_known
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.recording import captured_launch
from coarsen.tuning.remembered.choice import SizeClass
from coarsen.tuning.workload.captured_launch import write_launch
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX

MOST_BYTES = 1 << 30
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_]")
# File systems take 255 bytes; an argument's name, a number and an ending come after it.
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Recorded:
    """A workload that was written: its file, the kernel, the device's name, the bytes of its buffers."""

    path: Path
    kernel: str
    device: str
    byte_count: int


class _Seen(NamedTuple):
    """The launches of which one is captured."""

    source: str
    options: tuple[str, ...]
    kernel: str
    device: int
    size_class: SizeClass


class Recorder:
    """Writes workloads into one folder; what can't be written is noted, and the program runs on.

    Args:
        folder: where they go; made with the first. Files that are there are kept.
        most_bytes: what the buffers of all of them may hold together; 0 where none is wanted.

    Attributes:
        captures: whether the contents of any buffers are wanted.

    Raises:
        InvalidInputError: the folder is something else, or has a list of launches that can't be read.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        if folder.exists() and not folder.is_dir():
            raise InvalidInputError(f"{folder} is not a folder")
        # The program may go to another folder.
        self._folder = folder = folder.absolute()
        self._left = most_bytes
        self.captures = most_bytes > 0
        self._seen: set[_Seen] = set()
        self.passed = PassedLaunches(folder)
        self._lock = threading.Lock()
        self.recorded: list[Recorded] = []
        self.skipped: list[str] = []

    def missed(self, rows: Iterable[LaunchRow]) -> tuple[str, ...]:
        """Return a sentence for each kind of launch that was made, and never with its arguments at hand."""
        if not self.captures:
            return ()
        looked_at = {_kind(digest_of(each.source), each.kernel, each.size_class) for each in self._seen}
        kinds = {_kind(row.source, row.kernel, row.size_class): row for row in rows}
        return tuple(
            f"a launch is not recorded: the kernel '{row.kernel}': {_why_missed(row)}"
            for kind, row in kinds.items()
            if kind not in looked_at
        )

    def record(self, request: LaunchRequest) -> None:
        """Capture a launch whose arguments are at hand, unless one like it was seen before."""
        if not self.captures or request.queue is None or request.arguments is None:
            return
        original = request.launch
        size_class = SizeClass.of(original.global_size, original.local_size)
        key = _Seen(request.source, request.options, request.kernel, original.device.int_ptr, size_class)
        with self._lock:
            if key in self._seen:
                return
            self._seen.add(key)
            try:
                self._write(request)
            except (CoarsenError, pyopencl.Error, OSError, MemoryError) as error:
                of_kernel, reason = f"the kernel '{request.kernel}'", str(error)
                said = reason if of_kernel in reason else f"{of_kernel}: {reason}"
                self.skipped.append(f"a launch is not recorded: {said}")

    def _write(self, passed: LaunchRequest) -> None:
        check_sizes_are_known(passed.arguments)
        captured = captured_launch(passed, self._left)
        path = self._path(passed)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file_by(partial(write_launch, captured, name=path.stem), path)
        self._left -= captured.byte_count
        self.recorded.append(Recorded(path, passed.kernel, passed.launch.device.name.strip(), captured.byte_count))

    def _path(self, passed: LaunchRequest) -> Path:
        """Return a file that isn't there yet, by the kernel's name, the sizes, a number if need be."""
        kernel = _NO_FILE_NAME.sub("_", passed.kernel)[:_LONGEST_NAME]
        first = f"{kernel}-{'x'.join(map(str, passed.launch.global_size))}"
        names = itertools.chain((first,), (f"{first}-{number}" for number in itertools.count(2)))
        paths = (self._folder / f"{name}{CAPTURED_SUFFIX}" for name in names)
        return next(path for path in paths if not path.exists())


class RecordingObserver(SourceObserver):
    """Counts the launches of programs made from one source, and records what they pass.

    A `PassingObserver` of `coarsen.runtime`.
    """

    def __init__(self, table: LaunchTable, source: str, recorder: Recorder) -> None:
        super().__init__(table, digest_of(source))
        self._recorder = recorder

    def passed(self, request: LaunchRequest) -> None:
        """List a launch."""
        self._recorder.passed.add(request)


def _kind(source: str, kernel: str, size_class: SizeClass | str) -> tuple[str, str, str]:
    """The source, the kernel and the class of global sizes: the local size may be one that the kernel demands."""
    return source, kernel, str(size_class).partition("/")[0]


def _why_missed(row: LaunchRow) -> str:
    if math.prod(row.global_size) <= 1:
        return "it has no more than one work-item"
    return "what comes before it did not end in time, or what it was given is not known"
