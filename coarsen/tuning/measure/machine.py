"""What measuring on a device gives and raises, and the environment that is stored with it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import ParamSpec, TypeVar

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.records.code import Form
from coarsen.tuning.records.measurement import Environment
from coarsen.tuning.workload.benchmark import Clock


@dataclass(frozen=True, slots=True)
class Durations:
    """The durations of one run of all launches, in nanoseconds.

    `nanoseconds`: by the clock that was asked for. Beside a span, `sum`: of the launches, added up; and `host`: on
    the host's clock, from before the first launch is enqueued until all have finished.
    """

    nanoseconds: int
    sum: int | None = None
    host: int | None = None


# Runs all launches of the workload once, in order, and waits.
Job = Callable[[Clock], Durations]


class BuildError(Exception):
    """The device does not build the code; the message is one line."""


class LaunchError(Exception):
    """A launch or a copy failed; the message is one line. The executor can't be used any further."""


# What fits a table of results.
_LONGEST_MESSAGE = 300

P = ParamSpec("P")
T = TypeVar("T")


def raising_launch_errors(*kinds: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of functions that raise LaunchError in place of errors of these kinds."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> T:
            try:
                return function(*arguments, **options)
            except kinds as error:
                raise LaunchError(in_one_line(error)) from error

        return called

    return decorated


def in_one_line(error: BaseException) -> str:
    """Return an error's message without line breaks, cut to a length that fits a table of results."""
    text = " ".join(str(error).split())
    if not text:
        return "the memory does not suffice" if isinstance(error, MemoryError) else type(error).__name__
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


class UndividedError(Exception):
    """A launch can't be made for a variant, whose factors don't divide its sizes; the message is one line."""


# The environment that is stored with a measurement: the device, its driver, the versions that made the code.

PACKAGES = ("coarsen", "llvmlite", "pyopencl")
Versions = tuple[tuple[str, str], ...]


def environment_of(device: DeviceDescription, form: Form, versions: Versions | None = None) -> Environment:
    """Return the environment of measurements on an OpenCL device of this machine.

    Args:
        device: the device.
        form: of the code that it is given.
        versions: names and versions of what made the code and runs it; those of this installation if None.
    """
    return Environment(
        vendor=device.vendor,
        device=device.name,
        driver_version=device.driver_version,
        platform=device.platform_name,
        platform_version=device.platform_version,
        compute_units=device.compute_units,
        device_types=device.device_types,
        form=form,
        versions=installed_versions(PACKAGES) if versions is None else versions,
    )


def installed_versions(packages: Iterable[str]) -> Versions:
    """Return the installed versions of some packages, by name."""
    return tuple((package, version(package)) for package in packages)
