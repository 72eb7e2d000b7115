"""The cache of predicted factors: what is found in it and what is not, and that nothing in it can do harm."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.errors import DeviceError, RefusalError, SourcePosition
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.runtime import toolchain
from coarsen.runtime.text_cache import versions
from coarsen.runtime.text_cache.store import OFF_VARIABLES, Store, store_of
from coarsen.runtime.toolchain import PredictedFactor, Toolchain

SOURCE = "kernel void scale(global int *values) { values[get_global_id(0)] *= 2; }"


FOUR = PredictedFactor(4, 0)


@dataclass
class Model:
    """Stands in for the model: returns the prediction or raises the error, and counts its calls."""

    outcome: PredictedFactor | RefusalError | DeviceError = FOUR
    calls: list[str] = field(default_factory=list)

    def __call__(
        self, source: str, options: Sequence[str], kernel: str, device: str, local_size: Sequence[int] | None
    ) -> PredictedFactor:
        self.calls.append(kernel)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def device() -> str:
    return find_device("pocl").index


def asked(
    model: Model,
    folder: Path,
    device: str,
    source: str = SOURCE,
    kernel: str = "scale",
    options: Sequence[str] = (),
    local_size: Sequence[int] | None = (64,),
    macros: DeviceMacros = PORTABLE,
) -> PredictedFactor:
    """The answer of a fresh cache in the folder."""
    made = Toolchain(macros, Store(folder))
    made.predict_anew = model  # type: ignore[method-assign]
    return made.predict(source, options, kernel, device, local_size)


def test_what_was_predicted_is_not_predicted_again(tmp_path: Path, device: str) -> None:
    model = Model()
    first, again = (asked(model, tmp_path, device) for _ in range(2))
    assert first == again == model.outcome
    assert model.calls == ["scale"]


def test_whatever_it_depends_on_is_in_its_key(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()
    asked(model, tmp_path, device)
    asked(model, tmp_path, device, source=SOURCE + " ")
    asked(model, tmp_path, device, kernel="other")
    asked(model, tmp_path, device, options=["-DN=1"])
    asked(model, tmp_path, device, local_size=(32,))
    asked(model, tmp_path, device, local_size=None)
    asked(model, tmp_path, device, macros=DeviceMacros(frozenset({"cl_khr_fp64"}), 300))
    asked(model, tmp_path, find_device("intel").index)
    monkeypatch.setattr(toolchain, "prediction_versions", lambda: {"prediction": "another model"})
    asked(model, tmp_path, device)
    assert len(model.calls) == 9


def test_the_model_s_numbers_are_part_of_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numbers.safetensors").write_bytes(b"1")
    monkeypatch.setattr(versions, "_folder_of", lambda _: tmp_path)
    hashes = set()
    for content in (b"1", b"2", b"1"):
        (tmp_path / "numbers.safetensors").write_bytes(content)
        versions._hash_of_prediction.cache_clear()
        hashes.add(versions._hash_of_prediction())
    versions._hash_of_prediction.cache_clear()
    assert len(hashes) == 2 and None not in hashes


def test_without_its_version_nothing_is_kept(tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "prediction_versions", lambda: None)
    model = Model()
    assert asked(model, tmp_path, device) == asked(model, tmp_path, device)
    assert len(model.calls) == 2 and list(tmp_path.iterdir()) == []


def test_a_refusal_is_kept_and_a_device_s_failure_is_not(tmp_path: Path, device: str) -> None:
    refusal = RefusalError("irreducible", "a jump into a loop", SourcePosition(3, 4))
    for error, calls in ((refusal, 1), (RefusalError("too-deep", "the stack"), 2), (DeviceError("away"), 2)):
        model, folder = Model(error), tmp_path / str(error)[:5]
        for _ in range(2):
            with pytest.raises(type(error)) as caught:
                asked(model, folder, device)
            assert str(caught.value) == str(error)
        assert len(model.calls) == calls


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda _: b"", lambda data: data[:70] + b"x" + data[71:]]
)
def test_a_damaged_file_is_predicted_anew(tmp_path: Path, device: str, damage: object) -> None:
    assert callable(damage)
    model = Model()
    asked(model, tmp_path, device)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert asked(model, tmp_path, device) == model.outcome
    assert asked(model, tmp_path, device) == model.outcome
    assert len(model.calls) == 2, "it is whole again"


def test_another_entry_s_file_is_none(tmp_path: Path, device: str) -> None:
    model = Model()
    asked(model, tmp_path, device)
    (file,) = tmp_path.iterdir()
    asked(model, tmp_path, device, local_size=(32,))
    other = next(each for each in tmp_path.iterdir() if each != file)
    shutil.copy(other, file)
    asked(model, tmp_path, device)
    assert len(model.calls) == 3


def test_two_at_once_do_not_disturb_each_other(tmp_path: Path, device: str) -> None:
    model, answers = Model(), list[PredictedFactor]()

    def ask() -> None:
        answers.extend(asked(model, tmp_path, device) for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [model.outcome] * 20
    assert len(list(tmp_path.iterdir())) == 1


def test_the_package_s_own_prediction_comes_back(tmp_path: Path, device: str) -> None:
    first, again = (
        Toolchain(PORTABLE, Store(tmp_path)).predict(SOURCE, (), "scale", device, (64,)) for _ in range(2)
    )
    facts = [(each.factor, each.dimension) for each in (first, again)]
    assert facts[0] == facts[1]
    assert isinstance(again, PredictedFactor)


def test_what_a_program_keeps_lies_in_its_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OFF_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert store_of(False) is None
    store = store_of(str(tmp_path))
    assert store is not None
    store.write("entry", b"kept")
    assert [each.name for each in tmp_path.rglob("entry")] == ["entry"]
