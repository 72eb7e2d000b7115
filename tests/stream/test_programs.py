"""The programs on streams give what NumPy and scikit-learn give, whatever is switched off; failures are told."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.streams import PARTS, __main__
from coarsen.opencl_bench.streams.__main__ import PROGRAMS
from coarsen.opencl_bench.streams.bicgstab import Solver
from coarsen.opencl_bench.studies import turns

pytestmark = pytest.mark.compiled_devices
IMAGES = (1, 1), (1, 3), (37, 23)
SIZES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "tmv": ((1, 1), (3, 1009), (211, 7)),
    "scalar-products": ((1, 1), (3, 1009)),
    "convolution": IMAGES,
    "five-point": IMAGES,
    "ocean": IMAGES,
    "monte-carlo": ((1, 1), (7, 1009)),
    "bicgstab": ((1,), (53,)),
    "svm": ((61, 3),),
}


@pytest.fixture(autouse=True)
def nothing_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SAID", {})


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_right(name: str, queue: cl.CommandQueue) -> None:
    for size in SIZES[name]:
        problem = PROGRAMS[name].make(queue, size, PARTS if size is SIZES[name][-1] else ())
        turns.correct(f"{name} {size}", problem.ways, problem.wanted, problem.close)
        assert not any(turns.SAID.values()), turns.SAID
        assert problem.ways.keys() >= {"coarsen", "plain"}
    for wrong in (problem.wanted * 1.01 + 2.5 * problem.close, problem.wanted * np.nan):
        assert not turns.correct(name, {"coarsen": problem.ways["coarsen"]}, wrong, problem.close)


def test_a_step_is_eight_launches_and_reads_nothing(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = cl.array.to_device(queue, np.eye(53, dtype=np.float32) * 2)
    right = cl.array.to_device(queue, np.arange(53, dtype=np.float32))
    solver = Solver(queue, matrix)
    assert [len(each.steps) for each in (solver, Solver(queue, matrix, PARTS))] == [8, 11]
    for each in solver.reductions.values():
        assert len(each.explain(queue, **dict.fromkeys(each.sizes, 53)).version.launches) == 1
    solver.start(right)
    with monkeypatch.context() as patched:
        patched.setattr(cl.array.Array, "get", lambda *_: pytest.fail("a step reads from the device"))
        solver.step()
    assert solver.solve(right) <= 2
    np.testing.assert_allclose(solver.x.get(), np.arange(53) / 2, rtol=1e-5)


def test_what_is_not_solved_is_told(queue: cl.CommandQueue) -> None:
    matrix, right = cl.array.to_device(queue, np.eye(3, dtype=np.float32)), cl.array.zeros(queue, 3, np.float32)
    solver = Solver(queue, matrix)
    assert solver.solve(right) == 0
    for diagonal, length in ((np.nan, 1), (1e30, 1e30), (1e-3, 1e-30)):
        matrix.set(np.diag([1, diagonal, 1]).astype(np.float32))
        with pytest.raises(ArithmeticError, match="scale the system"):
            solver.solve(right + np.float32(length))


def test_sizes_are_drawn_alike_and_are_no_powers_of_two() -> None:
    for program in PROGRAMS.values():
        one, other = ([program.drawn(np.random.default_rng(1)) for _ in range(20)] for _ in range(2))
        assert one == other
        for size in one:
            assert np.prod(size) <= program.elements
            bounds = zip(size, program.bounds, strict=True)
            assert all(least <= each <= most for each, (least, most) in bounds)
            assert not any(each & (each - 1) == 0 for each in size)


def test_a_program_that_fails_is_told_and_the_others_run(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(turns, "_ROUNDS", 2)
    monkeypatch.setattr(turns, "_SECONDS", 0)
    monkeypatch.setattr(
        "sys.argv", ["streams", "tmv", "-d", queue.device.name.strip(), "--size", "3", "--size", "3", "5"]
    )
    with pytest.raises(SystemExit, match="1"):
        turns.study("", __main__.lines, __main__.OPTIONS)
    out, err = capsys.readouterr()
    heading, *lines = out.splitlines()
    assert heading.startswith("device,program,size,without,steps,way,microseconds")
    told = [line.split(",")[1:6] for line in lines]
    assert told[:2] == [["tmv", "3 5", "", "1", what] for what in ("coarsen", "plain")]
    assert "tmv 3: InvalidInputError: its size is rows and columns" in err
    with pytest.raises(InvalidInputError, match="there have to be points of both"):
        PROGRAMS["svm"].make(queue, (1, 1), ())
