"""`coarsen.predict`, and programs whose factor is predicted, with a small model in the shipped one's place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

import coarsen
from coarsen import prediction
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.features.feature_table import kernel_identity
from coarsen.frontend.lower import lower
from coarsen.models import LaunchModel, LaunchPrediction, Prediction
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.variant import Variant
from tests.cli.small_launch_model import small_launch_model, store_small_launch_model

SGEMM = SUITE["sgemm"].kernel_file
SCALE = """
kernel void scale(global const int *in, global int *out, int by) {
    size_t id = get_global_id(0);
    out[id] = in[id] * by;
}
"""
ITEMS = 1024


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(prediction, "_shipped", small_launch_model)


def test_models_of_ones_own(tmp_path: Path) -> None:
    own = store_small_launch_model(tmp_path / "models", {"sgemm_learned": kernel_identity(lower(SGEMM))})
    found = coarsen.predict(SGEMM, device="pocl", model="launch", local_size=(16, 16), models=str(own))
    assert found.training_kernel == "sgemm_learned"
    assert coarsen.predict(SGEMM, device="pocl", local_size=(16, 16)).training_kernel is None
    with pytest.raises(InvalidInputError, match="there is no launch model in"):
        coarsen.predict(SGEMM, device="pocl", models=tmp_path)


def test_what_the_function_returns() -> None:
    found = coarsen.predict(SGEMM, device="pocl", local_size=(16, 16))
    assert isinstance(found, LaunchPrediction)
    assert found.factor in (1, 2, 4, 8, 16)
    assert (found.kernel, found.device, found.own) == ("sgemm", "pocl", Variant((16, 16)))
    assert {each.variant.factor for each in found.launches} == {1, 2, 4, 8, 16}
    assert {each.variant.local_size for each in found.launches} == {(16, 16)}
    along = coarsen.predict(SGEMM, device="pocl", model="launch", dim=1)
    assert isinstance(along, LaunchPrediction)
    assert {each.dimension for launch in along.launches for each in launch.variant.coarsenings} == {1}
    published = coarsen.predict(SGEMM, device="tahiti", model="cascade")
    assert isinstance(published, Prediction)
    assert published.model == "tahiti" and published.steps[0].factor == 1
    assert coarsen.predict(SGEMM, device="Tahiti") == published, "the device's own model answers"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"device": "gameboy"}, DeviceError, "known: fermi, kepler, cypress, tahiti, h200, pocl, intel"),
        ({"device": "h200", "model": "cascade"}, DeviceError, "there is no cascade of h200"),
        (
            {"device": "h200"},
            DeviceError,
            "there is no model of h200 .NVIDIA H200.: the launch model",
        ),
        ({"dim": 3}, InvalidInputError, "the dimension must be 0, 1 or 2, not 3"),
        ({"dim": "0"}, InvalidInputError, "dimension must be a whole number, not '0'"),
        ({"device": None}, InvalidInputError, "device is a name or an index, as text, not None"),
        ({"model": "oracle"}, InvalidInputError, "the model is 'launch' or 'cascade', not 'oracle'"),
        ({"model": "cascade", "local_size": (4,)}, InvalidInputError, "the cascade of pocl takes no local size"),
        ({"device": "tahiti", "local_size": (4,)}, InvalidInputError, "the cascade of tahiti takes no local size"),
        ({"local_size": (64,), "dim": 2}, InvalidInputError, "local size 64×1 has no dimension 2"),
        ({"local_size": (0, 4)}, InvalidInputError, "a local size is one to three numbers of at least 1"),
        ({"local_size": ()}, InvalidInputError, "a local size is one to three numbers of at least 1"),
        ({"local_size": 64}, InvalidInputError, "a local size is one to three whole numbers, not 64"),
        ({"local_size": (16.0, 16)}, InvalidInputError, r"one to three whole numbers, not \(16.0, 16\)"),
        ({"local_size": "64"}, InvalidInputError, "one to three whole numbers, not '64'"),
    ],
)
def test_the_function_checks_its_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        coarsen.predict(SGEMM, **{"device": "pocl", **arguments})


@pytest.mark.parametrize("given", [{"dim": 1}, {"stride": 8}, {"dim": (0, 1)}])
def test_a_program_refuses_what_goes_with_a_factor_only(given: dict[str, Any]) -> None:
    context = cl.Context([open_device(find_device("pocl"))])
    with pytest.raises(InvalidInputError, match="dim and stride go with a factor"):
        coarsen.Program(context, SCALE, **given)


def test_the_shipped_model_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    loaded: list[LaunchModel] = []

    def load() -> LaunchModel:
        loaded.append(small_launch_model())
        return loaded[-1]

    monkeypatch.setattr(prediction, "load_launch", load)
    prediction._shipped.cache_clear()
    assert prediction.launch_model() is prediction.launch_model() is loaded[0]
    assert len(loaded) == 1
    prediction._shipped.cache_clear()


def test_a_prediction_is_one_line_in_a_list_and_a_cascades_a_table_when_printed() -> None:
    found = coarsen.predict(SGEMM, device="pocl", local_size=(16, 16))
    assert repr(found).startswith("<LaunchPrediction: sgemm on pocl: ")
    cascade = coarsen.predict(SGEMM, device="tahiti", model="cascade")
    assert isinstance(cascade, Prediction)
    assert repr(cascade) == f"<Prediction: factor {cascade.factor} by the cascade of tahiti>"
    assert len(str(cascade).splitlines()) == 2 + len(cascade.steps)
    for shown in (found, cascade):
        assert len(repr(shown)) < 100 and max(map(len, str(shown).splitlines())) < 150
