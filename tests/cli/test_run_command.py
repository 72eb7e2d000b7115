"""`coarsen run`: which words are taken, what is said about mistakes, and the reports."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.cli import running
from coarsen.cli.main import COMMANDS
from coarsen.cli.messages import Settings, logging_to_stderr
from coarsen.cli.record_report import tuned_lines
from coarsen.cli.run_report import gain_lines, gains_as_data, read_counts
from coarsen.cli.running import RunOptions, byte_count, plain_run
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.layer.program import RecordedRun
from coarsen.layer.recording import KernelRow, Recording
from coarsen.layer.script import Script
from coarsen.layer.tuning import Finding, TunedRun, seconds_of
from coarsen.layer.unit import SUFFIX, Row, UnitKey, write_unit
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.database import open_store
from tests.drop_in.scripts import SCALE, compiled, written
from tests.opencl_bench.remembered_choices import CHOICE

Run = Callable[..., Any]
COMMAND = (
    sys.executable,
    "-c",
    "import sys; from coarsen.cli.console_script import main; sys.exit(main())",
    "run",
)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that the environment names; not there yet."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("COARSEN_STORE", str(path))
    return path


@pytest.fixture
def index(working_devices: tuple[DeviceDescription, ...]) -> str:
    return compiled(working_devices).index


def started(*words: object) -> subprocess.CompletedProcess[str]:
    """Start it in a process of its own, whose place the program takes."""
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, check=False)


def test_everyday_commands_come_first(run: Run) -> None:
    everyday, research = run("--help").out.split("Everyday commands:\n")[1].split("\nCommands for research:\n")
    assert [line.split()[0] for line in everyday.splitlines() if line][:2] == ["run", "tune"]
    assert "  bench " in research
    research = research.split("\n\n")[0]
    assert [line.split()[0] for line in (everyday + research).splitlines() if line] == list(COMMANDS)


def test_a_recorded_launch_is_measured(run: Run, tmp_path: Path, index: str, store: Path) -> None:
    folder = tmp_path / "recorded"
    outcome = run("run", "--record", folder, written(tmp_path, SCALE), index)
    recorded = {line.split()[2] for line in outcome.err.splitlines() if line.startswith("  coarsen tune ")}
    assert recorded and recorded <= {f"{folder}/{name}.npz" for name in ("number-1024", "scale-1024", "scale-512")}
    words = (
        "--quick",
        "--no-confirmation",
        "--space",
        "factor=2",
        "--space",
        "dim=0",
        "--space",
        "stride=1",
        "-d",
        index,
    )
    measured = run("bench", folder / "scale-1024.npz", *words, "-f", "json")
    assert measured.code == 0, measured.err
    with open_store(str(store)) as opened:
        rows = opened.measurements()
        assert {row.invalidity for row in rows} == {Invalidity.CORRECT}


def test_the_report_of_a_recording_as_json(run: Run, tmp_path: Path) -> None:
    folder, file = tmp_path / "recorded", tmp_path / "report.json"
    outcome = run("run", "--record", folder, "--report", file, "true", "--tune")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    report = json.loads(file.read_text())
    assert (report["format"], report["program"], report["arguments"]) == (1, "true", ["--tune"])
    assert (report["exit_code"], report["saw_opencl"], report["launches"]) == (0, False, [])
    assert (report["launch_list"], list(folder.iterdir())) == (None, [])


def test_a_program_takes_the_place_of_the_command(tmp_path: Path) -> None:
    said = "import os, sys; print(sys.argv[1:], os.getppid()); sys.stdout.flush(); os.kill(os.getpid(), 15)"
    done = started(written(tmp_path, said), "-m", "--tune", "--", "x")
    # Its parent is the one that started the command, and a signal ends it as without.
    assert (done.returncode, done.stdout) == (-15, f"['-m', '--tune', '--', 'x'] {os.getpid()}\n")
    assert done.stderr == ""
    assert started("-q", "sh", "-c", "kill -PIPE $$").returncode == -13


def test_a_module_gets_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "import sys; print(sys.argv[1:])", "module_to_run.py")
    monkeypatch.chdir(tmp_path)
    done = started("-q", "-m", "module_to_run", "-m", "--tune")
    assert (done.returncode, done.stdout) == (0, "['-m', '--tune']\n")


def test_a_run_starts_without_what_only_others_need() -> None:
    code = (
        "import os, sys; os.execve = lambda *_: sys.exit(' '.join(sorted({*sys.modules} & {'typer', 'rich', "
        "'numpy', 'pyopencl', 'sqlalchemy', 'llvmlite', 'sqlite3'})) or 9); "
        "from coarsen.cli.console_script import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, "run", "true"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (9, "")


GAINING = Row("advect", "", b"binary", 2, (64,), (16,), (1024,), (2047,), (64,), (1024,), (4,), saved=1_000_000)


def test_what_a_program_gained(tmp_path: Path) -> None:
    write_unit(tmp_path, UnitKey(b"source", b"", b"device"), [GAINING])
    (unit,) = (int(path.stem, 16) for path in tmp_path.glob(f"*{SUFFIX}"))
    records = [(0, 0, 0, 2_000_000), (unit, 0, 0, 2000), (unit, 1 << 31, 0, 10), (unit, 7, 0, 1), (1, 0, 0, 1)]
    counts = tmp_path / "counts-1"
    counts.write_bytes(b"".join(struct.pack("<QIIQ", *record) for record in (*records, (0, 0, 0, 0))))
    result = read_counts(0, 10.0, tmp_path, [counts])
    _, heading, names, row, _, cost, whole = gain_lines(Script("./advection"), result)
    assert heading == "coarsen: 2010 launches of 1 kernel of which something is remembered"
    assert names.split() == ["kernel", "launches", "coarsened", "saved"]
    assert row.split() == ["advect", "2010", "2000", "2", "s"]
    assert cost == "the layer took 2 ms to start and at most 1 ms for these launches"
    assert whole == "gained as a whole: 2 s; this run took 10 s"
    data = gains_as_data(Script("./advection"), result)
    assert (data["nanoseconds_gained"], data["kernels"][0]["coarsened"]) == (1_996_999_000, 2000)


def test_a_report_of_a_program_of_which_nothing_is_remembered(run: Run, tmp_path: Path) -> None:
    outcome = run("run", "--report", "-", "sh", "-c", "exit 3")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == "\ncoarsen: sh ran as without coarsen; coarsen run --tune finds out what is faster\n"
    file = tmp_path / "report.json"
    assert run("run", "-q", "--report", file, "sh", "-c", "exit 3").code == 3
    assert json.loads(file.read_text())["kernels"] == []


ADVECT = KernelRow("advect", "Wind 3000", "Weather", "2^10%1024/64", (1024,), (64,), 1, 2000, 3e9)


def test_what_tuning_found() -> None:
    clear = Finding(ADVECT, 0.02, None, reason="below 2 % of the time")
    findings = [Finding(ADVECT, 0.75, CHOICE, is_new=True, shelved="factor 4"), clear]
    result = RecordedRun(0, 5.0, Recording((ADVECT,), ("a note",), None, saw_opencl=True))
    _, _, names, first, second, note, kernels, command = tuned_lines(
        Script("./wind", ("-n", "a b")), result, TunedRun(findings)
    )
    assert names.split() == ["kernel", "share", "launches", "global", "size", "found", "speed-up"]
    assert first.split() == [*("advect", "75%", "2000", "1024", "and", "1", "other", "factor", "4", "2.50")]
    assert "as it is: below 2 % of the time" in second
    assert (note, command) == ("a note", "  coarsen run ./wind -n 'a b'")
    assert kernels == "the kernels take about 55% of their time from now on; run it faster:"
    nothing = tuned_lines(Script("./wind"), result, TunedRun([clear]))
    assert [*nothing][-1].startswith("nothing that was tried is faster")


@pytest.mark.parametrize(
    ("shares", "left", "seconds"),
    [([0.5, 0.25], 90.0, 60.0), ([0.3], 70.0, 70.0), ([0.5, 0.4, 0.01], 6.0, 5.0), ([0.5, 0.5], 3.0, 3.0)],
)
def test_a_kernel_gets_its_part_of_the_seconds(shares: list[float], left: float, seconds: float) -> None:
    assert seconds_of(shares, left) == seconds


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("nothing.py",), "nothing.py: there is no such file"),
        (("folder",), "folder is a folder without a __main__.py"),
        (("kernel.cl",), "kernel.cl is not a Python program: invalid syntax, line 1"),
        (("bytes.py",), "bytes.py is not a Python program"),
        (("zeros.py",), "zeros.py is not a Python program"),
        (("--seconds", "3", "good.py"), "--seconds says how long to tune: add --tune"),
        (("--tune", "--seconds", "0", "good.py"), "tuning takes more than 0 seconds, not 0.0"),
        (("--predict", "good.py"), "no such option: --predict"),
        (("--record", "x", "--store", "s", "good.py"), "--record leaves kernels as they are: leave out --store"),
        (("--record", "x", "nothing"), "nothing: there is no such file"),
        (("--record", "bytes.py/x", "good.py"), "{folder}/bytes.py/x: can't be written: Not a directory"),
        (("--most-bytes", "1G", "good.py"), "--most-bytes says how much to record: add --record FOLDER"),
        (("--record", "good.py", "good.py"), "{folder}/good.py is not a folder"),
        (("--report", "folder", "good.py"), "folder: can't be written: it is a folder"),
        (("--report", "none/report.json", "good.py"), "none/report.json: can't be written: there is no folder"),
        ((), "missing argument 'PROGRAM' (try 'coarsen run --help')"),
    ],
)
def test_bad_input(
    words: tuple[str, ...], error: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    written(tmp_path, "kernel void k(global int *a) {}\n", "kernel.cl")
    written(tmp_path, "raise RuntimeError('it ran')", "good.py")
    (tmp_path / "bytes.py").write_bytes(bytes(range(128, 256)))
    (tmp_path / "zeros.py").write_bytes(b"a = 1\n\0")
    monkeypatch.chdir(tmp_path)
    outcome = run("run", *words)
    assert outcome.code == 2
    assert outcome.error.startswith(error.replace("{folder}", str(tmp_path)))


@pytest.mark.parametrize(("text", "number"), [("4096", 4096), ("500M", 500 << 20), ("2g", 2 << 30), ("0", 0)])
def test_byte_counts(text: str, number: int) -> None:
    assert byte_count(text) == number


@pytest.mark.parametrize("text", ["", "M", "-1", "1.5G", "1GB", "²"])
def test_bad_byte_counts(text: str) -> None:
    with pytest.raises(InvalidInputError, match="a number of bytes"):
        byte_count(text)


ALL = (
    "-m",
    "--tune",
    "--seconds",
    "3",
    "--record=a=b",
    "--most-bytes=1G",
)


@pytest.mark.parametrize(
    "words",
    [
        ("x.py",),
        ("-q", "x.py", "-v", "--", "--tune"),
        ("--verbose", "--debug", "--store", "s.sqlite", "--report", "-", "-m", "x", "y"),
        (*ALL, "x.py"),
    ],
)
def test_plain_words_mean_what_typer_reads(
    words: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RunOptions] = []

    def run_with(options: RunOptions) -> int:
        asked.append(options)
        return 7

    monkeypatch.setattr(running, "run_with", run_with)
    monkeypatch.setattr("coarsen.cli.run.run_with", running.run_with)
    settings = Settings()
    # It sets the level of messages, which is as before afterwards.
    with logging_to_stderr():
        plain = plain_run(words, settings)
    assert plain is not None and plain() == 7
    assert run("run", *words).code == 7
    assert asked[0] == asked[1]
    assert settings.debug == ("--debug" in words)


@pytest.mark.parametrize(
    "words",
    [
        *(
            (),
            ("-h",),
            ("--help", "x.py"),
            ("--help-all",),
            ("--nonsense", "x.py"),
            ("--tune=yes", "x.py"),
            ("-",),
        ),
        *(("--seconds", "many", "x.py"), ("--seconds",), ("--store", "--tune", "x.py"), ("--", "x.py"), ("-mx",)),
    ],
)
def test_typer_reads_what_may_be_a_mistake(words: tuple[str, ...]) -> None:
    assert plain_run(words, Settings()) is None
