"""`coarsen tune` over inputs: what it refuses, what it searches and measures, and what a program then launches."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.cli.tune.options import TuneOptions
from coarsen.cli.tune.over_inputs import ListedInputs
from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.inputs import over_inputs
from coarsen.opencl_bench.inputs.described import described_points
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, listed_presets
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.store.database import open_store
from tests.cli.conftest import Run
from tests.cli.scale_kernel import DESCRIPTION, KERNEL, write_described

pytestmark = pytest.mark.usefixtures("certain")


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description of a kernel with pragmas, beside it."""
    return write_described(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mt", "--inputs", "3"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("mt", "mt"), "got unexpected extra argument"),
        (("mt", "-o", "x.tuned.json"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("mt", "--caches", "cold"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
    ],
)
def test_what_is_misspelt_is_said(run: Run, words: tuple[str, ...], message: str) -> None:
    refused = run("tune", *words)
    assert refused.code == 2 and message in refused.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trials", "much"), "--trials is a share such as 5% or a whole number, not 'much'"),
        (("--trials", "90s"), "--trials is a share such as 5% or a whole number, not '90s'"),
        (("--trials", "0"), "a budget has at least one trial, not 0"),
        (("--trials", "200%"), "a budget is a share above 0 and at most 1"),
    ],
)
def test_searches_that_are_none_are_refused_before_anything_is_written(
    run: Run, described: Path, words: tuple[str, ...], message: str
) -> None:
    refused = run("tune", described, *words)
    assert refused.code == 2 and message in refused.error and "Traceback" not in refused.err
    assert sorted(path.name for path in described.parent.iterdir()) == ["scale.cl", "scale.toml"]


def request(**given: Any) -> TuneOptions:  # noqa: ANN401 (fields of several types)
    return TuneOptions(kernel="scale.toml", chosen={}, seed=3, **given)


def test_the_search_is_guided_and_warm_and_has_a_share() -> None:
    assert request().stage_one() == StageOneSettings(seed=3)
    assert request(trials="20%").stage_one() == StageOneSettings(seed=3, limit=Budget(share=0.2))


def test_cold_caches_are_a_way_to_measure() -> None:
    usual = OverInputs(4, stage_one=StageOneSettings(seed=3), distinct=True)
    assert request().over_inputs(4) == usual and not request(space=["distinct=no"]).over_inputs(4).distinct
    assert request(caches="cold").over_inputs(4).method == Method(cold_cache=True)


