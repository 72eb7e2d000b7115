"""The package's toolchain with what it has coarsened and predicted kept on disk.

A prediction is of a kernel on a device, by a model: a kernel's features are found once, not in every process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from coarsen.base.codec import encoded
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.key import kept
from coarsen.runtime.text_cache.store import CacheFolder, Store, text_folder
from coarsen.runtime.text_cache.versions import prediction_versions, versions
from coarsen.runtime.toolchain import (
    CoarsenFunction,
    Code,
    Form,
    PredictedFactor,
    PredictFunction,
    Toolchain,
    package_toolchain,
)
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class CachedCoarsening:
    """Coarsens what is not in the cache, and puts it there; a `toolchain.CoarsenFunction`.

    Args:
        coarsen: the function whose results are kept.
        macros: those that it coarsens with.
        store: where results are kept.
    """

    coarsen: CoarsenFunction
    macros: DeviceMacros
    store: Store

    def __call__(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
        """Return the code. Raises as `coarsen` does, and RefusalError for one without the form."""

        def made() -> Code:
            return self.coarsen(source, options, kernel, variant, form)

        def others() -> Mapping[str, object] | None:
            code = versions()
            told = {"coarsened": kernel, "variant": encoded(variant), "form": form, "versions": code}
            return None if code is None else told

        return kept(self.store, Code, source, options, self.macros, others, made)


@dataclass(frozen=True, slots=True)
class CachedPrediction:
    """Predicts what is not in the cache, and puts it there; a `toolchain.PredictFunction`.

    Args:
        predict: the function whose results are kept.
        macros: those that it lowers kernels with.
        store: where results are kept.
    """

    predict: PredictFunction
    macros: DeviceMacros
    store: Store

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
            return self.predict(source, device=device, kernel=kernel, options=options, local_size=local_size)

        def others() -> Mapping[str, object] | None:
            code, described = prediction_versions(), _described(device)
            if code is None or described is None:
                return None
            return {"predicted": kernel, "local_size": local_size, "device": described, "versions": code}

        return kept(self.store, PredictedFactor, source, options, self.macros, others, predicted)


def _described(index: str) -> dict[str, object] | None:
    """Return what tells a device from others; at another place among the devices, it is the same one."""
    # Imported late: most programs predict nothing.
    from coarsen.devices.discovery import discover_devices

    device = next((device for device in discover_devices() if device.index == index), None)
    return None if device is None else {name: told for name, told in asdict(device).items() if name != "index"}


def cached_toolchain(macros: DeviceMacros, cache_dir: CacheFolder) -> Toolchain:
    """Return this package's functions, their results kept in the folder that `cache_dir` stands for.

    Args:
        macros: what sources may find out about their device.
        cache_dir: as `pyopencl.Program.build` takes it.
    """
    toolchain, folder = package_toolchain(macros), text_folder(cache_dir)
    if folder is None:
        return toolchain
    store = Store(folder)
    return Toolchain(
        CachedCoarsening(toolchain.coarsen, macros, store), CachedPrediction(toolchain.predict, macros, store)
    )
