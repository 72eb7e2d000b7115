"""`coarsen predict`: devices, kernels, launches and descriptions; a factor along one dimension."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen import targets
from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant_json import variant_from_json
from tests.cli.conftest import Run
from tests.cli.small_launch_model import store_small_launch_model
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


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_small_launch_model(tmp_path_factory.mktemp("models"))


def told(run: Run, *words: object) -> Mapping[str, Any]:
    outcome = run("predict", *words, "--no-measure", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found: Mapping[str, Any] = json.loads(outcome.out)
    return found


def test_along_one_dimension_a_factor_is_chosen_for_the_launch_as_it_is(models: Path, run: Run) -> None:
    words = (SGEMM, "--device", "pocl", "--local-size", "16x16", "--models", models, "--dim", "1")
    found = told(run, *words)
    assert (found["kernel"], found["model"], found["device"]["name"]) == ("sgemm", "launch", "pocl")
    variants = [variant_from_json(each["variant"]) for each in found["launches"]]
    assert [each.coarsenings for each in variants] == [(), *((Coarsening(factor, 1),) for factor in (2, 4, 8, 16))]
    assert {each.local_size for each in variants} == {(16, 16)}
    chosen = variant_from_json(found["choice"]["variant"])
    assert (found["factor"], found["dimension"]) == (chosen.factor, 1 if chosen.coarsenings else 0)
    in_python = coarsen.predict(SGEMM, device="pocl", dim=1, local_size=(16, 16), models=models)
    assert in_python.factor == found["factor"]
    lines = run("predict", *words, "--no-measure").out.splitlines()
    assert lines[0] == f"kernel sgemm on pocl (PoCL on a CPU with AVX-512): {found['choice_text']}"
    rows = [line for line in lines if line.rstrip().endswith("%") or line.endswith("◀ chosen")]
    assert len(rows) == len(variants) and sum(line.endswith("◀ chosen") for line in rows) == 1


@pytest.mark.parametrize("name", ["h200", "NVIDIA H100 80GB HBM3"])
def test_a_device_that_was_never_measured(name: str, models: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", name, "--models", models)
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.error == (
        "there is no model of h200 (NVIDIA H200): the launch model learned from intel, pocl; where the device is "
        "here, `coarsen tune` measures instead"
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
def test_an_unknown_device(name: str, models: Path, run: Run, here: DeviceDescription) -> None:
    for words in ((), ("--dim", "0")):
        outcome = run("predict", SGEMM, "--device", name, "--models", models, *words)
        assert (outcome.code, outcome.out) == (4, "")
        assert outcome.error.startswith(
            f"there is no model of {here.name}: the launch model learned from intel, pocl"
        )
    outcome = run("apply", SGEMM, "--device", name)
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.error.startswith(f"there is no model of {here.name}: ")


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
        return [variant_from_json(each["variant"]).factor for each in found["launches"]]

    assert possible("--local-size", "4x32", "--dim", "0") == [1, 2, 4]
    assert possible("--local-size", "4×32", "--dim", "1") == [1, 2, 4, 8, 16]
    assert possible("--local-size", "7", "--dim", "0") == [1]
    out = run("predict", SGEMM, "-d", "pocl", "--models", models, "--local-size", "7", "--dim", "0").out
    assert "Why: nothing of this launch can be coarsened" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--local-size", "16*16"), "--local-size takes one to three sizes, such as 64 or 16x16, not '16*16'"),
        (("--local-size", "0"), "--local-size takes one to three sizes, such as 64 or 16x16, not '0'"),
        (("--local-size", "2x2x2x2"), "--local-size takes one to three sizes, such as 64 or 16x16, not '2x2x2x2'"),
        (("--local-size", "64", "--dim", "2"), "a launch with the local size 64×1 has no dimension 2"),
        (("--measure", "0"), "invalid value for '--measure'"),
        (("--model", "oracle"), "invalid value for '-m' / '--model'"),
        (("--store", "rows.sqlite", "--no-measure"), "--store keeps what is measured: leave out --no-measure"),
        (("--models", "nowhere"), "--models nowhere: there is no such folder"),
        (("-m", "cascade", "--models", "nowhere"), "--models nowhere: there is no such folder"),
        (("--store",), "option '--store' requires an argument (try 'coarsen predict --help')"),
        (("--model", "cascade", "--local-size", "64"), "--local-size is for the launch model"),
        (("--model", "cascade", "--measure", "2"), "--measure is for the launch model, and the cascade answers"),
        (("--model", "cascade", "--store", "rows.sqlite"), "--store is for the launch model"),
        (
            ("--model", "default"),
            "invalid value for '-m' / '--model': 'default' ",
        ),
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
    assert variant_from_json(found["own_launch"]).local_size == (32,)


def test_no_model_in_a_folder(tmp_path: Path, run: Run) -> None:
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", tmp_path)
    assert outcome.code == 2
    assert outcome.error.startswith(f"there is no launch model in {tmp_path}: `coarsen train --model launch")
    (tmp_path / "pocl.safetensors").touch()
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", tmp_path)
    assert "pocl.json" in outcome.error, "of a folder with its cascade alone, that is asked"


def test_a_name_of_the_suite_knows_its_launch(models: Path, run: Run) -> None:
    found = told(run, "reduce", "--device", "pocl", "--models", models)
    assert found["kernel"] == "reduce"
    assert variant_from_json(found["own_launch"]).local_size == SUITE["reduce"].preset("cpu").local_size
    other = told(run, "reduce", "--device", "pocl", "--models", models, "--local-size", "32")
    assert variant_from_json(other["own_launch"]).local_size == (32,)


def test_a_description_knows_its_launch(
    scale: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scale.parent)
    # A macro whose value only the description knows.
    scale.write_text(scale.read_text().replace("*= factor", "*= factor + PLUS"))
    assert run("describe", scale.name, "-D", "PLUS=2").code == 0
    description = scale.with_suffix(".toml")
    found = told(run, description.name, "--device", "pocl", "--models", models)
    assert (found["kernel"], variant_from_json(found["own_launch"]).local_size) == ("scale", (64,))
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


@pytest.mark.parametrize("data", [None, [], {"cases": ["pocl"]}, {"cases": {}}])
def test_a_card_that_does_not_say_what_the_model_learned_from(data: object, tmp_path: Path, run: Run) -> None:
    folder = store_small_launch_model(tmp_path / "models")
    path = folder / "launch.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "data": data}))
    outcome = run("predict", SGEMM, "--device", "pocl", "--models", folder)
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.error.startswith("there is no model of pocl (PoCL on a CPU with AVX-512): the launch model ")
