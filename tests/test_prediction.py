"""`coarsen.predict`, and programs whose factor is predicted, with a small model in the shipped one's place."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen import prediction
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.devices.selection import find_device
from coarsen.devices.targets import target_of
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.default.model import DefaultModel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.prediction import KernelPrediction
from tests.cli.small_model import store_small_model

SGEMM = SUITE["sgemm"].kernel_file
SCALE = """
kernel void scale(global const int *in, global int *out, int by) {
    size_t id = get_global_id(0);
    out[id] = in[id] * by;
}
"""
ITEMS = 1024


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> DefaultModel:
    return prediction.default_model(store_small_model(tmp_path_factory.mktemp("models"), limit=1e9))


@pytest.fixture(autouse=True)
def shipped(model: DefaultModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "_shipped_default", lambda: model)
    # Programs ask the launch model first.
    monkeypatch.setattr("coarsen.user_models.has_launch", lambda *_: False)


def test_models_of_ones_own(tmp_path: Path) -> None:
    abstaining = store_small_model(tmp_path / "models", limit=1e-6)
    found = coarsen.predict(SGEMM, device="pocl", model="default", local_size=(16, 16), models=str(abstaining))
    assert (found.abstained, found.factor) == (True, 1)
    with pytest.raises(InvalidInputError, match="there is no default model in"):
        coarsen.predict(SGEMM, device="pocl", models=tmp_path)


def test_what_the_function_returns() -> None:
    found = coarsen.predict(SGEMM, device="pocl", local_size=(16, 16))
    assert isinstance(found, KernelPrediction)
    assert found.factor in (2, 4, 8, 16)
    assert (found.kernel, found.device, found.dimension, found.local_size) == ("sgemm", "pocl", 0, (16, 16))
    assert [point.factor for point in found.curve] == [2, 4, 8, 16, 32]
    assert not found.abstained and not found.local_size_is_assumed
    assumed = coarsen.predict(SGEMM.read_text(), device="pocl", kernel="sgemm", model="default")
    assert assumed.local_size_is_assumed
    assert coarsen.predict(SGEMM, device="intel").factor == 1
    assert coarsen.predict(SGEMM, device="pocl", model="default", dim=1).dimension == 1
    published = coarsen.predict(SGEMM, device="tahiti", model="cascade")
    assert published.model == "tahiti" and published.steps[0].factor == 1
    assert coarsen.predict(SGEMM, device="Tahiti") == published, "the device's own model answers"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"device": "gameboy"}, DeviceError, "known: fermi, kepler, cypress, tahiti, h200, pocl, intel"),
        ({"device": "h200", "model": "cascade"}, DeviceError, "there is no cascade of h200"),
        ({"device": "h200"}, DeviceError, "no kernel was measured on NVIDIA H200, nor on any other GPU"),
        ({"dim": 3}, InvalidInputError, "the dimension must be 0, 1 or 2, not 3"),
        ({"dim": "0"}, InvalidInputError, "dimension must be a whole number, not '0'"),
        ({"device": None}, InvalidInputError, "device is a name or an index, as text, not None"),
        ({"model": "oracle"}, InvalidInputError, "the model is 'default' or 'cascade', not 'oracle'"),
        ({"model": "cascade", "local_size": (4,)}, InvalidInputError, "the cascade takes no local size"),
        ({"device": "tahiti", "local_size": (4,)}, InvalidInputError, "the cascade of tahiti takes no local size"),
        ({"local_size": (64,), "dim": 1}, InvalidInputError, "local size 64 has no dimension 1"),
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


def run(device: DeviceDescription, local_size: tuple[int, ...] | None) -> tuple[coarsen.Program, bool]:
    """A program whose factor is predicted, after one launch; and whether the launch was right."""
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context)
    program = coarsen.Program(context, SCALE, tune="predict").build()
    values = np.arange(ITEMS, dtype=np.int32)
    flags = cl.mem_flags
    source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
    target = cl.Buffer(context, flags.WRITE_ONLY, values.nbytes)
    program.scale(queue, (ITEMS,), local_size, source, target, np.int32(3))
    result = np.empty_like(values)
    cl.enqueue_copy(queue, result, target)
    return program, bool((result == 3 * values).all())


def factor_of(program: coarsen.Program, device: DeviceDescription, local_size: tuple[int, ...]) -> int:
    (opened,) = [found for found in program.context.devices if found == open_device(device)]
    launch = program.scale.divided(opened, (ITEMS,), local_size)
    return launch.coarsenings[0].factor if launch.coarsenings else 1


def test_a_program_takes_the_factor_predicted_for_its_launch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    device = find_device("intel")
    # The small model makes everything faster on the other CPU.
    known = target_of("pocl")
    monkeypatch.setattr(prediction, "target_of", lambda _: known)
    program, right = run(device, (4,))
    assert right
    for local_size in ((4,), (64,)):
        expected = coarsen.predict(SCALE, device="pocl", local_size=local_size).factor
        assert factor_of(program, device, local_size) == expected
        assert expected in (2, 4) if local_size == (4,) else expected > 4
    assert run(device, None)[1]
    assert caplog.messages and all("a guess" in message for message in caplog.messages)


def test_a_program_says_once_that_its_device_was_never_measured(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, model: DefaultModel
) -> None:
    learned_from: Any = model.card["data"]
    monkeypatch.setitem(learned_from["curves"], "intel", 0)
    with caplog.at_level(logging.WARNING, "coarsen"):
        program, right = run(find_device("intel"), (64,))
        factor_of(program, find_device("intel"), (32,))
    assert right
    (note,) = [message for message in caplog.messages if "a guess" not in message]
    assert note.startswith("predicted factors: no kernel was measured on Intel's CPU runtime")


def test_the_shipped_model_is_loaded_once(monkeypatch: pytest.MonkeyPatch, model: DefaultModel) -> None:
    monkeypatch.undo()
    loaded: list[DefaultModel] = []

    def load() -> DefaultModel:
        loaded.append(model)
        return model

    monkeypatch.setattr(prediction, "load_default", load)
    prediction._shipped_default.cache_clear()
    assert prediction.default_model() is prediction.default_model() is model
    assert len(loaded) == 1
    prediction._shipped_default.cache_clear()


def test_a_prediction_is_one_line_in_a_list_and_a_table_when_printed() -> None:
    found = coarsen.predict(SGEMM, device="pocl", model="default", local_size=(16, 16))
    assert repr(found) == f"<KernelPrediction: {str(found).splitlines()[0]}>"
    assert repr(found).startswith("<KernelPrediction: sgemm on pocl along dimension 0: factor ")
    lines = str(found).splitlines()
    assert all(any(line.split()[0] == str(entry.factor) for line in lines) for entry in found.curve)
    cascade = coarsen.predict(SGEMM, device="tahiti", model="cascade")
    assert repr(cascade) == f"<Prediction: factor {cascade.factor} by the cascade of tahiti>"
    assert len(str(cascade).splitlines()) == 2 + len(cascade.steps)
    for shown in (found, cascade):
        assert len(repr(shown)) < 100 and max(map(len, str(shown).splitlines())) < 150
