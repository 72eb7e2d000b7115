"""A run by `coarsen run`: its options, and what is done. It needs none of the command line's packages.

    fields of RunOptions ─▶ options of the command (`run.py`), its help, messages about mistakes
                         ─▶ plain_run ─▶ run_with ─▶ a script in Python, with its kernels coarsened
                                                  ─▶ any program, recorded (--record)

typer takes as long to load as a program with one kernel takes to start: words without mistakes do without it.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coarsen.cli.declared import argument, flags_of, option
from coarsen.cli.messages import Settings, set_level
from coarsen.cli.output import check_writable
from coarsen.cli.stores import check_packages, store_option
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.drop_in.mode import Otherwise
    from coarsen.tuning.settings import Tune


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `coarsen run`."""

    program: str = argument("The program's file or folder; with --record also any executable.", "PROGRAM")
    arguments: list[str] | None = argument(
        "All that comes after the program's name is its own, options too.", "ARGUMENT", default=None
    )
    module: bool = option("PROGRAM is the name of a module, as after python -m.", None, "-m", default=False)
    tune: bool = option(
        "Tune launches that have no remembered variant, and remember what is found.", default=False
    )
    seconds: float | None = option(
        "The most that tuning one kernel at one class of sizes may take.  [default: 20]", "NUMBER"
    )
    predict: bool = option(
        "Use a predicted factor, which nobody measured, for launches that have no remembered variant.",
        default=False,
    )
    record: str | None = option(
        "Leave the kernels as they are, and write the first launch of each kernel and class of sizes as NAME.npz, "
        "for coarsen tune, bench and predict, and a list of what all launches pass, for coarsen tune KERNEL.toml "
        "--inputs-from FOLDER.",
        "FOLDER",
    )
    most_bytes: str | None = option(
        "The most that the buffers and images of recorded launches may hold in all: 500M, 2G; with 0 no launches "
        "are written, only the list.  [default: 1G]",
        "NUMBER",
    )
    report: str | None = option("Write the table there as JSON, not on standard error.", "FILE")
    store: str | None = store_option()


_FLAGS = {
    flag: each for each in fields(RunOptions) if "is_argument" not in each.metadata for flag in flags_of(each)
}
_COMMON: Mapping[str, Callable[[Settings], None]] = MappingProxyType(
    {
        **dict.fromkeys(("-v", "--verbose"), lambda _: set_level(logging.INFO)),
        **dict.fromkeys(("-q", "--quiet"), lambda _: set_level(logging.ERROR)),
        "--debug": Settings.show_tracebacks,
    }
)


def plain_run(words: Sequence[str], settings: Settings) -> Callable[[], int] | None:
    """Return what runs the program that words ask for; None for words that typer is to read: help, and mistakes.

    Args:
        words: those after `run`.
        settings: changed by the common options among them.
    """
    left = iter(words)
    chosen: dict[str, Any] = {}
    common: list[Callable[[Settings], None]] = []
    for word in left:
        if not word.startswith("-"):
            options = RunOptions(program=word, arguments=[*left] or None, **chosen)
            return partial(_run_with, common, settings, options)
        if word in _COMMON:
            common.append(_COMMON[word])
            continue
        try:
            name, value = _read(word, left)
        except (KeyError, ValueError, StopIteration):
            return None
        chosen[name] = value
    return None


def _run_with(common: Sequence[Callable[[Settings], None]], settings: Settings, options: RunOptions) -> int:
    for act in common:
        act(settings)
    return run_with(options)


def _read(word: str, following: Iterator[str]) -> tuple[str, bool | float | str]:
    """The field and value of an option. Raises KeyError, ValueError or StopIteration for what may be a mistake."""
    flag, equals, value = word.partition("=")
    declared = _FLAGS[flag]
    if declared.type == "bool":
        if equals:
            raise ValueError(word)
        return declared.name, True
    value = value if equals else next(following)
    if not value or value.startswith("-"):
        raise ValueError(word)
    return declared.name, float(value) if declared.type == "float | None" else value


