"""`coarsen tune`: what it finds for a described kernel is what a program made of the same text uses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.drop_in.program import Program
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.tuning import tuner
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_existing_store
from coarsen.tuning.tuned import Conversion, Decision, LaidOutChoice, Tuned
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.variant import Variant
from tests.cli.conftest import Run
from tests.dispatch.files import FILE

pytestmark = [pytest.mark.compiled_devices, pytest.mark.usefixtures("certain")]

POWER = """\
kernel void power(global float *values, uint count)
{
    uint item = get_global_id(0);
    float value = values[item];
    for (uint i = 0; i < STEPS; ++i)
        value = value * value + 0.25f;
    values[item] = value;
}
"""
DESCRIPTION = """\
file = "power.cl"
kernel = "power"
outputs = ["values"]
[ndrange]
global_size = ["n"]
local_size = [64]
[tunables]
STEPS = [16, 32]
[sizes.test]
n = 1024
[[arguments]]
name = "values"
buffer = "float"
elements = "n"
values = "uniform(0, 1)"
[[arguments]]
name = "count"
scalar = "uint"
value = "n"
"""
CHOICE = Variant((128,), (Coarsening(4),), (("STEPS", "16"),))


class Recorder:
    """Keeps how launches were carried out."""

    def __init__(self) -> None:
        self.seen: list[DividedLaunch] = []

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert (kernel, original.global_size) == ("power", (1024,))
        self.seen.append(divided)


@pytest.fixture
def power(tmp_path: Path) -> Path:
    """A kernel with its description beside it."""
    (tmp_path / "power.toml").write_text(DESCRIPTION)
    path = tmp_path / "power.cl"
    path.write_text(POWER)
    return path


def found(
    device: DeviceDescription, choice: Variant = CHOICE, wrong: tuple[str, ...] = (), kernel: str = "power"
) -> Tuned:
    gain = Speedup(2.0, 1.9, 2.1)
    decision = Decision(choice, gain, Speedup(1.5, 1.4, 1.6), 3, (2.0, 1.0))
    return Tuned(kernel, str(device), (1024,), (64,), decision, 9, 1, 0.25, 7.0, "the time was over", wrong)


@pytest.fixture
def finding(monkeypatch: pytest.MonkeyPatch) -> list[Tuned]:
    """What tuning finds, in place of a search."""
    given: list[Tuned] = []
    monkeypatch.setattr(tuner, "tune_described", lambda *_arguments: given.pop())
    return given


def test_a_program_of_the_same_text_finds_it(
    device: DeviceDescription, context: cl.Context, power: Path, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    store = str(tmp_path / "store.sqlite")
    finding.append(found(device))
    words = (str(power), "-d", str(device).split()[0], "--preset", "test", "--store", store)
    outcome = run("tune", *words)
    assert outcome.code == 0, outcome.err
    for text in ("2.00 (1.90 to 2.10)", "1.50 (1.40 to 1.60)", "9 variants, 25 % of those", "1 variant", "store"):
        assert text in outcome.out
    assert "factor=4, dim=0" in outcome.out
    recorder = Recorder()
    # Found in the store, where nothing is remembered it stays the original.
    program = Program(context, POWER, tune=Tune(store=store), observer=recorder).build(["-DSTEPS=16"])
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(context, flags, hostbuf=np.full(1024, 0.5, np.float32))
    program.power(queue, (1024,), (64,), buffer, np.uint32(1024))
    queue.finish()
    (divided,) = recorder.seen
    assert divided.coarsenings == (Coarsening(4),)
    assert divided.local_size == (32,)
    assert "remembered from" in (divided.reason or "")


def test_json_has_all_of_it(
    device: DeviceDescription, power: Path, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    store = tmp_path / "store.sqlite"
    finding.append(found(device))
    words = ("-d", str(device).split()[0], "--preset", "test", "--store", str(store), "-f", "json")
    data = json.loads(run("tune", str(power.with_suffix(".toml")), *words).out)
    assert data["speedup"] == {"ratio": 2.0, "low": 1.9, "high": 2.1}
    assert (data["trials"], data["failed"], data["store"]) == (9, 1, str(store))
    with open_existing_store(str(store)) as opened:
        (choice,) = opened.remembered.choices()
    assert choice.variant == Variant((128,), (Coarsening(4),))


def test_wrong_results_are_an_error_of_their_own(
    device: DeviceDescription, power: Path, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    finding.append(found(device, wrong=("factor 2: values: 1 of 1024 elements wrong",)))
    words = ("-d", str(device).split()[0], "--preset", "test", "--store", str(tmp_path / "s.sqlite"))
    outcome = run("tune", str(power), *words)
    assert outcome.code == 5
    assert "wrong results of power: factor 2: values: 1 of 1024 elements wrong" in outcome.err


def test_launches_of_different_sizes_are_not_remembered(
    device: DeviceDescription, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    finding.append(found(device, Variant((64,), (Coarsening(2),)), kernel="dwtHaar1D"))
    store = tmp_path / "store.sqlite"
    words = ("-d", str(device).split()[0], "--preset", "test", "--store", str(store))
    outcome = run("tune", "dwtHaar1D", *words)
    assert outcome.code == 0, outcome.err
    assert "not remembered for programs: its launches differ in their sizes" in outcome.out
    assert not store.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seconds", "0"), "tuning takes more than 0 seconds"),
        (("--trials", "0"), "a budget has at least one trial"),
        (("--space", "level=warp"), "--space level=warp: level is item, group, not 'warp'"),
        (("--preset", "paper"), "no preset 'paper'"),
        (("--trials", "many"), "--trials is a share such as 5% or a whole number, not 'many'"),
        (("--trials", "5%"), "--trials is a number of variants; a share is for tuning over inputs"),
        (("--space", "factor=2"), "--space takes level, wide-accesses, distinct, not 'factor'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, power: Path, run: Run) -> None:
    outcome = run("tune", str(power), *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


RECORDS = """\
typedef struct { float x; uchar tag; double mass; short kind; } Body;

