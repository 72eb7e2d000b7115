"""The surroundings that coarsen needs, looked for one by one.

Each part is imported where it is looked for: the diagnosis must finish even if one import fails.
"""

from __future__ import annotations

import enum
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import CoarsenError

_KERNEL = "kernel void doctor(global float *values) { values[get_global_id(0)] = sqrt(values[0]); }"
_CACHE_MEND = "set XDG_CACHE_HOME to a folder that can be written, or PYOPENCL_NO_CACHE=1"
_LOADER = re.compile(r"\s(/\S*libOpenCL\S*)$", re.MULTILINE)


class Need(enum.StrEnum):
    """The purpose that something is needed for."""

    TO_COARSEN = "coarsening"
    TO_RUN = "running kernels"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for: version, path or what is wrong in `details`, a command in `mend`.

    `state` is the status where it is another than that of what is there, missing or absent.
    """

    what: str
    is_there: bool
    details: str
    mend: str = ""
    need: Need = Need.TO_COARSEN
    state: str = ""

    @property
    def status(self) -> str:
        """`ok`, `missing`, `absent` for what is optional; a driver `loaded`, a device `fails`."""
        if self.state:
            return self.state
        if self.is_there:
            return "ok"
        return "absent" if self.need is Need.OPTIONAL else "missing"


def diagnose() -> Iterator[Finding]:
    """Look for everything; never raises for what isn't there."""
    yield Finding("Python", True, f"{platform.python_version()}, {sys.executable}")
    yield Finding("coarsen", True, f"{_version('coarsen')}, {Path(__file__).parents[1]}")
    yield _guarded("LLVM", "pip install llvmlite", _llvm)
    yield _guarded("clang", "pip install ziglang", _clang)
    yield _guarded("OpenCL C to LLVM IR", "see the lines above", _front_end)
    yield _guarded("PyOpenCL", "pip install pyopencl", _pyopencl, Need.TO_RUN)
    yield _guarded("OpenCL loader", "pip install pyopencl", _loader, Need.TO_RUN)
    yield _guarded("PyOpenCL's cache", _CACHE_MEND, _pyopencl_cache, Need.TO_RUN)
    yield from _drivers()
    yield from _each_device()
    yield _guarded("working device", "pip install 'coarsen[cpu]'", _devices, Need.TO_RUN)
    yield _guarded("PyTorch", "training needs it: pip install 'coarsen[train]'", _torch, Need.OPTIONAL)
    yield _guarded("models", "pip install --force-reinstall coarsen", _models)


def _guarded(what: str, mend: str, find: Callable[[], str], need: Need = Need.TO_COARSEN) -> Finding:
    """The finding of a function that gives details, or raises where the thing is missing or broken."""
    try:
        return Finding(what, True, find(), "", need)
    except (CoarsenError, ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        return Finding(what, False, " ".join(str(error).split()), mend, need)


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise ImportError("not installed") from None


def _llvm() -> str:
    import llvmlite.binding as llvm

    return f"{'.'.join(map(str, llvm.llvm_version_info))}, in llvmlite {_version('llvmlite')}"


def _clang() -> str:
    from coarsen.frontend.clang import find_clang

    clang = find_clang()
    return f"{clang.version() or 'of unknown version'} from {clang.origin}, {' '.join(clang.command)}"


def _front_end() -> str:
    from coarsen.frontend.lower import list_kernels

    return "works" if list_kernels(_KERNEL) == ["doctor"] else "gives no kernel"


def _pyopencl() -> str:
    import pyopencl

    return f"{pyopencl.VERSION_TEXT}, {Path(pyopencl.__file__).parent}"


def _loader() -> str:
    from coarsen.devices.discovery import discover_devices

    discover_devices()
    match = _LOADER.search(Path("/proc/self/maps").read_text(errors="replace"))
    if match is None:
        raise OSError("none loaded")
    return match[1]


def _pyopencl_cache() -> str:
    """Look for the folder where PyOpenCL keeps what it compiles; it starts no kernel without."""
    import platformdirs

    if os.environ.get("PYOPENCL_NO_CACHE"):
        return "off, as PYOPENCL_NO_CACHE says"
    folder = platformdirs.user_cache_path("pyopencl")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError as error:
        raise OSError(
            f"{folder} can't be written ({error.strerror}), and PyOpenCL starts no kernel then"
        ) from None


def _drivers() -> Iterator[Finding]:
    from coarsen.devices.drivers import missing_drivers, prepare_loader

    try:
        setup = prepare_loader()
    except OSError as error:
        yield Finding("OpenCL drivers", False, str(error), "make the temporary folder writable", Need.TO_RUN)
        return
    if setup.user_variable is not None:
        yield Finding("OpenCL drivers", True, f"as {setup.user_variable} says", need=Need.TO_RUN)
    broken = missing_drivers(setup)
    for driver in setup.drivers:
        there = driver not in broken
        details = f"{'' if there else 'did not load, '}from {driver.origin}, {driver.library}"
        state = "loaded" if there else ""
        yield Finding("OpenCL driver", there, details, need=Need.OPTIONAL, state=state)


def _each_device() -> Iterator[Finding]:
    """Run a kernel on each device, as `coarsen devices` does: a driver that loads may still be of no use."""
    try:
        from coarsen.devices.discovery import discover_devices
        from coarsen.devices.health import check_health

        devices = discover_devices()
    except (CoarsenError, ImportError, OSError):
        return  # the row of the working device says it
    for device in devices:
        health = check_health(device)
        details = str(device) if health.works else f"{device}: {health.reason}"
        state = "" if health.works else "fails"
        yield Finding("OpenCL device", health.works, details, need=Need.OPTIONAL, state=state)


def _devices() -> str:
    from coarsen.devices.selection import find_working_device

    return str(find_working_device())


def _torch() -> str:
    return _version("torch")


def _models() -> str:
    from coarsen.models import available_models
    from coarsen.models.launch import NAME, has_launch

    names = [*([NAME] if has_launch() else []), *available_models()]
    if not names:
        raise OSError("none")
    return ", ".join(names)
