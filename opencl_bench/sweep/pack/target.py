"""The device that a pack is run on: what it is called, what it can do, how a child process opens it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from coarsen.errors import DeviceError
from coarsen.opencl_bench.measure.environment import Versions, environment_of, installed_versions
from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.records.measurement import Environment
from coarsen.opencl_bench.sweep.device_lock import device_lock, named_lock
from coarsen.opencl_bench.sweep.points import DeviceLimits, limits_of

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.opencl_bench.measure.cuda_driver import CudaDevice


class Target(Protocol):
    """A device, and the form of code that it is given."""

    @property
    def form(self) -> Form:
        """The form of code."""
        ...

    def machine(self) -> Mapping[str, Any]:
        """As `measure_service.open_machine` takes it."""
        ...

    def limits(self) -> DeviceLimits:
        """Return the limits of the device."""
        ...

    def environment(self, versions: Versions) -> Environment:
        """Return the environment of the measurements; `versions` are those of what made the code."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Held while something is measured."""
        ...


@dataclass(frozen=True, slots=True)
class OpenClTarget:
    """An OpenCL device."""

    device: DeviceDescription
    form: Form

    @classmethod
    def find(cls, spec: str | None, form: Form) -> OpenClTarget:
        """Return the device that a person calls so; the first GPU, or else any device, if None.

        Raises DeviceError.
        """
        try:
            from coarsen.devices.selection import find_device
        except ImportError as error:
            raise DeviceError(f"there is no PyOpenCL here ({error}); --cuda does without") from None
        device = find_device(spec) if spec is not None else _first_device()
        if form == "spirv" and not device.takes_spirv:
            raise DeviceError(f"{device} takes no SPIR-V")
        return cls(device, form)

    def __str__(self) -> str:
        return str(self.device)

    def machine(self) -> Mapping[str, Any]:
        """See `Target`."""
        return {"kind": "opencl", "device": asdict(self.device)}

    def limits(self) -> DeviceLimits:
        """See `Target`."""
        return limits_of(self.device)

    def environment(self, versions: Versions) -> Environment:
        """See `Target`."""
        return environment_of(self.device, self.form, (*versions, *installed_versions(["pyopencl"])))

    def lock(self) -> AbstractContextManager[None]:
        """See `Target`."""
        return device_lock(self.device)


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """An NVIDIA device, without OpenCL."""

    device: CudaDevice

    @classmethod
    def find(cls, spec: str | None) -> CudaTarget:
        """Return the device of this number, the first if None. Raises DeviceError."""
        if spec is not None and not spec.isdecimal():
            raise DeviceError(f"a CUDA device is called by its number, not {spec!r}")
        try:
            from coarsen.opencl_bench.measure.cuda_driver import describe_device
        except ImportError as error:
            raise DeviceError(f"there is no cuda-bindings here ({error})") from None
        return cls(describe_device(int(spec or 0)))

    def __str__(self) -> str:
        return str(self.device)

    @property
    def form(self) -> Form:
        """See `Target`."""
        return "ptx"

    def machine(self) -> Mapping[str, Any]:
        """See `Target`."""
        return {"kind": "cuda", "index": self.device.index}

    def limits(self) -> DeviceLimits:
        """See `Target`."""
        device = self.device
        return DeviceLimits(device.max_work_group_size, device.max_work_item_sizes, device.local_memory)

    def environment(self, versions: Versions) -> Environment:
        """See `Target`. The platform's version names the compute capability, as PTX does."""
        device = self.device
        return Environment(
            vendor="NVIDIA Corporation",
            device=device.name,
            driver_version=device.driver_version,
            platform="NVIDIA CUDA driver",
            platform_version=f"CUDA {device.cuda_version} {device.architecture}",
            compute_units=device.multiprocessors,
            device_types=("gpu",),
            form="ptx",
            versions=(*versions, *installed_versions(["cuda-bindings"])),
        )

    def lock(self) -> AbstractContextManager[None]:
        """See `Target`."""
        return named_lock("cuda", self.device.name, str(self.device.index))


def _first_device() -> DeviceDescription:
    from coarsen.devices.discovery import discover_devices
    from coarsen.devices.health import check_health
    from coarsen.devices.selection import find_working_device

    for device in discover_devices():
        if "gpu" in device.device_types and check_health(device).works:
            return device
    return find_working_device()
