"""Choice of the variant for a launch, and of its sizes.

    sizes divide ─▶ the variant without a guard
    else         ─▶ the guarded variant, any geometry, if how work-items are grouped does not matter to the kernel
    else         ─▶ the largest smaller factor that divides
    else         ─▶ the original kernel

The first of these that the kernel does not refuse and that fits its work-groups is taken. No launch that works
uncoarsened fails coarsened. Where it matters how work-items are grouped, and a work-group has one along a
dimension, work-groups are merged instead: that is the same work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pyopencl

from coarsen.runtime.guarded_launch import guarded_launch, without_needless_guard
from coarsen.runtime.launch import DividedLaunch, Hindrance, divide_launch, names_of
from coarsen.runtime.local_memory import groups_of_one_item, merges_groups, within_local_memory
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.sizes import LaunchLimits, Sizes
from coarsen.runtime.variants import Variants
from coarsen.variant.coarsening import Configuration

# The number of launches whose variant and sizes are kept.
_MOST_KNOWN = 4096
_INFO = pyopencl.kernel_work_group_info


class OriginalLaunch(NamedTuple):
    """A launch of the original kernel: sizes in work-items (local None: left to the implementation), and the
    bytes of local memory that its arguments give a work-group.
    """

    device: pyopencl.Device
    global_size: Sizes
    local_size: Sizes | None
    local_bytes: int = 0


class LaunchChooser:
    """Chooses for one kernel of a program; `original` is its kernel object."""

    def __init__(self, name: str, original: pyopencl.Kernel, plan: CoarseningPlan, variants: Variants) -> None:
        self._name = name
        self._original = original
        self._plan = plan
        self._variants = variants

    def choose(self, launch: OriginalLaunch) -> DividedLaunch:
        """Return how a launch is carried out, and why; found once for a program and the same launch.

        Raises DeviceError where the device does not build a variant.
        """
        known = self._plan.known_launches
        key = self._name, launch.device.int_ptr, launch.global_size, launch.local_size, launch.local_bytes
        found = known.get(key)
        if found is None:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            # Another thread may clear it at once.
            found = known[key] = self._choose(launch)
        return found

    def _choose(self, launch: OriginalLaunch) -> DividedLaunch:
        required = self._required_local_size(launch)
        if required is not None and launch.local_size is None:
            launch = launch._replace(local_size=required)
        unchanged = DividedLaunch(launch.global_size, launch.local_size, ())
        if required is not None and required != launch.local_size:
            return unchanged
        if math.prod(launch.global_size) <= 1:
            # Nothing to merge, nothing to say.
            return unchanged
        asked = self._plan.chosen(self._name, launch.local_size)
        if asked and self._groups_matter(asked):
            # Without a guard of work-items, there is none to merge with in a group of one.
            asked = groups_of_one_item(asked, launch.local_size)
        wanted, note = self._within_local_memory(asked, launch)
        hindrance = Hindrance.LOCAL_MEMORY if note else None
        for candidate in self._candidates(launch, wanted, required is not None):
            reason = self._reason_against(candidate, launch.device)
            if reason is None:
                return replace(candidate, note=note, hindrance=hindrance) if note else candidate
            note, hindrance = note or reason, hindrance or Hindrance.WORK_GROUP_SIZE
        return replace(unchanged, note=note or None, hindrance=hindrance if note else None)

    def _candidates(
        self, launch: OriginalLaunch, wanted: Configuration, has_required: bool
    ) -> Iterator[DividedLaunch]:
        """The launches to try, best first."""
        if not wanted:
            return
        limits = self._limits(launch.device, self._original)
        sizes = launch.global_size, launch.local_size
        divided = divide_launch(*sizes, wanted, limits, launch.local_size is None and self._groups_matter(wanted))
        if divided.coarsenings != wanted:
            guarded = self._guarded(launch, wanted, has_required)
            if guarded is not None:
                yield guarded
        yield divided

    def _guarded(self, launch: OriginalLaunch, wanted: Configuration, has_required: bool) -> DividedLaunch | None:
        """The launch of the guarded variant; of the other one where there turns out to be nothing to guard."""
        if self._groups_matter(wanted):
            return None
        sizes, any_groups = (launch.global_size, launch.local_size), self._plan.any_groups
        found = guarded_launch(*sizes, wanted, self._limits(launch.device, self._original), any_groups)
        if found is None:
            return None
        if not has_required and not without_needless_guard(found, launch.global_size).guarded:
            return without_needless_guard(found, launch.global_size)
        variant = self._plan.variant_of(wanted, any_size=True)
        kernel = self._variants.get(variant) if self._plan.code(self._name, variant) else None
        if kernel is None:
            return None
        return guarded_launch(*sizes, wanted, self._limits(launch.device, kernel), any_groups)

    def _reason_against(self, candidate: DividedLaunch, device: pyopencl.Device) -> str | None:
        """Return why a launch can't be carried out; empty if that was said elsewhere, None if it can."""
        if not candidate.coarsenings:
            return None
        kernel = self._variants.get(self._plan.variant_of(candidate.coarsenings, candidate.guarded))
        if kernel is None:
            return ""
        limit = int(kernel.get_work_group_info(_INFO.WORK_GROUP_SIZE, device))
        items = math.prod(candidate.local_size or (1,))
        if items <= limit:
            return None
        return f"coarsened it takes work-groups up to {limit} on this device, not {items}: launched otherwise"

    def _groups_matter(self, wanted: Configuration) -> bool:
        """Return True if it is known that work-items can't be grouped anew."""
        code = self._plan.code(self._name, self._plan.variant_of(wanted))
        return code is not None and code.needs_whole_groups

    def _within_local_memory(
        self, asked: Configuration, launch: OriginalLaunch
    ) -> tuple[Configuration, str | None]:
        """Return as much of a configuration as the device's local memory allows, and a note if that is less."""
        if not merges_groups(asked):
            return asked, None
        available = int(launch.device.local_mem_size)
        group_bytes = launch.local_bytes + self._plan.static_local_memory(self._name, launch.device)
        allowed = within_local_memory(asked, group_bytes, available)
        if allowed == asked:
            return asked, None
        needed = f"{group_bytes} bytes of local memory for each work-group, of {available}"
        return allowed, f"{needed}, are too much for {names_of(asked)}: launched with {names_of(allowed)}"

    def _required_local_size(self, launch: OriginalLaunch) -> Sizes | None:
        """The kernel's `reqd_work_group_size`, cut to the launch's dimensions; None where it has none."""
        required = self._original.get_work_group_info(_INFO.COMPILE_WORK_GROUP_SIZE, launch.device)
        dimensions = len(launch.global_size)
        return tuple(int(size) for size in required[:dimensions]) if any(required) else None

    def _limits(self, device: pyopencl.Device, kernel: pyopencl.Kernel) -> LaunchLimits:
        items = int(kernel.get_work_group_info(_INFO.WORK_GROUP_SIZE, device))
        most = min(items, int(device.max_work_group_size))
        return LaunchLimits(most, tuple(device.max_work_item_sizes), int(device.address_bits))
