"""The reader of each platform: options and variables that make its compiler talk, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from coarsen.devices.compiled import intel, nvidia, pocl
from coarsen.devices.compiled.build import Build
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.facts import CompiledFacts


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform.

    Args:
        read: returns the facts of a built program.
        options: build options besides the program's.
        variables: of the compiling process's environment, with their values.
        unreliable: facts that OpenCL reports on this platform, but not of the kernel.
    """

    read: Callable[[Build], CompiledFacts]
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    unreliable: tuple[str, ...] = ()


def platform_of(device: DeviceDescription) -> Platform:
    """Return the platform of a device; one that only has what OpenCL reports where there is no reader."""
    is_cpu = "cpu" in device.device_types
    if is_cpu and device.platform_name.startswith("Intel"):
        return Platform(intel.intel_facts)
    if is_cpu and "pocl" in device.platform_version.casefold():
        return Platform(pocl.pocl_facts, pocl.OPTIONS, pocl.VARIABLES, ("private_bytes",))
    if device.platform_name.startswith("NVIDIA"):
        return Platform(nvidia.nvidia_facts, nvidia.OPTIONS, nvidia.VARIABLES)
    return Platform(lambda _: CompiledFacts())


def facts_of(platform: Platform, build: Build, reported: CompiledFacts) -> CompiledFacts:
    """Return all facts of a built program.

    Args:
        platform: of the device.
        build: the built program.
        reported: by OpenCL itself; what the platform's reader says comes before it.
    """
    read = platform.read(build)
    known = {field.name: getattr(read, field.name) for field in fields(read)}
    silent = dict.fromkeys(platform.unreliable)
    return replace(reported, **{**silent, **{name: value for name, value in known.items() if value is not None}})
