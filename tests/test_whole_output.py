"""What is written to standard output comes out whole, or the process says why not."""

from __future__ import annotations

import fcntl
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coarsen.base.files import WholeWrites, whole_output

# Larger than a pipe takes at once.
LINES = 40_000
EXPECTED = "".join(f"{number} of {LINES}\n" for number in range(LINES)).encode()
WRITE = f"""
import sys
from coarsen.base.files import whole_output
with whole_output():
    sys.stdout.write("".join(f"{{number}} of {LINES}\\n" for number in range({LINES})))
"""
UNBUFFERED = {**os.environ, "PYTHONUNBUFFERED": "1"}
COMMAND_LINE = "import sys; from coarsen.cli.main import main; sys.exit(main())"


class TakesLittle(io.FileIO):
    """Takes seven bytes at a time, and now and then none."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w")
        self.calls = 0

    def write(self, data: object, /) -> int | None:  # type: ignore[override]
        self.calls += 1
        return None if self.calls % 3 == 0 else super().write(memoryview(data)[:7])  # type: ignore[arg-type]


def test_a_file_that_takes_little_gets_all(tmp_path: Path) -> None:
    with TakesLittle(tmp_path / "out") as little, io.BufferedWriter(WholeWrites(little)) as output:
        output.write(b"many words " * 100)
    assert (tmp_path / "out").read_bytes() == b"many words " * 100


@pytest.mark.parametrize("environment", [UNBUFFERED, None], ids=["unbuffered", "buffered"])
def test_a_pipe_that_does_not_block_gets_all(environment: dict[str, str] | None) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    with subprocess.Popen([sys.executable, "-c", WRITE], stdout=writer, env=environment) as process:
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            assert pipe.read() == EXPECTED
    assert process.returncode == 0


def test_a_kernel_through_a_pipe_that_does_not_block(tmp_path: Path) -> None:
    body = "".join(f"    data[{number}] = get_global_id(0) * {number + 2}u;\n" for number in range(3000))
    (tmp_path / "big.cl").write_text(f"kernel void big(global uint *data)\n{{\n{body}}}\n")
    command = [sys.executable, "-c", COMMAND_LINE, "apply", str(tmp_path / "big.cl"), "--factor", "2"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    with subprocess.Popen(command, stdout=writer, env=UNBUFFERED) as process:
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            text = pipe.read()
    assert process.returncode == 0
    assert len(text) > 1 << 16
    assert text == whole


def test_unbuffered_output_stays_so() -> None:
    """A program's dots are seen at once, and none is lost where it crashes."""
    code = (
        "import os, sys\n"
        "from coarsen.base.files import whole_output\n"
        "with whole_output():\n"
        "    print(sys.stdout.name, end='.')\n"
        "    sys.stdout.buffer.write(b'.')\n"
        "    os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=UNBUFFERED)
    assert done.stdout == b"<stdout>.."


@pytest.mark.parametrize("environment", [UNBUFFERED, None], ids=["unbuffered", "buffered"])
def test_a_full_disk_is_told(environment: dict[str, str] | None, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text("kernel void k(global int *a) { a[get_global_id(0)] = 1; }\n")
    command = [sys.executable, "-c", COMMAND_LINE, "apply", str(tmp_path / "k.cl"), "--factor", "2"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    expected = "coarsen: error: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_whoever_stops_reading_errors_leaves_the_exit_code_as_it_is(tmp_path: Path) -> None:
    """As with `2>&1 | head`."""
    (tmp_path / "k.cl").write_text("kernel void k(global int *a) { k(a); }\n")
    command = [sys.executable, "-c", COMMAND_LINE, "apply", str(tmp_path / "k.cl"), "--factor", "2"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        assert subprocess.run(command, stdout=closed, stderr=closed).returncode == 3


def test_a_limit_on_the_size_of_files_is_told(tmp_path: Path) -> None:
    """A disk that is full in the middle takes a part of a write, and nothing of the next."""
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        f"{WRITE}"
    )
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=out, stderr=subprocess.PIPE, text=True, env=UNBUFFERED
        )
    assert done.returncode != 0
    assert "'standard output'" in done.stderr
    assert (tmp_path / "out").stat().st_size == 5000


def test_streams_that_are_no_files_stay() -> None:
    before = sys.stdout
    sys.stdout = io.StringIO()
    try:
        mine = sys.stdout
        with whole_output():
            assert sys.stdout is mine
    finally:
        sys.stdout = before
