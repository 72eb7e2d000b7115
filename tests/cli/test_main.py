"""The command line as a whole: help, common options, errors and exit codes."""

from __future__ import annotations

import enum
import importlib
import inspect
import io
import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import pytest
import typer

from coarsen.cli.main import COMMANDS, load_command, main
from coarsen.cli.variant_options import _OPTIONS, ARRAYS, EVERY
from coarsen.errors import (
    DeviceError,
    InternalError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
)

Run = Callable[..., Any]


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """`raising(error)` has `coarsen devices` raise that error."""

    def arrange(error: BaseException) -> None:
        def command() -> None:
            raise error

        monkeypatch.setattr("coarsen.cli.devices.devices", command)

    return arrange


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns and 24 lines."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((80, 24)))


def check_first_screen(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "╭" not in text


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(words: tuple[str, ...], run: Run) -> None:
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (0, "")
    for name, summary in COMMANDS.items():
        assert f"  {name:<{max(map(len, COMMANDS))}}  {summary}\n" in outcome.out
    check_first_screen(outcome.out)
    assert "130 interrupted" in run("--help-all").out


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command(command: str, run: Run) -> None:
    outcome = run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Usage: coarsen {command} ")
    check_first_screen(outcome.out)
    assert outcome.out.endswith(f"coarsen {command} --help-all shows all of its options and says more.\n")
    everything = run(command, "--help-all").out
    for option in ("-v, --verbose", "-q, --quiet", "--debug", "-h, --help", "Example: coarsen"):
        assert option in everything
    assert max(map(len, everything.splitlines())) <= 80
    shown = [line.split()[0].rstrip(",") for line in outcome.out.splitlines() if line.startswith("  -")]
    assert shown and [option for option in shown if f"  {option}" not in everything] == []


def test_eleven_commands_have_at_most_160_options() -> None:
    common = {"verbose", "quiet", "debug", "help_all"}
    options = [
        parameter
        for name in COMMANDS
        for parameter in load_command(name).params
        if parameter.param_type_name == "option" and parameter.name not in common
    ]
    assert len(COMMANDS) == 11 and len(options) <= 160


def test_a_variants_options_are_those_that_its_fields_declare() -> None:
    known = {"apply": EVERY, "bench": ARRAYS, "tune": ("layout", "order")}
    for command, fields in known.items():
        helps = {each.name: each.help for each in load_command(command).params}
        assert all(helps[name].startswith(_OPTIONS[name].help) for name in fields)
    assert set(EVERY) >= {"factor", "wide_accesses", "distinct", "layout", "pad"}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        *(("apply", "KERNEL.cl"), ("describe", "KERNEL.cl"), ("predict", "KERNEL"), ("tune", "KERNEL")),
        *(("results", "[ACTION] [KEY|FILE]..."), ("bench", "[KERNEL]..."), ("devices", "")),
    ],
)
def test_the_usage_shows_what_is_required_plainly(command: str, arguments: str, run: Run) -> None:
    usage = run(*command.split(), "--help").out.splitlines()[0]
    assert usage == f"Usage: coarsen {command} [OPTIONS] {arguments}".rstrip()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_needs_no_conversion_is_what_it_would_be_converted_to(name: str) -> None:
    """Defaults, texts, and what there is to choose from: they are taken as they are."""
    command = load_command(name)
    context = typer.Context(command)
    declared = inspect.signature(getattr(importlib.import_module(f"coarsen.cli.{name}"), name)).parameters
    for parameter in command.params:
        if parameter.name not in declared:
            continue
        choices = choices_of(declared[parameter.name])
        text = ["a", "b"] if parameter.multiple or parameter.nargs == -1 else "a"
        for value in (parameter.default, text, *choices, *(each.value for each in choices)):
            by_typer = outcome(partial(type(parameter).process_value, parameter, context, value))
            assert outcome(partial(parameter.process_value, context, value)) == by_typer, (parameter.name, value)


def choices_of(declared: inspect.Parameter) -> list[Any]:
    """What an option has to choose from."""
    hint = get_args(declared.annotation)[0]
    kinds: list[Any] = [each for each in (hint, *get_args(hint)) if isinstance(each, enum.EnumType)]
    return [choice for kind in kinds for choice in kind]


