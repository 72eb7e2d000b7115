"""`coarsen train --model launch` and `coarsen evaluate --launch`: from files of rows to a model that predicts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from coarsen.models.launch import training
from coarsen.opencl_bench.results.exchange.files import write_results
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.records.measurement import Measurement
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.cli.conftest import SCALE, Run
from tests.opencl_bench.measurements import SUBJECT, some_measurement

FITTED_ON = ("launch-0-0", "launch-0-1", "launch-0-2", "launch-0-3")
CALIBRATION = ("launch-0-9", "launch-0-19", "launch-0-29")
FACTORS = (2, 4)


def rows(kernel: str, gain: float) -> list[Measurement]:
    """Rows of a kernel at its local sizes, which each doubling of the factor makes so many times as fast."""
    benchmark = find_benchmark(kernel)
    sizes = benchmark.local_sizes_of("caches")[:2]
    subject = replace(SUBJECT, benchmark=kernel, kernel=benchmark.kernel, preset="caches")
    found = []
    for place, size in enumerate(sizes):
        variants = [Variant(size), *(Variant(size, (Coarsening(f),)) for f in FACTORS if size[0] % f == 0)]
        for variant in variants:
            speedup = gain ** (variant.factor.bit_length() - 1) / (1 + 0.1 * place)
            found.append(
                some_measurement(
                    subject=subject,
                    candidate=variant,
                    baseline=Variant(sizes[0]),
                    nanoseconds=(1000,) * 3,
                    baseline_nanoseconds=(round(1000 * speedup),) * 3,
                )
            )
    return found


def stored(folder: Path, name: str, kernels: tuple[str, ...]) -> Path:
    file = folder / f"{name}.parquet"
    write_results([row for number, kernel in enumerate(kernels) for row in rows(kernel, 1 + 0.2 * number)], file)
    return file


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("data"), "rows", (*FITTED_ON, *CALIBRATION))


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "TreeSettings", partial(training.TreeSettings, trees=4))


def test_what_is_trained_predicts_and_is_judged(run: Run, data: Path, tmp_path: Path) -> None:
    unseen = stored(tmp_path, "unseen", ("launch-0-4", "launch-0-5"))
    models, kernel = tmp_path / "models", tmp_path / "scale.cl"
    kernel.write_text(SCALE)
    trained = run("train", "--model", "launch", "--data", data, "-o", models, "-f", "json")
    assert trained.code == 0, trained.err
    found = json.loads(trained.out)
    entrants = found["devices"]["intel"]["entrants"]
    assert entrants["never"]["cases"] == len((*FITTED_ON, *CALIBRATION))
    assert entrants["oracle"]["share_of_oracle"] == pytest.approx(1.0)
    card = json.loads((models / "launch.json").read_text())
    assert set(card["data"]["identities"]) == set(FITTED_ON)
    assert card["data"]["settled_on"] == {"intel": len((*FITTED_ON, *CALIBRATION))}
    of_calibration_set = card["evaluation"]["calibration_set"]["devices"]["intel"]["entrants"]
    assert of_calibration_set["never"]["cases"] == len(CALIBRATION)
    predicted = run("predict", kernel, "-d", "intel", "--models", models, "--no-measure")
    assert predicted.out.startswith("kernel scale on intel (")
    known = run("evaluate", "--launch", "--models", models, "--data", data)
    assert known.code == 2
    assert "the data has no launch of a kernel that the model didn't learn from" in known.err
    judged = run("evaluate", "--launch", "--models", models, "--data", unseen)
    assert judged.out.startswith("intel:")
    assert "launch+6" in judged.out


def test_where_only_one_local_size_ran_nothing_is_trained(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "one.parquet"
    measured = [row for kernel in FITTED_ON for row in rows(kernel, 1.2)]
    at_one = [row for row in measured if row.baseline and row.candidate.local_size == row.baseline.local_size]
    write_results(at_one, file)
    trained = run("train", "--model", "launch", "--data", file, "-o", tmp_path / "models")
    assert trained.code == 2
    assert "the decision is settled on cases of at least two unrelated kernels" in trained.err


TRAIN, EVALUATE = ("train", "--model", "launch"), ("evaluate", "--data", "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (TRAIN, "the launch model learns from measured launches: give some with --data FILE"),
        ((*TRAIN, "--data", "x", "--device", "pocl"), "--device is not for the launch model"),
        ((*EVALUATE, "--launch", "--unseen"), "--unseen is not for --launch"),
        ((*EVALUATE, "--models", "."), "--models is for --launch: the other models are fitted anew"),
    ],
)
def test_options_that_mean_nothing(run: Run, words: tuple[str, ...], message: str) -> None:
    assert run(*words).error == message
