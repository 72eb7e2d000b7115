"""A run by `coarsen run`: its options, and what is done. It needs none of the command line's packages.

    fields of RunOptions ─▶ options of the command (`run.py`), its help, messages about mistakes
                         ─▶ plain_run ─▶ run_with ─▶ a program with what is on the shelf
                                                  ─▶ recorded (--record), and tuned (--tune)

typer takes as long to load as a program with one kernel takes to start: words without mistakes do without it.
"""

from __future__ import annotations

import importlib.util
import logging
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
    from coarsen.layer.recording import KernelRow
    from coarsen.layer.script import Script
    from coarsen.layer.tuning import TunedRun
    from coarsen.tuning.settings import Tune


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `coarsen run`."""

    program: str = argument("The program: an executable, a command, a script, a folder.", "PROGRAM")
    arguments: list[str] | None = argument(
        "All that comes after the program's name is its own, options too.", "ARGUMENT", default=None
    )
    module: bool = option("PROGRAM is the name of a Python module, as after python -m.", None, "-m", default=False)
    tune: bool = option(
        "Record the program, tune the kernels that its time goes to, and remember what is found.", default=False
    )
    seconds: float | None = option("The most that tuning may take, for all kernels.  [default: 120]", "NUMBER")
    record: str | None = option(
        "Leave the kernels as they are, and write the first launch of each kernel and class of sizes as NAME.npz, "
        "for coarsen tune, bench and predict, and a list of what all launches pass.",
        "FOLDER",
    )
    most_bytes: str | None = option(
        "The most that the buffers and images of recorded launches may hold in all: 500M, 2G; with 0 no launches "
        "are written, only the list.  [default: 1G]",
        "NUMBER",
    )
    report: str | None = option(
        "Say what each kernel gained and what that cost: as JSON into a file; with -, on standard error.", "FILE|-"
    )
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
    if not value or (value.startswith("-") and value != _TABLE):
        raise ValueError(word)
    return declared.name, float(value) if declared.type == "float | None" else value


_TABLE = "-"
_MOST_BYTES = "1G"
_SECONDS = 120.0


def run_with(options: RunOptions) -> int:
    """Run a program. Returns its exit code; does not return where the program takes the place of this process.

    Raises:
        InvalidInputError: options that exclude each other or are out of range; a package is missing; no such
            program.
        KeyboardInterrupt: the program that was to be tuned, or tuning, was interrupted.
    """
    if options.seconds is not None and not options.tune:
        raise InvalidInputError("--seconds says how long to tune: add --tune")
    is_recorded = options.tune or options.record is not None
    if options.most_bytes is not None and not is_recorded:
        raise InvalidInputError("--most-bytes says how much to record: add --record FOLDER or --tune")
    if options.store is not None and is_recorded and not options.tune:
        raise InvalidInputError("--record leaves kernels as they are: leave out --store, or add --tune")
    file = None if options.report in (None, _TABLE) else Path(str(options.report))
    if file is not None:
        check_writable(file)
    # Imported late: help and mistakes do without it.
    from coarsen.layer.script import Script

    script = Script(options.program, tuple(options.arguments or ()), options.module)
    program = script.program()
    if is_recorded:
        return _recorded(options, script, program, file)
    from coarsen.layer.program import become
    from coarsen.layer.unit import shelf_folder

    shelf = shelf_folder(options.store)
    if options.report is None:
        become(script, program, shelf)
    from coarsen.cli.run_report import reported_run

    return reported_run(script, program, shelf, file)


def _recorded(options: RunOptions, script: Script, program: Path | None, file: Path | None) -> int:
    """Run a program with the recorder under its OpenCL loader, tune it if asked, and report."""
    most_bytes = byte_count(options.most_bytes or _MOST_BYTES)
    settings = _settings(options) if options.tune else None
    # Imported late: who records nothing does without them.
    import tempfile

    from coarsen.cli.record_report import print_recording, print_tuned, write_recording
    from coarsen.layer.program import recorded_run

    with tempfile.TemporaryDirectory(prefix="coarsen-recorded-") as place:
        folder = Path(place if options.record is None else options.record).absolute()
        result = recorded_run(script, program, folder, most_bytes)
        is_interrupted = settings is not None and result.is_interrupted
        tuned = None if settings is None or is_interrupted else _tuned(result.recording.rows, settings)
        if options.record is None:
            result = result.without_files()
        if file is not None:
            write_recording(script, result, tuned, file)
        elif tuned is None:
            print_recording(script, result)
        else:
            print_tuned(script, result, tuned)
    if is_interrupted or (tuned is not None and tuned.is_interrupted):
        raise KeyboardInterrupt
    return result.exit_code


def _settings(options: RunOptions) -> Tune:
    if importlib.util.find_spec("pyopencl") is None:
        raise InvalidInputError("variants are measured with PyOpenCL: pip install pyopencl")
    check_packages(extra="tune")
    from coarsen.tuning.settings import Tune

    return Tune(seconds=_SECONDS if options.seconds is None else options.seconds, store=options.store)


def _tuned(rows: Sequence[KernelRow], settings: Tune) -> TunedRun:
    from coarsen.drop_in.live_line import tuning_is_shown
    from coarsen.layer.tuning import tune_rows
    from coarsen.layer.unit import shelf_folder

    return tune_rows(rows, settings, tuning_is_shown, shelf_folder(settings.store))


_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def byte_count(text: str) -> int:
    """Return a number of bytes: `4096`, `500M`, `2G`. Raises InvalidInputError for any other text."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in _UNITS else (text, "")
    if not (number.isascii() and number.isdigit()):
        raise InvalidInputError(f"--most-bytes takes a number of bytes, such as 500M or 2G, not '{text}'")
    return int(number) << _UNITS.get(unit, 0)
