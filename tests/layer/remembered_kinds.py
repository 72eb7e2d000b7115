"""Recorded launches of a program, and choices that are remembered of them without any tuning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from coarsen.base.version import __version__
from coarsen.devices.discovery import DeviceDescription
from coarsen.layer.log import RecordedArgument, RecordedDevice, RecordedKind, RecordedProgram
from coarsen.layer.recording import KernelRow, options_of
from coarsen.policy.keys import KernelFacts, kernel_facts, key_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import SizeClass
from coarsen.tuning.store.database import open_store
from coarsen.variant.transforms import Transforms, device_kind_of
from coarsen.variant.variant import Variant
from tests.opencl_bench.remembered_choices import CHOICE

Extents = tuple[int, ...]


def kind(
    program: RecordedProgram,
    kernel: str,
    device: DeviceDescription,
    global_size: Extents,
    local_size: Extents | None,
    arguments: tuple[RecordedArgument, ...] = (),
) -> RecordedKind:
    """Launches that were recorded, one of them timed."""
    where = RecordedDevice(device.name, device.platform_name)
    offset = (0,) * len(global_size)
    return RecordedKind(program, kernel, where, global_size, local_size, offset, arguments, 1, 1, 1_000_000)


def remember(
    store: str, device: DeviceDescription, kinds: Iterable[tuple[RecordedKind, Variant]], speedup: float = 2.0
) -> None:
    """Have a variant remembered of each kind's class of sizes, as if tuning had found it."""
    transforms = Transforms(device_kind=device_kind_of(device.device_types))
    facts: dict[Hashable, KernelFacts] = {}
    with open_store(store) as opened:
        for each, variant in kinds:
            options = options_of(each.program)
            asked = each.program.source, each.kernel, options, device.macros
            if asked not in facts:
                facts[asked] = kernel_facts(*asked)
            size_class = SizeClass.of(each.global_size, each.local_size)
            key = key_of(facts[asked].ir_hash, each.kernel, device, options, transforms, size_class)
            own = replace(variant, transforms=replace(variant.transforms, device_kind=transforms.device_kind))
            choice = replace(
                CHOICE,
                key=key,
                variant=own,
                speedup=Speedup(speedup, speedup, speedup),
                global_size=each.global_size,
                local_size=each.local_size,
                driver_version=device.driver_version,
                platform_version=device.platform_version,
                versions=(("coarsen", __version__),),
            )
            opened.remembered.put(choice)


def remember_rows(store: str, device: DeviceDescription, rows: Sequence[KernelRow], variant: Variant) -> None:
    """Have one variant remembered of all rows of a recording."""
    remember(store, device, [(row.kinds[0], variant) for row in rows])
