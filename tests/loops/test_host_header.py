"""The C header for hosts: launches as the C function computes, on each device, and refuses what doesn't fit."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pytest

from coarsen.cli.main import main
from coarsen.loops import read_program
from coarsen.loops.host_header import host_header
from coarsen.loops.program import NestProgram

FOLDER = Path(__file__).parents[2] / "opencl_bench" / "kernels" / "loops"
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-shared"]
SIZES = {
    "mm": ({"n": 19, "m": 17, "l": 5}, {"a": 95, "b": 85, "c": 323}),
    "mvt": ({"n": 21}, {"a": 441, "x1": 21, "x2": 21, "y1": 21, "y2": 21}),
    "fdtd_2d": ({"steps": 3, "nx": 19, "ny": 33}, {"ex": 627, "ey": 627, "hz": 627, "source": 3}),
    "doitgen": ({"nr": 2, "nq": 3, "np": 67}, {"a": 402, "c4": 4489, "sum": 67}),
    "correlation": ({"n": 20, "m": 18}, {"data": 360, "corr": 324, "mean": 18, "dev": 18}),
}
# A buffer of its own, quotients of sizes, and a parameter with a name that the header would have.
SCRATCH = """
void halves(int queue, const float in[restrict queue], float status[restrict queue / 2])
{
    float kept[queue];
    for (int i = 0; i < queue; i++)
        kept[i] = 2 * in[i];
    for (int i = 0; i < queue / 2; i++)
        status[i] = kept[queue - 1 - i] + kept[i];
}
"""
NORM = """
void norm(int n, const float a[restrict n], float sum[restrict 1])
{
    #pragma omp parallel for reduction(+:sum[:1])
    for (int i = 0; i < n; i++)
        sum[0] += a[i] * a[i];
}
"""
# Two loops of launches with the same counter, the second one downwards, and quotients of what is negative.
TWICE = """
void twice(int n, float scale, float a[restrict n], float b[restrict n])
{
    for (int t = 0; t < n; t += 2) {
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i - 1] + scale * b[i + 1];
        for (int i = t / 2; i < n - 1; i++)
            b[i] = a[i] + a[i + 1] * 0.5f;
    }
    for (int t = (n - 4) / 2; t > 0; t--)
        for (int i = t; i < n; i++)
            a[i] = scale * a[i] + a[t - 1];
}
"""


class Host:
    """A header compiled, and its function called with buffers of PyOpenCL's."""

    def __init__(self, program: NestProgram, folder: Path, queue: pyopencl.CommandQueue, *defined: str) -> None:
        name = program.nest.function
        numbers, arrays = (
            [each for each in program.arguments if (each in program.nest.types) == is_number]
            for is_number in (True, False)
        )
        given = [
            f"numbers[{numbers.index(each)}]" if each in numbers else f"arrays[{arrays.index(each)}]"
            for each in program.arguments
        ]
        (folder / f"{name}.h").write_text(host_header(program))
        (folder / "host.c").write_text(
            f'#include "{name}.h"\n'
            f"const char *const *names(void) {{ return {name}_kernels; }}\n"
            "int call(cl_command_queue queue, const cl_kernel *kernels, const double *numbers, cl_mem *arrays)\n"
            f"{{\n    return {name}_run({', '.join(('queue', 'kernels', *given))});\n}}\n"
        )
        # The loader that PyOpenCL has.
        loader = re.search(r"\s(/\S*libOpenCL\S*)$", Path("/proc/self/maps").read_text(), re.MULTILINE)
        assert loader is not None
        words = [*FLAGS, *defined, "host.c", loader[1], "-lm", "-o", "host.so"]
        subprocess.run(["gcc", *words], cwd=folder, check=True)
        library = ctypes.CDLL(str(folder / "host.so"))
        library.names.restype = ctypes.POINTER(ctypes.c_char_p)
        built = pyopencl.Program(queue.context, program.text).build(["-cl-std=CL1.2"])
        self._kernels = [
            pyopencl.Kernel(built, library.names()[number].decode()) for number in range(len(program.names))
        ]
        self._library, self._queue, self._numbers, self._arrays = library, queue, numbers, arrays

    def status(self, numbers: Mapping[str, float], buffers: Mapping[str, pyopencl.Buffer]) -> int:
        handles = [each.int_ptr for each in self._kernels]
        wanted = [buffers[name].int_ptr for name in self._arrays]
        found: int = self._library.call(
            ctypes.c_void_p(self._queue.int_ptr),
            (ctypes.c_void_p * len(handles))(*handles),
            (ctypes.c_double * len(self._numbers))(*(numbers[name] for name in self._numbers)),
            (ctypes.c_void_p * len(wanted))(*wanted),
        )
        return found


def buffers_of(queue: pyopencl.CommandQueue, arrays: Mapping[str, Any]) -> dict[str, pyopencl.Buffer]:
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    return {name: pyopencl.Buffer(queue.context, flags, hostbuf=array) for name, array in arrays.items()}


def drawn(lengths: Mapping[str, int]) -> dict[str, Any]:
    generator = np.random.default_rng(7)
    return {name: generator.random(count, np.float32) for name, count in lengths.items()}


