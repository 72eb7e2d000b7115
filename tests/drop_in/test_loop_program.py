"""The loops of a C function, called from Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread, current_thread
from time import sleep
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.drop_in.loop_program import LoopProgram
from coarsen.errors import InvalidInputError
from coarsen.loops import read_program
from coarsen.tuning.workload.element_types import Array
from tests.loops.nests import NESTS

FOLDER = Path(__file__).parents[2] / "opencl_bench" / "kernels" / "loops"
SIZES = {"steps": 3, "nr": 2, "nq": 3}
SUM = "void f(int n, int x[1]) { for (int i = 0; i < 2 * n; i += 1024) x[0] += i & 1025; }"
ROWS_AND_ALL = """
void f(int n, const float a[n][n], float x[n], float all[1])
{
    for (int i = 0; i < n; i++) {
        float s = 0;
        #pragma omp simd reduction(+:s)
        for (int j = 0; j < n; j++)
            s += a[i][j];
        x[i] = s;
    }
    float t = 0;
    #pragma omp parallel for reduction(+:t)
    for (int i = 0; i < n; i++)
        t += x[i] * x[i];
    all[0] = t;
}
"""
ALL_OF_ROWS = """
void f(int n, int m, const float a[n][m], float all[1])
{
    float t = 0;
    #pragma omp parallel for collapse(2) reduction(+:t)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t += a[i][j];
    all[0] = t;
}
"""
LOCALS = """
static float table[4];
void f(int n, float *a, float *b)
{
    float twice[n];
    for (int i = 0; i < n; i++)
        twice[i] = 2 * a[i] + table[1];
    for (int i = 0; i < n; i++)
        b[i] = twice[n - 1 - i];
}
"""


def draw(program: LoopProgram, path: Path, size: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Numbers and arrays for a call."""
    nest = read_program(path).nest
    numbers = {name: SIZES.get(name, size) if name in nest.parameters else 0.5 for name in nest.types}
    random = np.random.default_rng(0)
    # As large as any of its arrays.
    arrays = {name: random.random(size**3, np.float32) for name in program.arguments if name not in numbers}
    return numbers, arrays


EXAMPLES: list[tuple[str, tuple[str, ...]]] = [(path.stem, ()) for path in sorted(FOLDER.glob("*.c"))]
EXAMPLES += [("gemver", ("-DSPLIT=8",)), ("mvt", ("-D SPLIT=16", "-DGROUP_SIZE=32"))]


@pytest.mark.parametrize(("name", "options"), EXAMPLES)
def test_examples_compute_what_the_functions_do(
    name: str, options: tuple[str, ...], queue: cl.CommandQueue
) -> None:
    path = FOLDER / f"{name}.c"
    program = LoopProgram(queue.context, path, options=options)
    numbers, arrays = draw(program, path, 11)
    given: dict[str, Any] = {name: cl.array.to_device(queue, contents) for name, contents in arrays.items()}
    program(queue, **numbers, **given).wait()
    read_program(path).native(numbers, arrays)
    for word, expected in arrays.items():
        np.testing.assert_allclose(given[word].get(), expected, rtol=2e-5, atol=2e-5)


def rows_and_all(queue: cl.CommandQueue, program: LoopProgram, n: int) -> None:
    """Fail unless a program of `ROWS_AND_ALL` sums as NumPy does."""
    a = np.random.default_rng(n).random((n, n), np.float32)
    given = [cl.array.to_device(queue, a), *(cl.array.zeros(queue, size, np.float32) for size in (n, 1))]
    program(queue, n, *given).wait()
    rows = a.sum(1)
    np.testing.assert_allclose(given[1].get(), rows, rtol=1e-5)
    np.testing.assert_allclose(given[2].get(), [rows @ rows], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "lanes"),
    [
        ((), (1, 1, 256)),
        (("-DSPLIT=4",), (4, 4, 4)),
        (("-DSPLIT=4", "-DSPLIT_1=8", "-DGROUP_SIZE_2=16"), (4, 8, 4)),
    ],
)
def test_each_kernel_has_its_own_lanes(
    options: tuple[str, ...], lanes: tuple[int, ...], queue: cl.CommandQueue, tmp_path: Path
) -> None:
    path = tmp_path / "f.c"
    path.write_text(ROWS_AND_ALL)
    program = LoopProgram(queue.context, path, options=options)
    assert all(f"#define SPLIT_{number} {count}\n" in program.source for number, count in enumerate(lanes))
    rows_and_all(queue, program, 67)


