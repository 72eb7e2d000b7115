"""Launches of several kernels as one job on CUDA, by what the driver is asked for: it can't be had here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.cuda_launch import CudaLaunch
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Clock

ADD, SCALE = Code("ptx", "add", "text of add"), Code("ptx", "scale", "text of scale")
TWICE = Code("ptx", "twice", "text of twice", others=(ADD, SCALE))
SUCCESS = "CUresult.CUDA_SUCCESS"


class Names:
    """An enumeration of the driver: any name is there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> str:
        return f"{self._name}.{name}"


class Driver(ModuleType):
    """A driver that succeeds in all it is asked for, and writes it down."""

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.modules = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (functions and enumerations)
        return Names(name) if name.startswith("CU") else self._function(name)

    def _function(self, name: str) -> Callable[..., tuple[Any, ...]]:
        def function(*arguments: object) -> tuple[Any, ...]:
            self.asked.append((name, arguments))
            if name == "cuModuleLoadDataEx":
                self.modules += 1
                return SUCCESS, f"module {self.modules}"
            if name == "cuModuleGetFunction":
                return SUCCESS, arguments
            return SUCCESS, 1.5 if name == "cuEventElapsedTime" else f"result of {name}"

        return function

    def of(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of each call of a function."""
        return [arguments for called, arguments in self.asked if called == name]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    made, bindings, package = Driver(), ModuleType("cuda.bindings"), ModuleType("cuda")
    vars(bindings)["driver"] = made
    for name, module in (("cuda", package), ("cuda.bindings", bindings), ("cuda.bindings.driver", made)):
        monkeypatch.setitem(sys.modules, name, module)
    names = ("measure.cuda_driver", "measure.cuda_job")
    ours = [f"coarsen.tuning.{name}" for name in names]
    kept = {name: sys.modules.pop(name, None) for name in ours}
    yield made
    # No other test meets modules that have this driver.
    for name, before in kept.items():
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before


def launch(shared_bytes: int = 0) -> CudaLaunch:
    return CudaLaunch((4, 1, 1), (32, 1, 1), shared_bytes, (np.array(1, np.uint64),))


def job_of(names: list[str], shared_bytes: int = 0) -> Any:  # noqa: ANN401 (its module is imported with the driver)
    cuda_job = importlib.import_module("coarsen.tuning.measure.cuda_job")
    functions = cuda_job.LoadedFunctions(TWICE, names)
    launches = [launch(shared_bytes * number) for number in range(len(names))]
    calls = [(functions.by_name[name], each) for name, each in zip(names, launches, strict=True)]
    return cuda_job.RecordedJob("stream", functions, calls)


def test_each_launch_has_the_function_that_it_names(driver: Driver) -> None:
    job_of(["twice", "add", "twice"], shared_bytes=128)
    launched = [arguments[0] for arguments in driver.of("cuLaunchKernel")]
    assert [name for _, name in launched] == [b"twice", b"add", b"twice"]
    # What is not launched is not loaded.
    assert driver.modules == 2 and launched[0][0] != launched[1][0]
    allowed = {function[1]: most for function, _, most in driver.of("cuFuncSetAttribute")}
    assert allowed == {b"twice": 256, b"add": 128}


def test_several_launches_are_known_by_their_span_alone(driver: Driver) -> None:
    span = 1_500_000
    for names, total in ((["twice", "add"], None), (["twice"], span)):
        job = job_of(names)
        found = job.run(Clock.SPAN)
        assert (found.nanoseconds, found.sum) == (span, total) and found.host > 0
        assert job.run(Clock.SUM).nanoseconds == span
    assert len(driver.of("cuGraphLaunch")) == 4


@pytest.mark.usefixtures("driver")
def test_a_kernel_that_no_module_has() -> None:
    with pytest.raises(InvalidInputError, match="a launch names the kernel 'shift'"):
        job_of(["shift"])
