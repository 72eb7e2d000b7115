"""How many lanes share a sum of a C function is found by the search, remembered, and launched at its own sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in import measured_launch
from coarsen.drop_in.loop_program import LoopProgram
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.engine.plan import limits_of, uncoarsened_variants, variant_space
from coarsen.tuning.launch_space import space_of_launch
from coarsen.tuning.recording import captured_launch
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.tuning.workload.benchmark import ByMacros
from coarsen.tuning.workload.captured_benchmark import PRESET, read_launch
from coarsen.tuning.workload.captured_launch import write_launch
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.drop_in.test_loop_program import ROWS_AND_ALL, rows_and_all
from tests.drop_in.tuned_programs import found

MV, TMV = (Path(__file__).parents[2] / "opencl_bench" / "kernels" / "loops" / name for name in ("mv.c", "tmv.c"))
LANES = (("GROUP_SIZE", "256"), ("SPLIT", "8"))
Asked = list[tuple[LaunchRequest, ByMacros]]


@pytest.fixture
def lanes_found(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What is asked of the search, which finds eight lanes, and two groups of rows merged."""
    asked: Asked = []

    def tune_request(request: LaunchRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        *_, by_macros = rest
        if by_macros is None:
            return found(request, 1)
        asked.append((request, by_macros))
        own = next(each for each in by_macros.sizes if [value for _, value in each.definitions] == ["256", "8"])
        merged = Coarsening(2, own.local_size.index(32), level=Level.GROUP)
        tuned, choice = found(request), Variant(own.local_size, (merged,), own.definitions)
        return replace(tuned, decision=replace(tuned.decision, choice=choice))

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    return asked


def product(queue: cl.CommandQueue, program: LoopProgram, path: Path, n: int) -> None:
    """Fail unless a program multiplies as NumPy does."""
    random = np.random.default_rng(n)
    a, y = random.random((n, n), np.float32), random.random(n, np.float32)
    given = [cl.array.to_device(queue, each) for each in (a, y, np.zeros(n, np.float32))]
    program(queue, n, *given).wait()
    np.testing.assert_allclose(given[2].get(), (a if path is MV else a.T) @ y, rtol=1e-5)


@pytest.mark.parametrize("path", [MV, TMV], ids=["rows", "columns"])
def test_what_is_found_is_launched_and_remembered(
    path: Path,
    queue: cl.CommandQueue,
    store: str,
    lanes_found: Asked,
    said: Callable[[], list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    tuned = LoopProgram(queue.context, path, tune=Tune(store=store))
    for n in (1, 63, 70, 129):
        product(queue, tuned, path, n)
    ((_, tried), *_) = lanes_found
    assert tried.sizes[0].definitions == (("GROUP_SIZE", "64"), ("SPLIT", "1")) and tried.roundings == 2
    count, rows = len(lanes_found), 1 - (path is TMV)
    caplog.clear()
    product(queue, LoopProgram(queue.context, path), path, 70)
    shown = "8×32" if rows else "32×8"
    assert f"factor 2 of work-groups along dimension {rows}, in work-groups of {shown}: remembered" in caplog.text
    # What is said of lanes is not asked for, and without lanes what is remembered of them is left alone.
    product(queue, LoopProgram(queue.context, path, options=["-DSPLIT=4"]), path, 9)
    plain = Program(queue.context, LoopProgram(queue.context, path).source, tune="remembered").build()
    x = cl.array.zeros(queue, 70, np.float32)
    ones = [cl.array.to_device(queue, np.ones(each, np.float32)) for each in (4900, 70)]
    kernel = getattr(plain, path.stem)
    kernel(queue, (1, 128)[:: 2 * rows - 1], (1, 64)[:: 2 * rows - 1], *(e.data for e in (*ones, x)), np.int32(70))
    assert (x.get() == 70).all()
    assert len(lanes_found) == count and said() == []


@pytest.mark.compiled_devices
@patch("coarsen.loops.sums.TERMS", 4)
def test_kernels_of_a_function_are_tuned_one_by_one(
    queue: cl.CommandQueue, store: str, lanes_found: Asked, said: Callable[[], list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "f.c"
    path.write_text(ROWS_AND_ALL)
    for tune in (Tune(store=store), None):
        rows_and_all(queue, LoopProgram(queue.context, path, tune=tune), 70)
    # That which adds the parts has its lanes alone.
    assert [(request.kernel, dict(tried.sizes[0].definitions)) for request, tried in lanes_found] == [
        ("f_0", {"SPLIT_0": "1", "GROUP_SIZE_0": "64"}),
        ("f_1", {"SPLIT_1": "1", "GROUP_SIZE_1": "1"}),
    ]
    assert said() == []


def test_the_search_has_the_lanes_of_the_program(
    queue: cl.CommandQueue, store: str, lanes_found: Asked, tmp_path: Path, device: DeviceDescription
) -> None:
    product(queue, LoopProgram(queue.context, MV, tune=Tune(store=store)), MV, 70)
    ((request, tried),) = lanes_found
    file = tmp_path / "launch.npz"
    write_launch(replace(captured_launch(request), by_macros=tried), file)
    benchmark = read_launch(file)
    launch = LaunchToTune(benchmark, str(file), "mv", PRESET, device, Transforms())
    space = variant_space(benchmark, PRESET, space_of_launch(launch, False, Tune()), limits_of(device))
    found = {each.local_size for each in uncoarsened_variants(benchmark, space) if space.violation(each) is None}
    assert found == {each.local_size for each in tried.sizes} and (256, 1) in found
    (own,) = benchmark.launches(PRESET, (8, 32), LANES)
    assert (own.global_size, own.local_size) == ((8, 128), (8, 32))
    assert benchmark.workload(PRESET).rounding_steps == 140
    with pytest.raises(InvalidInputError, match="these macros don't go together: GROUP_SIZE = 64, SPLIT = 256"):
        benchmark.launches(PRESET, (256, 1), (("GROUP_SIZE", "64"), ("SPLIT", "256")))


def test_a_shared_loop_ends_before_the_largest_number(queue: cl.CommandQueue) -> None:
    nothing = cl.array.zeros(queue, 1, np.float32)
    with pytest.raises(InvalidInputError, match="n = 2147475456 is not a whole number of the kernels' type"):
        LoopProgram(queue.context, MV)(queue, 2**31 - 8192, nothing, nothing, nothing)


def test_a_number_of_lanes_is_a_number(queue: cl.CommandQueue) -> None:
    with pytest.raises(InvalidInputError, match="a number of work-items, and -D SPLIT gives none"):
        LoopProgram(queue.context, MV, options=["-DSPLIT"])