@pytest.mark.parametrize(
    ("text", "is_for_cpus", "options", "macros"),
    [
        (ROWS_AND_ALL, False, [], [(1, 64), (256, 256), (256, 256)]),
        (ROWS_AND_ALL, True, [], [(1, 64), (1, 1), (256, 256)]),
        (ALL_OF_ROWS, True, [], [(256, 256), (256, 256)]),
        # Lanes that nobody asked for fit the work-group that somebody did.
        (ROWS_AND_ALL, False, ["-DGROUP_SIZE=96"], [(1, 96), (32, 96), (32, 96)]),
        (f"// SPLIT_7\n{ALL_OF_ROWS}", True, ["-DSPLIT_7=2"], [(256, 256), (256, 256)]),
        (
            ALL_OF_ROWS,
            True,
            ["-DSPLIT_7=2"],
            r"SPLIT_7 is for no kernel .*: there are SPLIT_0, GROUP_SIZE_0,",
        ),
        (LOCALS, True, ["-DGROUP_SIZE_0=2"], r"GROUP_SIZE_0 is for no kernel .*: lanes share none of its sums"),
    ],
)
def test_lanes_before_anything_is_tuned(
    text: str, is_for_cpus: bool, options: list[str], macros: list[tuple[int, int]] | str, tmp_path: Path
) -> None:
    path = tmp_path / "f.c"
    path.write_text(text)
    if isinstance(macros, str):
        with pytest.raises(InvalidInputError, match=macros):
            read_program(path, options=options, is_for_cpus=is_for_cpus)
        return
    found = read_program(path, options=options, is_for_cpus=is_for_cpus).macros
    words = ("SPLIT", "GROUP_SIZE")
    assert found == {
        f"{word}_{number}": own
        for number, pair in enumerate(macros)
        for word, own in zip(words, pair, strict=True)
    }


def test_a_long_row_of_a_sum_over_everything_goes_on_growing(queue: cl.CommandQueue, tmp_path: Path) -> None:
    path, (n, m) = tmp_path / "f.c", (2, 4097)
    path.write_text(ALL_OF_ROWS)
    a = np.ones((n, m), np.float32)
    a[:, 0] = 2**24
    given = [cl.array.to_device(queue, a), cl.array.zeros(queue, 1, np.float32)]
    LoopProgram(queue.context, path)(queue, n, m, *given).wait()
    # Added one by one, none of the ones changes the sum.
    np.testing.assert_allclose(given[1].get(), [a.sum(dtype=np.float64)], rtol=2e-5)


def test_there_are_thirteen_examples() -> None:
    assert {path.stem for path in FOLDER.glob("*.c")} == NESTS.keys()


@pytest.fixture
def call(queue: cl.CommandQueue) -> Callable[..., object]:
    """`call(n, …)` calls the product of matrices of 4 x 4 numbers, with changes."""
    program = LoopProgram(queue.context, FOLDER / "mm.c", "mm")
    assert program.arguments == ("n", "m", "l", "a", "b", "c")
    buffers = {name: cl.array.zeros(queue, 16, np.float32) for name in "abc"}

    def called(*sizes: object, **changed: Any) -> object:  # noqa: ANN401 (whatever a user passes)
        given: dict[str, Any] = {**buffers, **changed}
        return program(queue, *sizes, **given)

    return called


