"""The shipped models: there, loadable, and the same bytes when trained again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from coarsen.features import FACTORS, FeatureTable
from coarsen.models import available_models, load_model
from coarsen.models.cascade.model import SHIPPED
from coarsen.models.device_descriptors import DEVICES

TRAIN = """
import sys
from pathlib import Path
from coarsen.models.device_descriptors import PUBLISHED
from coarsen.models.device_descriptors import DEVICES
from coarsen.models.cascade.trained import save_model
from coarsen.models.cascade.trained import train_device
from coarsen.opencl_bench.results.measured_curves import read_curves
from coarsen.opencl_bench.results.measured_curves import examples_of

table = read_curves(str(PUBLISHED))
for device in DEVICES:
    known = examples_of([curve for curve in table.curves if curve.device == device]).examples
    trained = train_device(known, published=table.predicted_on(device))
    save_model(trained, Path(sys.argv[1]))
"""

PREDICT = """
import sys
from pathlib import Path
from coarsen.features import feature_table
from coarsen.frontend.lower import lower
from coarsen.models import available_models, load_model

table = feature_table(lower(Path(sys.argv[1])))
assert all(load_model(name).predict(table).steps for name in available_models())
heavy = {"torch", "pandas", "scipy", "sklearn", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""


def run(program: str, *arguments: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=1200, check=False
    )
    assert finished.returncode == 0, finished.stderr


def test_training_again_gives_the_same_bytes(tmp_path: Path) -> None:
    run(TRAIN, str(tmp_path))
    for device in DEVICES:
        for suffix in ("safetensors", "json"):
            name = f"{device}.{suffix}"
            assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


def test_prediction_loads_no_training_library(tmp_path: Path) -> None:
    kernel = tmp_path / "copy.cl"
    kernel.write_text("kernel void copy(global int *a, global int *b) { a[get_global_id(0)] = *b; }")
    run(PREDICT, str(kernel))


def test_there_is_a_model_for_each_device() -> None:
    assert available_models() == tuple(sorted(DEVICES))


@pytest.mark.parametrize("gpu", DEVICES)
def test_a_shipped_model_answers_for_every_kernel(gpu: str, tables: Mapping[str, FeatureTable]) -> None:
    model = load_model(gpu)
    for table in tables.values():
        prediction = model.predict(table)
        assert prediction.factor in FACTORS
        assert [step.factor for step in prediction.steps] == list(FACTORS[: len(prediction.steps)])
        assert all(step.coarsen_further for step in prediction.steps[:-1])
        stopped = not prediction.steps[-1].coarsen_further
        assert prediction.factor == (prediction.steps[-1].factor if stopped else 32)


@pytest.mark.parametrize("gpu", DEVICES)
def test_a_shipped_models_card_holds_its_evaluation(gpu: str, tables: Mapping[str, FeatureTable]) -> None:
    evaluation = load_model(gpu).card["evaluation"]
    assert isinstance(evaluation, dict)
    assert set(evaluation["scores"]) == {"cascade", "cautious", "unique", "never", "published"}
    assert set(evaluation["predicted"]["cascade"]) == set(tables)