def check(
    program: NestProgram,
    host: Host,
    queue: pyopencl.CommandQueue,
    numbers: Mapping[str, float],
    arrays: Mapping[str, Any],
    *,
    is_changed: bool = True,
) -> None:
    buffers = buffers_of(queue, arrays)
    assert host.status(numbers, buffers) == 0
    queue.finish()
    expected = {name: array.copy() for name, array in arrays.items()}
    program.native(numbers, expected)
    assert program.outputs
    for name in program.outputs:
        found = np.empty_like(arrays[name])
        pyopencl.enqueue_copy(queue, found, buffers[name])
        np.testing.assert_allclose(found, expected[name], 2e-4, 2e-5, err_msg=name)
    assert is_changed == any(not np.array_equal(expected[name], arrays[name]) for name in program.outputs)


@pytest.mark.parametrize("name", SIZES)
def test_a_host_computes_what_the_function_does(name: str, tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    program = read_program(FOLDER / f"{name}.c", options=["-DSPLIT=8"])
    numbers, lengths = SIZES[name]
    check(program, Host(program, tmp_path, queue), queue, numbers, drawn(lengths))


def test_members_of_a_record_are_arguments(tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    program = read_program(FOLDER / "mri_q.c")
    numbers = {"p_samples": 7, "p_voxels": 70}
    of_voxels = ("p_x", "p_y", "p_z", "p_q_real", "p_q_imaginary")
    names = [each for each in program.arguments if each not in numbers]
    assert len(names) + len(numbers) == len(program.arguments) == 13
    lengths = {each: 70 if each in of_voxels else 7 for each in names}
    check(program, Host(program, tmp_path, queue), queue, numbers, drawn(lengths))


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_loops_of_launches_with_the_same_counter(n: int, tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    (tmp_path / "twice.c").write_text(TWICE)
    program = read_program(tmp_path / "twice.c")
    host = Host(program, tmp_path, queue)
    assert "int64_t at_t_ = " in (tmp_path / "twice.h").read_text(), "each loop has a counter of its own"
    check(program, host, queue, {"n": n, "scale": 0.25}, drawn({"a": n, "b": n}), is_changed=n > 1)


@pytest.mark.parametrize("n", [1, 8193])
def test_partial_sums_are_in_a_buffer_of_its_own(n: int, tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    (tmp_path / "norm.c").write_text(NORM)
    program = read_program(tmp_path / "norm.c")
    assert program.names == ("norm_0", "norm_1")
    check(program, Host(program, tmp_path, queue), queue, {"n": n}, drawn({"a": n, "sum": 1}))


@pytest.mark.parametrize("n", [2, 3, 77])
def test_buffers_of_its_own_in_a_queue_without_order(n: int, tmp_path: Path, context: pyopencl.Context) -> None:
    try:
        properties = pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        queue = pyopencl.CommandQueue(context, properties=properties)
    except pyopencl.Error:
        queue = pyopencl.CommandQueue(context)  # a driver without such queues
    (tmp_path / "halves.c").write_text(SCRATCH)
    program = read_program(tmp_path / "halves.c")
    host = Host(program, tmp_path, queue, "-DHALVES_0_LOCAL_0=8")
    check(program, host, queue, {"queue": n}, drawn({"v_in": n, "status": n // 2}))
    assert host.status({"queue": 0}, buffers_of(queue, drawn({"v_in": 1, "status": 1}))) == 0


def test_what_does_not_fit_is_refused(tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    program = read_program(FOLDER / "mm.c")
    host = Host(program, tmp_path, queue)
    buffers = buffers_of(queue, drawn({"a": 16, "b": 16, "c": 16}))
    codes = pyopencl.status_code

    def status(n: int, m: int, l: int, **others: pyopencl.Buffer) -> int:  # noqa: E741 (as in mm.c)
        return host.status({"n": n, "m": m, "l": l}, {**buffers, **others})

    assert status(4, 4, 4) == codes.SUCCESS
    assert status(4, 4, 5) == codes.INVALID_BUFFER_SIZE
    # 2^32 elements, which are 0 in 32 bits; and 2^62.
    assert status(65536, 65536, 1) == codes.INVALID_BUFFER_SIZE
    assert status(2**31 - 1, 2**31 - 1, 2**31 - 1) == codes.INVALID_BUFFER_SIZE
    assert status(4, 4, 4, c=buffers["a"]) == codes.INVALID_ARG_VALUE
    assert status(0, 4, 4) == codes.SUCCESS


def test_a_loop_that_counts_too_far_is_refused(tmp_path: Path, queue: pyopencl.CommandQueue) -> None:
    text = "void f(int n, int x[1]) { for (int i = 2 * n; i > -2 * n; i -= 1024) x[0] += i & 1025; }"
    (tmp_path / "f.c").write_text(text)
    host = Host(read_program(tmp_path / "f.c"), tmp_path, queue)
    buffers = buffers_of(queue, {"x": np.zeros(1, np.int32)})
    assert host.status({"n": 2**30 - 512}, buffers) == pyopencl.status_code.INVALID_GLOBAL_WORK_SIZE
    assert host.status({"n": 9}, buffers) == 0


def test_a_folder_gets_kernels_and_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made"
    assert main(["apply", str(FOLDER / "mm.c"), "-o", f"{folder}/"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["mm.cl", "mm.h"]
    assert "mm.h" in capsys.readouterr().out
    header = (folder / "mm.h").read_text()
    assert header == host_header(read_program(FOLDER / "mm.c"))
    # Again, into the folder that there is now; a name with a suffix is a file.
    assert main(["apply", str(FOLDER / "mm.c"), "-o", str(folder)]) == 0
    assert main(["apply", str(FOLDER / "mm.c"), "-o", str(tmp_path / "mm.cl")]) == 0
    assert (tmp_path / "mm.cl").read_text() == (folder / "mm.cl").read_text()
