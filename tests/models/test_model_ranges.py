"""Arrays of models that hold what no trained model has are refused in one line when they are loaded."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from coarsen.errors import InvalidInputError
from coarsen.models.cascade import model as cascade
from coarsen.models.cascade.model import load_model
from coarsen.models.launch import SHIPPED as LAUNCH
from coarsen.models.launch.storage import load_launch

KINDS: dict[str, tuple[Path, Callable[[Path], object]]] = {
    "launch": (LAUNCH, load_launch),
    "tahiti": (cascade.SHIPPED, lambda folder: load_model("tahiti", folder)),
}
# Of tables that are alike, the first of each kind.
ALIKE = re.compile(r"(own_)?errors\.(?!CPUs\.2)[\w ]+\.\d\.|(local|coarsened)\.feature")
FLOATS = [
    (kind, name)
    for kind, (folder, _) in KINDS.items()
    for name, tensor in load_file(folder / f"{kind}.safetensors").items()
    if tensor.dtype.kind == "f" and not ALIKE.match(name)
]


def changed(kind: str, folder: Path, name: str, change: Callable[[np.ndarray], None]) -> Callable[[Path], object]:
    """A copy of a shipped model with one array changed, its card telling so."""
    shipped, load = KINDS[kind]
    tensors = load_file(shipped / f"{kind}.safetensors")
    tensors[name] = tensors[name].copy()
    change(tensors[name])
    path = folder / f"{kind}.safetensors"
    save_file(tensors, path)
    shutil.copy(shipped / f"{kind}.json", folder)
    card = json.loads((folder / f"{kind}.json").read_text())
    card["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / f"{kind}.json").write_text(json.dumps(card))
    return load


@pytest.mark.parametrize(("kind", "name"), FLOATS, ids="-".join)
def test_numbers_that_no_trained_model_has_are_refused(kind: str, name: str, tmp_path: Path) -> None:
    half = name.endswith(".number")
    for number in (np.nan, np.inf, -np.inf, 6e4 if half else 3e38, -6e4 if half else -3e38):

        def change(array: np.ndarray, number: float = number) -> None:
            array.reshape(-1)[-1] = number  # of a forest, a leaf

        load = changed(kind, tmp_path, name, change)
        with pytest.raises(InvalidInputError, match=f"the model '{kind}' is damaged: ") as refused:
            load(tmp_path)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("launch", "errors.CPUs.2.quantiles", lambda array: np.negative(array, out=array)),
        ("launch", "errors.CPUs.2.edges", lambda array: np.negative(array, out=array)),
        ("launch", "neighbourhood.scale", lambda array: array.fill(0)),
        ("tahiti", "projection.scale", lambda array: np.negative(array, out=array)),
    ],
)
def test_numbers_that_mean_nothing_are_refused(
    kind: str, name: str, change: Callable[[np.ndarray], None], tmp_path: Path
) -> None:
    load = changed(kind, tmp_path, name, change)
    with pytest.raises(InvalidInputError, match=f"the model '{kind}' is damaged: "):
        load(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_models_are_none_of_these(kind: str) -> None:
    folder, load = KINDS[kind]
    assert load(folder) is not None
