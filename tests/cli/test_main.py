"""The command line as a whole: help, common options, errors and exit codes."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from coarsen.cli.main import COMMANDS, main
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


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(words: tuple[str, ...], run: Run) -> None:
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (0, "")
    for name, summary in COMMANDS.items():
        assert f"  {name:<{max(map(len, COMMANDS))}}  {summary}\n" in outcome.out
    assert "130 interrupted" in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command(command: str, run: Run) -> None:
    outcome = run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"Usage: coarsen {command} ")
    for option in ("-v, --verbose", "-q, --quiet", "--debug", "-h, --help"):
        assert option in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 100
    assert "╭" not in outcome.out


@pytest.mark.parametrize(
    ("command", "options"),
    {
        "apply": (
            *(
                "-k, --kernel NAME",
                "--factor FACTOR",
                "--dim DIMENSION",
                "--stride STRIDE",
                "-d, --device NAME",
            ),
            *("--emit <cl|ll|spv|ptx>", "-o, --output FILE", "--explain", "-D, --define NAME[=VALUE]"),
            *("-I, --include FOLDER", "--cl-std STANDARD", "--build-option OPTION", "--print-after STAGE"),
            "--time-passes",
        ),
        "predict": (
            *("-d, --device NAME", "--dim DIMENSION", "--local-size SIZE", "--measure NUMBER", "--preset NAME"),
            *("--store URL|FILE", "-m, --model <launch|cascade>", "--models FOLDER"),
            *("--risk <cautious|neutral|bold>", "--global-size SIZE", "--no-measure", "-f, --format <table|json>"),
        ),
        "features": ("--factors FACTOR,...", "--dim DIMENSION", "-f, --format <table|json>"),
        "train": (
            *("-d, --device NAME", "-m, --model <launch|cascade>", "--data FILE"),
            *("--kernels FOLDER", "-o, --output FOLDER", "--seed NUMBER"),
        ),
        "bench": (
            *("-d, --device NAME", "--preset NAME", "--seed NUMBER", "--factors N,...", "--strides N,..."),
            *("--dims N,...", "--local-sizes SIZE,...", "-D, --define NAME=VALUE,...", "--form <opencl_c|spirv>"),
            *("--repetitions NUMBER", "--quick", "--cold-cache", "--timeout-multiple NUMBER", "--store URL|FILE"),
            *("--again <nothing|failed|uncertain|everything>", "--scheduler ADDRESS", "-o, --output FILE"),
            *("--tls-ca-file FILE", "--tls-cert FILE", "--tls-key FILE", "--trust-network"),
            *("-f, --format <table|json>", "coarsen bench init", "coarsen bench pack"),
        ),
        "devices": ("--no-check", "-f, --format <table|json>"),
        "doctor": ("-f, --format <table|json>",),
    }.items(),
)
def test_the_options_of_each_command(command: str, options: tuple[str, ...], run: Run) -> None:
    text = run(command, "--help").out
    assert [option for option in options if option not in text] == []


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        *(("apply", "KERNEL.cl"), ("features", "KERNEL.cl"), ("bench init", "KERNEL.cl"), ("predict", "KERNEL")),
        *(("results show", "KEY"), ("results import", "FILE..."), ("results merge", "OTHER-STORE")),
        *(("remembered show", "KEY"), ("remembered forget", "[KEY]..."), ("remembered import", "FILE...")),
        *(("bench", "[KERNEL]..."), ("explore", "[FIGURE]"), ("devices", "")),
    ],
)
def test_the_usage_shows_what_is_required_plainly(command: str, arguments: str, run: Run) -> None:
    usage = run(*command.split(), "--help").out.splitlines()[0]
    assert usage == f"Usage: coarsen {command} [OPTIONS] {arguments}".rstrip()


def test_version(run: Run) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"coarsen {version('coarsen')}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("aply",), "no such command 'aply'"),
        (("search", "replay"), "there is no 'search' any more: it compared search strategies"),
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

    monkeypatch.setattr("coarsen.cli.doctor.doctor", command)
    outcome = run(*words, "doctor") if first else run("doctor", *words)
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
