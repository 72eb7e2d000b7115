"""The programs on streams give what NumPy and scikit-learn give, whatever is switched off; failures are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.streams import PARTS, PROGRAMS, __main__, found
from coarsen.opencl_bench.streams.bicgstab import Solver

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


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_right(name: str, queue: cl.CommandQueue) -> None:
    program = found(name)
    for size in SIZES[name]:
        problem = program.problem(queue, size, PARTS if size is SIZES[name][-1] else ())
        errors = {what: problem.error(what) for what in problem.runs}
        assert max(errors.values()) <= 1, (size, errors)
    for wrong in (problem.wanted + 2.5 * problem.close, problem.wanted * np.nan):
        assert replace(problem, wanted=wrong).error("coarsen") > 1


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


def test_sizes_are_drawn_alike_and_are_no_powers_of_two() -> None:
    for name in PROGRAMS:
        program = found(name)
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
    monkeypatch.setattr("coarsen.opencl_bench.studies.turns._ROUNDS", 2)
    monkeypatch.setattr("coarsen.opencl_bench.studies.turns._SECONDS", 0)
    words = ["streams", "tmv", "-d", queue.device.name.strip(), "--size", "3", "--size", "3", "5"]
    monkeypatch.setattr("sys.argv", words)
    assert __main__.main() == 1
    out, err = capsys.readouterr()
    heading, *lines = out.splitlines()
    assert heading == "device,program,size,without,what,microseconds,q1,q3,error"
    told = [line.split(",")[1:5] for line in lines]
    assert told[:2] == [["tmv", "3 5", "", what] for what in ("coarsen", "plain")]
    assert "tmv 3: InvalidInputError: its size is rows and columns" in err
    with pytest.raises(InvalidInputError, match="there have to be points of both"):
        found("svm").problem(queue, (1, 1))
