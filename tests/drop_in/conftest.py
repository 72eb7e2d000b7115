"""Programs that are run, and buffers, stores and searches of those that tune."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in import ahead, measured_launch
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.tuned import Tuned
from tests.drop_in.scripts import compiled
from tests.drop_in.tuned_programs import Buffers, found


@pytest.fixture
def buffers(context: cl.Context) -> Buffers:
    return Buffers(context)


@pytest.fixture
def index(working_devices: tuple[DeviceDescription, ...]) -> str:
    return compiled(working_devices).index


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a store that is not there yet; the user's own, as far as a program knows."""
    path = str(tmp_path / "store.sqlite")
    monkeypatch.setenv("COARSEN_STORE", path)
    return path


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The warnings until now."""
    caplog.set_level(logging.INFO, "coarsen")

    def warnings() -> list[str]:
        return [entry.getMessage() for entry in caplog.records if entry.levelno >= logging.WARNING]

    return warnings


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[LaunchRequest]]:
    """The requests that were tuned, for real."""
    requests: list[LaunchRequest] = []
    tune_request = measured_launch.tune_request

    def counting(request: LaunchRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        requests.append(request)
        return tune_request(request, *rest)

    monkeypatch.setattr(measured_launch, "tune_request", counting)
    yield requests


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[LaunchRequest]:
    """The requests that were tuned, each time with the same finding, and no search."""
    requests: list[LaunchRequest] = []

    def tune_request(request: LaunchRequest, *_rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        requests.append(request)
        return found(request)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    monkeypatch.setattr(ahead, "tune_request", tune_request)
    return requests
