"""Versions of a tuned file that are built for a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pyopencl._cl import _Program as RawProgram

from coarsen.dispatch.launch_sizes import PassedArgument, SequenceSizes, VersionSizes
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.tuned_device import DeviceFacts


@dataclass(frozen=True, slots=True)
class BuiltVersion:
    """A version of one launch.

    `sizes` computes what it is launched with; `facts` are by the address of the device.
    """

    number: int
    launches: KernelLaunches
    sizes: Callable[..., VersionSizes | None]
    facts: dict[int, DeviceFacts]
    has_wide_accesses: bool
    is_distinct: bool


@dataclass(frozen=True, slots=True)
class BuiltSequence:
    """A version of several launches, as they are written.

    Args:
        number: of the version.
        program: that kernel objects are made from.
        kernels: the names of the launched kernels, in this order.
        passed: the arguments of each.
        sizes: computes what they are launched with.
        facts: of each launch, by the address of the device.
        any_groups: whether a local size need not divide the global size.
    """

    number: int
    program: RawProgram
    kernels: tuple[str, ...]
    passed: tuple[tuple[PassedArgument, ...], ...]
    sizes: Callable[..., SequenceSizes | None]
    facts: dict[int, tuple[DeviceFacts, ...]]
    any_groups: bool


AnyBuilt: TypeAlias = BuiltVersion | BuiltSequence
