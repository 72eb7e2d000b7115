"""`coarsen tune` over inputs: what it writes is shown, evaluated, exported, and used by a program."""

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
from coarsen.cli.coverage_text import ListedInputs
from coarsen.cli.messages import logging_to_stderr
from coarsen.cli.tune_inputs_options import InputsRequest
from coarsen.cli.tune_progress import InputsProgress
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs import over_inputs
from coarsen.opencl_bench.inputs.cold_times import ColdTimes
from coarsen.opencl_bench.inputs.described_listing import list_inputs
from coarsen.opencl_bench.inputs.described_points import described_points
from coarsen.opencl_bench.inputs.evidence import evidence_of, with_caches
from coarsen.opencl_bench.inputs.left_open_times import LeftOpenTimes
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, listed_presets, tuned_file
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.searchers import SEARCHERS
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.cli.conftest import Run
from tests.devices.described_devices import TAHITI
from tests.opencl_bench.inputs.recordings import launch, recorded

KERNEL = """\
#pragma coarsen select IMPL straight,turned
#pragma coarsen input length = count
kernel void scale(global float *values, int count, float factor)
{
    int item = get_global_id(0);
#if IMPL == turned
    item = get_global_size(0) - 1 - item;
#endif
    if (item < count)
        values[item] *= factor;
}
"""
DESCRIPTION = """\
file = "scale.cl"
kernel = "scale"
build_options = ["-cl-std=CL1.2"]
outputs = ["values"]

[ndrange]
global_size = ["(count + 63) // 64 * 64"]
local_size = [64]

[sizes.test]
count = 100

[inputs]
ranges = { count = [64, 5000] }
count = 3

[[arguments]]
name = "values"
buffer = "float"
elements = "count"
values = "uniform(0, 1)"

[[arguments]]
name = "count"
scalar = "int"
value = "count"

[[arguments]]
name = "factor"
scalar = "float"
value = 0.5
"""
STRAIGHT = Variant((64,), definitions=(("IMPL", "0"),))
TURNED = Variant((64,), definitions=(("IMPL", "1"),))
COARSENED = Variant((64,), (Coarsening(2),), (("IMPL", "0"),))


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description of a kernel with pragmas, beside it."""
    (tmp_path / "scale.cl").write_text(KERNEL)
    path = tmp_path / "scale.toml"
    path.write_text(DESCRIPTION)
    return path


@pytest.fixture
def tuned(described: Path) -> Path:
    """A tuned file of which two versions are each twice as fast as the other at half of the inputs."""
    points = tuple(InputPoint(f"input-{i:03}", f"count={2**i}", {"length": float(2**i)}) for i in range(12))
    seconds = [[2e-3, 4e-3, 1e-3] if point.features["length"] > 100 else [1e-3, 4e-3, 2e-3] for point in points]
    times = VersionTimes(points, (STRAIGHT, TURNED, COARSENED), np.array(seconds), 0)
    path = described.with_name("scale.tuned.json")
    tuned_file(read_description(described), TAHITI, times).write(path)
    return path


def test_show_says_rules_versions_and_what_each_is_worth(run: Run, tuned: Path) -> None:
    shown = run("tune", "show", tuned)
    assert shown.code == 0 and shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0].startswith(f"scale on {TAHITI.name}, driver {TAHITI.driver_version}, tuned by coarsen ")
    assert lines[2].startswith("if length <= ") and lines[3:6] == ["    version 0", "otherwise:", "    version 1"]
    assert lines[-2:] == ["what a version may be chosen by, of a launch:", "    length = count"]
    (default, faster) = (line for line in lines if line[:2] in ("0 ", "1 "))
    assert "uncoarsened, local size 64, -D IMPL=0 (the default)" in default and "7 inputs" in default
    assert "factor 2" in faster and "5 inputs" in faster and "2.00 times as fast" in faster


def test_show_says_what_choosing_is_worth_beside_each_baseline(run: Run, tuned: Path) -> None:
    file = TunedFile.read(tuned)
    twice = tuple(2 * float(row[0]) for row in evidence_of(file).times.seconds)
    baseline = LeftOpenTimes(twice, (0,) * len(twice)).to_json()
    replace(file, evidence={**file.evidence, "left_open": baseline}).write(tuned)
    shown = run("tune", "show", tuned).out
    assert "what is chosen, over all inputs of the tuning:" in shown
    worth = json.loads(run("tune", "show", tuned, "-f", "json").out)["choice"]
    assert worth["over_left_open"] == pytest.approx(2 * worth["over_default"])
    for name, words in (
        ("over_default", "the default version"),
        ("over_left_open", "the default version, its local size left to the driver"),
        ("over_fixed", "the fixed best"),
    ):
        assert f"    {worth[name]:.2f} times as fast as {words}\n" in shown
    evaluated = run("tune", "evaluate", tuned).out
    assert "the default version, its local size left to the driver" in evaluated
    reason = LeftOpenTimes(reason="the buffers depend on the local size")
    replace(file, evidence={**file.evidence, "left_open": reason.to_json()}).write(tuned)
    told = "the default version, its local size left to the driver"
    assert f"    not compared with {told}: {reason.reason}\n" in run("tune", "show", tuned).out
    assert f"Not measured: {told}, since {reason.reason}." in run("tune", "evaluate", tuned).out


def test_show_and_evaluate_say_how_the_caches_were(run: Run, tuned: Path) -> None:
    file = TunedFile.read(tuned)
    # As it was tuned, the first version is the fastest at the least input.
    cold = ColdTimes(("input-000",), ((2e-3, 1e-3),), ((0, 0),), {"input-011": "timeout: too long"})
    with_caches(file, cold=cold).write(tuned)
    told = [
        "With flushed caches, another version is the fastest at 1 of 2 inputs that were looked at:",
        "    input-000: version 1 is the fastest, 2.00 times as fast as version 0, which is otherwise",
        "    input-011: not timed, for the default version does not run: timeout: too long",
    ]
    for command in ("show", "evaluate"):
        lines = run("tune", command, tuned).out.splitlines()
        assert all(line in lines for line in told)
    (first, second) = json.loads(run("tune", "show", tuned, "-f", "json").out)["cold_check"]
    assert (first["input"], first["cold"], first["changes"]) == ("input-000", 1, True)
    assert second["reason"] == "timeout: too long"
    with_caches(file, is_cold=True).write(tuned)
    assert "the caches were flushed before every timed run\n" in run("tune", "show", tuned).out
    assert json.loads(run("tune", "show", tuned, "-f", "json").out)["cold_cache"] is True


def test_show_as_json(run: Run, tuned: Path) -> None:
    content = json.loads(run("tune", "show", tuned, "-f", "json").out)
    assert content["kernel"] == "scale" and "evidence" not in content
    assert [each["chosen"] for each in content["worth"]] == [7, 5]


def test_a_kernel_whose_best_version_is_one_is_said_to_be_insensitive(run: Run, described: Path) -> None:
    points = tuple(InputPoint(f"input-{i:03}", f"count={2**i}", {"length": float(2**i)}) for i in range(6))
    times = VersionTimes(points, (STRAIGHT, TURNED), np.array([[1e-3, 2e-3]] * 6), 0)
    path = described.with_name("scale.tuned.json")
    tuned_file(read_description(described), TAHITI, times).write(path)
    shown = run("tune", "show", path).out.splitlines()
    assert shown[2:4] == ["not input-sensitive: one version suffices, version 0", ""]


def test_evaluate_leaves_each_size_out(run: Run, tuned: Path) -> None:
    evaluated = run("tune", "evaluate", tuned)
    assert evaluated.code == 0, evaluated.err
    assert "best of what was tried" in evaluated.out and "regret tree" in evaluated.out
    assert "12 inputs of 12 different sizes" in evaluated.out
    rows = json.loads(run("tune", "evaluate", tuned, "-f", "json").out)["chosen_by"]
    share = {row["name"]: row["share"]["value"] for row in rows}
    assert share["best of what was tried"] == 1.0
    assert share["regret tree"] > share["fixed best: the least mean regret"]


def test_export_writes_versions_and_the_header(run: Run, tuned: Path) -> None:
    folder = tuned.parent / "generated"
    exported = run("tune", "export", tuned, "--c", folder)
    assert exported.code == 0, exported.err
    assert sorted(path.name for path in folder.iterdir()) == ["choose.h", "version_0.cl", "version_1.cl"]
    assert "scale_choose" in (folder / "choose.h").read_text()
    texts = [(folder / f"version_{number}.cl").read_text() for number in (0, 1)]
    assert "#define IMPL 0\n" in texts[0] and "IMPL == 1" in texts[0]
    assert all("kernel void scale(" in text for text in texts)


def test_export_refuses_another_source(run: Run, tuned: Path) -> None:
    (tuned.parent / "scale.cl").write_text(KERNEL.replace("factor;", "factor + 1;"))
    refused = run("tune", "export", tuned, "--c", tuned.parent / "generated")
    assert refused.code == 2 and "it is not the source that was tuned" in refused.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("shwo", "x"), "no benchmark 'shwo' (did you mean 'coarsen tune show'?)"),
        (("mt", "--inputs", "3"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("show", "nowhere.json"), "nowhere.json"),
        (("mt", "mt"), "one kernel is tuned at a time, not 2"),
        (("mt", "--search", "staircase"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("mt", "--budget", "5"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("mt", "--cold-cache"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("mt", "--cold-check"), "mt has no inputs to tune over: name a description, KERNEL.toml"),
        (("x.toml", "--cold-check", "--cold-cache"), "--cold-cache flushes them anyway: leave one out"),
    ],
)
def test_what_is_misspelt_is_said(run: Run, words: tuple[str, ...], message: str) -> None:
    refused = run("tune", *words)
    assert refused.code == 2 and message in refused.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--search", "bisection"), "--search knows no 'bisection'; it knows additive, "),
        (("--search", "staircas"), "--search knows no 'staircas' (did you mean staircase?); it knows additive, "),
        (("--budget", "much"), "--budget is a share such as 5% or a whole number, not 'much'"),
        (("--budget", "90s"), "--budget is a share such as 5% or a whole number, not '90s'"),
        (("--budget", "0"), "a budget has at least one trial, not 0"),
        (("--search", "random", "--budget", "200%"), "a budget is a share above 0 and at most 1"),
    ],
)
def test_searches_that_are_none_are_refused_before_anything_is_written(
    run: Run, described: Path, words: tuple[str, ...], message: str
) -> None:
    refused = run("tune", described, *words)
    assert refused.code == 2 and message in refused.error and "Traceback" not in refused.err
    assert sorted(path.name for path in described.parent.iterdir()) == ["scale.cl", "scale.toml"]


def request(**given: Any) -> InputsRequest:  # noqa: ANN401 (fields of several types)
    return replace(InputsRequest(None, None, None, 3, None), **given)


def test_the_guided_search_is_warm_and_has_a_share_and_the_others_are_as_they_are() -> None:
    usual = request().stage_one()
    assert usual == StageOneSettings(seed=3) == request(search="guided").stage_one()
    assert request(budget="20%").stage_one() == StageOneSettings(seed=3, limit=Budget(share=0.2))
    for name, searcher in SEARCHERS.items():
        found = request(search=name).stage_one()
        if name != "guided":
            assert found == StageOneSettings(searcher, is_warm=False, seed=3, limit=Budget())
    stairs = request(search="staircase", budget="5").stage_one()
    assert stairs == StageOneSettings(StaircaseSearcher(), is_warm=False, seed=3, limit=Budget(trials=5))


def test_cold_caches_are_a_way_to_measure() -> None:
    usual = OverInputs(4, stage_one=StageOneSettings(seed=3), distinct=True)
    assert request().settings(4) == usual and not request(distinct=False).settings(4).distinct
    assert request(is_cold=True).settings(4).method == Method(cold_cache=True)
    assert request(cold_check=True, most=2).settings(None).cold_check


@pytest.mark.compiled_devices
def test_a_search_by_name_and_a_check_with_cold_caches(
    run: Run, described: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, short = InputsRequest.settings, Method(repetitions=1, minimum_repetitions=1)

    def quick(asked: InputsRequest, listed: int | None) -> OverInputs:
        return replace(settings(asked, listed), method=short, space=Space(factors=(1, 2), strides=(1,)))

    monkeypatch.setattr(InputsRequest, "settings", quick)
    place = ("-d", device.index, "--inputs", 2, "--store", described.with_name("store.sqlite"))
    made = run("tune", described, *place, "--search", "staircase", "--budget", 2, "--cold-check")
    assert made.code == 0, made.err
    lines = made.out.splitlines()
    assert any(line.endswith("as fast as the default version") for line in lines)
    # KERNEL asks for the global size, not for its work-groups.
    assert any(
        line.endswith("times as fast as the default version, its local size left to the driver") for line in lines
    )
    assert any(line.startswith("With flushed caches, another version is the fastest at ") for line in lines)
    shown = run("tune", "show", described.with_name("scale.tuned.json")).out
    assert "of 2 inputs that were looked at:" in shown


def test_a_description_without_inputs_is_told_the_line_to_add(run: Run, described: Path) -> None:
    described.write_text(DESCRIPTION.replace("[inputs]\nranges = { count = [64, 5000] }\ncount = 3\n", ""))
    refused = run("tune", described, "--inputs", "3")
    assert refused.code == 2 and "inputs: it is missing; add [inputs]" in refused.err.splitlines()[-1]


def test_init_writes_a_description_to_tune_over_inputs(run: Run, described: Path) -> None:
    written = run("tune", "init", described.with_suffix(".cl"), "-o", described.with_name("new.toml"))
    assert written.code == 0, written.err
    text = described.with_name("new.toml").read_text()
    assert "#     IMPL: straight, turned" in text and "# The source declares length." in text
    assert read_benchmark(described.with_name("new.toml")).tunables == {"IMPL": ("0", "1")}
    description = read_description(described.with_name("new.toml"))
    assert description.inputs is not None and [each.feature.name for each in description.features] == ["length"]


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
    assert run("tune", "init", file).code == 0
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


def test_progress_is_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = iter((0.0, 10.0, 31.0, 31.0, 40.0))
    progress = InputsProgress(lambda: next(seconds))
    with logging_to_stderr():
        for _ in range(3):
            progress.measuring("scale", COARSENED)
    assert capsys.readouterr().err.splitlines() == [
        f"coarsen: note: 0 rows measured, 0 rows/min; now {COARSENED}",
    ]


def test_sizes_are_printed_as_they_are_declared(capsys: pytest.CaptureFixture[str]) -> None:
    ListedInputs(Path("x.toml"), None, ({"n": 1048576.0, "skew": 0.25},)).show()
    shown = capsys.readouterr().out
    assert "1048576" in shown and "0.25" in shown and "e+" not in shown


PROGRAM = """\
import sys
import numpy as np
import pyopencl as cl

