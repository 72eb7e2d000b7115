"""Tuning of a captured launch in a process of its own: the program loads nothing but the capture and the finding.

CapturedLaunch ─▶ file of arrays ─▶ `tuning_service` ─▶ progress … ─▶ Tuned, or an error
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import (
    CoarsenError,
    DeviceError,
    InternalError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
)
from coarsen.frontend.one_kernel import source_of_one_kernel
from coarsen.runtime.text_cache.store import CacheFolder, text_folder
from coarsen.tuning.processes.child_process import ChildDiedError, ChildProcess, ChildTimedOutError
from coarsen.tuning.processes.device_lock import device_lock
from coarsen.tuning.progress import Deadline, TimeOverError, TuningProgress
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.workload.captured_launch import CapturedLaunch, write_launch
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

SERVICE = "coarsen.tuning.tuning_service"
DECODERS = {Variant: variant_from_json}
# Beside the time of the search: the process has to start and to end.
_GRACE_SECONDS = 30.0
_ERRORS: Mapping[str, type[CoarsenError]] = {
    kind.__name__: kind for kind in (DeviceError, InvalidInputError, TimeOverError, VerificationError)
}


def tune_captured(
    launch: CapturedLaunch,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    deadline: Deadline,
    first: Variant | None = None,
    cache_dir: CacheFolder = False,
) -> Tuned:
    """Find the fastest variant of a captured launch.

    Args:
        launch: what was captured.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        deadline: when it has to be over.
        first: a variant to begin with; an empty local size is the launch's own.
        cache_dir: where the coarsened text of what is found is kept, False for nowhere (`text_folder`).

    Raises:
        DeviceError: the device can't be opened a second time; the time was over before anything was found out.
        VerificationError: the launch does not give the same results twice.
        InvalidInputError: the launch can't be measured apart, or no process can be started for it; its local size
            is left open, which matters to the kernel.
        RefusalError: the kernel can't be coarsened at all.
    """
    check_python()
    texts = text_folder(cache_dir)
    with tuning_folder() as folder, ChildProcess(SERVICE) as child:
        with contextlib.suppress(ChildDiedError):
            # It loads what it needs while the launch is written.
            child.start()
        source = launch.source
        if launch.by_macros is None or not launch.by_macros.is_sequence:
            source = source_of_one_kernel(source, launch.kernel, launch.options, launch.macros)
        file = folder / f"launch{CAPTURED_SUFFIX}"
        write_launch(replace(launch, source=source), file)
        text = {"source": launch.source, "options": list(launch.options), "folder": texts and str(texts)}
        asked = _request(file, launch.byte_count, device, transforms, groups_matter, settings, first)
        return _asked(child, deadline, settings, {**asked, "text": text})


def tune_file(
    file: Path,
    byte_count: int,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    first: Variant | None = None,
) -> Tuned:
    """As `tune_captured`, of a launch that is in a file already.

    Args:
        file: as `write_launch` writes it.
        byte_count: that its buffers and images hold.
        device: where it runs.
        transforms: those that may be used, wide accesses apart.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        first: a variant to begin with; an empty local size is the launch's own.
    """
    check_python()
    deadline = Deadline(settings.seconds)
    with ChildProcess(SERVICE) as child:
        asked = _request(file, byte_count, device, transforms, groups_matter, settings, first)
        return _asked(child, deadline, settings, {**asked, "text": {"folder": None}})


def _request(
    file: Path,
    byte_count: int,
    device: DeviceDescription,
    transforms: Transforms,
    groups_matter: bool,
    settings: Tune,
    first: Variant | None,
) -> dict[str, Any]:
    return {
        "file": str(file),
        "byte_count": byte_count,
        "device": encoded(device),
        "transforms": encoded(transforms),
        "groups_matter": groups_matter,
        "settings": {name: value for name, value in encoded(settings).items() if name != "progress"},
        "tells": settings.progress is not None,
        "first": None if first is None else variant_to_json(first),
    }


def _asked(child: ChildProcess, deadline: Deadline, settings: Tune, request: Mapping[str, Any]) -> Tuned:
    """Return what the process finds. Raises as `tune_captured` does."""
    # By the clock of all processes: it takes a while until the other one runs.
    message: Mapping[str, Any] = {"do": "tune", **request, "begun": time.time() - deadline.spent}
    while True:
        try:
            answer = child.ask(message, deadline.left + _GRACE_SECONDS)
        except ChildTimedOutError:
            raise TimeOverError(
                f"the time was over before the search had ended: give it more than {deadline.seconds:.3g} s"
            ) from None
        except ChildDiedError as error:
            raise DeviceError(f"while it was tuned, {error}") from None
        if "tuned" in answer:
            return decoded(Tuned, answer["tuned"], "what was found", DECODERS)
        if "failed" in answer:
            raise _error(answer)
        if settings.progress is not None:
            settings.progress(decoded(TuningProgress, answer["progress"], "the progress", DECODERS))
        message = {"do": "go_on"}


def _error(answer: Mapping[str, Any]) -> CoarsenError:
    kind, message = answer["failed"], answer["message"]
    if kind == RefusalError.__name__:
        position = answer["position"]
        return RefusalError(
            answer["code"], message, position and decoded(SourcePosition, position, "the position")
        )
    return _ERRORS.get(kind, InternalError)(message)


@contextmanager
def alone_on(device: DeviceDescription, seconds: float) -> Iterator[None]:
    """Keep others from measuring on a device meanwhile.

    Raises DeviceError if one of them still does after some seconds.
    """
    with device_lock(device, seconds) as holder:
        if holder:
            raise DeviceError(f"{holder} measures on {device.name}, and did not end within {seconds:.3g} s")
        yield


def check_python() -> None:
    """Raise InvalidInputError where this process is no Python that can start another, but an application."""
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not ("python" in name or "pypy" in name):
        raise InvalidInputError(
            "this application can't start a Python process, in which variants could be measured"
        )


# Temporary folders of tunings: each is removed with its tuning, or by a later one if its process was killed.
#
# A folder holds a locked file as long as its process lives. The operating system gives a lock back when a process
# dies, so what can be locked is abandoned; a folder without that file is being made, or somebody else's.

PREFIX = "coarsen-tuning-"
LOCK = "lock"


@contextmanager
def tuning_folder() -> Iterator[Path]:
    """Make a folder that is removed afterwards; remove those of killed processes before.

    Raises OSError where none can be made.
    """
    remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        made = folder / "new"
        with made.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # It is locked from the moment when others see it.
            made.rename(folder / LOCK)
            yield folder


def remove_abandoned() -> None:
    """Remove the folders of this user's tunings whose processes have gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    """Raise OSError where a folder is in use, or no tuning's."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(descriptor)
