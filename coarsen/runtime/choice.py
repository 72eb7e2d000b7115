"""Choice of the way in which a launch is carried out, made once for each launch that differs.

    a policy decides ─▶ its variant, at its local size if how work-items are grouped does not matter
    else             ─▶ the original kernel

What is wanted is fitted to the launch (`VariantChoice`); an exact decision runs as it is, or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyopencl

from coarsen.runtime.advice import Decision, LaunchRequest
from coarsen.runtime.guarded_launch import (
    groups_of_one_item,
    guarded_launch,
    merged_groups,
    merges_groups,
    within_local_memory,
    without_needless_guard,
)
from coarsen.runtime.launch import (
    DividedLaunch,
    Hindrance,
    OriginalLaunch,
    OwnLaunch,
    Sizes,
    divide_launch,
    fits,
    has_work,
    is_plain,
    limits_of,
    merged_sizes,
    names_of,
    required_local_size,
)
from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.coarsening import Configuration
from coarsen.variant.placement import GLOBAL, Place
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Definitions, Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


class Assumptions(NamedTuple):
    """What is so, or may be assumed.

    Attributes:
        wide_accesses: memory objects are small enough for those that are used.
        distinct: arguments point to distinct memory where that counts.
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
        )


ALL_HOLD = Assumptions()


# The number of launches whose variant and sizes are kept.
_MOST_KNOWN = 4096
# Why a launch runs otherwise than the program's transforms and arrays say.
_OVERLAPS = "the memory that is passed may overlap, or is not known: without taking it as distinct"
_TOO_LARGE = "a buffer that is passed is too large, or not known: without wide accesses"
_NOT_PLACED = "what is passed for arrays in other memory does not suit it, or is not known: as they are written"
_Value = TypeVar("_Value")


