"""Fixtures that all tests share: OpenCL devices that work, and golden files.

Tests that take `device`, `context` or `queue` run once per working device. `COARSEN_REQUIRED_DEVICES` lists,
by parts of their names and separated by commas, the devices that the environment must have: one that is
missing or doesn't work fails those tests, it never skips them. Unset, it means "intel", the device that the
`test` extra installs.
"""

from __future__ import annotations

import functools
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import hypothesis
import pyopencl
import pytest

from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.tuning.processes.device_lock import FOLDER_VARIABLE
from tests.selection import everything_is_asked_for, gate_every, is_taken, needs_one_device, place_of
from tests.slow_tests import slow_tests
from tests.working_devices import devices_that_work, missing_devices, missing_message, short_name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing them")


def pytest_configure(config: pytest.Config) -> None:
    # Tests that measure don't look at times: those of several test processes need not wait for each other.
    os.environ[FOLDER_VARIABLE] = tempfile.mkdtemp(prefix="coarsen-locks-")
    # Tests are of what the compiler writes now, and leave nothing in the user's cache.
    os.environ["COARSEN_NO_CACHE"] = "1"
    # How long an example takes says how busy the machine is, and nothing else.
    hypothesis.settings.register_profile(
        "coarsen", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("coarsen")
    # Nor do they predict by a model that the user trained.
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="coarsen-data-")
    config.addinivalue_line(
        "markers", "compiled_devices: leaves out devices that interpret kernels (Oclgrind), for speed"
    )


def pytest_unconfigure() -> None:
    for variable in (FOLDER_VARIABLE, "XDG_DATA_HOME"):
        shutil.rmtree(os.environ.pop(variable), ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects no garbage while tests are collected, and looks for none among what stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests that take `device` once per working device, and once, to fail, per missing one.

    Last of all parameters, so that a test's runs on the devices follow each other and share what is cached.
    """
    if "device" not in metafunc.fixturenames:
        return
    devices = devices_that_work()
    if metafunc.definition.get_closest_marker("compiled_devices"):
        devices = tuple(device for device in devices if not device.is_called("oclgrind"))
    names = missing_devices() or (() if devices else ("any",))
    parameters: list[DeviceDescription | str] = [*devices, *names]
    metafunc.parametrize("device", parameters, ids=[short_name(entry) for entry in parameters], indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is not of the sample, and what a test module's `runs_on(parameters)` says there is none of.

    Both are counted as deselected. A missing device is no such combination: its test is there, to fail. Of files
    and tests that are named on the command line, nothing is left to the gate, nor to one device.
    """
    names_folders = all(Path(place).is_dir() for place in config.args)
    leaves_out = names_folders and not everything_is_asked_for()
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    others = _on_other_devices(items) if names_folders else set()
    numbers: dict[str, dict[str, int]] = {}
    for item in items:
        function = item.nodeid.split("[")[0]
        every = slow_tests().get(function, 1) if leaves_out else gate_every(function) if names_folders else 1
        is_kept = (
            item not in others
            and _exists(item)
            and _is_of_the_sample(item, every, numbers.setdefault(function, {}))
        )
        (kept if is_kept else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _on_other_devices(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return what is left out of tests that need one device, by turns another one: those for further devices."""
    by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        has_device = isinstance(_parameters_of(item).get("device"), DeviceDescription)
        if has_device and needs_one_device(item.nodeid) and _exists(item):
            by_test.setdefault(_without_device(item), []).append(item)
    tests = enumerate(by_test.values())
    return {item for number, alike in tests for item in alike if item is not alike[number % len(alike)]}


def _parameters_of(item: pytest.Item) -> dict[str, object]:
    parameters: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    return parameters


def _without_device(item: pytest.Item) -> str:
    """A test's name, the same for all devices: theirs stand last."""
    device = _parameters_of(item).get("device")
    return (
        item.nodeid.removesuffix(f"{short_name(device)}]")
        if isinstance(device, DeviceDescription)
        else item.nodeid
    )


def _is_of_the_sample(item: pytest.Item, every: int, numbers: dict[str, int]) -> bool:
    """Return True for one of `every` parameter sets, devices by turns, for none if that is 0.

    `numbers` are those of the function's parameter sets so far.
    """
    if every < 2:
        return bool(every)
    device = _parameters_of(item).get("device")
    number = numbers.setdefault(_without_device(item), len(numbers))
    if not isinstance(device, DeviceDescription) or needs_one_device(item.nodeid):
        return is_taken(number, every)
    return is_taken(number, every, place_of(device))


def _exists(item: pytest.Item) -> bool:
    runs_on = getattr(getattr(item, "module", None), "runs_on", None)
    parameters = _parameters_of(item)
    if runs_on is None or not isinstance(parameters.get("device"), DeviceDescription):
        return True
    return bool(runs_on(parameters))


@pytest.fixture(scope="session")
def working_devices() -> tuple[DeviceDescription, ...]:
    """All devices that work; fails where a required one is missing."""
    missing = missing_devices()
    if missing:
        pytest.fail(missing_message(missing))
    return devices_that_work()


@pytest.fixture
def device(request: pytest.FixtureRequest) -> DeviceDescription:
    """One working device; the test runs for each."""
    parameter: DeviceDescription | str = request.param
    if isinstance(parameter, str):
        pytest.fail(missing_message((parameter,)))
    return parameter


@functools.cache
def context_of(description: DeviceDescription) -> pyopencl.Context:
    """One context per device and process: creating one is slow on some."""
    return pyopencl.Context([open_device(description)])


@pytest.fixture
def context(device: DeviceDescription) -> pyopencl.Context:
    """A `pyopencl.Context` on the device."""
    return context_of(device)


@pytest.fixture
def queue(context: pyopencl.Context) -> pyopencl.CommandQueue:
    """A `pyopencl.CommandQueue` with profiling on the device."""
    properties = pyopencl.command_queue_properties.PROFILING_ENABLE
    return pyopencl.CommandQueue(context, properties=properties)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(text, name)` compares a text with `golden/name` beside the test; `--update-golden` writes it."""
    folder = Path(request.path).parent / "golden"

    def compare(text: str, name: str) -> None:
        path = folder / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"there is no {path}; run with --update-golden to write it"
        assert text == path.read_text(), f"{path} differs; run with --update-golden if the change is meant"

    return compare


@pytest.fixture
def certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any interval is narrow enough: what is tuned for real is kept, however busy this machine is."""
    monkeypatch.setattr("coarsen.tuning.measure.speedup.WIDEST", float("inf"))
    monkeypatch.setattr("coarsen.tuning.captured_tuning.SERVICE", "tests.tuning_services.certain")
    # A program that is run puts its own folder in the place of the first one.
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[1])])