def outcome(convert: Callable[[], Any]) -> tuple[type, Any]:
    """What comes of a conversion, and its type: what it returns, or its error. No words are as good as nothing."""
    try:
        value = convert()
    except Exception as error:
        return type(error), str(error)
    return (NoneType, None) if value == () else (type(value), value)


def test_version(run: Run) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"coarsen {version('coarsen')}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("aply",), "no such command 'aply'"),
        (("--nonsense",), "no such option: --nonsense"),
        (("devices", "extra"), "got unexpected extra argument"),
    ],
)
def test_usage_errors_are_one_line_with_a_hint(words: tuple[str, ...], message: str, run: Run) -> None:
    outcome = run(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)
    assert outcome.error.endswith("--help')")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidInputError("bad"), 2, "bad"),
        (RefusalError("pipe", "no pipes", SourcePosition(3, 4, "k.cl")), 3, "k.cl:3:4: no pipes [pipe]"),
        (DeviceError("none"), 4, "none"),
        (VerificationError("wrong"), 5, "wrong"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(
    error: Exception, code: int, message: str, raising: Callable[[BaseException], None], run: Run
) -> None:
    raising(error)
    outcome = run("devices")
    assert (outcome.code, outcome.out, outcome.error) == (code, "", message)


@pytest.mark.parametrize(
    "error", [InternalError("no verse"), ZeroDivisionError("division\nby zero"), KeyError("x")]
)
def test_a_bug_says_so_and_where_its_details_are(
    error: Exception,
    raising: Callable[[BaseException], None],
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    raising(error)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.orig_argv", ["coarsen", "devices", "a name"])
    outcome = run("devices")
    assert (outcome.code, outcome.out) == (1, "")
    said, _, path = outcome.error.partition("; report it with this file: ")
    assert said == f"this is a bug in coarsen: {type(error).__name__}: {' '.join(str(error).split())}"
    assert Path(path).parent == tmp_path
    details = Path(path).read_text()
    assert details.startswith(f"coarsen {version('coarsen')}, Python 3.")
    assert "\ncommand: coarsen devices 'a name'\n\nTraceback (most recent call last):\n" in details
    assert type(error).__name__ in details.splitlines()[-1] + details.splitlines()[-2]


def test_a_bug_is_said_where_no_file_can_be_written(
    raising: Callable[[BaseException], None], run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    raising(ZeroDivisionError("by nothing"))
    assert run("devices").error == (
        "this is a bug in coarsen: ZeroDivisionError: by nothing; rerun it with --debug and report what that shows"
    )


@pytest.mark.parametrize("words", [("--debug", "devices"), ("devices", "--debug")])
@pytest.mark.parametrize("error", [InvalidInputError("bad"), ZeroDivisionError("bad")])
def test_debug_shows_the_traceback(
    words: tuple[str, ...], error: Exception, raising: Callable[[BaseException], None], run: Run
) -> None:
    raising(error)
    outcome = run(*words)
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert outcome.err.splitlines()[-1].startswith("coarsen: error: ")
    assert "rerun" not in outcome.err


def test_an_interrupt(raising: Callable[[BaseException], None], run: Run) -> None:
    raising(KeyboardInterrupt())
    outcome = run("devices")
    assert (outcome.code, outcome.err) == (130, "coarsen: interrupted\n")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), ["warning: w", "error: e"]),
        (("-v",), ["info: i", "warning: w", "error: e"]),
        (("-q",), ["error: e"]),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_log_goes_to_standard_error(
    words: tuple[str, ...], shown: list[str], first: bool, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def command() -> None:
        log = logging.getLogger("coarsen")
        log.debug("d")
        log.info("i")
        log.warning("w")
        log.error("e")

    monkeypatch.setattr("coarsen.cli.devices.devices", command)
    outcome = run(*words, "devices") if first else run("devices", *words)
    assert outcome.err.splitlines() == [f"coarsen: {line}" for line in shown]


def test_the_log_is_left_as_it_was(run: Run, scale: Path) -> None:
    log = logging.getLogger("coarsen")
    before = (log.level, list(log.handlers))
    run("apply", scale, "--factor", 2, "-v")
    assert (log.level, list(log.handlers)) == before


def test_a_reader_that_leaves_is_no_error(
    raising: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    raising(BrokenPipeError())
    errors = io.StringIO()
    with (tmp_path / "standard output").open("w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", errors)
        assert main(["devices"]) == 0
    assert errors.getvalue() == ""
