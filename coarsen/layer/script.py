"""A program that is to be run: which it is, and whether it is one in Python."""

from __future__ import annotations

import os
import shutil
import tokenize
from pathlib import Path
from typing import NamedTuple

from coarsen.errors import InvalidInputError

# What executables of Linux start with.
ELF = b"\x7fELF"


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

    @property
    def words(self) -> tuple[str, ...]:
        """Return what follows `coarsen run`."""
        return (*(("-m",) if self.is_module else ()), self.name, *self.arguments)

    def program(self) -> Path | None:
        """Return the program's file; None for one in Python. Raises InvalidInputError where there is none."""
        program = None if self.is_module else executable_of(self.name)
        if program is None:
            check_script(self)
        return program


def executable_of(name: str) -> Path | None:
    """Return the program that a name stands for where it is none in Python: a binary, or a script of a shell.

    Args:
        name: a path; where there is no such file, and the name has no folder, a command on PATH, in whatever
            language.
    """
    path = Path(name)
    found = shutil.which(name) if path.name == name and not path.is_file() else None
    if found is not None:
        return Path(found).absolute()
    if not path.is_file() or not os.access(path, os.X_OK):
        return None
    with path.open("rb") as file:
        start = file.readline(256)
    interpreters = [word.rpartition(b"/")[2] for word in start.removeprefix(b"#!").split()]
    is_other_script = start.startswith(b"#!") and not any(each.startswith(b"python") for each in interpreters)
    return path.absolute() if start.startswith(ELF) or is_other_script else None


def check_script(script: Script) -> None:
    """Raise InvalidInputError unless there is such a file, and it is a program; modules aren't looked at."""
    if script.is_module:
        return
    path = Path(script.name)
    if not path.exists():
        raise InvalidInputError(f"{path}: there is no such file")
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