@pytest.mark.parametrize(
    ("sizes", "changed", "message"),
    [
        ((4, 4), {}, "the argument l is missing; there are n, m, l, a, b, c"),
        ((4, 4, 4), {"d": 1}, "there is no argument d; there are n, m, l, a, b, c"),
        ((4, 4, 4, 1, 1, 1, 1), {}, "6 arguments, not 7: n, m, l, a, b, c"),
        ((4, 4, 4.5), {}, "l = 4.5 is not a whole number of the kernels' type"),
        ((4, 4, 2**31), {}, "l = 2147483648 is not a whole number of the kernels' type"),
        ((4, 8, 4), {}, "b has 64 bytes, but the loops access 128"),
        (
            (65536, 65536, 1),
            {},
            "c has 4294967296 elements, too many for sizes of the type int: make them long in C",
        ),
        ((4, 4, 4), {"n": 4}, "the argument n is given twice"),
        ((4, 4, float("nan")), {}, "l is not a whole number"),
        ((4, 4, 4), {"a": np.zeros(16)}, "a is neither a buffer nor an array that starts where one does"),
    ],
)
def test_what_does_not_fit_is_refused(
    call: Callable[..., object], sizes: tuple[object, ...], changed: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        call(*sizes, **changed)
    assert str(caught.value) == message


def test_an_array_of_another_type_is_refused(queue: cl.CommandQueue) -> None:
    program = LoopProgram(queue.context, FOLDER / "mm.c", "mm")
    a, b, c = (cl.array.zeros(queue, 16, kind) for kind in (np.float32, np.float64, np.float32))
    with pytest.raises(InvalidInputError, match="b is of float64, not float32"):
        program(queue, 4, 4, 4, a, b, c)


def test_one_buffer_given_twice_is_refused(queue: cl.CommandQueue) -> None:
    program = LoopProgram(queue.context, FOLDER / "mm.c", "mm")
    one, two = (cl.array.zeros(queue, 16, np.float32) for _ in range(2))
    # Both are only read.
    program(queue, 4, 4, 4, one, one, two).wait()
    with pytest.raises(InvalidInputError, match="a and c are one buffer"):
        program(queue, 4, 4, 4, one, two, one)


def test_nothing_is_launched_for_no_points(call: Any) -> None:  # noqa: ANN401 (a fixture's function)
    call(0, 4, 4).wait()
    call(4, 4, 0).wait()


def test_arrays_of_the_function_and_of_the_file(queue: cl.CommandQueue, tmp_path: Path) -> None:
    path = tmp_path / "locals.c"
    path.write_text(LOCALS)
    program = LoopProgram(queue.context, path)
    assert program.arguments == ("n", "a", "b", "table")
    table = np.arange(4, dtype=np.float32)
    for n in (5, 3, 9):
        a = np.arange(n, dtype=np.float32)
        given = [cl.array.to_device(queue, each) for each in (a, np.zeros_like(a), table)]
        program(queue, n, *given).wait()
        np.testing.assert_array_equal(given[1].get(), (2 * a + table[1])[::-1])


def test_launches_of_threads_do_not_mix(queue: cl.CommandQueue, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    program, both, launched = LoopProgram(queue.context, tmp_path / "sum.c"), Barrier(2, timeout=9), list[str]()

    def kernel(*_: object, **__: object) -> cl.Event:
        launched.append(current_thread().name)
        sleep(0.02)
        return cl.enqueue_marker(queue)

    def called() -> None:
        both.wait()
        program(queue, 9, x)

    x = cl.array.zeros(queue, 1, np.int32)
    vars(program)["_kernels"] = dict.fromkeys(("f_0", "f_1"), kernel)
    threads = [Thread(target=called) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(launched) == 4 and launched[0] == launched[1] != launched[2] == launched[3]


def test_a_loop_counts_no_further_than_its_numbers(queue: cl.CommandQueue, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(SUM)
    program, x = LoopProgram(queue.context, tmp_path / "sum.c"), cl.array.zeros(queue, 1, np.int32)
    with pytest.raises(InvalidInputError, match="a loop counts to 2147481600, too far for the kernels' whole"):
        program(queue, 2**30 - 512, x)
    program(queue, 1024, x).wait()
    assert x.get() == [1024]
