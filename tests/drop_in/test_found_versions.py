"""Reductions and pipelines search their versions at the first call of a class of sizes, and remember the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.devices.building import build_uncached
from coarsen.drop_in import measured_launch
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.runtime.advice import LaunchRequest
from coarsen.stream import Actor, Map, Reduce, Stencil, pipeline
from coarsen.tuning.recording import captured_launch
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.workload.benchmark import ByMacros
from coarsen.tuning.workload.captured_benchmark import PRESET, read_launch
from coarsen.tuning.workload.captured_launch import write_launch
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import found
from tests.stream.forms import whole
from tests.workload_runs import kernels_of, run_workload

pytestmark = pytest.mark.compiled_devices
Asked = list[tuple[LaunchRequest, ByMacros]]
GROUPS = {"GROUPS": "16", "LOCAL": "16", "LANES": "4", "ACCESS": "1"}


def search_finds(
    wanted: Mapping[str, str], queue: cl.CommandQueue, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Asked:
    """Have a search find a version, once it computes the same as the first on what was captured."""
    asked: Asked = []

    def tune_request(request: LaunchRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        *_, by_macros = rest
        asked.append((request, by_macros))
        file = folder / f"{len(asked)}.npz"
        captured = captured_launch(request, reads_all=by_macros.is_sequence)
        write_launch(replace(captured, by_macros=by_macros), file)
        benchmark = read_launch(file)
        chosen = next(each for each in by_macros.sizes if wanted.items() <= dict(each.definitions).items())
        outputs = []
        for each in (by_macros.sizes[0], chosen):
            options = [*benchmark.build_options, *(f"-D{name}={value}" for name, value in each.definitions)]
            program = build_uncached(queue.context, source_without_pragmas(benchmark.source), options)
            launches = benchmark.launches(PRESET, each.local_size, each.definitions)
            result = run_workload(
                queue, replace(benchmark.workload(PRESET), launches=launches), kernels_of(program)
            )
            assert result.violated == ()
            outputs.append(result.outputs)
        for name, expected in outputs[0].items():
            np.testing.assert_allclose(outputs[1][name], expected, rtol=1e-5)
        tuned, choice = found(request), Variant(chosen.local_size, definitions=chosen.definitions)
        return replace(tuned, decision=replace(tuned.decision, choice=choice))

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    return asked


def sums(**settings: Any) -> Reduce:  # noqa: ANN401 (as `Reduce` has them)
    return Reduce(
        "a + b",
        identity="0",
        map="m[row][i]",
        arguments="const float *m",
        rows="rows",
        checks_laws=False,
        **settings,
    )


def test_a_version_of_a_reduction(
    queue: cl.CommandQueue, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = search_finds(GROUPS, queue, tmp_path, monkeypatch)
    tuned = sums(tune=Tune(store=store))

    def launches(reduction: Reduce, rows: int, length: int) -> int:
        """Compare with NumPy, three times; return how many launches a call takes."""
        m = whole(rows * length).reshape(rows, length)
        for _ in range(3):
            assert np.array_equal(reduction(queue, cl.array.to_device(queue, m)).get(), m.sum(axis=1))
        (calls,) = reduction._built.known.values()
        called = calls.kernel._called
        known = next(iter(calls._known.values())) if called is None else None
        ready = called or (known and known.ready)
        assert ready is not None
        return 1 if ready.own is None or ready.own.sizes is None else len(ready.own.sizes.order)

    assert launches(tuned, 70, 300) == 2
    launches(tuned, 90, 301)
    # Sizes of one magnitude are one class.
    ((_, by_macros),) = asked
    assert by_macros.roundings == 300
    assert {1, 2} == {len(each.steps) or 1 for each in by_macros.sizes}
    # Another program: what is remembered is taken, and nothing is searched; one that is told nothing doesn't look.
    assert [launches(sums(tune=each), 80, 400) for each in ("remembered", None)] == [2, 1]
    assert len(asked) == 1


def test_a_version_of_a_pipeline(
    queue: cl.CommandQueue, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = search_finds({"FUSE_gain": "1"}, queue, tmp_path, monkeypatch)
    stages = Map("gain", "k * u", arguments="float k"), Stencil("sum", "u(0, 0) + u(1, 0)", border="edge")
    x = cl.array.to_device(queue, whole(500).reshape(20, 25))
    plain, tuned = pipeline(*stages), pipeline(*stages, tune=Tune(store=store))
    for _ in range(3):
        assert np.array_equal(tuned(queue, x, k=3.0).get(), plain(queue, x, k=3.0).get())
    ((request, by_macros),) = asked
    assert request.launch.global_size == (256, 16, 16) and by_macros.is_sequence


def test_what_a_version_of_a_pipeline_is_known_by(
    queue: cl.CommandQueue, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[str, int]]()
    stencil = Stencil("sum", "u(0, 0) + u(1, 0)", border="edge")
    work = "float s = 0; for (int i = 0; i < taps; ++i) s += peek(i); pop(); push(s);"
    taken = Actor("taken", pop=1, push=1, peek="taps", work=work, arguments="int taps")
    x = cl.array.to_device(queue, whole(500).reshape(20, 25))

    def tune_request(request: LaunchRequest, *_: object) -> Tuned:
        asked.append(call)
        return found(request)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    # The last kernel has the same code in all; of numbers beyond three, magnitudes count, too.
    for call in (("2 * u", 2), ("2 * u", 3), ("2 * u", 16), ("exp(u)", 2)):
        pipeline(Map("gain", call[0]), stencil, taken, tune=Tune(store=store))(queue, x, taps=call[1])
    assert asked == [("2 * u", 2), ("2 * u", 16), ("exp(u)", 2)]


def test_what_is_no_search_of_versions() -> None:
    with pytest.raises(InvalidInputError, match="leave it out"):
        sums(tune=True, reproducible=True)