def run_with(options: RunOptions) -> int:
    """Run a program, and report what was launched. Returns the program's exit code.

    Raises:
        InvalidInputError: options that exclude each other or are out of range; a package is missing; no such
            program.
        KeyboardInterrupt: the program was interrupted.
    """
    if options.report is not None:
        check_writable(Path(options.report))
    # The program may go to another folder.
    file = None if options.report is None else Path(options.report).absolute()
    if options.record is not None:
        return _recorded(options, options.record, file)
    if options.most_bytes is not None:
        raise InvalidInputError("--most-bytes says how much to record: add --record FOLDER")
    otherwise = mode_of(options.tune, options.seconds, options.store, options.predict)
    settings = settings_of(options.seconds, options.store)
    # Imported late: they load PyOpenCL.
    from coarsen.cli.run_report import print_report, write_report
    from coarsen.drop_in.running import run_program
    from coarsen.drop_in.script import Script, executable_of

    if not options.module and not options.program.startswith("python") and executable_of(options.program):
        raise InvalidInputError(
            f"{options.program} is no program in Python, and only those run coarsened; "
            "coarsen run --record FOLDER records any program"
        )
    script = Script(options.program, tuple(options.arguments or ()), options.module)
    process = os.getpid()
    if not gc.isenabled():
        # What is loaded stays: the program's own collections pass it over.
        gc.freeze()
        gc.enable()
    result = run_program(script, otherwise, settings)
    if os.getpid() == process:
        # A process that the program forked may come here too.
        if file is None:
            print_report(script, otherwise, result)
        else:
            write_report(script, result, file)
    if result.is_interrupted:
        raise KeyboardInterrupt
    return result.exit_code


_MOST_BYTES = "1G"


def _recorded(options: RunOptions, record: str, file: Path | None) -> int:
    """Run any program with the recorder under its OpenCL loader, and report. Returns the program's exit code."""
    given = {
        "--tune": options.tune,
        "--predict": options.predict,
        "--seconds": options.seconds,
        "--store": options.store,
    }
    if unwanted := next((name for name, is_given in given.items() if is_given), None):
        raise InvalidInputError(
            f"--record leaves kernels as they are: leave out {unwanted}, tune what was recorded"
        )
    # Imported late: who records nothing does without them.
    from coarsen.cli.record_report import print_recording, write_recording
    from coarsen.drop_in.script import Script, check_script, executable_of
    from coarsen.layer.program import recorded_run

    script = Script(options.program, tuple(options.arguments or ()), options.module)
    program = None if script.is_module else executable_of(script.name)
    if program is None:
        check_script(script)
    result = recorded_run(script, program, Path(record).absolute(), byte_count(options.most_bytes or _MOST_BYTES))
    if file is None:
        print_recording(script, result)
    else:
        write_recording(script, result, file)
    return result.exit_code


_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def mode_of(tune: bool, seconds: float | None, store: str | None, predict: bool = False) -> Otherwise:
    """Return what is done with launches that have no remembered variant.

    Raises:
        InvalidInputError: options that exclude each other; a package that tuning needs is missing.
    """
    if predict and tune:
        raise InvalidInputError("--predict guesses, and measures nothing: leave out --tune")
    if seconds is not None and not tune:
        raise InvalidInputError("--seconds says how long to tune: add --tune")
    if importlib.util.find_spec("pyopencl") is None:
        raise InvalidInputError("programs are run with PyOpenCL: pip install pyopencl")
    # Imported late: these load PyOpenCL.
    from coarsen.drop_in.mode import Otherwise
    from coarsen.tuning.store.place import chosen_store, sqlite_file

    if tune or sqlite_file(chosen_store(store)) is None:
        check_packages()

    if tune:
        return Otherwise.TUNE
    return Otherwise.PREDICT if predict else Otherwise.LEAVE


def settings_of(seconds: float | None, store: str | None) -> Tune:
    """Return the settings of tuning. Raises InvalidInputError for a number of seconds that is not above 0."""
    from coarsen.tuning.settings import Tune

    return Tune(store=store) if seconds is None else Tune(seconds=seconds, store=store)


def byte_count(text: str) -> int:
    """Return a number of bytes: `4096`, `500M`, `2G`. Raises InvalidInputError for any other text."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in _UNITS else (text, "")
    if not (number.isascii() and number.isdigit()):
        raise InvalidInputError(f"--most-bytes takes a number of bytes, such as 500M or 2G, not '{text}'")
    return int(number) << _UNITS.get(unit, 0)
