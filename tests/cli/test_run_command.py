"""`coarsen run`: the program's output and exit code are its own; the table is on standard error."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.cli import running
from coarsen.cli.main import COMMANDS
from coarsen.cli.messages import Settings, logging_to_stderr
from coarsen.cli.run_report import report_lines
from coarsen.cli.running import RunOptions, byte_count, plain_run
from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in import measured_launch
from coarsen.drop_in.launch_table import LaunchRow
from coarsen.drop_in.mode import Otherwise
from coarsen.drop_in.running import RunResult
from coarsen.drop_in.script import Script
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.runtime.toolchain import PredictedFactor
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.database import open_store
from tests.drop_in.scripts import SCALE, compiled, written
from tests.opencl_bench.remembered_choices import CHOICE

Run = Callable[..., Any]
ROW = LaunchRow(
    kernel="advect",
    source="0123456789ab",
    device="Wind 3000",
    platform="Weather",
    size_class="2^10%1024/64",
    global_size=(1024,),
    local_size=(64,),
    other_sizes=1,
    launches=2000,
    is_original=False,
    runs="factor 4 along dimension 0",
    why="tuned just now",
    speedup=Speedup(2.0, 1.9, 2.1),
    nanoseconds=(2e6, 1e6),
)
AS_IT_IS = LaunchRow(
    kernel="clear",
    source="0123456789ab",
    device="Wind 3000",
    platform="Weather",
    size_class="2^10%1024/open",
    global_size=(1024,),
    local_size=None,
    other_sizes=0,
    launches=1,
    is_original=True,
    runs="as it is",
    why="nothing is remembered of such launches",
    speedup=None,
    nanoseconds=None,
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


def lines_of(*rows: LaunchRow, otherwise: Otherwise = Otherwise.TUNE, **changes: Any) -> list[str]:  # noqa: ANN401
    content: dict[str, Any] = {"found": (), **changes}
    result = RunResult(exit_code=0, rows=rows, store="/home/me/store", **content)
    return list(report_lines(Script("program.py", ("-x",)), otherwise, result))


def test_everyday_commands_come_first(run: Run) -> None:
    everyday, research = run("--help").out.split("Everyday commands:\n")[1].split("\nCommands for research:\n")
    assert [line.split()[0] for line in everyday.splitlines() if line][:2] == ["run", "tune"]
    assert "  bench " in research
    research = research.split("\n\n")[0]
    assert [line.split()[0] for line in (everyday + research).splitlines() if line] == list(COMMANDS)


def test_the_table(run: Run, tmp_path: Path, index: str) -> None:
    path = written(tmp_path, SCALE)
    outcome = run("run", path, index, "--tune", "-q")
    assert (outcome.code, outcome.out) == (0, "right\n")
    empty, heading, names, number, scale, other, following = outcome.err.splitlines()
    assert (empty, heading) == ("", "coarsen: 5 launches of 2 kernels")
    assert names.split() == ["kernel", "launches", "global", "size", "local", "size", "ran", "why"]
    assert number.split()[:4] == ["number", "1", "1024", "64"]
    assert scale.split()[:4] == ["scale", "3", "1024", "64"]
    assert other.split()[:4] == ["scale", "1", "512", "64"]
    assert following == f"'coarsen run --tune {path} …' searches for what is fastest, and remembers it"


def test_a_prediction_is_asked_for_and_called_a_guess(
    run: Run, tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.prediction.predict_by_launch_model", lambda *_, **__: PredictedFactor(4, 0))
    path = written(tmp_path, SCALE)
    plain, guessed = run("run", path, index), run("run", "--predict", path, index)
    assert (plain.code, guessed.code) == (0, 0)
    assert plain.err.count("as it is") == 3 and "guess" not in plain.err
    *said, empty, _, _, number, scale, other, _ = guessed.err.splitlines()
    taken = "runs with factor 4 along dimension 0: predicted for the device and the local size: a guess"
    assert [line.partition(", which nobody")[0] for line in said] == [
        f"coarsen: warning: kernel number {taken}",
        f"coarsen: warning: kernel scale {taken}",
    ]
    assert empty == "" and all(line.endswith("  predicted: a guess") for line in (number, scale, other))


def test_the_report_as_json(run: Run, tmp_path: Path, index: str, store: Path) -> None:
    path, file = written(tmp_path, SCALE), tmp_path / "report.json"
    outcome = run("run", "--report", file, path, index)
    assert (outcome.code, outcome.out, outcome.err) == (0, "right\n", "")
    report = json.loads(file.read_text())
    assert (report["format"], report["program"], report["arguments"]) == (1, str(path), [index])
    assert (report["exit_code"], report["store"], report["seconds_saved"]) == (0, str(store), None)
    assert [row["launches"] for row in report["launches"]] == [1, 3, 1]
    assert report["launches"][0]["size_class"] == "2^10%1024/64"


def test_quiet(run: Run, tmp_path: Path, index: str) -> None:
    outcome = run("run", "-q", written(tmp_path, SCALE), index)
    assert (outcome.code, outcome.out, outcome.err) == (0, "right\n", "")


def test_the_traceback_of_a_bug_is_shown_where_it_is_asked_for(
    run: Run, tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_arguments: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(measured_launch, "tune_request", failing)
    path = written(tmp_path, SCALE)
    silent, outspoken = run("run", "--tune", path, index), run("run", "--tune", "--debug", path, index)
    assert (silent.code, silent.out) == (outspoken.code, outspoken.out) == (0, "right\n")
    for outcome in (silent, outspoken):
        assert "this is a bug in coarsen: ZeroDivisionError: a bug" in outcome.err
    assert "Traceback" not in silent.err
    assert "coarsen: debug: an internal error\nTraceback (most recent call last):" in outspoken.err


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


@pytest.mark.parametrize(("ending", "code"), [("raise SystemExit(3)", 3), ("raise KeyError", 1), ("pass", 0)])
def test_the_exit_code_is_the_programs(ending: str, code: int, run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, ending)
    outcome = run("run", path)
    assert outcome.code == code
    assert f"coarsen: {path} launched no kernel of a program that PyOpenCL made from source\n" in outcome.err


def test_an_interrupted_program(run: Run, tmp_path: Path) -> None:
    outcome = run("run", "-q", written(tmp_path, "raise KeyboardInterrupt"))
    assert (outcome.code, outcome.err) == (130, "coarsen: interrupted\n")


def test_a_module_gets_its_own_options(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "import sys; print(sys.argv[1:])", "module_to_run.py")
    monkeypatch.chdir(tmp_path)
    outcome = run("run", "-q", "-m", "module_to_run", "-m", "--tune", "--", "x")
    assert (outcome.code, outcome.out) == (0, "['-m', '--tune', '--', 'x']\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("nothing.py",), "nothing.py: there is no such file"),
        (("python3", "x.py"), "python3: there is no such file; name the program itself: coarsen run program.py"),
        (("folder",), "folder is a folder without a __main__.py"),
        (("kernel.cl",), "kernel.cl is not a Python program: invalid syntax, line 1"),
        (("bytes.py",), "bytes.py is not a Python program"),
        (("zeros.py",), "zeros.py is not a Python program"),
        (
            ("--predict", "--tune", "good.py"),
            "--predict guesses, and measures nothing: leave out --tune",
        ),
        (("--seconds", "3", "good.py"), "--seconds says how long to tune: add --tune"),
        (("--tune", "--seconds", "0", "good.py"), "tuning takes more than 0 seconds, not 0.0"),
        (("/bin/true",), "/bin/true is no program in Python, and only those run coarsened; coarsen run --record"),
        (("--record", "x", "--tune", "good.py"), "--record leaves kernels as they are: leave out --tune"),
        (("--record", "x", "--predict", "good.py"), "--record leaves kernels as they are: leave out --predict"),
        (("--record", "x", "--store", "s", "good.py"), "--record leaves kernels as they are: leave out --store"),
        (("--record", "x", "nothing"), "nothing: there is no such file"),
        (("--record", "bytes.py/x", "good.py"), "{folder}/bytes.py/x: can't be written: Not a directory"),
        (("--most-bytes", "1G", "good.py"), "--most-bytes says how much to record: add --record FOLDER"),
        (("--store", "mysql://host/x", "good.py"), "the store must be in SQLite or PostgreSQL, not in 'mysql'"),
        (("--record", "good.py", "good.py"), "{folder}/good.py is not a folder"),
        (("--report", "folder", "good.py"), "folder: can't be written: it is a folder"),
        (("--report", "none/report.json", "good.py"), "none/report.json: can't be written: there is no folder"),
        (
            ("-m", "no_such_module_at_all"),
            "'no_such_module_at_all' can't be run: No module named no_such_module_at_all",
        ),
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


@pytest.mark.parametrize(("package", "words"), [("pyopencl", ()), ("sqlalchemy", ("--tune",))])
def test_a_missing_package(
    package: str, words: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import util

    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == package else find(name))
    outcome = run("run", *words, written(tmp_path, "pass"))
    assert outcome.code == 2
    assert "pip install" in outcome.error


@pytest.mark.parametrize(("text", "number"), [("4096", 4096), ("500M", 500 << 20), ("2g", 2 << 30), ("0", 0)])
def test_byte_counts(text: str, number: int) -> None:
    assert byte_count(text) == number


@pytest.mark.parametrize("text", ["", "M", "-1", "1.5G", "1GB", "²"])
def test_bad_byte_counts(text: str) -> None:
    with pytest.raises(InvalidInputError, match="a number of bytes"):
        byte_count(text)


def test_where_all_is_settled_nobody_is_told_to_tune() -> None:
    known, unknown = ROW._replace(is_settled=True), AS_IT_IS
    for otherwise in (Otherwise.LEAVE, Otherwise.PREDICT):
        assert not any(
            "--tune" in line for line in lines_of(known, unknown._replace(is_settled=True), otherwise=otherwise)
        )
        assert "coarsen run --tune program.py …" in lines_of(known, unknown, otherwise=otherwise)[-1]
        assert not any("--tune" in line for line in lines_of(otherwise=otherwise)), "nothing was launched"
    assert not any("--tune" in line for line in lines_of(known, unknown))


LOGGING = "import logging\nlogging.basicConfig(level=logging.DEBUG, format='theirs: %(message)s')\n"


def test_a_reason_is_said_once_by_a_program_with_logging_of_its_own(
    run: Run, tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("logging.root.handlers", [])
    monkeypatch.setattr("logging.root.level", logging.root.level)
    monkeypatch.setattr(
        "coarsen.drop_in.measured_launch.tune_request",
        lambda *_: (_ for _ in ()).throw(DeviceError("no such luck")),
    )
    outcome = run("run", "--tune", written(tmp_path, LOGGING + SCALE), index)
    assert outcome.code == 0, outcome.err
    rows = [line for line in outcome.err.splitlines() if "no such luck" in line]
    assert len(rows) == 3 and all(line.startswith(("number", "scale")) for line in rows), outcome.err
    assert "theirs: tuning" not in outcome.err
    assert outcome.err.count("tuning scale for up to 20 s") == 2, "one for each class of sizes"


def test_what_tuning_found() -> None:
    _, heading, names, first, second, measured, total, remembered, export = lines_of(
        ROW, AS_IT_IS, found=(CHOICE,)
    )
    assert heading == "coarsen: 2001 launches of 2 kernels"
    assert names.split("  ")[0] == "kernel"
    cells = [cell for cell in first.split("  ") if cell]
    assert [cell.strip() for cell in cells] == [
        *("advect", "2000", "1024 and 1 other", "64", "factor 4 along dimension 0", "2.00 (1.90 to 2.10)"),
        *("2 ms → 1 ms", "2 s", "tuned just now"),
    ]
    assert second.split() == ["clear", "1", "1024", "-", "as", "it", "is", "-", "-", "-", *AS_IT_IS.why.split()]
    assert measured.startswith("Speed-ups and times are those that tuning measured")
    assert total == "Saved in all, estimated as launches times the difference: 2 s"
    assert remembered == "1 choice of this run will be remembered, in /home/me/store"
    assert "'coarsen results export FILE --remembered'" in export


def test_several_devices_are_told_apart() -> None:
    lines = lines_of(ROW, ROW._replace(platform="Climate"))
    assert "Wind 3000 (Weather)" in lines[3] and "Wind 3000 (Climate)" in lines[4]
    assert not any("Wind" in line for line in lines_of(ROW, ROW))


ALL = (
    "-m",
    "--tune",
    "--seconds",
    "3",
    "--predict",
    "--record=a=b",
    "--most-bytes=1G",
)


@pytest.mark.parametrize(
    "words",
    [
        ("x.py",),
        ("-q", "x.py", "-v", "--", "--tune"),
        ("--verbose", "--debug", "--store", "s.sqlite", "--report=r.json", "-m", "x", "y"),
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


def test_a_run_starts_without_what_only_its_help_needs(tmp_path: Path) -> None:
    said = (
        "import gc, sys; print(*sorted({'typer', 'rich', 'sqlalchemy', 'llvmlite'} & {*sys.modules}), 'end');"
        # Garbage is collected again once everything is loaded, and what was loaded isn't looked at.
        "print(gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    code = "import sys; from coarsen.cli.console_script import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", "-q", str(written(tmp_path, f"{said}; sys.exit(5)"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (5, "end\nTrue True\n", "")
