"""A program that runs with a layer under its OpenCL loader: the recorder, or what substitutes its launches.

recorder.c, substitute.c ─▶ clang, lld ─▶ a library, kept in the user's cache ─▶ OPENCL_LAYERS of the program
"""

from __future__ import annotations

import hashlib
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import platformdirs

from coarsen.base.files import replace_file
from coarsen.devices.drivers import linked_libraries, packaged_loader, prepare_loader
from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import INSTALL_HINT, Clang, packaged_clang
from coarsen.layer.script import ELF, Script
from coarsen.layer.unit import SUFFIX

if TYPE_CHECKING:
    from coarsen.layer.recording import Recording

RECORDER, SUBSTITUTE = "recorder.c", "substitute.c"
_CLANG_OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffreestanding", "-c")
_SHELF, _COUNTS = "COARSEN_SHELF", "COARSEN_COUNTS"
LOADER = "libOpenCL.so.1"
# A loader without this word knows no layers.
_LAYERS = b"OPENCL_LAYERS"
_SEPARATOR = ":"  # of its value, and of LD_LIBRARY_PATH's
_INTERPRETER = 3  # of ELF's program headers, the one with the dynamic linker's path
_HEADER_BYTES = 56
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT)
_OF_SIGNALS = 128  # what shells add to a signal's number


class RecordedRun(NamedTuple):
    """How a recorded program ended.

    Attributes:
        exit_code: as a shell has it: 128 and a signal's number where one ended it.
        seconds: that it took.
        recording: what it launched.
        is_interrupted: whether Ctrl-C came meanwhile, whatever the program did about it.
    """

    exit_code: int
    seconds: float
    recording: Recording
    is_interrupted: bool = False

    def without_files(self) -> RecordedRun:
        """Return it for a folder of the recording that is gone."""
        rows = tuple(replace(row, path=None) for row in self.recording.rows)
        return self._replace(recording=self.recording._replace(rows=rows, launch_list=None))


class Ended(NamedTuple):
    """A program's exit code, as a shell has it, and whether Ctrl-C came before it ended."""

    exit_code: int
    is_interrupted: bool


