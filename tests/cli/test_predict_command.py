"""`coarsen predict` with the default model: the factor, the curve, why; devices, launches and descriptions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.devices import targets
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.targets import target_of
from coarsen.frontend.lower import lower
from coarsen.models.default.storage import load_default
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.prediction import KernelPrediction, predict_kernel
from tests.cli.conftest import Run
from tests.cli.small_model import store_small_model
from tests.devices.described_devices import TAHITI

SGEMM = SUITE["sgemm"].kernel_file
HERE = replace(
    TAHITI,
    vendor="Some vendor",
    name="Some chip",
    platform_name="Some platform",
    platform_version="OpenCL 3.0",
    device_types=("cpu",),
    compute_units=4,
)


class Opened:
    """What OpenCL tells of `HERE` beyond its description."""

    native_vector_width_float = 8
    global_mem_cache_size = 2**20


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_small_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def abstaining(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that finds everything strange."""
    return store_small_model(tmp_path_factory.mktemp("abstaining"), limit=1e-6)


@pytest.fixture(scope="module")
def without_gpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_small_model(tmp_path_factory.mktemp("without_gpus"), published=False)


def predicted(models: Path, device: str, local_size: tuple[int, ...] | None = (16, 16)) -> KernelPrediction:
    return predict_kernel(lower(SGEMM), load_default(models), target_of(device), 0, local_size)


