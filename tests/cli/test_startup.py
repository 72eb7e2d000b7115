"""Fresh processes: what they load, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coarsen.opencl_bench.workloads.lookup import SUITE

HEAVY = ("torch", "pandas", "matplotlib", "scipy", "sklearn")
COMPILERS = ("llvmlite", "networkx", "numpy", "pyopencl", "rich.console", "safetensors")
# What newer versions of typer convert values by, what lays texts out on a terminal, what reads what is installed.
NOT_FOR_PLAIN_OUTPUT = ("pydantic", "rich.console", "importlib.metadata")

LOADED = """
import json, sys
{run}
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
MAIN = "from coarsen.cli.main import main; assert main({words!r}) == {code}"


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh process has loaded after running `code`."""
    script = LOADED.format(run=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def coarsen_process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh process that does what the console script does."""
    command = [sys.executable, "-c", "import sys; from coarsen.cli.main import main; sys.exit(main())"]
    return subprocess.run(
        [*command, *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )


def test_importing_the_package_is_light() -> None:
    assert loaded_by("import coarsen").isdisjoint((*HEAVY, *COMPILERS, "typer"))


def test_the_loader_is_prepared_by_the_discovery_of_devices() -> None:
    code = "import coarsen, pyopencl; coarsen.discover_devices(); print(pyopencl.get_platforms())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Intel" in done.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--help"], 0), (["bench", "--help"], 0), (["--version"], 0), (["nonsense"], 2)],
)
def test_help_is_light(words: list[str], code: int) -> None:
    assert loaded_by(MAIN.format(words=words, code=code)).isdisjoint((*HEAVY, *COMPILERS))


def test_the_help_of_predictions_loads_no_model() -> None:
    loaded = loaded_by(MAIN.format(words=["predict", "--help"], code=0))
    assert loaded.isdisjoint((*HEAVY, *NOT_FOR_PLAIN_OUTPUT, "numpy", "safetensors", "pyopencl"))


@pytest.mark.parametrize("known", ["intel", "tahiti"])
@pytest.mark.parametrize("further", [[], ["-f", "json"], ["-D", "WIDTH=4", "--risk", "cautious"]])
def test_prediction_is_light(known: str, further: list[str]) -> None:
    words = ["predict", str(SUITE["sgemm"].kernel_file), "--device", known, *further]
    loaded = loaded_by(MAIN.format(words=words, code=0))
    assert "numpy" in loaded
    assert loaded.isdisjoint((*HEAVY, *NOT_FOR_PLAIN_OUTPUT, "pyopencl", "sqlalchemy"))
    assert "coarsen.opencl_bench.workloads.lookup" not in loaded


def test_coarsening_needs_no_models() -> None:
    kernel = str(SUITE["sgemm"].kernel_file)
    loaded = loaded_by(MAIN.format(words=["apply", kernel, "--factor", "2"], code=0))
    assert loaded.isdisjoint((*HEAVY, "pyopencl", "coarsen.models", "safetensors"))


def test_exit_codes_reach_the_shell(scale: Path, tmp_path: Path) -> None:
    assert coarsen_process("apply", scale, "--features").returncode == 0
    assert coarsen_process("apply", tmp_path / "nowhere.cl", "--features").returncode == 2
    assert coarsen_process("predict", scale, "--device", "gameboy").returncode == 4


def test_a_machine_without_devices(tmp_path: Path) -> None:
    nothing = str(tmp_path / "nothing")
    listed = coarsen_process("devices", OCL_ICD_VENDORS=nothing)
    assert listed.returncode == 4
    assert "tahiti" in listed.stdout
    assert listed.stderr == (
        "coarsen: error: there is no OpenCL device on this machine; "
        "pip install 'coarsen[cpu]' adds one that runs on any x86-64 CPU\n"
    )
    checked = coarsen_process("devices", "--check", "-f", "json", OCL_ICD_VENDORS=nothing)
    assert checked.returncode == 4
    missing = [finding for finding in json.loads(checked.stdout) if finding["status"] == "missing"]
    assert [finding["what"] for finding in missing] == ["working device"]
    assert missing[0]["mend"] == "pip install 'coarsen[cpu]'"


