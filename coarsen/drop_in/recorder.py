"""Records launches as workloads, before they run, and lists what all launches pass.

LaunchRequest ─▶ captured, within the bytes that are left ─▶ FOLDER/NAME.toml …
              ─▶ counted (`passed_launches.py`)           ─▶ FOLDER/launches.json

Which launches are captured with the contents of their buffers is chosen: of each kernel and device the first with
each class of sizes, the first of those that pass the same, or none.
"""

from __future__ import annotations

import enum
import itertools
import math
import re
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pyopencl

from coarsen.drop_in.launch_table import LaunchRow, LaunchTable, SourceObserver, digest_of
from coarsen.drop_in.passed_launches import PassedLaunches, listed_launch
from coarsen.drop_in.search import check_sizes_are_known
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.opencl_bench.workloads.described.captured import write_capture
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.recording import ProgramText, captured_launch
from coarsen.tuning.remembered.choice import SizeClass
from coarsen.tuning.workload.launch_list import ListedLaunch

MOST_BYTES = 1 << 30
# Of one kernel where each is wanted that passes something else: each takes a compilation.
MOST_EACH = 64
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_]")
# File systems take 255 bytes; an argument's name, a number and an ending come after it.
_LONGEST_NAME = 60


class Contents(enum.StrEnum):
    """The launches that are captured with the contents of their buffers."""

    CLASS = "class"
    EACH = "each"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A workload that was written: its description, the kernel, the device's name, the bytes of its buffers."""

    path: Path
    kernel: str
    device: str
    byte_count: int


class _Seen(NamedTuple):
    """The launches of which one is captured; `passed` is what all of them pass, None where that doesn't matter."""

    source: str
    options: tuple[str, ...]
    kernel: str
    device: int
    size_class: SizeClass
    passed: ListedLaunch | None


class Recorder:
    """Writes workloads into one folder; what can't be written is noted, and the program runs on.

    Args:
        folder: where they go; made with the first. Files that are there are kept.
        most_bytes: what the buffers of all of them may hold together.
        contents: which launches are captured.

    Raises:
        InvalidInputError: the folder has a list of launches that can't be read.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES, contents: Contents = Contents.CLASS) -> None:
        self._folder = folder
        self._left = most_bytes
        self._contents = contents
        self._seen: set[_Seen] = set()
        self._captured: Counter[str] = Counter()
        self.passed = PassedLaunches(folder)
        self._lock = threading.Lock()
        self.recorded: list[Recorded] = []
        self.skipped: list[str] = []

    @property
    def captures(self) -> bool:
        """Return True if the contents of any buffers are wanted."""
        return self._contents is not Contents.NONE

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
        """Capture a launch whose arguments are at hand, if the first of each class of sizes is wanted."""
        if self._contents is Contents.CLASS and request.queue is not None and request.arguments is not None:
            self.capture(request)

    def wants(self, launch: LaunchRequest) -> bool:
        """Return True if a launch is to be captured since none before passed the same."""
        if self._contents is not Contents.EACH or launch.arguments is None:
            return False
        with self._lock:
            return self._captured[launch.kernel] < MOST_EACH and self._key(launch) not in self._seen

    def capture(self, launch: LaunchRequest) -> None:
        """Capture a launch whose arguments can be read now, unless one like it was seen before."""
        with self._lock:
            key = self._key(launch)
            if key in self._seen:
                return
            self._seen.add(key)
            try:
                self._write(launch)
            except (CoarsenError, pyopencl.Error, OSError, MemoryError) as error:
                self._skip(launch.kernel, str(error))

    def _key(self, launch: LaunchRequest) -> _Seen:
        original = launch.launch
        size_class = SizeClass.of(original.global_size, original.local_size)
        passed = listed_launch(launch) if self._contents is Contents.EACH else None
        alike = None if passed is None else replace(passed, local_size=None)
        return _Seen(launch.source, launch.options, launch.kernel, original.device.int_ptr, size_class, alike)

    def _skip(self, kernel: str, reason: str) -> None:
        """Note why a launch is not captured; of each, once for a kernel: there may be many."""
        of_kernel = f"the kernel '{kernel}'"
        said = f"a launch is not recorded: {reason if of_kernel in reason else f'{of_kernel}: {reason}'}"
        is_known = any(of_kernel in each for each in self.skipped)
        if self._contents is not Contents.EACH or not is_known:
            self.skipped.append(said)

    def _write(self, passed: LaunchRequest) -> None:
        assert passed.queue is not None, "it can be read now"
        check_sizes_are_known(passed.arguments)
        launch = passed.launch
        captured = captured_launch(
            ProgramText(passed.source, passed.options),
            passed.kernel,
            passed.queue,
            launch.global_size,
            launch.local_size or (),
            passed.arguments or (),
            global_offset=passed.offset,
            most_bytes=self._left,
        )
        path = write_capture(captured, self._folder, self._name(passed))
        self._left -= captured.byte_count
        self._captured[passed.kernel] += 1
        self.recorded.append(Recorded(path, passed.kernel, launch.device.name.strip(), captured.byte_count))

    def _name(self, passed: LaunchRequest) -> str:
        """Return a name that no workload of the folder has: the kernel's, the sizes, a number if need be."""
        kernel = _NO_FILE_NAME.sub("_", passed.kernel)[:_LONGEST_NAME]
        first = f"{kernel}-{'x'.join(map(str, passed.launch.global_size))}"
        names = itertools.chain((first,), (f"{first}-{number}" for number in itertools.count(2)))
        endings = (".toml", ".cl")
        return next(name for name in names if not any((self._folder / f"{name}{e}").exists() for e in endings))


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

    def wants(self, request: LaunchRequest) -> bool:
        """Return True if a launch is to be captured."""
        return self._recorder.wants(request)

    def capture(self, request: LaunchRequest) -> None:
        """Capture a launch."""
        self._recorder.capture(request)


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
