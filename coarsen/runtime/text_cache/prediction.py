"""Predicted factors on disk, beside coarsened text: a kernel's features are found once, not in every process.

source, options, local size; device; code, model ──▶ key ──▶ factor, or why none can be predicted
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from coarsen.devices.discovery import DeviceDescription, discover_devices
from coarsen.errors import RefusalError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.key import Key, digest_of, is_certain
from coarsen.runtime.text_cache.store import PASSING, Store, StoredRefusal, entry_of, file_of
from coarsen.runtime.text_cache.versions import prediction_versions
from coarsen.runtime.toolchain import PredictedFactor, PredictFunction


@dataclass(frozen=True, slots=True)
class StoredPrediction:
    """A prediction, as `toolchain.PredictedFactor` has it."""

    factor: int
    dimension: int


@dataclass(frozen=True, slots=True)
class PredictionEntry:
    """A prediction, or a refusal."""

    key: str
    prediction: StoredPrediction | None = None
    refusal: StoredRefusal | None = None

    @property
    def is_complete(self) -> bool:
        """Return True if it holds one of the two."""
        return (self.prediction is None) != (self.refusal is None)

    def outcome(self) -> StoredPrediction:
        """Return the prediction. Raises RefusalError where the kernel is refused."""
        if self.refusal is not None:
            raise RefusalError(self.refusal.code, self.refusal.reason, self.refusal.position)
        assert self.prediction is not None
        return self.prediction


class CachedPrediction:
    """Predicts what is not in the cache, and puts it there; a `toolchain.PredictFunction`.

    Args:
        predict: the function whose results are kept.
        macros: those that it lowers kernels with.
        store: where results are kept.
    """

    def __init__(self, predict: PredictFunction, macros: DeviceMacros, store: Store) -> None:
        self._predict = predict
        self._macros = macros
        self._store = store

    def __call__(
        self,
        source: str,
        *,
        device: str,
        kernel: str,
        options: Sequence[str],
        local_size: Sequence[int] | None,
    ) -> PredictedFactor:
        """Return the prediction. Raises as `predict` does."""

        def predicted() -> PredictedFactor:
            return self._predict(source, device=device, kernel=kernel, options=options, local_size=local_size)

        def key() -> Key | None:
            code, description = prediction_versions(), _description(device)
            if code is None or description is None:
                return None
            # Of another place among the devices, it is the same device.
            told = {name: value for name, value in asdict(description).items() if name != "index"}
            parts = {"predicted": kernel, "local_size": local_size, "device": told, "versions": code}
            return digest_of(source, options, self._macros, parts)

        known = key()
        if known is None:
            return predicted()
        file = self._store.read(known.digest)
        entry = None if file is None else entry_of(file, PredictionEntry)
        if entry is not None and entry.key == known.digest and entry.is_complete:
            return entry.outcome()
        made = _made(known.digest, predicted)
        if is_certain(known, source, options, self._macros) and key() == known:
            self._store.write(known.digest, file_of(made))
        return made.outcome()


def _made(key: str, predicted: Callable[[], PredictedFactor]) -> PredictionEntry:
    try:
        found = predicted()
    except RefusalError as refusal:
        if refusal.code in PASSING:
            raise
        return PredictionEntry(key, None, StoredRefusal(refusal.code, refusal.reason, refusal.position))
    return PredictionEntry(key, StoredPrediction(found.factor, found.dimension))


def _description(index: str) -> DeviceDescription | None:
    return next((device for device in discover_devices() if device.index == index), None)