class LaunchChooser:
    """Chooses for one kernel of a program; `original` is its kernel object."""

    def __init__(self, name: str, original: pyopencl.Kernel, plan: CoarseningPlan) -> None:
        self._name = name
        self._original = original
        self._plan = plan
        self._is_advised = plan.is_advised(name)
        self._is_looked_at = plan.is_looked_at(name)
        self._has_file = plan.file_of(name) is not None
        self._known: dict[Hashable, DividedLaunch] = {}
        # Chosen without the arguments, which a policy may want to see: asked again once they are there.
        self._provisional: dict[Hashable, DividedLaunch] = {}
        self._decisions: dict[Hashable, Decision | None] = {}
        self._careful: dict[Hashable, dict[Assumptions, DividedLaunch]] = {}

    def known(self, launch: OriginalLaunch) -> DividedLaunch | None:
        """Return how a launch is carried out, if that was chosen already, with its arguments if they matter."""
        return self._known.get(_key(launch))

    def choose(self, launch: OriginalLaunch, request: LaunchRequest | None = None) -> DividedLaunch:
        """Return how a launch is carried out, and why; found once for a program and the same launch.

        The request is there where a policy may look at the arguments.

        Raises DeviceError where the device does not build a variant that was asked for.
        """
        key = _key(launch)
        is_final = request is not None or not self._is_looked_at
        found = self._known.get(key) or (None if is_final else self._provisional.get(key))
        if found is None:
            decision = self._asked(launch, request)
            found = self._carried_out(launch, decision)
            _keep(self._decisions, key, decision)
            self._careful.pop(key, None)
            _keep(self._known if is_final else self._provisional, key, found)
        return found

    def choose_careful(self, launch: OriginalLaunch, assumptions: Assumptions) -> DividedLaunch:
        """As `choose`, of a launch that is known and does not keep to what its variant takes for granted.

        Raises DeviceError.

        Args:
            launch: the original's.
            assumptions: what may be taken for granted.
        """
        key = _key(launch)
        known = self._careful.get(key, {})
        if assumptions not in known:
            found = self._carried_out(launch, self._decided(launch), assumptions)
            known = {**known, assumptions: found}
            _keep(self._careful, key, known)
        return known[assumptions]

    def otherwise(self, launch: OriginalLaunch, reason: str) -> DividedLaunch:
        """Return how a launch is carried out instead of what was chosen for it, which can't be launched.

        Where nothing else is decided, that is what was chosen.
        """
        decision = self._decided(launch)
        otherwise = None if decision is None else decision.otherwise
        return self._carried_out(launch, decision if otherwise is None else otherwise(reason))

    def _decided(self, launch: OriginalLaunch) -> Decision | None:
        """Return what was decided about a launch; decided anew where another thread has cleared it."""
        key = _key(launch)
        if key in self._decisions:
            return self._decisions.get(key)
        return self._asked(launch, None)

    def _asked(self, launch: OriginalLaunch, request: LaunchRequest | None) -> Decision | None:
        """Ask the policy, where there is one, and something to merge."""
        if not self._has_file:
            if not self._is_advised or math.prod(launch.global_size) <= 1 or not self._is_valid(launch):
                return None
            required = required_local_size(self._original, launch.device, len(launch.global_size))
            if required is not None and launch.local_size is None:
                launch = launch._replace(local_size=required)
        if request is None:
            return self._plan.decision(self._plan.request(self._name, launch))
        return self._plan.decision(request._replace(launch=launch))

    def _carried_out(
        self, launch: OriginalLaunch, decision: Decision | None, assumptions: Assumptions = ALL_HOLD
    ) -> DividedLaunch:
        own = None if decision is None else decision.own
        if decision is None or own is None:
            return self._fitted(launch, decision, assumptions, self._original)
        # Imported late: most programs have no tuned file.
        from coarsen.runtime.sequence import problem_of_launch, problem_of_sequence

        if own.steps is not None:
            found = DividedLaunch(own.launch.global_size, own.launch.local_size, (), reason=decision.reason)
            problem = problem_of_sequence(own.steps, launch.device, self._plan.any_groups)
        else:
            kernel = self._as_written(own)
            found = self._fitted(own.launch, decision, assumptions, kernel)
            problem = problem_of_launch(kernel, own.launch, bool(found.coarsenings), self._plan.any_groups)
        if problem and decision.otherwise is not None:
            return self._carried_out(launch, decision.otherwise(problem))
        return found._replace(regrouped=True, own=own, reason=found.reason or decision.reason)

    def _as_written(self, own: OwnLaunch) -> pyopencl.Kernel:
        """Return a kernel object of the source as it is written, with a version's macros."""
        kernel = self._plan.told_by(self._name, self._plan.variant_of((), definitions=own.definitions))
        return self._original if kernel is None else kernel

    def _fitted(
        self, launch: OriginalLaunch, decision: Decision | None, assumptions: Assumptions, kernel: pyopencl.Kernel
    ) -> DividedLaunch:
        """Return a launch by what is decided, as far as it fits; `kernel` is as it is written."""
        required = required_local_size(kernel, launch.device, len(launch.global_size))
        if required is not None and launch.local_size is None:
            launch = launch._replace(local_size=required)
        if (required is not None and required != launch.local_size) or math.prod(launch.global_size) <= 1:
            # Nothing to merge, nothing to say.
            return DividedLaunch(launch.global_size, launch.local_size, ())
        if decision is None:
            return DividedLaunch(launch.global_size, launch.local_size, ())
        if decision.is_programs:
            return self._as_programs(launch, decision, required, assumptions)
        advised = decision.variant.transforms
        transforms = assumptions.of(advised)
        guards = decision.variant.any_size or not decision.is_exact
        choice = self._choice(required, transforms)._replace(
            original=kernel,
            definitions=decision.variant.definitions,
            is_exact=decision.is_exact,
            guards=guards,
        )
        grouped = launch._replace(local_size=self._local_size(launch, decision, required, kernel))
        if decision.variant.coarsenings:
            found = choice.best(grouped, decision.variant.coarsenings)
            if not (found.coarsenings or decision.is_exact) and grouped.local_size != launch.local_size:
                # The local size was meant for what is merged.
                grouped = launch
                found = choice.best(launch, decision.variant.coarsenings)
        else:
            found = DividedLaunch(grouped.global_size, grouped.local_size, ())
        found = found._replace(regrouped=grouped.local_size != launch.local_size)
        wanted = decision.variant.local_size or launch.local_size
        is_as_advised = (
            found.coarsenings == decision.variant.coarsenings
            and (decision.variant.any_size or not found.guarded)
            and grouped.local_size == wanted
            and transforms == advised
        )
        if decision.is_exact and not is_as_advised:
            reason = _does_not_fit(decision.variant, found)
            return DividedLaunch(launch.global_size, launch.local_size, (), reason=reason)
        # What is said to be gained was gained by the variant itself.
        reason = decision.reason
        if not is_as_advised:
            limits = "the launch's sizes and buffers, and the device, allow"
            reason = f"as near to what is advised ({decision.variant}) as {limits}"
        return found._replace(transforms=transforms, reason=reason)

    def _as_programs(
        self, launch: OriginalLaunch, decision: Decision, required: Sizes | None, assumptions: Assumptions
    ) -> DividedLaunch:
        """Return a launch by the program's transforms and arrays, as far as what they take for granted is so."""
        general = self._general_transforms(assumptions)
        arrays = self._plan.arrays_of(self._name)
        kept = arrays if assumptions.placed else tuple(plan for plan in arrays if plan.place is GLOBAL)
        found = self._choice(required, general, kept).best(launch, decision.variant.coarsenings)
        if not found.coarsenings:
            return found._replace(reason=decision.reason or None)
        reasons = [*filter(None, [decision.reason])]
        if general is not None:
            reasons += [_OVERLAPS] * (not assumptions.distinct) + [_TOO_LARGE] * (not assumptions.wide_accesses)
        reasons += [_NOT_PLACED] * (kept != arrays)
        return found._replace(transforms=general, reason="; ".join(reasons)) if reasons else found

    def _general_transforms(self, assumptions: Assumptions) -> Transforms | None:
        """Return the program's transforms without what may not be used; None where these are the program's own."""
        own = self._plan.transforms
        general = assumptions.of(own)
        return None if general == own else general

    def _choice(
        self,
        required: Sizes | None,
        transforms: Transforms | None = None,
        arrays: tuple[ArrayPlan, ...] = (),
    ) -> VariantChoice:
        return VariantChoice(self._name, self._original, self._plan, required is not None, transforms, arrays)

    def _local_size(
        self, launch: OriginalLaunch, decision: Decision, required: Sizes | None, kernel: pyopencl.Kernel
    ) -> Sizes | None:
        """Return the local size that is advised; the launch's own if it makes a difference to the kernel."""
        own, wanted = launch.local_size, decision.variant.local_size
        if not wanted or wanted == own or required is not None or not self._is_valid(launch):
            return own
        limits = limits_of(launch.device, kernel)
        if own is not None and not fits(own, limits):
            # PyOpenCL says so.
            return own
        merged = merged_sizes(wanted, decision.variant.coarsenings)
        if merged != wanted:
            # The original is never launched with it; what the coarsened kernel takes is asked when it is there.
            limits = limits._replace(max_work_group_size=int(launch.device.max_work_group_size))
        if not is_plain(launch.global_size, wanted) or not fits(merged, limits):
            return own
        return own if self._plan.groups_matter(self._name, decision.variant) else wanted

    def _is_valid(self, launch: OriginalLaunch) -> bool:
        """Return True unless OpenCL rejects the sizes, whatever the device's limits are."""
        sizes = launch.global_size, launch.local_size
        return is_plain(*sizes) or (self._plan.any_groups and has_work(*sizes))