def told(run: Run, *words: object) -> Mapping[str, Any]:
    outcome = run("predict", *words, "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found: Mapping[str, Any] = json.loads(outcome.out)
    return found


def test_json_tells_all(models: Path, run: Run) -> None:
    expected = predicted(models, "pocl")
    found = told(run, SGEMM, "--device", "pocl", "--local-size", "16x16", "--models", models)
    assert (found["kernel"], found["dimension"], found["model"]) == ("sgemm", 0, "default")
    assert found["device"] == {"name": "pocl", "full_name": "PoCL on a CPU with AVX-512"}
    assert (found["local_size"], found["local_size_is_assumed"], found["device_note"]) == ([16, 16], False, "")
    assert (found["factor"], found["abstained"], found["reason"]) == (expected.factor, False, "")
    assert [point["factor"] for point in found["curve"]] == [2, 4, 8, 16, 32]
    assert [point["possible"] for point in found["curve"]] == [True] * 4 + [False]
    for point, curve in zip(found["curve"], expected.curve, strict=True):
        bounds = [math.exp(curve.low), curve.speedup, math.exp(curve.high), curve.utility]
        assert [point["low"], point["speedup"], point["high"], point["utility"]] == pytest.approx(bounds)
    assert found["step_probability"] == {
        str(step): pytest.approx(chance) for step, chance in expected.step_probability.items()
    }
    assert [influence["feature"] for influence in found["influences"]] == [
        influence.feature for influence in expected.influences
    ]
    assert found["influences"][0]["effect"] == pytest.approx(math.exp(expected.influences[0].effect))
    assert [near["kernel"] for near in found["nearest"]] == [near.kernel for near in expected.nearest]
    assert (found["limit"], found["aversion"]) == (pytest.approx(expected.limit), 3.0)


def test_a_factor_in_a_table(models: Path, run: Run) -> None:
    expected = predicted(models, "pocl")
    assert expected.factor > 1
    outcome = run("predict", SGEMM, "-d", "pocl", "--local-size", "16x16", "--models", models)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    what = "kernel sgemm on pocl (PoCL on a CPU with AVX-512), along dimension 0, local size 16×16"
    assert lines[0] == f"{what}: factor {expected.factor}"
    chosen = next(point for point in expected.curve if point.factor == expected.factor)
    interval = f"{math.exp(chosen.low):.2f} to {math.exp(chosen.high):.2f}"
    assert lines[1] == f"Expected speed-up {chosen.speedup:.2f}; in 8 of 10 such cases {interval}"
    known = "sgemm is one of the model's training kernels, so this is not an independent prediction"
    assert lines.pop(2) == known
    assert lines[3].split()[:5] == ["factor", "speed-up", "80", "%", "interval"]
    rows = [line.split() for line in lines[4:10]]
    assert [row[0] for row in rows] == ["1", "2", "4", "8", "16", "32"]
    assert [row[1] for row in rows] == ["1.00", *(f"{point.speedup:.2f}" for point in expected.curve)]
    assert [line.split()[0] for line in lines[4:10] if line.endswith("◀ chosen")] == [str(expected.factor)]
    assert lines[9].endswith("can't divide")
    assert f"{expected.step_probability[1]:.0%}" in lines[4]
    assert all("●" in line for line in lines[4:10])
    reasons = lines[13:16]
    for line, influence in zip(reasons, expected.reasons(), strict=True):
        assert line.startswith(influence.feature.replace("_", " "))
        assert line.endswith(f"× {math.exp(influence.effect):.2f}")
    near = ", ".join(f"{each.kernel} ({each.distance:.2f})" for each in expected.nearest)
    assert lines[17] == (
        f"Nearest training kernels, with their distance: {near}; it abstains beyond {expected.limit:.2f}"
    )
    assert lines[18:] == ["A loss counts 4 times as much as a gain of the same size"]


def test_no_factor_is_worth_the_risk(models: Path, run: Run) -> None:
    lines = run("predict", SGEMM, "-d", "intel", "--models", models).out.splitlines()
    assert lines[0].endswith("local size 16×16 (assumed): factor 1")
    start = "No factor is worth the risk, so the kernel stays as it is; the most promising is factor 2: 0."
    assert lines[1].startswith(start)
    assert lines[5].endswith("◀ chosen")
    assert lines[-2] == "The launch's local size is not known: give it with --local-size"


def test_a_kernel_unlike_all_others(abstaining: Path, run: Run) -> None:
    words = (SGEMM, "--device", "pocl", "--local-size", "16x16", "--models", abstaining)
    lines = run("predict", *words).out.splitlines()
    assert lines[0].endswith(": factor 1")
    assert lines[1].startswith("The model abstains, so the kernel stays as it is: the nearest training kernel is")
    found = told(run, *words)
    assert (found["factor"], found["abstained"]) == (1, True)
    assert "it differs most in: " in found["reason"]


def test_a_device_of_which_best_factors_are_known(models: Path, run: Run) -> None:
    found = told(run, SGEMM, "--device", "TAHITI", "--models", models)
    assert found["device"]["name"] == "tahiti"
    assert found["device_note"] == (
        "no whole curve was measured on tahiti: this one is that of other devices (intel, pocl), adjusted to the "
        "best factors of 7 kernels on tahiti"
    )
    out = run("predict", SGEMM, "--device", "Tahiti", "--models", models).out
    assert out.splitlines()[3] == f"Caution: {found['device_note']}"
    # The best factors that were made up are all alike, so that the adjusted curve is that of any kernel.
    assert "\nWhy: no feature moved it; on this device the model expects about the same of every kernel\n" in out


@pytest.mark.parametrize("name", ["h200", "NVIDIA H100 80GB HBM3"])
def test_a_kind_of_device_that_was_never_measured(name: str, without_gpus: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", name, "--models", without_gpus)
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.error == (
        "no kernel was measured on NVIDIA H200, nor on any other GPU, so nothing can be predicted"
    )


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> DeviceDescription:
    """A machine with one OpenCL device, a CPU that nobody knows."""
    present = (HERE,)
    monkeypatch.setattr(targets, "discover_devices", lambda: present)
    monkeypatch.setattr("coarsen.devices.selection.discover_devices", lambda: present)
    monkeypatch.setattr(targets, "open_device", lambda _: Opened())
    return HERE


@pytest.mark.parametrize("name", ["0:0", "some chip"])
def test_an_unknown_device_of_a_known_kind(name: str, models: Path, run: Run, here: DeviceDescription) -> None:
    found = told(run, SGEMM, "--device", name, "--models", models)
    assert found["device"] == {"name": here.name, "full_name": here.name}
    assert found["device_note"] == (
        "no kernel was measured on Some chip: this is what the model expects of a device like it, from the CPUs "
        "that it learned from (intel, pocl)"
    )
    lines = run("predict", SGEMM, "--device", name, "--models", models).out.splitlines()
    assert lines[0].startswith("kernel sgemm on Some chip, along dimension 0")
    assert f"Caution: {found['device_note']}" in lines


@pytest.mark.parametrize("kinds", [(), ("cpu", "gpu"), ("accelerator",)])
def test_a_device_that_is_neither_cpu_nor_gpu(
    kinds: tuple[str, ...], models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = replace(HERE, device_types=kinds)
    monkeypatch.setattr(targets, "discover_devices", lambda: (odd,))
    monkeypatch.setattr("coarsen.devices.selection.discover_devices", lambda: (odd,))
    outcome = run("predict", SGEMM, "--device", "some chip", "--models", models)
    assert outcome.code == 4
    assert outcome.error.endswith("does not say whether it is a CPU or a GPU")


def test_the_local_size_decides(models: Path, run: Run) -> None:
    def possible(*words: str) -> list[int]:
        found = told(run, SGEMM, "--device", "pocl", "--models", models, *words)
        assert found["factor"] in (1, *(point["factor"] for point in found["curve"] if point["possible"]))
        return [point["factor"] for point in found["curve"] if point["possible"]]

    assert possible("--local-size", "4x32") == [2, 4]
    assert possible("--local-size", "4×32", "--dim", "1") == [2, 4, 8, 16, 32]
    assert possible("--local-size", "7") == []
    out = run("predict", SGEMM, "-d", "pocl", "--models", models, "--local-size", "7").out
    assert "No factor divides the local size along this dimension, so the kernel stays as it is" in out


def test_a_dimension_that_the_kernel_does_not_use(scale: Path, models: Path, run: Run) -> None:
    out = run("predict", scale, "-d", "pocl", "--models", models, "--dim", "1").out
    assert "The kernel does not tell its work-items apart along dimension 1, so the kernel stays as it is" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--local-size", "16*16"), "--local-size takes one to three sizes, such as 64 or 16x16, not '16*16'"),
        (("--local-size", "0"), "--local-size takes one to three sizes, such as 64 or 16x16, not '0'"),
        (("--local-size", "2x2x2x2"), "--local-size takes one to three sizes, such as 64 or 16x16, not '2x2x2x2'"),
        (("--local-size", "64", "--dim", "1"), "a launch with the local size 64 has no dimension 1"),
        (("--measure", "0"), "invalid value for '--measure'"),
        (("--model", "oracle"), "invalid value for '-m' / '--model'"),
        (("--store", "rows.sqlite"), "--store keeps what is measured: give --measure NUMBER, too"),
        (("--store", "rows.sqlite", "--no-measure"), "--store keeps what is measured: leave out --no-measure"),
        (("--models", "nowhere"), "--models nowhere: there is no such folder"),
        (("-m", "cascade", "--models", "nowhere"), "--models nowhere: there is no such folder"),
        (("--store",), "option '--store' requires an argument (try 'coarsen predict --help')"),
        (("--model", "cascade", "--local-size", "64"), "the cascade takes no --local-size"),
        (("--model", "cascade", "--measure", "2"), "--measure needs a model that ranks what it considers"),
    ],
)
def test_options_that_cant_be_used(words: tuple[str, ...], message: str, models: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", models, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)


def test_a_local_size_that_the_kernel_forbids(tmp_path: Path, models: Path, run: Run) -> None:
    path = tmp_path / "fixed.cl"
    attribute = "__attribute__((reqd_work_group_size(32, 1, 1)))"
    path.write_text(f"kernel {attribute} void fixed(global int *a) {{ a[get_global_id(0)] = 1; }}\n")
    outcome = run("predict", path, "--device", "pocl", "--local-size", "64", "--models", models)
    assert (outcome.code, outcome.error) == (2, "the kernel fixed requires the local size 32×1×1, not 64")
    found = told(run, path, "--device", "pocl", "--models", models)
    assert (found["local_size"], found["local_size_is_assumed"]) == ([32], False)


def test_no_default_model_in_a_folder(tmp_path: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", tmp_path)
    assert (outcome.code, outcome.error) == (2, f"there is no default model in {tmp_path}")
    (tmp_path / "fermi.safetensors").touch()
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", tmp_path)
    assert outcome.error == f"there is no default model in {tmp_path}; --model cascade has: fermi"


def test_a_name_of_the_suite_knows_its_launch(models: Path, run: Run) -> None:
    found = told(run, "reduce", "--device", "pocl", "--models", models)
    assert (found["kernel"], found["local_size_is_assumed"]) == ("reduce", False)
    assert found["local_size"] == list(SUITE["reduce"].preset("cpu").local_size)
    other = told(run, "reduce", "--device", "pocl", "--models", models, "--local-size", "32")
    assert other["local_size"] == [32]


def test_a_description_knows_its_launch(
    scale: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scale.parent)
    # A macro whose value only the description knows.
    scale.write_text(scale.read_text().replace("*= factor", "*= factor + PLUS"))
    assert run("bench", "init", scale.name, "-D", "PLUS=2").code == 0
    description = scale.with_suffix(".toml")
    found = told(run, description.name, "--device", "pocl", "--models", models)
    assert (found["kernel"], found["local_size"], found["local_size_is_assumed"]) == ("scale", [64], False)
    refused = run("predict", description.name, "-d", "pocl", "--models", models, "-D", "PLUS=3")
    assert (refused.code, refused.out) == (2, "")
    assert refused.error.startswith("scale.toml: its description says which kernel it is and how it is built")
    unknown = run("predict", description.name, "-d", "pocl", "--models", models, "--preset", "huge")
    assert unknown.error.startswith("scale: no preset 'huge'; there are ")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("sgem", "no benchmark 'sgem' (did you mean sgemm?); there are binarySearch, "),
        ("nowhere.toml", "nowhere.toml: "),
        ("nowhere.cl", "nowhere.cl: "),
    ],
)
def test_kernels_that_are_not_there(
    word: str, message: str, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("predict", word, "--device", "pocl", "--models", models)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.error


@pytest.mark.parametrize("data", [None, [], {"curves": {"pocl": "many"}}, {"curves": {"pocl": 3}}])
def test_a_card_that_does_not_say_what_the_model_learned_from(data: object, tmp_path: Path, run: Run) -> None:
    folder = store_small_model(tmp_path / "models")
    path = folder / "default.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "data": data}))
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == "the model 'default' is damaged: its card does not say what it learned from"