@pytest.mark.compiled_devices
def test_what_choosing_is_worth_is_told(
    run: Run, described: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = TuneOptions.over_inputs

    def quick(asked: TuneOptions, listed: int | None) -> OverInputs:
        usual = settings(asked, listed)
        short = replace(usual.method, repetitions=1, minimum_repetitions=1)
        return replace(usual, method=short, space=Space(factors=(1, 2), strides=(1,)))

    monkeypatch.setattr(TuneOptions, "over_inputs", quick)
    place = ("-d", device.index, "--inputs", 2, "--store", described.with_name("store.sqlite"))
    made = run("tune", described, *place, "--trials", 2, "--caches", "cold")
    assert made.code == 0, made.err
    lines = made.out.splitlines()
    assert any(line.endswith("as fast as the default version") for line in lines)
    shown = run("results", "show", described.with_name("scale.tuned.json")).out
    assert "the caches were flushed before every timed run\n" in shown


def test_a_description_without_inputs_is_told_the_line_to_add(run: Run, described: Path) -> None:
    described.write_text(DESCRIPTION.replace("[inputs]\nranges = { count = [64, 5000] }\ncount = 3\n", ""))
    refused = run("tune", described, "--inputs", "3")
    assert refused.code == 2 and "inputs: it is missing; add [inputs]" in refused.err.splitlines()[-1]


def test_init_writes_a_description_to_tune_over_inputs(run: Run, described: Path) -> None:
    written = run("describe", described.with_suffix(".cl"), "--inputs", "-o", described.with_name("new.toml"))
    assert written.code == 0, written.err
    text = described.with_name("new.toml").read_text()
    assert "#     IMPL: straight, turned" in text and "# The source declares length." in text
    assert read_benchmark(described.with_name("new.toml")).tunables == {"IMPL": ("0", "1")}
    description = read_description(described.with_name("new.toml"))
    assert description.inputs is not None and [each.name for each in description.features] == ["length"]


SEVERAL = """\
kernel void add(global const float *a, global const int *b, global float *c, float factor, int count)
{
    int item = get_global_id(0);
    if (item < count)
        c[item] = factor * a[item] + b[item];
}
"""
PLANE = """\
kernel void plane(global const float *in, global float *out, int width)
{
    int place = get_global_id(1) * width + get_global_id(0);
    out[place] = 2 * in[place];
}
"""
BOX = """\
kernel void box(global float *values)
{
    values[get_global_id(0) + get_global_id(1) * get_global_size(0) + get_global_id(2)] = 1;
}
"""


@pytest.mark.parametrize(("source", "count"), [(SEVERAL, 24), (PLANE, 24), (BOX, 8), (KERNEL, 24)])
def test_every_input_of_a_description_that_init_wrote_can_be_launched(
    run: Run, tmp_path: Path, source: str, count: int
) -> None:
    file = tmp_path / "kernel.cl"
    file.write_text(source)
    assert run("describe", file, "--inputs").code == 0
    path = file.with_suffix(".toml")
    list_inputs(path)
    description, benchmark = read_description(path), read_benchmark(path)
    presets = listed_presets(description, None)
    assert len(presets) == count
    assert len(described_points(description, benchmark, presets)) == count
    for preset in presets:
        for local_size in benchmark.local_sizes_of(preset):
            # The largest would fit into a small device.
            (launch,) = benchmark.launches(preset, local_size, benchmark.own_definitions)
            assert math.prod(launch.global_size) <= 1 << 24


@pytest.mark.compiled_devices
def test_what_is_tuned_over_inputs_is_what_a_program_launches(
    run: Run, described: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(over_inputs, "FACTORS", (1, 2))
    store = described.with_name("store.sqlite")
    made = run("tune", described, "-d", device.index, "--inputs", 2, "--store", store, "-f", "json")
    assert made.code == 0, made.err
    path = described.with_name("scale.tuned.json")
    assert json.loads(made.out)["tuned_file"] == str(path)
    context = cl.Context([coarsen.open_device(device)])
    queue = cl.CommandQueue(context)
    program = coarsen.Program(context, KERNEL, tuned=str(path)).build(["-cl-std=CL1.2"])
    for count in (100, 64, 1000):
        values = np.arange(count, dtype=np.float32)
        there = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
        size = (count + 63) // 64 * 64
        program.scale(queue, (size,), (64,), there, np.int32(count), np.float32(2))
        found = np.empty_like(values)
        cl.enqueue_copy(queue, found, there)
        assert (found == 2 * values).all()


@pytest.mark.compiled_devices
def test_what_was_measured_before_an_interruption_is_kept(
    run: Run, described: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(over_inputs, "FACTORS", (1,))
    store = described.with_name("store.sqlite")
    monkeypatch.setattr(over_inputs, "measure_versions", _interrupt)
    stopped = run("tune", described, "-d", device.index, "--inputs", 1, "--store", store)
    assert stopped.code == 130
    told = r"interrupted: [1-9]\d* rows? (was|were) measured and stored in .*store\.sqlite; the same command"
    assert re.search(told, stopped.err)
    assert not described.with_name("scale.tuned.json").exists()
    measured = int(stopped.err.rpartition("interrupted: ")[2].split()[0])
    with open_store(str(store)) as opened:
        assert opened.count() >= measured


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_sizes_are_printed_as_they_are_declared(capsys: pytest.CaptureFixture[str]) -> None:
    ListedInputs(Path(), None, ({"n": 1048576.0, "skew": 0.25},)).show()
    shown = capsys.readouterr().out
    assert "1048576" in shown and "0.25" in shown and "e+" not in shown


@pytest.mark.parametrize(
    "options",
    [("--space", "level=item"), ("--space", "wide-accesses=no"), ("--preset", "gpu")],
)
def test_options_for_one_size_are_refused_over_inputs(
    run: Run, described: Path, options: tuple[object, ...]
) -> None:
    refused = run("tune", described, *options)
    assert refused.code == 2 and f"{options[0]}" in refused.error and "not over inputs" in refused.error
