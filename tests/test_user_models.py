"""Models that the user trained: they go before those of the package, on the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coarsen
from coarsen.models.model_files import model_name
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.user_models import (
    ModelName,
    answering_model,
    cascade_called,
    cascade_folder,
    launch_model_folder,
    user_models,
)
from tests.cli.conftest import Run, run
from tests.cli.small_launch_model import store_small_launch_model

__all__ = ["run"]

MT = SUITE["mt"].kernel_file


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models, which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_models() == tmp_path / "coarsen" / "models"
    return user_models()


def test_the_users_launch_model_predicts(own: Path, run: Run) -> None:
    asked = ("predict", MT, "-d", "pocl", "--local-size", "16x16", "--dim", "0", "--no-measure", "-f", "json")
    before = run(*asked)
    assert before.err == ""
    assert launch_model_folder() is None
    store_small_launch_model(own)
    after = run(*asked)
    assert after.err == (
        f"coarsen: note: by the model that you trained, in {own}; --shipped takes that of the package\n"
    )
    found = json.loads(after.out)
    assert all(near["kernel"].startswith("made_up_") for near in found["nearest"])
    assert run(*asked, "--shipped").out == before.out
    in_python = coarsen.predict(MT, device="pocl", dim=0, local_size=(16, 16))
    assert in_python.factor == found["factor"]
    shipped = coarsen.predict(MT, device="pocl", dim=0, local_size=(16, 16), shipped=True)
    assert shipped.factor == json.loads(before.out)["factor"]


def test_a_folder_that_is_named_goes_first(own: Path, tmp_path: Path) -> None:
    store_small_launch_model(own)
    assert launch_model_folder(tmp_path) == cascade_folder("tahiti", tmp_path) == tmp_path
    assert launch_model_folder() == own
    assert launch_model_folder(shipped=True) is None


def test_cascades_are_found_by_their_names(own: Path) -> None:
    own.mkdir(parents=True)
    (own / "My GPU-2.safetensors").touch()
    assert cascade_called("my gpu/2") == "My GPU-2"
    assert cascade_called("my gpu/2", shipped=True) is None
    assert cascade_called("Tahiti") == "tahiti"
    assert cascade_folder("My GPU/2") == own
    assert cascade_folder("tahiti") is None


def test_a_cascade_answers_for_the_gpus_of_the_publication_and_where_nothing_else_is_known(
    own: Path, tmp_path: Path
) -> None:
    for name in ("fermi", "KEPLER", "cypress", "tahiti", "Tesla K20c"):
        assert answering_model(name) is ModelName.CASCADE
    assert answering_model("tahiti", tmp_path) is ModelName.LAUNCH, "the folder that is named has none"
    own.mkdir(parents=True)
    for name in ("intel", "my gpu"):
        (own / f"{name}.safetensors").touch()
    assert answering_model("My GPU") is ModelName.CASCADE
    assert answering_model("my gpu", shipped=True) is ModelName.LAUNCH
    # Launches were measured on Intel's runtime: a cascade of it answers where it is named, or is all there is.
    assert answering_model("intel") is answering_model("0:0") is ModelName.LAUNCH
    assert answering_model("intel", own) is ModelName.CASCADE


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("tahiti", "tahiti"),
        ("../../etc", "-..-etc"),
        ("a/b\\c:d", "a-b-c-d"),
        ("..", "-"),
        ("Tesla K20c", "Tesla K20c"),
    ],
)
def test_a_models_name_is_no_path(called: str, name: str) -> None:
    assert model_name(called) == name
