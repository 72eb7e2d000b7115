"""NVIDIA's driver through `cuda.bindings`: calls that raise, memory that is given back, devices described."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver

from coarsen.errors import DeviceError
from coarsen.tuning.workload.benchmark import Array

NAME_BYTES = 256
# The text that the driver's PTX compiler writes where it refuses.
LOG_BYTES = 8192
_VERSION_FILE = Path("/sys/module/nvidia/version")


class CudaError(Exception):
    """A call of the driver failed; the message is one line."""


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """An NVIDIA device. `index` is the driver's number; sizes are in work-items and bytes.

    `architecture` is the compute capability as PTX names it, such as sm_90. `cuda_version` is the newest that the
    driver supports.
    """

    index: int
    name: str
    architecture: str
    driver_version: str
    cuda_version: str
    multiprocessors: int
    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_memory: int
    cache_bytes: int

    def __str__(self) -> str:
        return f"{self.index} {self.name} ({self.architecture}, driver {self.driver_version})"


def call(function: Any, *arguments: Any) -> Any:  # noqa: ANN401 (the bindings have no types)
    """Call a function of the driver; return its result without the status. Raises CudaError."""
    status, *results = function(*arguments)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise CudaError(f"{function.__name__}: {_meaning(status)}")
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def describe_device(index: int) -> CudaDevice:
    """Return the device of this number. Raises DeviceError where there is none."""
    try:
        call(driver.cuInit, 0)
        count = call(driver.cuDeviceGetCount)
        if not 0 <= index < count:
            raise DeviceError(f"there is no CUDA device {index}; the driver has {count}")
        return _described(index)
    except CudaError as error:
        raise DeviceError(f"NVIDIA's driver does not work: {error}") from None


class DeviceMemory:
    """Bytes on the current device, freed when this object is no longer referenced. Raises CudaError."""

    def __init__(self, size: int) -> None:
        self.size = size
        pointer = call(driver.cuMemAlloc, size)
        self.address = int(pointer)
        weakref.finalize(self, driver.cuMemFree, pointer)

    def write(self, contents: Array, offset: int = 0) -> None:
        """Copy an array into it."""
        if contents.nbytes:
            call(driver.cuMemcpyHtoD, self.address + offset, contents.ctypes.data, contents.nbytes)

    def read(self, destination: Array, offset: int = 0) -> None:
        """Copy from it into an array."""
        if destination.nbytes:
            call(driver.cuMemcpyDtoH, destination.ctypes.data, self.address + offset, destination.nbytes)

    def copy_from(self, source: DeviceMemory, offset: int = 0) -> None:
        """Copy all of another piece of memory into it."""
        call(driver.cuMemcpyDtoD, self.address + offset, source.address, source.size)


class Module:
    """PTX compiled by the driver. Raises CudaError, with the compiler's message if it failed."""

    def __init__(self, text: str) -> None:
        image = np.frombuffer(text.encode() + b"\0", np.uint8)
        log = bytearray(LOG_BYTES)
        option = driver.CUjit_option
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        try:
            values = [log, len(log)]
            self._module = call(driver.cuModuleLoadDataEx, image.ctypes.data, len(options), options, values)
        except CudaError as error:
            words = log.split(b"\0")[0].decode(errors="replace").strip()
            raise CudaError(f"{error}: {words}" if words else str(error)) from None
        weakref.finalize(self, driver.cuModuleUnload, self._module)

    def function(self, name: str) -> Any:  # noqa: ANN401 (the bindings have no types)
        """Return the kernel of this name."""
        return call(driver.cuModuleGetFunction, self._module, name.encode())


def _meaning(status: Any) -> str:  # noqa: ANN401 (the bindings have no types)
    failure, text = driver.cuGetErrorString(status)
    known = failure == driver.CUresult.CUDA_SUCCESS and text
    return f"{status.name} ({text.decode()})" if known else str(status.name)


def _described(index: int) -> CudaDevice:
    device = call(driver.cuDeviceGet, index)

    def attribute(name: str) -> int:
        chosen = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call(driver.cuDeviceGetAttribute, chosen, device))

    version = int(call(driver.cuDriverGetVersion))
    cuda_version = f"{version // 1000}.{version % 1000 // 10}"
    return CudaDevice(
        index=index,
        name=call(driver.cuDeviceGetName, NAME_BYTES, device).split(b"\0")[0].decode().strip(),
        architecture=f"sm_{attribute('COMPUTE_CAPABILITY_MAJOR')}{attribute('COMPUTE_CAPABILITY_MINOR')}",
        driver_version=_driver_version() or cuda_version,
        cuda_version=cuda_version,
        multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
        max_work_group_size=attribute("MAX_THREADS_PER_BLOCK"),
        max_work_item_sizes=tuple(attribute(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ"),
        local_memory=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        cache_bytes=attribute("L2_CACHE_SIZE"),
    )


def _driver_version() -> str:
    """The version of the kernel module, which the driver's interface lacks; empty where it isn't known."""
    try:
        return _VERSION_FILE.read_text().strip()
    except OSError:
        return ""
