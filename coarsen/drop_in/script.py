"""A program: which it is; one in Python executed as Python does it: its arguments, its folder, its exit code."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from coarsen.errors import InvalidInputError

# What executables of Linux start with.
ELF = b"\x7fELF"
_LOADERS = ("<frozen runpy>", "<frozen importlib", runpy.__file__, __file__)


class Script(NamedTuple):
    """A program and its arguments.

    Attributes:
        name: its file (or a folder or archive with a `__main__.py`), or the name of a module.
        arguments: the program's own.
        is_module: whether the name is that of a module, as after `python -m`.
    """

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False

    def __str__(self) -> str:
        return f"-m {self.name}" if self.is_module else self.name


def executable_of(name: str) -> Path | None:
    """Return the program that a name stands for where it is none in Python: a binary, or a script of a shell.

    Args:
        name: a path; where there is no such file, and the name has no folder, a command on PATH.
    """
    path = Path(name)
    if not path.exists() and path.name == name:
        path = Path(shutil.which(name) or name)
    if not path.is_file() or not os.access(path, os.X_OK):
        return None
    with path.open("rb") as file:
        start = file.readline(256)
    is_other_script = start.startswith(b"#!") and b"python" not in start
    return path.absolute() if start.startswith(ELF) or is_other_script else None


def check_script(script: Script) -> None:
    """Raise InvalidInputError unless there is such a file, and it is a program; modules aren't looked at."""
    if script.is_module:
        return
    path = Path(script.name)
    if not path.exists():
        hint = "; name the program itself: coarsen run program.py" if path.stem.startswith("python") else ""
        raise InvalidInputError(f"{path}: there is no such file{hint}")
    if path.is_dir():
        if not (path / "__main__.py").is_file():
            raise InvalidInputError(f"{path} is a folder without a __main__.py")
    elif path.suffix not in (".pyc", ".pyz", ".zip"):
        _check_text(path)


def _check_text(path: Path) -> None:
    """Raise InvalidInputError for what isn't Python; errors in what is called .py are Python's to show."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        if path.suffix != ".py":
            compile(text, str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be read: {error.strerror}") from None
    except SyntaxError as error:
        reason = "" if error.lineno is None else f": {error.msg}, line {error.lineno}"
        raise InvalidInputError(f"{path} is not a Python program{reason}") from None
    except (UnicodeDecodeError, ValueError):
        raise InvalidInputError(f"{path} is not a Python program") from None
    if "\0" in text:
        raise InvalidInputError(f"{path} is not a Python program")


def execute(script: Script) -> int:
    """Run a program to its end in this process, and return its exit code.

    An exception that it doesn't catch is shown as Python shows it.

    Raises:
        InvalidInputError: there is no such module, or no program in the folder or archive.
        KeyboardInterrupt: it was interrupted.
    """
    with _as_python_sets_it(script):
        try:
            if script.is_module:
                runpy.run_module(script.name, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script.name, run_name="__main__")
        except SystemExit as ending:
            return _exit_code(ending)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            frames = _frames_of_script(error.__traceback__)
            if frames is None and isinstance(error, ImportError):
                raise InvalidInputError(f"'{script.name}' can't be run: {error}") from None
            sys.excepthook(type(error), error.with_traceback(frames), frames)
            return 1
    return 0


@contextmanager
def _as_python_sets_it(script: Script) -> Iterator[None]:
    arguments, path = sys.argv, list(sys.path)
    sys.argv = [script.name, *script.arguments]
    if not sys.flags.safe_path:
        # Python puts the first entry there; those of `runpy`, for folders and archives, come before.
        first = os.getcwd() if script.is_module else os.path.dirname(os.path.realpath(script.name))  # noqa: PTH109, PTH120
        sys.path[:1] = [first]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, path


def _frames_of_script(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames that lead to the program."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_LOADERS):
        traceback = traceback.tb_next
    return traceback


def _exit_code(ending: SystemExit) -> int:
    """Return the exit code that Python ends with, and say what it says."""
    if ending.code is None:
        return 0
    if isinstance(ending.code, int):
        return ending.code
    sys.stderr.write(f"{ending.code}\n")
    return 1
