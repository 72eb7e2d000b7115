"""What a launch may assume, and the variant that fits it best of what is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pyopencl

from coarsen.runtime.launch import (
    DividedLaunch,
    Hindrance,
    OriginalLaunch,
    Sizes,
    divide_launch,
    is_plain,
    limits_of,
    names_of,
    unmerged_size,
)
from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.placement import Place
from coarsen.variant.transforms import DEFAULT, NO_TILE, Transforms
from coarsen.variant.variant import Definitions, Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


class Assumptions(NamedTuple):
    """What is so, or may be assumed.

    Attributes:
        wide_accesses: memory objects are small enough for those that are used.
        distinct: arguments point to distinct memory where that counts, for tiles too.
        placed: arrays that are read from another memory can be.
    """

    wide_accesses: bool = True
    distinct: bool = True
    placed: bool = True

    def both(self, other: Assumptions) -> Assumptions:
        """Return what this and another one grant."""
        return Assumptions(
            self.wide_accesses and other.wide_accesses,
            self.distinct and other.distinct,
            self.placed and other.placed,
        )

    def of(self, transforms: Transforms) -> Transforms:
        """Return those of some transforms that may be used."""
        return replace(
            transforms,
            wide_accesses=transforms.wide_accesses and self.wide_accesses,
            distinct=transforms.distinct and self.distinct,
            tile=transforms.tile if self.distinct else NO_TILE,
        )


ALL_HOLD = Assumptions()


# The best launch of what one kernel is to be coarsened by, for one launch's sizes.
#
#   sizes divide ─▶ the variant without a guard
#   else         ─▶ the guarded variant, any geometry, if how work-items are grouped does not matter to the kernel
#   else         ─▶ the largest smaller factor that divides
#   else         ─▶ the original kernel
#
# The first of these that the kernel does not refuse and that fits its work-groups is taken. No launch that works
# uncoarsened fails coarsened. Where it matters how work-items are grouped, and a work-group has one along a
# dimension, or is demanded to have one, work-groups are merged instead: that is the same work.

_INFO = pyopencl.kernel_work_group_info


class VariantChoice(NamedTuple):
    """Chooses among the variants of the kernel `name` by `transforms` (None: the program's) and for `arrays`.

    `original` is a kernel object of the uncoarsened kernel; `has_required` says that it demands its local size.
    Where the choice `is_exact`, no smaller factor takes the place of what is asked for. `guards` says whether the
    guarded variant may run where the sizes don't divide; of an exact choice, whether it runs in any case.
    """

    name: str
    original: pyopencl.Kernel
    plan: CoarseningPlan
    has_required: bool
    transforms: Transforms | None = None
    arrays: tuple[ArrayPlan, ...] = ()
    is_exact: bool = False
    guards: bool = True
    definitions: Definitions = ()

    def best(self, launch: OriginalLaunch, asked: Configuration) -> DividedLaunch:
        """Return how a launch is carried out that is to be coarsened so, and why; raises DeviceError."""
        if asked and (self.has_required or self._groups_matter(asked)):
            # Without a guard of work-items, there is none to merge with in a group of one. Whether groups matter
            # to a kernel that demands such is not known: merged work-items are refused.
            # Imported late, here and below: most launches have no guard, and merge no work-groups.
            from coarsen.runtime.guarded_launch import groups_of_one_item

            asked = groups_of_one_item(asked, launch.local_size)
        wanted, note = self._within_local_memory(asked, launch)
        hindrance = Hindrance.LOCAL_MEMORY if note else None
        for candidate in self._candidates(launch, wanted):
            reason = self._reason_against(candidate, launch)
            if reason is None:
                # Where there is nothing to merge, more local memory would change nothing.
                is_said = note and not (hindrance is Hindrance.LOCAL_MEMORY and not candidate.coarsenings)
                chosen = candidate._replace(arrays=self.arrays if candidate.coarsenings else ())
                return chosen._replace(note=note, hindrance=hindrance) if is_said else chosen
            note, hindrance = note or reason, hindrance or Hindrance.WORK_GROUP_SIZE
        if self._used.is_tiled and not self.is_exact:
            # Without a tile the kernel may be coarsened all the same.
            without = self._used.without({"tile"})
            found = self._replace(transforms=without).best(launch, asked)
            return found._replace(transforms=without) if found.coarsenings else found
        unchanged = DividedLaunch(launch.global_size, launch.local_size, ())
        return unchanged._replace(note=note or None, hindrance=hindrance if note else None)

    @property
    def _used(self) -> Transforms:
        return self.plan.transforms if self.transforms is None else self.transforms

    def _candidates(self, launch: OriginalLaunch, wanted: Configuration) -> Iterator[DividedLaunch]:
        """Yield the launches to try, best first."""
        if not wanted:
            used, size = self._used.without_merging, launch.local_size
            if not size:
                # Tiles are for one local size.
                used = used.without({"tile"})
            if used != DEFAULT and is_plain(launch.global_size, size):
                yield DividedLaunch(launch.global_size, size, (), transforms=used)
            return
        limits = limits_of(launch.device, self.original)
        sizes = launch.global_size, launch.local_size
        divided = divide_launch(*sizes, wanted, limits, launch.local_size is None and self._groups_matter(wanted))
        if divided.coarsenings != wanted or (self.is_exact and self.guards):
            guarded = self._guarded(launch, wanted) if self.guards else None
            if guarded is not None:
                yield guarded
            if self.is_exact:
                yield divided._replace(global_size=sizes[0], local_size=sizes[1], coarsenings=())
                return
        yield divided

    def _guarded(self, launch: OriginalLaunch, wanted: Configuration) -> DividedLaunch | None:
        """Return the launch of the guarded variant, or of the other one where there is nothing to guard."""
        if self._groups_matter(wanted):
            return None
        from coarsen.runtime.guarded_launch import guarded_launch, without_needless_guard

        sizes, any_groups = (launch.global_size, launch.local_size), self.plan.any_groups
        found = guarded_launch(*sizes, wanted, limits_of(launch.device, self.original), any_groups)
        if found is None:
            return None
        needed = without_needless_guard(found, launch.global_size)
        if not (self.has_required or self.is_exact or needed.guarded):
            return needed
        variant = self._variant(wanted, True, unmerged_size(found))
        kernel = self.plan.told_by(self.name, variant) if self.plan.code(self.name, variant) else None
        if kernel is None:
            return None
        return guarded_launch(*sizes, wanted, limits_of(launch.device, kernel), any_groups)

    def _reason_against(self, candidate: DividedLaunch, launch: OriginalLaunch) -> str | None:
        """Return why a launch can't be carried out; empty if that was said elsewhere, None if it can."""
        if not candidate.is_rewritten:
            return None
        kernel = self.plan.told_by(
            self.name, self._variant(candidate.coarsenings, candidate.guarded, unmerged_size(candidate))
        )
        if kernel is None:
            return ""
        limit = int(kernel.get_work_group_info(_INFO.WORK_GROUP_SIZE, launch.device))
        items = math.prod(candidate.local_size or (1,))
        if items > limit:
            return f"coarsened it takes work-groups up to {limit} on this device, not {items}: launched otherwise"
        needed, available = self._local_bytes(kernel, candidate, launch), int(launch.device.local_mem_size)
        if needed > available:
            return f"coarsened it takes {needed} bytes of local memory, of {available}: launched otherwise"
        return None

    def _local_bytes(self, kernel: pyopencl.Kernel, candidate: DividedLaunch, launch: OriginalLaunch) -> int:
        """Return the bytes of local memory of a work-group of a variant; 0 where they are known to be there."""
        if not self._takes_local_memory() and (
            self.transforms is None or not _merges_groups(candidate.coarsenings)
        ):
            return 0
        from coarsen.runtime.guarded_launch import merged_groups

        own = int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, launch.device))
        return own + merged_groups(candidate.coarsenings) * launch.local_bytes

    def _takes_local_memory(self) -> bool:
        """Return True if arrays have copies in local memory, or are padded there."""
        if self._used.is_tiled:
            return True
        if not self.arrays:
            return False
        # Imported late: most programs ask for none.
        from coarsen.variant.pads import NO_PAD

        return any(plan.place is Place.LOCAL or plan.pad != NO_PAD for plan in self.arrays)

    def _variant(
        self, coarsenings: Configuration, any_size: bool = False, local_size: Sizes | None = None
    ) -> Variant:
        return self.plan.variant_of(
            coarsenings, any_size, self.transforms, self.arrays, self.definitions, local_size
        )

    def _groups_matter(self, wanted: Configuration) -> bool:
        """Return True if it is known that work-items can't be grouped anew."""
        code = self.plan.code(self.name, self._variant(wanted))
        return code is not None and code.needs_whole_groups

    def _within_local_memory(
        self, asked: Configuration, launch: OriginalLaunch
    ) -> tuple[Configuration, str | None]:
        """Return as much of a configuration as the device's local memory allows, and a note if that is less."""
        if not _merges_groups(asked):
            return asked, None
        from coarsen.runtime.guarded_launch import within_local_memory

        available = int(launch.device.local_mem_size)
        # What a decision's variant takes besides is asked when it is there: groups that fill it alike share it.
        is_advised = self.transforms is not None
        static = 0 if is_advised else self.plan.static_local_memory(self.name, launch.device)
        group_bytes = launch.local_bytes + static
        allowed = within_local_memory(asked, group_bytes, available)
        if allowed == asked:
            return asked, None
        needed = f"{group_bytes} bytes of local memory for each work-group, of {available}"
        return allowed, f"{needed}, are too much for {names_of(asked)}: launched with {names_of(allowed)}"


def _merges_groups(wanted: Configuration) -> bool:
    """Return True if work-groups are merged at all."""
    return any(entry.level is Level.GROUP for entry in wanted)
