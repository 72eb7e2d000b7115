"""A workload on an NVIDIA device, its guard zones and its errors, with a driver whose memory is the host's."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coarsen.tuning.measure.machine import LaunchError
from coarsen.tuning.workload.benchmark import BufferArgument, Launch, Workload

NUMBERS = np.arange(256, dtype=np.float32)
WORKLOAD = Workload({"a": NUMBERS}, (Launch("k", (256,), (64,), (BufferArgument("a"),)),), ("a",), None)


class Driver(ModuleType):
    """A driver that copies within the host's memory, until it `is_broken`."""

    CUresult = SimpleNamespace(CUDA_SUCCESS=0)
    is_broken = False

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self._memory: dict[int, Any] = {}
        self.cuMemcpyHtoD = self.cuMemcpyDtoH = self.cuMemcpyDtoD = self._copy

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (functions and enumerations)
        return lambda *_: (0,) if name != "cuGetErrorString" else (1, None)

    def cuMemAlloc(self, size: int) -> tuple[int, int]:  # noqa: N802 (the driver's name)
        memory = ctypes.create_string_buffer(size)
        self._memory[ctypes.addressof(memory)] = memory
        return 0, ctypes.addressof(memory)

    def _copy(self, to: int, source: int, size: int) -> tuple[Any]:
        if self.is_broken:
            return (SimpleNamespace(name="CUDA_ERROR_ILLEGAL_ADDRESS"),)
        ctypes.memmove(to, source, size)
        return (0,)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    made, bindings = Driver(), ModuleType("cuda.bindings")
    vars(bindings)["driver"] = made
    for name, module in (
        ("cuda", ModuleType("cuda")),
        ("cuda.bindings", bindings),
        ("cuda.bindings.driver", made),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    ours = [f"coarsen.tuning.measure.{name}" for name in ("cuda_driver", "cuda_job", "cuda_machine")]
    kept = {name: sys.modules.pop(name, None) for name in ours}
    yield made
    # No other test meets modules that have this driver.
    for name, before in kept.items():
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before


def placed() -> Any:  # noqa: ANN401 (its module is imported with the driver)
    machine = importlib.import_module("coarsen.tuning.measure.cuda_machine").CudaMachine
    return machine.place(machine.__new__(machine), WORKLOAD)


@pytest.mark.usefixtures("driver")
def test_outputs_are_read_and_put_back() -> None:
    executor = placed()
    address = executor._buffers["a"].address
    for put_back in (executor.restore, executor.reset):
        ctypes.memset(address, 0, NUMBERS.nbytes)
        assert not executor.outputs()["a"].any()
        put_back()
        assert (executor.outputs()["a"] == NUMBERS).all()
    assert executor.violated() == ()


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("offset", [-1, NUMBERS.nbytes])
def test_what_is_written_beside_a_buffer_is_seen(offset: int) -> None:
    executor = placed()
    address = executor._buffers["a"].address + offset
    ctypes.memset(address, ctypes.string_at(address, 1)[0] ^ 1, 1)
    assert executor.violated() == ("a",)


def test_errors_of_the_driver_end_the_launch(driver: Driver) -> None:
    executor = placed()
    driver.is_broken = True
    for broken in (executor.restore, executor.reset, executor.outputs, executor.violated, placed):
        with pytest.raises(LaunchError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
            broken()
