"""`coarsen predict` and `coarsen.predict`: factor, steps and reasons, and which model a device gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen import prediction
from coarsen.api import predicted_coarsening
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models import Contribution, Prediction, Step, available_models
from coarsen.opencl_bench.suite import SUITE
from coarsen.runtime.devices import DeviceDescription

Run = Callable[..., Any]

TAHITI_HERE = DeviceDescription(
    index="0:0",
    vendor="Advanced Micro Devices, Inc.",
    name="Tahiti",
    driver_version="1800.5",
    platform_name="AMD Accelerated Parallel Processing",
    platform_version="OpenCL 2.0",
    opencl_c_version="OpenCL C 1.2",
    il_version="",
    device_types=("gpu",),
    compute_units=32,
    max_work_group_size=256,
    max_work_item_sizes=(256, 256, 256),
    local_memory=32768,
    global_memory=3 * 2**30,
)


@pytest.fixture
def sgemm() -> Path:
    return SUITE["sgemm"].kernel_file


def test_the_steps_lead_to_the_factor(sgemm: Path, run: Run) -> None:
    outcome = run("predict", sgemm, "--device", "tahiti", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert (found["kernel"], found["dimension"], found["model"]) == ("sgemm", 0, "tahiti")
    assert [step["factor"] for step in found["steps"]] == [1, 2, 4, 8, 16][: len(found["steps"])]
    assert [step["coarsen_further"] for step in found["steps"]] == [
        step["probability"] > 0.5 for step in found["steps"]
    ]
    last = found["steps"][-1]
    assert found["factor"] == (2 * last["factor"] if last["coarsen_further"] else last["factor"])


def test_the_table_shows_the_same(sgemm: Path, run: Run) -> None:
    predicted = coarsen.predict(sgemm, device="tahiti")
    outcome = run("predict", sgemm, "--device", "TAHITI")
    lines = outcome.out.splitlines()
    assert lines[0] == f"kernel sgemm on tahiti, along dimension 0: factor {predicted.factor}"
    assert lines[2].split() == ["at", "factor", "coarsen", "further?", "probability", "learned", "from"]
    for line, step in zip(lines[3:], predicted.steps, strict=False):
        answer = "yes" if step.coarsen_further else "no"
        assert line.split() == [
            str(step.factor),
            answer,
            f"{step.probability:.2f}",
            str(step.examples),
            "kernels",
        ]


REASONS = (Contribution("uniform_loads", 3.0, 0.25), Contribution("barriers", 2.0, -0.5))


@pytest.mark.parametrize(
    ("contributions", "sentences"),
    [
        (
            REASONS,
            [
                "What moved the answer at factor 1 most:",
                "  uniform loads 3: for coarsening further (+0.25)",
                "  barriers 2: against coarsening further (-0.50)",
            ],
        ),
        (
            (),
            [
                "Why the answer at factor 1: the kernels that it learned from leave no choice, "
                "so it is the same for all kernels."
            ],
        ),
    ],
)
def test_why(
    contributions: tuple[Contribution, ...],
    sentences: list[str],
    sgemm: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Prediction("tahiti", 1, (Step(1, 0.25, False, 17, contributions),))
    monkeypatch.setattr("coarsen.cli.predict.predict_kernel", lambda *_: answer)
    outcome = run("predict", sgemm, "--device", "tahiti")
    assert outcome.out.splitlines()[-len(sentences) :] == sentences


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Tahiti", "tahiti"),
        ("Cypress", "cypress"),
        ("Tesla K20c", "kepler"),
        ("Tesla K40m", "kepler"),
        ("GeForce GTX 780 Ti", "kepler"),
        ("GeForce GTX 480", "fermi"),
        ("Tesla C2050 / C2070", "fermi"),
        ("NVIDIA H200", None),
        ("GeForce GTX 1080", None),
        ("pthread-AMD EPYC", None),
        ("Tahitian", None),
        ("", None),
    ],
)
def test_the_model_of_an_opencl_device(name: str, model: str | None) -> None:
    found = prediction.model_of_opencl_device(name)
    assert (found.name if found else None) == model


def test_a_program_gets_factor_and_dimension(sgemm: Path) -> None:
    source = sgemm.read_text()
    factor = coarsen.predict(source, device="tahiti", kernel="sgemm").factor
    assert predicted_coarsening(source, "sgemm", (), "Tahiti") == (factor, 0)
    assert predicted_coarsening(source, "sgemm", (), "Some CPU") is None


def test_an_installed_device_is_found_by_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "discover_devices", lambda: (TAHITI_HERE,))
    monkeypatch.setattr("coarsen.runtime.selection.discover_devices", lambda: (TAHITI_HERE,))
    assert prediction.model_for("0:0").name == "tahiti"
    assert prediction.model_for("accelerated parallel").name == "tahiti"


def test_an_ambiguous_device_is_an_error_that_lists_them(
    sgemm: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = [DeviceDescription(**{**_fields(TAHITI_HERE), "index": f"0:{n}", "name": "Navi 31"}) for n in (0, 1)]
    monkeypatch.setattr(prediction, "discover_devices", lambda: tuple(twins))
    monkeypatch.setattr("coarsen.runtime.selection.discover_devices", lambda: tuple(twins))
    monkeypatch.setattr("coarsen.runtime.selection.check_health", lambda _: _Works())
    outcome = run("predict", sgemm, "--device", "navi")
    assert outcome.code == 4
    assert outcome.error.startswith("'navi' names several OpenCL devices: 0:0 Navi 31 (")
    assert ", 0:1 Navi 31 (" in outcome.error
    missing = run("predict", sgemm, "--device", "0:1")
    assert missing.code == 4
    assert missing.error.startswith("the OpenCL device 0:1 Navi 31 (")
    assert missing.error.endswith(f"has no model; models: {', '.join(available_models())}")


class _Works:
    works = True


def _fields(device: DeviceDescription) -> dict[str, Any]:
    return {name: getattr(device, name) for name in DeviceDescription.__slots__}


def test_the_function_checks_its_arguments(sgemm: Path) -> None:
    with pytest.raises(DeviceError, match="models: cypress, fermi, kepler, tahiti"):
        coarsen.predict(sgemm, device="gameboy")
    with pytest.raises(InvalidInputError, match="the dimension must be 0, 1 or 2, not 3"):
        coarsen.predict(sgemm, device="tahiti", dim=3)


def test_both_dimensions_can_be_asked_for(sgemm: Path, run: Run) -> None:
    for dimension in (0, 1):
        outcome = run("predict", sgemm, "--device", "fermi", "--dim", dimension, "-f", "json")
        assert json.loads(outcome.out)["factor"] == coarsen.predict(sgemm, device="fermi", dim=dimension).factor
