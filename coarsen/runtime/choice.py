"""Choice of the way in which a launch is carried out, made once for each launch that differs.

    a factor is requested ─▶ that
    a policy decides      ─▶ its variant, at its local size if how work-items are grouped does not matter
    else                  ─▶ the original kernel

What is wanted is fitted to the launch (`variant_choice.py`); an exact decision runs as it is, or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pyopencl

from coarsen.runtime.advice import AtHand, Decision
from coarsen.runtime.granted import ALL_GRANTED, Granted
from coarsen.runtime.launch import DividedLaunch, merged_sizes
from coarsen.runtime.original_launch import OriginalLaunch, required_local_size
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.sizes import Sizes, fits, has_work, is_plain
from coarsen.runtime.variant_choice import VariantChoice, limits_of
from coarsen.runtime.variants import Variants
from coarsen.variant.placement import GLOBAL
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan

# The number of launches whose variant and sizes are kept.
_MOST_KNOWN = 4096
# Why a launch runs otherwise than the program's transforms and arrays say.
_OVERLAPS = "the memory that is passed may overlap, or is not known: without taking it as distinct"
_NOT_PLACED = "what is passed for arrays in other memory does not suit it, or is not known: as they are written"
_Value = TypeVar("_Value")


class LaunchChooser:
    """Chooses for one kernel of a program; `original` is its kernel object."""

    def __init__(self, name: str, original: pyopencl.Kernel, plan: CoarseningPlan, variants: Variants) -> None:
        self._name = name
        self._original = original
        self._plan = plan
        self._variants = variants
        self._is_advised = plan.is_advised(name)
        self._is_looked_at = plan.is_looked_at(name)
        self._known: dict[Hashable, DividedLaunch] = {}
        # Chosen without the arguments, which a policy may want to see: asked again once they are there.
        self._provisional: dict[Hashable, DividedLaunch] = {}
        self._decisions: dict[Hashable, Decision | None] = {}
        self._careful: dict[Hashable, dict[Granted, DividedLaunch]] = {}

    def known(self, launch: OriginalLaunch) -> DividedLaunch | None:
        """Return how a launch is carried out, if that was chosen already, with its arguments if they matter."""
        return self._known.get(_key(launch))

    def choose(self, launch: OriginalLaunch, at_hand: AtHand | None = None) -> DividedLaunch:
        """Return how a launch is carried out, and why; found once for a program and the same launch.

        Raises DeviceError where the device does not build a variant that was asked for.
        """
        key = _key(launch)
        is_final = at_hand is not None or not self._is_looked_at
        found = self._known.get(key) or (None if is_final else self._provisional.get(key))
        if found is None:
            decision = self._plan.requested(self._name) or self._asked(launch, at_hand)
            found = self._carried_out(launch, decision)
            _keep(self._decisions, key, decision)
            self._careful.pop(key, None)
            _keep(self._known if is_final else self._provisional, key, found)
        return found

    def choose_careful(self, launch: OriginalLaunch, granted: Granted) -> DividedLaunch:
        """As `choose`, of a launch that is known and does not keep to what its variant takes for granted.

        Raises DeviceError.

        Args:
            launch: the original's.
            granted: what may be taken for granted.
        """
        key = _key(launch)
        known = self._careful.get(key, {})
        if granted not in known:
            found = self._carried_out(launch, self._decisions.get(key), granted)
            known = {**known, granted: found}
            _keep(self._careful, key, known)
        return known[granted]

    def _asked(self, launch: OriginalLaunch, at_hand: AtHand | None) -> Decision | None:
        """Ask the policy, where there is one, and something to merge."""
        if not self._is_advised or math.prod(launch.global_size) <= 1 or not self._is_valid(launch):
            return None
        required = self._required_local_size(launch)
        if required is not None and launch.local_size is None:
            launch = launch._replace(local_size=required)
        return self._plan.decision(self._name, launch, at_hand)

    def _carried_out(
        self, launch: OriginalLaunch, decision: Decision | None, granted: Granted = ALL_GRANTED
    ) -> DividedLaunch:
        required = self._required_local_size(launch)
        if required is not None and launch.local_size is None:
            launch = launch._replace(local_size=required)
        if (required is not None and required != launch.local_size) or math.prod(launch.global_size) <= 1:
            # Nothing to merge, nothing to say.
            return DividedLaunch(launch.global_size, launch.local_size, ())
        if decision is None:
            return DividedLaunch(launch.global_size, launch.local_size, ())
        if decision.is_programs:
            return self._as_programs(launch, decision, required, granted)
        advised = decision.variant.transforms
        transforms = granted.of(advised)
        guards = decision.variant.any_size or not decision.is_exact
        choice = replace(self._choice(required, transforms), is_exact=decision.is_exact, guards=guards)
        grouped = launch._replace(local_size=self._local_size(launch, decision, required))
        if decision.variant.coarsenings:
            found = choice.best(grouped, decision.variant.coarsenings)
            if not (found.coarsenings or decision.is_exact) and grouped.local_size != launch.local_size:
                # The local size was meant for what is merged.
                grouped = launch
                found = choice.best(launch, decision.variant.coarsenings)
        else:
            found = DividedLaunch(grouped.global_size, grouped.local_size, ())
        found = replace(found, regrouped=grouped.local_size != launch.local_size)
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
        reason = decision.reason if is_as_advised else _nearly(decision.variant)
        return replace(found, transforms=transforms, reason=reason)

    def _as_programs(
        self, launch: OriginalLaunch, decision: Decision, required: Sizes | None, granted: Granted
    ) -> DividedLaunch:
        """Return a launch by the program's transforms and arrays, as far as what they take for granted is so."""
        general = self._general_transforms(granted)
        arrays = self._plan.arrays_of(self._name)
        kept = arrays if granted.placed else tuple(plan for plan in arrays if plan.place is GLOBAL)
        found = self._choice(required, general, kept).best(launch, decision.variant.coarsenings)
        if not found.coarsenings:
            return replace(found, reason=decision.reason or None)
        reasons = [*filter(None, [decision.reason])]
        reasons += [_OVERLAPS] * (general is not None) + [_NOT_PLACED] * (kept != arrays)
        return replace(found, transforms=general, reason="; ".join(reasons)) if reasons else found

    def _general_transforms(self, granted: Granted) -> Transforms | None:
        """Return the program's transforms without what may not be used; None where these are the program's own."""
        own = self._plan.transforms
        general = granted.of(own)
        return None if general == own else general

    def _choice(
        self,
        required: Sizes | None,
        transforms: Transforms | None = None,
        arrays: tuple[ArrayPlan, ...] = (),
    ) -> VariantChoice:
        return VariantChoice(
            self._name, self._original, self._plan, self._variants, required is not None, transforms, arrays
        )

    def _local_size(self, launch: OriginalLaunch, decision: Decision, required: Sizes | None) -> Sizes | None:
        """Return the local size that is advised; the launch's own if it makes a difference to the kernel."""
        own, wanted = launch.local_size, decision.variant.local_size
        if not wanted or wanted == own or required is not None or not self._is_valid(launch):
            return own
        limits = limits_of(launch.device, self._original)
        if own is not None and not fits(own, limits):
            # PyOpenCL says so.
            return own
        merged = merged_sizes(wanted, decision.variant.coarsenings)
        if merged != wanted:
            # The original is never launched with it; what the coarsened kernel takes is asked when it is there.
            limits = replace(limits, max_work_group_size=int(launch.device.max_work_group_size))
        if not is_plain(launch.global_size, wanted) or not fits(merged, limits):
            return own
        return own if self._plan.groups_matter(self._name, decision.variant) else wanted

    def _is_valid(self, launch: OriginalLaunch) -> bool:
        """Return True unless OpenCL rejects the sizes, whatever the device's limits are."""
        sizes = launch.global_size, launch.local_size
        return is_plain(*sizes) or (self._plan.any_groups and has_work(*sizes))

    def _required_local_size(self, launch: OriginalLaunch) -> Sizes | None:
        """Return the kernel's `reqd_work_group_size`, cut to the launch's dimensions; None where it has none."""
        return required_local_size(self._original, launch.device, len(launch.global_size))


def _nearly(advised: Variant) -> str:
    """Return the reason for a launch that isn't quite what is advised."""
    return f"as near to what is advised ({advised}) as the launch's sizes and buffers, and the device, allow"


def _does_not_fit(advised: Variant, nearest: DividedLaunch) -> str:
    """Return the reason for a launch that can't be carried out exactly as it is advised."""
    hindrance = (
        nearest.note.partition(": launched ")[0] if nearest.note else "its sizes, its buffers or the device"
    )
    return f"what was measured ({advised}) does not fit this launch ({hindrance}), and nothing else was measured"


def _key(launch: OriginalLaunch) -> Hashable:
    return launch.device.int_ptr, launch.global_size, launch.local_size, launch.local_bytes


def _keep(known: dict[Hashable, _Value], key: Hashable, value: _Value) -> None:
    """Put something among what is known, which does not grow for ever; another thread may clear it at once."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value
