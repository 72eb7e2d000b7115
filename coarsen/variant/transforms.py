"""Transforms besides replication that a coarsening may use, and when."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from coarsen.errors import InvalidInputError


class Use(enum.StrEnum):
    """When a transform is used: where it seems to pay, wherever it is legal, or not at all."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


UseName = Literal["auto", "always", "never"]


def use_named(argument: str, value: str) -> Use:
    """Return the use that is called so. Raises InvalidInputError, naming the argument, where none is."""
    if value not in tuple(Use):
        raise InvalidInputError(f"{argument} is 'auto', 'always' or 'never', not {value!r}")
    return Use(value)


class DeviceKind(enum.StrEnum):
    """The kind of device that a kernel is coarsened for, where that decides whether a transform pays.

    Compilers for CPUs vectorise over work-items. Loops in lock-step leave them less to vectorise, and so may loops
    in the slow paths of kernels that have none else; GPUs run work-items side by side whatever their code is.
    """

    ANY = "any"
    CPU = "cpu"
    GPU = "gpu"


def device_kind_of(types: Iterable[str]) -> DeviceKind:
    """Return the kind of a device of some of OpenCL's types ("cpu", "gpu", "accelerator", "custom")."""
    found = {"cpu", "gpu"} & set(types)
    return DeviceKind(found.pop()) if len(found) == 1 else DeviceKind.ANY


@dataclass(frozen=True, slots=True)
class Transforms:
    """The transforms that a coarsening may use.

    Attributes:
        fast_path: run a divergent region once, interleaved, when all replicas take the same side of its branch.
        lock_step: run a divergent loop for all replicas at once for as long as none of them leaves it.
        wide_accesses: one vector access in place of scalar ones to consecutive addresses.
        clean_up: remove what the rewriting of ids and the replication left over.
        device_kind: what the kernel is to run on.
        distinct: take it that what is written through one pointer argument is accessed through no other. Keeps
            what loops accumulate in memory in registers; a launch must keep to it.
    """

    fast_path: Use = field(
        default=Use.AUTO,
        metadata={"help": "Run a divergent region once where all merged work-items go the same way."},
    )
    lock_step: Use = field(
        default=Use.AUTO, metadata={"help": "Run a divergent loop for all merged work-items at once."}
    )
    wide_accesses: bool = field(
        default=False, metadata={"help": "Make one vector access where addresses are consecutive."}
    )
    clean_up: bool = field(default=True, metadata={"help": "Remove what the rewriting of ids left over."})
    device_kind: DeviceKind = DeviceKind.ANY
    distinct: bool = field(
        default=False,
        metadata={"help": "Assume that pointer arguments do not overlap: accumulate in registers."},
    )


DEFAULT = Transforms()
REPLICATION_ALONE = Transforms(fast_path=Use.NEVER, lock_step=Use.NEVER, clean_up=False)
