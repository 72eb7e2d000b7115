"""The request of `coarsen apply` (the kernel, the coarsening, the form), and the coarsening itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from coarsen import api
from coarsen.cli.kernel_input import naming_file
from coarsen.cli.messages import note
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.pipeline import Observer
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DeviceKind, Transforms


@dataclass(frozen=True)
class Request:
    """A kernel of a file, and how it is to be coarsened.

    `factors` and `device` exclude each other: for a device the factor is predicted. `strides` and `levels` are one
    for all of the `dimensions`, or one each. `device_kind` is None where the device, if there is one, says it.
    """

    file: Path
    kernel: str | None
    options: str
    factors: Sequence[int]
    device: str | None
    dimensions: Sequence[int]
    strides: Sequence[int]
    levels: Sequence[Level]
    any_size: bool
    given: Transforms
    device_kind: DeviceKind | None = None

    @cached_property
    def transforms(self) -> Transforms:
        """Return the transforms that were given, for the kind of device that was given, or that of the device."""
        if self.device_kind is not None:
            return replace(self.given, device_kind=self.device_kind)
        if self.device is None:
            return self.given
        # Imported late: most calls name no device.
        from coarsen.devices.targets import target_of

        is_gpu = target_of(self.device).descriptor.is_gpu
        return replace(self.given, device_kind=DeviceKind.GPU if is_gpu else DeviceKind.CPU)

    @cached_property
    def macros(self) -> DeviceMacros:
        """Return the facts about the device that the kernel may ask for, by `macros_of`."""
        return macros_of(self.device)

    def coarsened(self, observer: Observer) -> api.CoarsenedKernel:
        """Carry it out. Raises as `coarsen.api.coarsen` does, refusals naming the file."""
        factors = self._chosen_factors()
        with naming_file(self.file):
            return api.coarsen(
                self.file,
                kernel=self.kernel,
                factor=factors,
                dim=self.dimensions,
                stride=self.strides,
                level=self.levels,
                any_size=self.any_size,
                fast_path=self.transforms.fast_path.value,
                lock_step=self.transforms.lock_step.value,
                wide_accesses=self.transforms.wide_accesses,
                clean_up=self.transforms.clean_up,
                device_kind=self.transforms.device_kind.value,
                options=self.options,
                macros=self.macros,
                observer=observer,
            )

    def _chosen_factors(self) -> Sequence[int]:
        """The factors that were given, or the one that is predicted for the device."""
        if self.factors and self.device is None:
            return self.factors
        if self.factors:
            raise InvalidInputError("give --factor, or --device to have the factor predicted, but not both")
        if self.device is None:
            raise InvalidInputError("give --factor, or --device to have the factor predicted")
        return [self._predicted(self.device)]

    def _predicted(self, device: str) -> int:
        if len(self.dimensions) > 1:
            raise InvalidInputError("a factor is predicted along one dimension; give --dim once")
        dimension = self.dimensions[0]
        with naming_file(self.file):
            predicted = api.predict(
                self.file,
                device=device,
                kernel=self.kernel,
                dim=dimension,
                options=self.options,
                macros=self.macros,
            )
        for caution in filter(None, (predicted.reason, predicted.device_note)):
            note(caution)
        note(f"predicted factor {predicted.factor} along dimension {dimension} for {device}")
        return predicted.factor


def macros_of(device: str | None) -> DeviceMacros:
    """Return the facts that a kernel may ask for about a device; portable ones if none is named, or it isn't here.

    Raises:
        DeviceError: nothing is called so.
    """
    if device is None:
        return PORTABLE
    # Imported late: most calls name no device.
    from coarsen.devices.targets import target_of

    installed = target_of(device).installed
    return PORTABLE if installed is None else installed.macros