kernel void grow(global Body *bodies, global const float *by)
{
    int i = get_global_id(0);
    bodies[i].mass = bodies[i].mass * 2 + by[i];
}
"""
OF_RECORDS = """\
file = "grow.cl"
kernel = "grow"
outputs = ["bodies"]
[structures.Body]
x = "float"
tag = "uchar"
mass = "double"
kind = "short"
[ndrange]
global_size = ["n"]
local_size = [16]
[sizes.test]
n = 64
[[arguments]]
name = "bodies"
buffer = "Body"
elements = "n"
[arguments.values]
x = "uniform(0, 1)"
tag = "integers(0, 100)"
mass = "uniform(0, 1)"
kind = "integers(0, 100)"
[[arguments]]
name = "by"
buffer = "float"
elements = "n"
values = "uniform(0, 1)"
"""
PLAN = ArrayPlan("bodies", SOA)
# 1 ms a run as it is, half of that without a layout, a quarter with one, and 10 ms to convert.
LAID_OUT = LaidOutChoice(
    Variant((16,), (Coarsening(4),), arrays=(PLAN,)), Speedup(4.0, 3.9, 4.1), 1e-3, 2.0, Conversion(0.01, 40)
)


@pytest.fixture
def grow(tmp_path: Path) -> Path:
    """A kernel on records with its description beside it."""
    (tmp_path / "grow.cl").write_text(RECORDS)
    path = tmp_path / "grow.toml"
    path.write_text(OF_RECORDS)
    return path


def test_a_layout_is_told_with_its_conversion_and_goes_into_a_file(
    device: DeviceDescription, context: cl.Context, grow: Path, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    best = replace(found(device, Variant((16,), (Coarsening(2),)), kernel="grow"), local_size=(16,))
    finding.append(replace(best, laid_out=LAID_OUT))
    store = ("--store", str(tmp_path / "s.sqlite"))
    outcome = run(
        "tune", grow, "-d", str(device).split()[0], "--preset", "test", "--layout", "all", "--runs", 100, *store
    )
    assert outcome.code == 0, outcome.err
    for text in ("bodies as soa", "4.00 (3.90 to 4.10)", "took the host 10 ms: that pays after 40 runs"):
        assert text in outcome.out
    # 50 ms without it; 25 ms and 10 ms with it.
    assert "over 100 runs, conversion included" in outcome.out and "1.43 times as fast" in outcome.out
    path = grow.with_name("grow.tuned.json")
    assert f"tuned file: {path}" in outcome.out
    file = TunedFile.read(path)
    assert [version.variant for version in file.versions] == [Variant(), Variant((), (Coarsening(2),))]
    (laid_out,) = file.layouts
    assert laid_out.variant == Variant((), (Coarsening(4),), arrays=(PLAN,))
    assert (laid_out.runs_until_it_pays, laid_out.conversion_seconds) == (40, 0.01)
    shown = run("results", "show", path).out
    assert "tuned at one size: version 1 as arrays are written" in shown
    for text in ("bodies as soa", "4.00 times as fast", "10 ms", "40 runs"):
        assert text in shown
    # What is found so is used so: by a program that converts, of the same text.
    body = np.dtype([("x", "f4"), ("tag", "u1"), ("mass", "f8"), ("kind", "i2")], align=True)
    layout, queue = coarsen.Layout.soa(body), cl.CommandQueue(context)
    host = np.zeros(64, body)
    host["mass"] = np.arange(64)
    program = coarsen.Program(context, RECORDS, arrays={"bodies": layout}, tuned=path).build()
    array = coarsen.LaidOutArray(queue, layout, host)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    by = cl.Buffer(context, flags, hostbuf=np.ones(64, np.float32))
    program.grow(queue, (64,), (16,), array, by)
    np.testing.assert_array_equal(array.get(queue)["mass"], 2.0 * np.arange(64) + 1)


def test_json_has_the_layout(
    device: DeviceDescription, grow: Path, tmp_path: Path, run: Run, finding: list[Tuned]
) -> None:
    words = ("-d", str(device).split()[0], "--preset", "test", "--store", str(tmp_path / "s.sqlite"), "-f", "json")
    finding.append(replace(found(device, kernel="grow"), laid_out=LAID_OUT))
    output = tmp_path / "other.json"
    data = json.loads(run("tune", grow, "--layout", "bodies=soa", "-o", output, *words).out)
    assert data["tuned_file"] == str(output)
    assert data["laid_out"]["choice"]["arrays"] == {"bodies": {"layout": "soa"}}
    assert (data["laid_out"]["runs_until_it_pays"], data["laid_out"]["gain_over_runs"]) == (40, None)
    finding.append(replace(found(device, kernel="grow"), laid_out_trials=3))
    data = json.loads(run("tune", grow, "--layout", "bodies=soa", "-o", output, *words).out)
    assert (data["laid_out"], data["laid_out_trials"]) == (None, 3)
    assert TunedFile.read(output).layouts == ()
    shown = run("results", "show", output)
    assert shown.code == 0 and "no layout was found to be faster" in shown.out
    assert json.loads(run("results", "show", output, "-f", "json").out)["worth"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--layout", "bodys=soa"), "the kernel grow has no argument bodys (did you mean bodies?)"),
        (("--layout", "bodies=sao"), "sao"),
        (("--runs", "3"), "--runs goes with --layout and --order"),
        (("--layout", "all", "--inputs", "3"), "layouts are tuned at one size: leave out --inputs and --caches"),
        (("--layout", "all", "-o", "grow.txt"), "the tuned file's name must end with .json"),
    ],
)
def test_layouts_that_can_not_be_tried(words: tuple[str, ...], message: str, grow: Path, run: Run) -> None:
    outcome = run("tune", grow, "--preset", "test", *words)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_file_that_was_tuned_over_inputs_stays(grow: Path, run: Run) -> None:
    path = grow.with_name("grow.tuned.json")
    FILE.write(path)
    outcome = run("tune", grow, "--preset", "test", "--layout", "all")
    assert outcome.code == 2
    assert f"{path} was tuned over inputs: say by -o where" in outcome.err
    assert TunedFile.read(path) == FILE


def test_a_kernel_without_records_has_no_layouts(power: Path, run: Run) -> None:
    outcome = run("tune", power, "--preset", "test", "--layout", "all")
    assert outcome.code == 2
    assert "power has no array of records that could have another layout" in outcome.err
