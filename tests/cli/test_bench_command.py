"""`coarsen bench`: small sweeps on a real device, what it refuses, how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.results.exchange.files import read_table
from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
from coarsen.opencl_bench.sweep.several import SweepResult
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

Run = Callable[..., Any]
Sweeping = Callable[[dict[str, Any]], None]
SMALL = (
    "-d",
    "intel",
    "--preset",
    "test",
    "--quick",
    "--space",
    "factor=1,2",
    "--space",
    "stride=1",
    "--space",
    "dim=0",
)
# A selection, two comparisons, a confirmation.
MT = ("mt", *SMALL, "--space", "local-size=32x32")


def test_a_sweep_its_table_and_going_on(tmp_path: Path, run: Run) -> None:
    store, export = tmp_path / "results.sqlite", tmp_path / "rows.parquet"
    first = run(*("bench", *MT, "--store", store, "-o", export))
    assert first.code == 0
    notes = first.err.splitlines()
    assert notes[0] == "coarsen: note: 9 rows to measure in 1 sweep, those apart that the store has"
    # A slow machine also says in between how far it is.
    assert notes[-1].startswith("coarsen: note: mt on intel: 9 rows, 9 of them measured in ")
    lines = first.out.splitlines()
    assert lines[0].split("  ")[0] == "kernel" and lines[0].endswith("verified against  failed")
    assert lines[1].startswith("mt      intel   32×32     ") and "reference" in lines[1]
    # Of one kernel there is none.
    assert "geometric mean" not in first.out
    (place,) = (number for number, line in enumerate(lines) if line == f"The rows are in {store}")
    assert lines[place - 1].startswith("9 rows; 9 of them measured now, in ")
    pasted = [line.strip() for line in lines[place + 1 :]]
    # One uncoarsened, two compared, and in three new processes factor 2 and the baseline confirmed.
    assert len(read_table(export)) == 1 + 2 + 3 * 2

    again = run("bench", *MT, "reduce", "--space", "local-size=32x32,64", "--store", store, "-f", "json", "-q")
    assert (again.code, again.err) == (0, "")
    report = json.loads(again.out)
    assert [(each["benchmark"], each["rows"], each["measured"]) for each in report["sweeps"]] == [
        ("mt", 9, 0),
        ("reduce", 9, 9),
    ]
    best = report["sweeps"][0]["best"]
    assert best["verified_against"] == "reference"
    # On a busy machine nothing may be certain, and nothing is advised.
    helped = best["significant"] and best["certain"]
    assert ("coarsen.Program(context, source, factor=2, dim=0)" in pasted) == helped
    assert any(line.endswith("mt.cl --kernel mt --factor 2 --dim 0") for line in pasted) == helped
    assert report["geometric_means"][0]["kernels"] == 2
    assert (report["run"]["rows"], report["run"]["measured"]) == (18, 9)
    assert report["run"]["seconds"] > 0
    assert report["store"] == str(store)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("sgem",), 2, "no benchmark 'sgem' (did you mean sgemm?); there are binarySearch, "),
        (("mt", "--space", "factr=1"), 2, "--space takes factor, dim, stride, level, "),
        (("mt", "--space", "factor"), 2, "--space is written as factor=VALUE,..., not 'factor'"),
        (("mt", "--space", "at-once=1,2"), 2, "--space at-once=1,2: at-once is one number"),
        (("mt", "--space", "grid", "--space", "factor=2"), 2, "--space grid says what is measured: leave out the"),
        (("mt", "--form", "spirv", "--form", "opencl_c"), 2, "--form is given once; several are for --pack"),
        (("mt", "--caches", "both"), 2, "invalid value for '--caches': 'both' is not one of 'warm', 'cold'"),
        (("unlike",), 2, "no benchmark 'unlike'; there are binarySearch, "),
        (("nowhere.toml",), 2, "{here}/nowhere.toml: "),
        (
            ("nowhere.cl",),
            2,
            "nowhere.cl: there is no nowhere.toml beside it; coarsen describe nowhere.cl writes",
        ),
        (("mt", "--preset", "huge"), 2, "mt: no preset 'huge'; there are test, cpu, paper"),
        (("mt", "-d", "gameboy"), 4, "no OpenCL device is called 'gameboy'; there are: "),
        (
            ("mt", "--space", "factor=1,two"),
            2,
            "--space factor=1,two: a whole number from 1 on is expected, not 'two'",
        ),
        (("mt", "--space", "factor="), 2, "--space factor=: a whole number from 1 on is expected, not ''"),
        (("mt", "--space", "stride=0"), 2, "--space stride=0: a whole number from 1 on is expected"),
        (("mt", "--space", "dim=2"), 2, "mt: --space dim=… names none of its dimensions (0, 1)"),
        (
            ("mt", "--space", "local-size=16*16"),
            2,
            "--space local-size=16*16: a local size is 64 or 16x16 for example",
        ),
        (("mt", "--space", "local-size=64"), 2, "mt: --space local-size=… has none of its dimensions, such as "),
        (("mt", "-D", "TILE"), 2, "-D takes a name and the values to try, NAME=1,2, not 'TILE'"),
        (("mt", "--again", "some"), 2, "invalid value for '--again'"),
        (("mt", "-o", "rows.xlsx"), 2, "rows.xlsx: the name must end with one of .parquet, .jsonl, .csv"),
        (("mt", "-o", "nowhere/rows.csv"), 2, "nowhere/rows.csv: can't be written: there is no folder"),
        (("mt", "--store", "nowhere/store"), 2, "there is no folder {here}/nowhere for the store"),
        (
            ("mt", "--store", "mysql://here/x"),
            2,
            "the store is an SQLite file: give its path, not a URL (mysql://…)",
        ),
    ],
)
def test_refusals(
    words: tuple[str, ...], code: int, message: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    device = () if "-d" in words else ("-d", "intel")
    outcome = run("bench", *words, *device)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error.startswith(message.format(here=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file_to_write(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "rows.csv"
    folder.mkdir()
    outcome = run("bench", "mt", "-d", "intel", "-o", folder, "--store", tmp_path / "store")
    assert (outcome.code, outcome.out, outcome.error) == (2, "", f"{folder}: can't be written: it is a folder")
    assert not (tmp_path / "store").exists()


def test_a_kernel_of_ones_own(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = "size_t item = get_global_id(0); out[item] = 2 * in[item];"
    source = f"kernel void twice(global float *out, global const float *in) {{ {body} }}"
    Path("twice.cl").write_text(source)
    assert run("describe", "twice.cl").code == 0
    words = ("bench", "twice.cl", *SMALL, "--space", "local-size=32", "--store", "results.sqlite")
    outcome = run(*words, "-f", "json")
    assert outcome.code == 0, outcome.err
    (sweep,) = json.loads(outcome.out)["sweeps"]
    assert (sweep["benchmark"], sweep["rows"]) == ("twice", 9)
    # The kernel changes, and the file does not.
    Path("twice.cl").write_text(source.replace("global const float *in", "global const int *in"))
    changed = run(*words)
    assert (changed.code, changed.out) == (2, "")
    assert "twice.toml: arguments[1]" in changed.error


def test_missing_packages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sqlalchemy" else object())
    outcome = run("bench", "mt", "-d", "intel")
    assert (outcome.code, outcome.error) == (2, "measuring needs more packages: pip install 'coarsen[bench]'")


@pytest.fixture
def sweeping(monkeypatch: pytest.MonkeyPatch) -> Sweeping:
    """`sweeping({"mt": […]})` has a sweep of mt store these rows; an error among them is raised."""

    def arrange(endings: dict[str, Any]) -> None:
        def sweep(
            plan: SweepPlan,
            store: Store,
            observer: Any,  # noqa: ANN401 (the recorder, which has no public name)
            _again: Remeasure,
            _pool: CompilePool,
            _request: SearchRequest | None,
        ) -> SweepResult:
            observer.planned(str(plan.benchmark), "0:0 Some device", 10)
            for ending in endings[str(plan.benchmark)]:
                if isinstance(ending, BaseException):
                    raise ending
                store.add(ending)
                observer.stored(ending, True)
            return cast("SweepResult", observer.result(""))

        monkeypatch.setattr("coarsen.opencl_bench.sweep.several.sweep", sweep)

    return arrange


def row(benchmark: str, factor: int, invalidity: Invalidity = Invalidity.CORRECT, reason: str = "") -> Measurement:
    candidate = Variant((32, 8), (Coarsening(factor, 0),))
    return some_measurement(benchmark=benchmark, candidate=candidate, invalidity=invalidity, reason=reason)


def test_a_lost_device_does_not_end_the_other_sweeps(tmp_path: Path, run: Run, sweeping: Sweeping) -> None:
    lost, bug = DeviceError("the device can't be opened"), ZeroDivisionError("division by zero")
    sweeping({"mt": [row("mt", 2), lost], "sobel": [bug], "reduce": [row("reduce", 4)]})
    outcome = run("bench", "mt", "sobel", "reduce", "-d", "intel", "--store", tmp_path / "store", "-q")
    assert outcome.code == 4
    first, second = outcome.err.splitlines()
    assert first == "coarsen: error: mt on intel: the device can't be opened"
    said = "coarsen: error: sobel on intel: this is a bug in coarsen: ZeroDivisionError: division by zero"
    assert second.startswith(f"{said}; report it with this file: ")
    assert "2 rows; 2 of them measured now" in outcome.out
    kernels = [line.split()[0] for line in outcome.out.splitlines()[1:4]]
    assert kernels == ["mt", "sobel", "reduce"]


def test_wrong_results_are_named(tmp_path: Path, run: Run, sweeping: Sweeping) -> None:
    wrong = [row("mt", factor, Invalidity.CORRECTNESS, f"output[{factor}] differs") for factor in (2, 4)]
    slow = row("mt", 8, Invalidity.TIMEOUT, "no answer within 3.5 s")
    sweeping({"mt": [row("mt", 16), *wrong, slow], "sobel": [DeviceError("gone")]})
    outcome = run("bench", "mt", "sobel", "-d", "intel", "--store", tmp_path / "store", "-q")
    assert outcome.code == 5
    assert outcome.err.splitlines() == [
        "coarsen: error: sobel on intel: gone",
        "coarsen: error: wrong results: mt on intel: factor 2 along dimension 0, local size 32×8; "
        "mt on intel: factor 4 along dimension 0, local size 32×8",
    ]
    assert "Configurations without a time: correctness 2, timeout 1\n" in outcome.out
    assert "correctness     2  output[2] differs" in outcome.out


def test_a_tie_leaves_the_kernel_as_it_is(tmp_path: Path, run: Run, sweeping: Sweeping) -> None:
    times = (1_000_000, 1_000_400, 1_000_200, 999_900, 1_000_100)
    tie = some_measurement(benchmark="mt", nanoseconds=times, baseline_nanoseconds=times[::-1])
    sweeping({"mt": [tie]})
    outcome = run("bench", "mt", "-d", "intel", "--store", tmp_path / "store", "-q")
    assert "  1.00 (leave it as it is)  " in outcome.out.splitlines()[1]
    assert "mt on intel: nothing beats the baseline: factor 2 along dimension 0" in outcome.out
    assert "coarsen.Program" not in outcome.out


@pytest.mark.parametrize(
    ("baseline", "note"),
    [
        (
            (1_600_000, 9_000_000, 2_000_000, 3_100_000, 22_000_000),
            "mt on intel: the machine is busy: the interval of 3.1",
        ),
        (
            (600_000, 9_000_000, 800_000, 2_500_000, 22_000_000),
            "mt on intel: nothing is certain: factor 2 along dim",
        ),
    ],
)
def test_an_interval_that_says_nothing_is_no_advice(
    baseline: tuple[int, ...], note: str, tmp_path: Path, run: Run, sweeping: Sweeping
) -> None:
    sweeping(
        {"mt": [some_measurement(benchmark="mt", nanoseconds=(1_000_000,) * 5, baseline_nanoseconds=baseline)]}
    )
    words = ("bench", "mt", "-d", "intel", "--store", tmp_path / "store", "-q")
    outcome = run(*words)
    assert note in outcome.out and "measure it again when the machine has nothing else to do" in outcome.out
    assert "nothing beats" not in outcome.out
    assert "coarsen.Program" not in outcome.out and "times as fast on" not in outcome.out
    (sweep,) = json.loads(run(*words, "-f", "json").out)["sweeps"]
    assert sweep["best"]["python"] == sweep["best"]["command"] == ""


def test_an_interrupted_run_says_where_its_rows_are(tmp_path: Path, run: Run, sweeping: Sweeping) -> None:
    sweeping({"mt": [row("mt", 2), row("mt", 4), KeyboardInterrupt()]})
    outcome = run("bench", "mt", "-d", "intel", "--store", tmp_path / "store")
    assert (outcome.code, outcome.out) == (130, "")
    where = f"2 rows were measured and stored in {tmp_path / 'store'}; the same command goes on from there"
    assert outcome.err.splitlines()[-1] == f"coarsen: interrupted: {where}"
    with open_store(str(tmp_path / "store")) as store:
        assert store.count() == 2


def test_a_store_that_fails_ends_the_run(
    tmp_path: Path, run: Run, sweeping: Sweeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_store: Store, _key: str) -> None:
        raise InvalidInputError("the store is gone")

    monkeypatch.setattr(Store, "find", fail)
    sweeping({"mt": [InvalidInputError("the row was not stored")], "sobel": [row("sobel", 2)]})
    outcome = run("bench", "mt", "sobel", "-d", "intel", "--store", tmp_path / "store", "-q")
    assert (outcome.code, outcome.out, outcome.error) == (2, "", "the store is gone")


def test_a_larger_space_and_a_sample_of_it(tmp_path: Path, run: Run) -> None:
    words = (
        "bench",
        "sgemm",
        *SMALL,
        "--space",
        "local-size=16x16",
        "--space",
        "factor=2,4",
        "--space",
        "stride=1",
    )
    larger = (
        "--space",
        "level=item,group",
        "--space",
        "at-once=2",
        "--space",
        "wide-accesses=no,yes",
        "--space",
        "any-size=no",
    )
    done = run(
        *words, *larger, "--space", "sample=2", "--store", tmp_path / "store", "-f", "json", "--no-confirmation"
    )
    assert done.code == 0
    assert done.err.startswith("coarsen: note: 4 rows to measure in 1 sweep")
    (sweep,) = json.loads(done.out)["sweeps"]
    assert sweep["rows"] == 4