platform, device = map(int, sys.argv[1].split(":"))
context = cl.Context([cl.get_platforms()[platform].get_devices()[device]])
queue = cl.CommandQueue(context)
program = cl.Program(context, open(sys.argv[2]).read()).build(["-cl-std=CL1.2"])
for count in (100, 5000, 100):
    values = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.full(count, 3, np.float32))
    program.scale(queue, ((count + 63) // 64 * 64,), (64,), values, np.int32(count), np.float32(2))
queue.finish()
"""


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    ("contents", "line"), [("each", None), ("none", "contents of buffers: 0 as recorded, 2 ")]
)
def test_the_launches_of_a_program_are_the_inputs(
    run: Run,
    described: Path,
    device: DeviceDescription,
    monkeypatch: pytest.MonkeyPatch,
    contents: str,
    line: str | None,
) -> None:
    monkeypatch.setattr(over_inputs, "FACTORS", (1, 2))
    folder, store = described.with_name("recording"), described.with_name("store.sqlite")
    program = described.with_name("program.py")
    program.write_text(PROGRAM)
    ran = run(
        *("run", "--store", store, "--record", folder, "--record-contents", contents),
        *(program, device.index, described.with_suffix(".cl")),
    )
    assert f"coarsen tune KERNEL.toml --inputs-from {folder}" in ran.err
    made = run("tune", described, "--inputs-from", folder, "-d", device.index, "--store", store)
    assert made.code == 0, made.err
    assert "from 2 different launches; of 3 recorded launches of the kernel, 3 passed exactly these" in made.out
    rows = [words.split() for words in made.out.splitlines()]
    assert ["bytes", "of", "values", "400", "20000", "2"] in rows
    assert (line or "wrote ") in made.out and ("contents of buffers" in made.out) == (line is not None)
    assert run("tune", "show", described.with_name("scale.tuned.json")).code == 0
    exported = run("tune", "export", described.with_name("scale.tuned.json"), "--c", described.parent / "c")
    assert exported.code == 0, exported.err
    # Nothing is measured twice, and the list that was written is a description to tune by itself.
    again = run(
        "tune", described.with_name("scale.recorded.toml"), "-d", device.index, "--store", store, "-f", "json"
    )
    assert again.code == 0, again.err
    assert json.loads(again.out)["coverage"]["count"] == {"least": 100, "largest": 5000, "different": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no recording (launches.json); coarsen run --record"),
        ("{", "launches.json: it is no list of launches; record the program again"),
        ('{"format": 9}', "its format is 9, and this version of coarsen reads 1; record the program again"),
        ('{"format": 1, "kernels": []}', "it has no launch of the kernel scale; it has launches of none"),
    ],
)
def test_a_recording_that_does_not_serve_is_one_line(
    run: Run, described: Path, content: str | None, message: str
) -> None:
    folder = described.with_name("recording")
    if content is not None:
        folder.mkdir()
        (folder / "launches.json").write_text(content)
    refused = run("tune", described, "--inputs-from", folder)
    assert refused.code == 2 and message in refused.error


@pytest.mark.parametrize(
    "options", [("--seconds", 3), ("--levels", "item"), ("--no-wide-accesses",), ("--preset", "gpu")]
)
def test_options_for_one_size_are_refused_over_inputs(
    run: Run, described: Path, options: tuple[object, ...]
) -> None:
    refused = run("tune", described, *options)
    assert refused.code == 2 and f"{options[0]}" in refused.error and "not over inputs" in refused.error


def test_launches_of_another_source_are_one_line(run: Run, described: Path) -> None:
    folder = recorded(described.parent, launch(64), source=KERNEL.replace("*=", "+="), kernel="scale")
    refused = run("tune", described, "--inputs-from", folder)
    assert refused.code == 2 and "launched scale from another source than scale.cl" in refused.error


def test_a_kernel_of_the_suite_has_no_recorded_inputs(run: Run, tmp_path: Path) -> None:
    refused = run("tune", "mt", "--inputs-from", tmp_path)
    assert refused.code == 2 and "name a description, KERNEL.toml" in refused.error


def test_explore_draws_the_versions_over_the_input(run: Run, tuned: Path) -> None:
    figure = tuned.with_name("scale.svg")
    drawn = run("explore", "--inputs", tuned, "-o", figure)
    assert drawn.code == 0, drawn.err
    assert "<svg" in figure.read_text()
    numbers = json.loads(run("explore", "--inputs", tuned, "-f", "json").out)
    assert numbers["feature"] == "length" and numbers["chosen"] == [0] * 7 + [1] * 5
    (point,) = numbers["break_evens"]
    assert (point["before"], point["after"], point["low"], point["high"]) == (0, 1, 64, 128)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--over", "length"), "--over goes with --inputs"),
        (("curves", "--inputs", "x.json", "-o", "x.svg"), "--inputs is a figure of its own: leave out FIGURE"),
        (("--inputs", "x.json"), "where shall the figure go?"),
        (("--inputs", "x.json", "-o", "x.svg"), "x.json"),
    ],
)
def test_what_does_not_go_with_a_figure_of_inputs_is_said(run: Run, words: tuple[str, ...], message: str) -> None:
    refused = run("explore", *words)
    assert refused.code == 2 and message in refused.error
