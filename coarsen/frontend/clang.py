"""Finding a clang that compiles OpenCL C, and running it.

The order: the `COARSEN_CLANG` environment variable, the clang inside the `ziglang` wheel, a clang on PATH whose
version is at most that of llvmlite's LLVM (a newer one may write IR that llvmlite can't read).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    import subprocess

INSTALL_HINT = "pip install ziglang"
# This package's headers of OpenCL C: `opencl-c-base.h`, and the builtin functions that clang doesn't declare.
HEADERS = Path(__file__).parent / "headers"
_TIME_LIMIT_SECONDS = 120


class Clang(NamedTuple):
    """A clang: the words that start it, where it was found, and whether it has its own `opencl-c-base.h`."""

    command: tuple[str, ...]
    origin: str
    has_base_header: bool = False

    @property
    def header_options(self) -> tuple[str, ...]:
        """The options by which it finds this package's `opencl-c-base.h`, where it has none."""
        return () if self.has_base_header else ("-isystem", str(HEADERS))

    def shared_library(self, words: list[str], text: str, folder: Path) -> Path:
        """Compile a text for this machine and link it, into a folder.

        Args:
            words: after the name of clang: the language, the target and what is optimised.
            text: with all that it needs but the C libraries.
            folder: where the library goes, which is returned.

        Raises:
            InvalidInputError: with the first error.
        """
        import subprocess

        unlinked, library = folder / "function.o", folder / "function.so"
        outcome = self.run([*words, "-c", "-o", str(unlinked), "-"], text)
        if outcome.returncode == 0:
            linker = (self.command[0], "ld.lld") if self == packaged_clang() else self.command
            outcome = subprocess.run(
                [*linker, "-shared", str(unlinked), "-o", str(library)],
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
        if outcome.returncode != 0:
            raise InvalidInputError(
                next((line for line in outcome.stderr.splitlines() if "error:" in line), "clang failed")
            )
        return library

    def version(self) -> str:
        """Return its version, such as "22.1.8"; empty if it doesn't say."""
        match = re.search(r"clang version (\d+(?:\.\d+)*)", self.run(["--version"]).stdout)
        return match[1] if match else ""

    def run(self, arguments: list[str], source: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run it; `source` goes to its standard input.

        Raises:
            InvalidInputError: it can't be run, or does not come to an end.
        """
        # Imported late: a program whose text is in the cache starts no clang.
        import subprocess

        try:
            return subprocess.run(
                [*self.command, *arguments],
                input=source,
                stdin=subprocess.DEVNULL if source is None else None,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_TIME_LIMIT_SECONDS,
            )
        except OSError as error:
            raise InvalidInputError(f"{self.command[0]} can't be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            limit = _TIME_LIMIT_SECONDS
            raise InvalidInputError(f"{self.command[0]} did not come to an end within {limit} seconds") from None


def find_clang() -> Clang:
    """Return the clang to use. Raises InvalidInputError, with what to install, if there is none."""
    return _find_clang(os.environ.get("COARSEN_CLANG", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _find_clang(override: str, path: str) -> Clang:
    if override:
        return _named_clang(override)
    return packaged_clang() or _clang_on_path(path)


def packaged_clang() -> Clang | None:
    """Return the clang of the `ziglang` wheel, without starting it; None if it isn't installed."""
    zig = _package_folder("ziglang") / "zig"
    return Clang((str(zig), "clang"), "the ziglang package") if zig.is_file() else None


def _named_clang(override: str) -> Clang:
    try:
        command = tuple(shlex.split(override))
    except ValueError as error:
        raise InvalidInputError(f"COARSEN_CLANG can't be split into words: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise InvalidInputError(f"COARSEN_CLANG names '{override}', which can't be run")
    clang = Clang(command, "COARSEN_CLANG")
    if not clang.version():
        raise InvalidInputError(f"COARSEN_CLANG names '{override}', which is not a clang")
    return clang


def _clang_on_path(path: str) -> Clang:
    # Imported late: LLVM is slow to load, and the packaged clang goes with it whatever its version.
    import llvmlite.binding as llvm

    newest = llvm.llvm_version_info[0]
    for name in ["clang", *(f"clang-{major}" for major in range(newest, 14, -1))]:
        program = shutil.which(name, path=path)
        if program is None:
            continue
        clang = Clang((program,), "PATH", has_base_header=True)
        version = clang.version()
        if version and int(version.split(".")[0]) <= newest:
            return clang
    raise InvalidInputError(f"no clang found that this LLVM ({newest}) can follow; {INSTALL_HINT} brings one")


def _package_folder(package: str) -> Path:
    specification = importlib.util.find_spec(package)
    if specification is None or specification.origin is None:
        return Path(os.devnull)
    return Path(specification.origin).parent
