"""`coarsen tune`: what it finds for a described kernel is what a program made of the same text uses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.results.store.database import open_existing_store
from coarsen.opencl_bench.tuning import described_tuning
from coarsen.opencl_bench.tuning.finalists import Decision
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.cli.conftest import Run

pytestmark = pytest.mark.compiled_devices

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
    monkeypatch.setattr(described_tuning, "tune_described", lambda *_arguments: given.pop())
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
        (("--trials", "0"), "tuning takes at least one trial"),
        (("--levels", "warp"), "the levels are 'item' and 'group', not 'warp'"),
        (("--preset", "paper"), "no preset 'paper'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, power: Path, run: Run) -> None:
    outcome = run("tune", str(power), *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