def recorded_run(script: Script, program: Path | None, folder: Path, most_bytes: int) -> RecordedRun:
    """Run a program with the recorder, and write what it launched.

    Args:
        script: the program and its arguments.
        program: its file; None where it is one in Python.
        folder: of the recording; made where it isn't there.
        most_bytes: that the contents of buffers and images may have in all.

    Raises:
        InvalidInputError: the folder can't be made, or has a list that can't be read; the program's loader loads
            no layers; the program can't be started.
    """
    # Imported late: who records nothing does without it.
    from coarsen.layer.recording import check_folder, read_recording

    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A process that the program left behind may still write there.
        logs = tempfile.TemporaryDirectory(prefix=".logs-", dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise InvalidInputError(f"{folder}: can't be written: {error.strerror}") from None
    with logs:
        place = Path(logs.name)
        most_bytes = min(most_bytes, 2**63 - 1)
        (place / "left").write_bytes(struct.pack("<QQ", most_bytes, most_bytes))
        environment = recording_environment(program, place)
        start = time.monotonic()
        ended = run_to_end(_words(script, program), environment, program)
        seconds = time.monotonic() - start
        recording = read_recording(place, folder, captures=most_bytes > 0)
        return RecordedRun(ended.exit_code, seconds, recording, ended.is_interrupted)


def counted_run(script: Script, program: Path | None, shelf: Path, counts: Path) -> tuple[int, float]:
    """Run a program with what is on the shelf, and have its launches counted; return exit code and seconds.

    Args:
        script: the program and its arguments.
        program: its file; None where it is one in Python.
        shelf: the folder of units.
        counts: a folder, in which the layer puts a file for each process.

    Raises:
        InvalidInputError: as `substituting_environment`; the program can't be started.
    """
    environment = substituting_environment(program, shelf)
    environment[_COUNTS] = str(counts / "counts")
    start = time.monotonic()
    ended = run_to_end(_words(script, program), environment, program)
    return ended.exit_code, time.monotonic() - start


def become(script: Script, program: Path | None, shelf: Path) -> NoReturn:
    """Have a program take the place of this process, with what is on the shelf.

    Args:
        script: the program and its arguments.
        program: its file; None where it is one in Python.
        shelf: the folder of units; where there is none in it, the program runs as without.

    Raises:
        InvalidInputError: as `substituting_environment`; the program can't be started.
    """
    environment = substituting_environment(program, shelf)
    words = _words(script, program)
    sys.stdout.flush()
    # What Python ignores, the program would: it doesn't know of it.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program or words[0], words, environment)
    except OSError as error:
        raise _no_start(words, error) from None


def _words(script: Script, program: Path | None) -> tuple[str, ...]:
    return script.words if program else (sys.executable, *script.words)


def _no_start(words: Sequence[str], error: OSError) -> InvalidInputError:
    return InvalidInputError(f"{words[0]} can't be run: {error.strerror}")


def layer_library(source: str, folder: Path) -> Path:
    """Return the shared library of a layer, compiled now where that was not done before.

    Args:
        source: its file here, `RECORDER` or `SUBSTITUTE`.
        folder: takes the library where the user's cache folder can't.

    Raises:
        InvalidInputError: there is no packaged clang, or it fails; no folder can be named in OPENCL_LAYERS.
    """
    main = Path(__file__).with_name(source)
    texts = [main.read_bytes(), *(path.read_bytes() for path in sorted(main.parent.glob("*.h")))]
    clang = packaged_clang()
    if clang is None:
        raise InvalidInputError(f"the layer is compiled by the packaged clang: {INSTALL_HINT}")
    options = (*_CLANG_OPTIONS, *header_options(clang))
    made_of = (*texts, repr((clang.command, options, Path(clang.command[0]).stat().st_mtime_ns)).encode())
    name = f"{main.stem}-{hashlib.sha256(b''.join(made_of)).hexdigest()[:16]}.so"
    kept = platformdirs.user_cache_path("coarsen") / "layers" / name
    is_kept_nameable = _SEPARATOR not in str(kept)
    if is_kept_nameable and _is_own(kept):
        return kept
    if _SEPARATOR in str(folder) and not is_kept_nameable:
        raise InvalidInputError(
            f"{folder}: a folder with {_SEPARATOR!r} in its name can't be given to OpenCL's loader"
        )
    made = folder / name
    unlinked = made.with_suffix(".o")
    for words in (
        (*clang.command, *options, str(main), "-o", str(unlinked)),
        (clang.command[0], "ld.lld", "-shared", "-z", "nodelete", str(unlinked), "-o", str(made)),
    ):
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise InvalidInputError(f"the layer can't be compiled: {done.stderr.strip().partition(chr(10))[0]}")
    if not is_kept_nameable:
        return made
    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(made.read_bytes(), kept)
        kept.chmod(0o700)
    except (OSError, InvalidInputError):
        return made
    return kept if _is_own(kept) else made


def header_options(clang: Clang) -> tuple[str, ...]:
    """Return the options by which the packaged clang finds the headers of C's library, which lie beside it."""
    folder, machine = Path(clang.command[0]).parent / "lib", os.uname().machine.replace("x86_64", "x86")
    names = (f"{machine}-linux-gnu", "generic-glibc", f"{machine}-linux-any", "any-linux-any")
    places = (folder / "include", *(folder / "libc" / "include" / name for name in names))
    # The oldest version that has all functions that the layers call.
    return ("-D__GLIBC_MINOR__=28", *(word for place in places for word in ("-isystem", str(place))))


def _is_own(path: Path) -> bool:
    """Return True for a file that nobody else can have written: programs load it."""
    try:
        states = (path.parent.stat(), path.stat())
    except OSError:
        return False
    return all(each.st_uid == os.geteuid() and not each.st_mode & 0o022 for each in states)


def recording_environment(program: Path | None, folder: Path) -> dict[str, str]:
    """Return the environment in which a program is recorded.

    Args:
        program: an executable; None for a script in Python.
        folder: of the recording's raw files, which are for this process alone.

    Raises:
        InvalidInputError: the program's loader loads no layers; the recorder can't be compiled.
    """
    environment = _environment(layer_library(RECORDER, folder))
    environment["COARSEN_RECORDING"] = str(folder)
    environment.pop(_SHELF, None)  # what is recorded is the program's own
    # What PyOpenCL keeps are binaries, whose source is not known.
    environment["PYOPENCL_NO_CACHE"] = "1"
    if program is not None:
        _give_loader(program, environment, folder)
    return environment


def substituting_environment(program: Path | None, shelf: Path) -> dict[str, str]:
    """Return the environment in which a program runs with what is on the shelf.

    Args:
        program: an executable; None for a script in Python.
        shelf: the folder of units.

    Raises:
        InvalidInputError: the program's loader loads no layers; the layer can't be compiled, or not be kept.
    """
    if not any(shelf.glob(f"*{SUFFIX}")):
        prepare_loader(is_for_program=True)
        return dict(os.environ)
    folder = platformdirs.user_cache_path("coarsen") / "layers"
    with tempfile.TemporaryDirectory() as name:
        library = layer_library(SUBSTITUTE, Path(name))
        if library.is_relative_to(name):
            raise InvalidInputError(f"{folder}: what substitutes launches can't be kept there for the program")
    environment = _environment(library)
    environment[_SHELF] = str(shelf)
    # To ask the dynamic linker takes as long as to start the program: only where there is a loader without layers.
    if program is not None and not all(map(_takes_layers, _by_name(environment))):
        _give_loader(program, environment, folder)
    return environment


def _environment(library: Path) -> dict[str, str]:
    """Return this process's environment, with a layer in it."""
    prepare_loader(is_for_program=True)
    return {**os.environ, "OPENCL_LAYERS": layers_value(os.environ, library)}


def layers_value(environment: Mapping[str, str], library: Path) -> str:
    """Return what OPENCL_LAYERS has to be for another layer, which is listed twice (`layer.h` says why)."""
    return _SEPARATOR.join(filter(None, (environment.get("OPENCL_LAYERS", ""), str(library), str(library))))


def _give_loader(program: Path, environment: dict[str, str], folder: Path) -> None:
    """Put a loader that loads layers before a program's own, where that loads none.

    Args:
        program: an executable.
        environment: of it, which is changed.
        folder: takes a link to the loader.

    Raises:
        InvalidInputError: the program gets its own loader all the same.
    """
    if _takes_layers(loader_of(program, environment)):
        return
    able = next((path for path in _other_loaders() if _takes_layers(path)), None)
    if able is not None:
        place = folder / hashlib.sha256(bytes(able)).hexdigest()[:16]
        place.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            (place / LOADER).symlink_to(able)
        if able == packaged_loader():
            environment.setdefault("PYOPENCL_HOME", str(able.parents[1]))  # without which it crashes
        paths = (str(place), environment.get("LD_LIBRARY_PATH", ""))
        environment["LD_LIBRARY_PATH"] = _SEPARATOR.join(filter(None, paths))
    loader = loader_of(program, environment)
    if not _takes_layers(loader):
        raise InvalidInputError(
            f"{program.name} gets the OpenCL loader {loader}, which loads no layers, so that its kernels can't be "
            "seen; put one that does before it (Debian's ocl-icd-libopencl1, Khronos' loader)"
        )


def loader_of(program: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the OpenCL loader that a program gets, by its own libraries or by name; None if none is known."""
    linker = _dynamic_linker(program)
    if linker is not None:
        listed = subprocess.run(
            [linker, "--list", program],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        for line in listed.stdout.splitlines():
            name, _, rest = line.strip().partition(" => ")
            if name.startswith("libOpenCL") and rest.startswith("/"):
                return Path(rest.partition(" (0x")[0])
    return next(_by_name(environment), None)


def _by_name(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield where the dynamic linker looks for a loader that a program asks for while it runs."""
    folders = environment.get("LD_LIBRARY_PATH", "").split(_SEPARATOR)
    every = (*(Path(folder) / LOADER for folder in folders if folder), *linked_libraries(LOADER))
    yield from (path for path in every if path.exists())


def _other_loaders() -> Iterator[Path]:
    yield from linked_libraries(LOADER)
    packaged = packaged_loader()
    if packaged is not None:
        yield packaged


def _takes_layers(loader: Path | None) -> bool:
    """Return True if a loader knows layers, or there is none to be asked."""
    try:
        return loader is None or _LAYERS in loader.read_bytes()
    except OSError:
        return False


def _dynamic_linker(program: Path) -> str | None:
    """The dynamic linker that an ELF file of 64 bits names; None for what has none, or is no such file."""
    with program.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or not head.startswith(ELF + b"\x02\x01"):
            return None
        (start,), (size, count) = struct.unpack_from("<Q", head, 32), struct.unpack_from("<HH", head, 54)
        if size < _HEADER_BYTES:
            return None
        file.seek(start)
        headers = file.read(size * count)
        for offset in range(0, len(headers) - size + 1, size):
            kind, _, place, _, _, length = struct.unpack_from("<IIQQQQ", headers, offset)
            if kind == _INTERPRETER:
                file.seek(place)
                return os.fsdecode(file.read(length).rstrip(b"\0"))
    return None


def run_to_end(words: Sequence[str], environment: Mapping[str, str], program: Path | None = None) -> Ended:
    """Run a program to its end, with this process's standard streams and the signals that this one is sent.

    Args:
        words: the program's name and arguments, as it gets them.
        environment: all of it.
        program: its file; None where it is the first word.

    Raises:
        InvalidInputError: it can't be started.
    """
    sys.stdout.flush()
    with _signals_forwarded() as forward:
        try:
            process = subprocess.Popen(words, env=environment, executable=program)
        except OSError as error:
            raise _no_start(words, error) from None
        forward.to(process)
        code = process.wait()
    return Ended(_OF_SIGNALS - code if code < 0 else code, forward.is_interrupted)


class _Forwarder:
    """Passes signals on to a program; those that come before it is there, once it is."""

    def __init__(self) -> None:
        self.is_interrupted = False
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def __call__(self, number: int, _frame: object) -> None:
        """Take a signal."""
        self.is_interrupted |= number == signal.SIGINT
        if number == signal.SIGINT and _is_on_terminal():
            return
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Say which program gets them."""
        self._process = process
        for number in self._early:
            process.send_signal(number)


@contextmanager
def _signals_forwarded() -> Iterator[_Forwarder]:
    forward = _Forwarder()
    # What is ignored stays so: a program inherits that (nohup), and no handlers.
    taken = [number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, forward) for number in taken}
    try:
        yield forward
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_on_terminal() -> bool:
    """Return True if Ctrl-C reaches the program, too: the terminal sends it to all that run in its foreground."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