def _does_not_fit(advised: Variant, nearest: DividedLaunch) -> str:
    """Return the reason for a launch that can't be carried out exactly as it is advised."""
    hindrance = (
        nearest.note.partition(": launched ")[0] if nearest.note else "its sizes, its buffers or the device"
    )
    return f"what was measured ({advised}) does not fit this launch ({hindrance}), and nothing else was measured"


def _key(launch: OriginalLaunch) -> Hashable:
    return launch.device.int_ptr, *launch[1:]


def _keep(known: dict[Hashable, _Value], key: Hashable, value: _Value) -> None:
    """Put something among what is known, which does not grow for ever; another thread may clear it at once."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value


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
        unchanged = DividedLaunch(launch.global_size, launch.local_size, ())
        return unchanged._replace(note=note or None, hindrance=hindrance if note else None)

    def _candidates(self, launch: OriginalLaunch, wanted: Configuration) -> Iterator[DividedLaunch]:
        """Yield the launches to try, best first."""
        if not wanted:
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
        sizes, any_groups = (launch.global_size, launch.local_size), self.plan.any_groups
        found = guarded_launch(*sizes, wanted, limits_of(launch.device, self.original), any_groups)
        if found is None:
            return None
        needed = without_needless_guard(found, launch.global_size)
        if not (self.has_required or self.is_exact or needed.guarded):
            return needed
        variant = self._variant(wanted, True)
        kernel = self.plan.told_by(self.name, variant) if self.plan.code(self.name, variant) else None
        if kernel is None:
            return None
        return guarded_launch(*sizes, wanted, limits_of(launch.device, kernel), any_groups)

    def _reason_against(self, candidate: DividedLaunch, launch: OriginalLaunch) -> str | None:
        """Return why a launch can't be carried out; empty if that was said elsewhere, None if it can."""
        if not candidate.coarsenings:
            return None
        kernel = self.plan.told_by(self.name, self._variant(candidate.coarsenings, candidate.guarded))
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
        if not self._copies_arrays() and (self.transforms is None or not merges_groups(candidate.coarsenings)):
            return 0
        own = int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, launch.device))
        return own + merged_groups(candidate.coarsenings) * launch.local_bytes

    def _copies_arrays(self) -> bool:
        """Return True if arrays have copies in local memory, or are padded there."""
        if not self.arrays:
            return False
        # Imported late: most programs ask for none.
        from coarsen.variant.placement import NO_PAD

        return any(plan.place is Place.LOCAL or plan.pad != NO_PAD for plan in self.arrays)

    def _variant(self, coarsenings: Configuration, any_size: bool = False) -> Variant:
        return self.plan.variant_of(coarsenings, any_size, self.transforms, self.arrays, self.definitions)

    def _groups_matter(self, wanted: Configuration) -> bool:
        """Return True if it is known that work-items can't be grouped anew."""
        code = self.plan.code(self.name, self._variant(wanted))
        return code is not None and code.needs_whole_groups

    def _within_local_memory(
        self, asked: Configuration, launch: OriginalLaunch
    ) -> tuple[Configuration, str | None]:
        """Return as much of a configuration as the device's local memory allows, and a note if that is less."""
        if not merges_groups(asked):
            return asked, None
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
