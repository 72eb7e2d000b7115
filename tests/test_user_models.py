"""Models that the user trained: they go before those of the package, on the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coarsen
from coarsen.models.model_files import model_name
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.user_models import answers_by_cascade, cascade_called, cascade_folder, default_folder, user_models
from tests.cli.conftest import Run, run
from tests.cli.small_model import KERNELS, store_small_model

__all__ = ["run"]

MT = SUITE["mt"].kernel_file


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models, which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_models() == tmp_path / "coarsen" / "models"
    return user_models()


def test_the_users_default_model_predicts(own: Path, run: Run) -> None:
    asked = ("predict", MT, "-d", "pocl", "--local-size", "16x16", "-f", "json")
    before = run(*asked, "--model", "default")
    assert before.err == ""
    assert default_folder() is None
    store_small_model(own, limit=1e9)
    after = run(*asked)
    assert after.err == (
        f"coarsen: note: by the model that you trained, in {own}; --shipped takes that of the package\n"
    )
    found = json.loads(after.out)
    assert {near["kernel"] for near in found["nearest"]} <= set(KERNELS)
    assert found["training_kernel"] == "mt"
    assert run(*asked, "--shipped", "--model", "default").out == before.out
    in_python = coarsen.predict(MT, device="pocl", local_size=(16, 16))
    assert (in_python.factor, in_python.training_kernel) == (found["factor"], "mt")
    shipped = coarsen.predict(MT, device="pocl", local_size=(16, 16), shipped=True)
    assert shipped.factor == json.loads(before.out)["factor"]


def test_a_folder_that_is_named_goes_first(own: Path, tmp_path: Path) -> None:
    store_small_model(own)
    assert default_folder(tmp_path) == cascade_folder("tahiti", tmp_path) == tmp_path
    assert default_folder() == own
    assert default_folder(shipped=True) is None


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
    assert all(map(answers_by_cascade, ("fermi", "KEPLER", "cypress", "tahiti", "Tesla K20c")))
    assert not answers_by_cascade("tahiti", tmp_path), "the folder that is named has none"
    own.mkdir(parents=True)
    for name in ("intel", "my gpu"):
        (own / f"{name}.safetensors").touch()
    assert answers_by_cascade("My GPU") and not answers_by_cascade("my gpu", shipped=True)
    # Launches were measured on Intel's runtime: a cascade of it answers only where it is named.
    assert not answers_by_cascade("intel") and not answers_by_cascade("0:0")


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