def test_an_unknown_device_on_a_machine_without_devices(scale: Path, tmp_path: Path) -> None:
    done = coarsen_process("predict", scale, "--device", "0:0", OCL_ICD_VENDORS=str(tmp_path / "nothing"))
    assert done.returncode == 4
    assert done.stderr.startswith("coarsen: error: '0:0' is neither a known device nor an OpenCL device of this")


def test_a_closed_pipe_is_quiet(scale: Path) -> None:
    code = "import sys; from coarsen.cli.main import main; sys.exit(main())"
    command = f"'{sys.executable}' -c '{code}' apply '{scale}' --features -f json | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_an_interrupted_process(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"""
import pathlib, sys, time
import coarsen.cli.devices
def command():
    pathlib.Path({str(started)!r}).touch()
    time.sleep(60)
coarsen.cli.devices.devices = command
from coarsen.cli.main import main
sys.exit(main(["devices"]))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "coarsen: interrupted\n")


@pytest.mark.parametrize("words", ["--help", "devices --no-check", "nonsense"])
def test_nobody_reads(words: str) -> None:
    code = "import sys; from coarsen.cli.main import main; sys.exit(main())"
    command = f"'{sys.executable}' -c '{code}' {words} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == ((2, 1) if words == "nonsense" else (0, 0))


def test_a_reader_that_has_gone_ends_a_table_quietly() -> None:
    code = (
        "import os, sys; from coarsen.cli.main import main\n"
        "reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1)\n"
        "sys.exit(main(['devices', '--no-check']))"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_is_one_line(scale: Path) -> None:
    code = "import sys; from coarsen.cli.main import main; sys.exit(main())"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "apply", str(scale), "--features"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (2, "coarsen: error: standard output: No space left on device\n")


def test_a_terminal_without_unicode(scale: Path) -> None:
    done = coarsen_process("apply", "--help", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert coarsen_process("results", "--help-all", PYTHONIOENCODING="ascii").returncode == 0
    assert coarsen_process("devices", "--no-check", PYTHONIOENCODING="ascii").returncode == 0


def test_without_the_command_lines_own_packages() -> None:
    code = "import sys; sys.modules['typer'] = None; from coarsen.cli.console_script import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "devices"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("coarsen: error: the command line needs typer: pip install coarsen; ")
    assert len(done.stderr.splitlines()) == 1


def test_the_console_script_runs_the_command_line() -> None:
    code = "import sys; from coarsen.cli.console_script import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "nothing"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("coarsen: error: no such command 'nothing'")


@pytest.mark.parametrize(
    ("words", "code"), [(("devices", "--no-check"), 0), (("predict", "none.cl", "-d", "pocl"), 2)]
)
def test_closed_streams(words: tuple[str, ...], code: int) -> None:
    """As after `>&- 2>&-`: Python has no streams then, and the exit code must say it all."""
    script = (
        "import sys; sys.stdout = sys.stderr = None; from coarsen.cli.console_script import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


ENDS = """
import gc, sys
from coarsen.cli.console_script import main
sys.argv = ["coarsen", *{words!r}]
assert main() == 0
assert (gc.get_freeze_count() > 0) is ("pyopencl" not in sys.modules) is {frozen}
"""


@pytest.mark.parametrize(("words", "frozen"), [(["--version"], True), (["devices", "--no-check"], False)])
def test_the_end_of_a_command_looks_for_garbage_where_a_driver_is_loaded(words: list[str], frozen: bool) -> None:
    subprocess.run(
        [sys.executable, "-c", ENDS.format(words=words, frozen=frozen)], capture_output=True, check=True
    )
