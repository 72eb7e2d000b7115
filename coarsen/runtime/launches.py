"""The launches of one kernel of a program, whichever of its kernel objects they come from.

PyOpenCL makes a new kernel object each time a program is asked for one, which takes longer than a launch. What
doesn't belong to one of them is here: how launches are carried out, and coarsened kernel objects that nobody uses
at present. A kernel object belongs to one user at a time, so that threads with kernels of their own don't meet.

    a policy decides ─▶ its variant, at its local size if how work-items are grouped does not matter
    else             ─▶ the original kernel

That is chosen once for each launch that differs. What is wanted is fitted to the launch (`VariantChoice`); an
exact decision runs as it is, or not at all.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyopencl

from coarsen.errors import InternalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.advice import Decision, LaunchRequest
from coarsen.runtime.arguments import Argument, SetArguments
from coarsen.runtime.choice import ALL_HOLD, Assumptions, VariantChoice
from coarsen.runtime.launch import (
    DividedLaunch,
    OriginalLaunch,
    OwnLaunch,
    Sizes,
    fits,
    has_work,
    is_plain,
    limits_of,
    merged_sizes,
    names_of,
    problem_of_launch,
    problem_of_sequence,
    required_local_size,
    unmerged_size,
)
from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.placement import GLOBAL, PlacedArgument
from coarsen.variant.transforms import UNMERGED
from coarsen.variant.variant import Variant, shape

# A launch that can't be looked at, since its queue is never empty, is held up so many times.
_MOST_VAIN_LOOKS = 20
# The number of launches whose variant, sizes and kernels are kept.
_MOST_KNOWN = 4096
# Of those in loops, which take a hundred bytes each.
_MOST_LONG = 1_000_000
# Why a launch runs otherwise than the program's transforms and arrays say.
_OVERLAPS = "the memory that is passed may overlap, or is not known: without taking it as distinct"
_TOO_LARGE = "a buffer that is passed is too large, or not known: without wide accesses"
_NOT_PLACED = "what is passed for arrays in other memory does not suit it, or is not known: as they are written"
_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False, slots=True)
class LaunchedVariant:
    """A variant that launches call for: what is passed after the kernel's own arguments, and kernel objects that
    no one uses. `objects_below` is the size in bytes that every memory object passed must stay below, if any;
    `apart` are pairs of the kernel's own arguments that must not lead to the same memory, `placed` those whose
    arrays are read from another memory. `is_conditional` says that one of these has to be looked at.

    Compared by identity, which is fast.
    """

    variant: Variant
    added: tuple[AddedArgument, ...]
    objects_below: int | None = None
    apart: tuple[tuple[int, int], ...] = ()
    placed: tuple[PlacedArgument, ...] = ()
    unused: deque[pyopencl.Kernel] = field(default_factory=deque)
    is_conditional: bool = field(init=False)

    def __post_init__(self) -> None:
        # Asked at each launch.
        is_conditional = self.objects_below is not None or bool(self.apart or self.placed)
        object.__setattr__(self, "is_conditional", is_conditional)


class KernelLaunches:
    """The launches of the kernel `name` of a program."""

    def __init__(self, name: str, plan: CoarseningPlan) -> None:
        self.name = name
        self.plan = plan
        # Has no arguments of its own: it only tells what the original kernel needs.
        self._original = plan.original(name)
        self.argument_count = self._original.num_args
        self.has_several_devices = plan.has_several_devices
        self.is_coarsened = plan.coarsens(name)
        self.is_looked_at = plan.is_looked_at(name)
        self.file = plan.file_of(name)
        self._vain_looks = 0
        self.observer = plan.observer
        self._is_advised = plan.is_advised(name)
        self._chosen: dict[Hashable, DividedLaunch] = {}
        # Chosen without the arguments, which a policy may want to see: asked again once they are there.
        self._provisional: dict[Hashable, DividedLaunch] = {}
        self._decisions: dict[Hashable, Decision | None] = {}
        self._careful: dict[Hashable, dict[Assumptions, DividedLaunch]] = {}
        self._variants: dict[Variant, LaunchedVariant] = {}
        self._known: dict[Hashable, tuple[DividedLaunch, LaunchedVariant | None]] = {}
        self._exact: dict[Hashable, DividedLaunch] = {}
        self._long = 0

    def known(self, launch: OriginalLaunch) -> DividedLaunch | None:
        """Return how a launch is carried out, if that was chosen already, with its arguments if they matter."""
        return self._chosen.get(_key(launch))

    def choose(self, launch: OriginalLaunch, request: LaunchRequest | None = None) -> DividedLaunch:
        """Return how a launch is carried out, and why; found once for a program and the same launch.

        The request is there where a policy may look at the arguments.

        Raises DeviceError where the device does not build a variant that was asked for.
        """
        key = _key(launch)
        is_final = request is not None or not self.is_looked_at
        found = self._chosen.get(key) or (None if is_final else self._provisional.get(key))
        if found is None:
            decision = self._asked(launch, request)
            found = self._carried_out(launch, decision)
            keep(self._decisions, key, decision)
            self._careful.pop(key, None)
            keep(self._chosen if is_final else self._provisional, key, found)
            self._long += len(found.own.sizes.order) if found.own and found.own.sizes else 0
            if self._long > _MOST_LONG:
                self._long = 0
                for kept in (self._chosen, self._provisional, self._decisions, self._known):
                    kept.clear()
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
            keep(self._careful, key, known)
        return known[assumptions]

    def otherwise(self, launch: OriginalLaunch, reason: str) -> DividedLaunch:
        """Return how a launch is carried out instead of what was chosen for it, which can't be launched.

        Where nothing else is decided, that is what was chosen.
        """
        decision = self._decided(launch)
        otherwise = None if decision is None else decision.otherwise
        return self._carried_out(launch, decision if otherwise is None else otherwise(reason))

    def exactly(
        self, launch: OriginalLaunch, variant: Variant, passed: SetArguments | None = None
    ) -> tuple[DividedLaunch, LaunchedVariant | None]:
        """Return how one launch of several, that is `passed` so, runs: by exactly a variant; None as written."""
        key = (_key(launch), variant)
        found = self._exact.get(key)
        if found is None:
            own = OwnLaunch(launch, variant.definitions)
            wanted = replace(variant, local_size=launch.local_size or ())
            found = self._carried_out(launch, Decision(wanted, "one of several launches", is_exact=True, own=own))
            keep(self._exact, key, found)
        launched = self.variant_of(found) if found.coarsenings else None
        if launched is not None and launched.is_conditional and passed is not None:
            launched = launched if self._holding(launched, launch.device, passed) == ALL_HOLD else None
        return found if launched else DividedLaunch(launch.global_size, launch.local_size, ()), launched

    def _decided(self, launch: OriginalLaunch) -> Decision | None:
        """Return what was decided about a launch; decided anew where another thread has cleared it."""
        key = _key(launch)
        if key in self._decisions:
            return self._decisions.get(key)
        return self._asked(launch, None)

    def _asked(self, launch: OriginalLaunch, request: LaunchRequest | None) -> Decision | None:
        """Ask the policy, where there is one, and something to merge."""
        if self.file is None:
            if not self._is_advised or math.prod(launch.global_size) <= 1 or not self._is_valid(launch):
                return None
            required = required_local_size(self._original, launch.device, len(launch.global_size))
            if required is not None and launch.local_size is None:
                launch = launch._replace(local_size=required)
        if request is None:
            return self.plan.decision(self.plan.request(self.name, launch))
        return self.plan.decision(request._replace(launch=launch))

    def _carried_out(
        self, launch: OriginalLaunch, decision: Decision | None, assumptions: Assumptions = ALL_HOLD
    ) -> DividedLaunch:
        own = None if decision is None else decision.own
        if decision is None or own is None:
            return self._fitted(launch, decision, assumptions, self._original)
        if own.steps is not None:
            found = DividedLaunch(own.launch.global_size, own.launch.local_size, (), reason=decision.reason)
            problem = problem_of_sequence(own, self.plan.any_groups)
        else:
            kernel = self._as_written(own)
            found = self._fitted(own.launch, decision, assumptions, kernel)
            problem = problem_of_launch(kernel, own.launch, bool(found.coarsenings), self.plan.any_groups)
        if problem and decision.otherwise is not None:
            return self._carried_out(launch, decision.otherwise(problem))
        return found._replace(regrouped=True, own=own, reason=found.reason or decision.reason)

    def _as_written(self, own: OwnLaunch) -> pyopencl.Kernel:
        """Return a kernel object of the source as it is written, with a version's macros."""
        kernel = self.plan.told_by(self.name, self.plan.variant_of((), definitions=own.definitions))
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
        choice = VariantChoice(
            self.name,
            kernel,
            self.plan,
            required is not None,
            transforms,
            is_exact=decision.is_exact,
            guards=guards,
            definitions=decision.variant.definitions,
        )
        grouped = launch._replace(local_size=self._local_size(launch, decision, required, kernel))
        if decision.variant.is_rewritten:
            found = choice.best(grouped, decision.variant.coarsenings)
            if not (found.is_rewritten or decision.is_exact) and grouped.local_size != launch.local_size:
                # The local size was meant for what is merged.
                grouped = launch
                found = choice.best(launch, decision.variant.coarsenings)
        else:
            found = DividedLaunch(grouped.global_size, grouped.local_size, ())
        found = found._replace(regrouped=grouped.local_size != launch.local_size)
        wanted = decision.variant.local_size or launch.local_size
        is_as_advised = (
            found.coarsenings == decision.variant.coarsenings
            and found.is_rewritten == decision.variant.is_rewritten
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
        used = found.transforms or (transforms if found.coarsenings else transforms.without(UNMERGED))
        return found._replace(transforms=used, reason=reason)

    def _as_programs(
        self, launch: OriginalLaunch, decision: Decision, required: Sizes | None, assumptions: Assumptions
    ) -> DividedLaunch:
        """Return a launch by the program's transforms and arrays, as far as what they take for granted is so."""
        allowed = assumptions.of(self.plan.transforms)
        # None stands for the program's own.
        general = None if allowed == self.plan.transforms else allowed
        arrays = self.plan.arrays_of(self.name)
        kept = arrays if assumptions.placed else tuple(plan for plan in arrays if plan.place is GLOBAL)
        choice = VariantChoice(self.name, self._original, self.plan, required is not None, general, kept)
        found = choice.best(launch, decision.variant.coarsenings)
        if not found.coarsenings:
            return found._replace(reason=decision.reason or None)
        reasons = [*filter(None, [decision.reason])]
        if general is not None:
            reasons += [_OVERLAPS] * (not assumptions.distinct) + [_TOO_LARGE] * (not assumptions.wide_accesses)
        reasons += [_NOT_PLACED] * (kept != arrays)
        return found._replace(transforms=general, reason="; ".join(reasons)) if reasons else found

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
        return own if self.plan.groups_matter(self.name, decision.variant) else wanted

    def _is_valid(self, launch: OriginalLaunch) -> bool:
        """Return True unless OpenCL rejects the sizes, whatever the device's limits are."""
        sizes = launch.global_size, launch.local_size
        return is_plain(*sizes) or (self.plan.any_groups and has_work(*sizes))

    def variant_of(self, launch: DividedLaunch) -> LaunchedVariant | None:
        """Return the variant that a launch runs, None for the original kernel; says what there is to say, once."""
        known = self._known.get(id(launch))
        if known is None or known[0] is not launch:
            known = launch, self._new_variant_of(launch)
            keep(self._known, id(launch), known)
        return known[1]

    def allowed(
        self, original: OriginalLaunch, launch: DividedLaunch, passed: SetArguments
    ) -> tuple[DividedLaunch, LaunchedVariant | None]:
        """Return the launch with its variant, falling back to a variant whose assumptions hold.

        Raises DeviceError.

        Args:
            original: the launch of the original kernel.
            launch: what was chosen for it.
            passed: the arguments.
        """
        launched = self.variant_of(launch)
        assumptions = ALL_HOLD
        while launched is not None and launched.is_conditional:
            holding = self._holding(launched, original.device, passed)
            if holding == ALL_HOLD:
                break
            assumptions = assumptions.both(holding)
            launch = self.choose_careful(original, assumptions)
            launched = self.variant_of(launch)
        return launch, launched

    def _holding(self, launched: LaunchedVariant, device: pyopencl.Device, passed: SetArguments) -> Assumptions:
        """Return what a variant takes for granted and is so."""
        is_known = not self.plan.shares_memory
        most_constant_bytes = int(device.max_constant_buffer_size) if launched.placed else 0
        return Assumptions(
            wide_accesses=launched.objects_below is None or passed.are_below(launched.objects_below),
            distinct=not launched.apart or (is_known and passed.are_apart(launched.apart)),
            placed=not launched.placed or (is_known and passed.suit(launched.placed, most_constant_bytes)),
        )

    def note_vain_look(self) -> None:
        """Note that a launch was held up and could not be looked at; after some, none is held up any more."""
        self._vain_looks += 1
        if self._vain_looks >= _MOST_VAIN_LOOKS:
            self.is_looked_at = False
            self.plan.say_once(
                (self.name, "queue"), f"kernel {self.name}: its queue never comes to an end, so nothing is tuned"
            )

    def kernel(self, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return a kernel object for one user, to be given back; None if the kernel refuses the variant.

        Raises DeviceError where the device doesn't build what was asked for.
        """
        try:
            return launched.unused.pop()
        except IndexError:
            pass
        kernel = self.plan.variant(self.name, launched.variant)
        expected = self.argument_count + len(launched.added)
        if kernel is not None and kernel.num_args != expected:
            raise InternalError(
                f"the coarsened kernel {self.name} takes {kernel.num_args} arguments, not {expected}; "
                "please report it with the kernel's source"
            )
        return kernel

    def _new_variant_of(self, launch: DividedLaunch) -> LaunchedVariant | None:
        self._say(launch)
        own = launch.own
        if launch.steps is not None:
            # Its launches have kernel objects of their own.
            return None
        definitions = () if own is None else own.definitions
        # Local memory in the place of the program's takes a kernel object of its own.
        if not launch.is_rewritten and (own is None or not (definitions or own.local_memory)):
            return None
        how = (launch.coarsenings, launch.guarded, launch.transforms, launch.arrays, definitions)
        return self.launched(self.plan.variant_of(*how, unmerged_size(launch)))

    def launched(self, variant: Variant) -> LaunchedVariant:
        """Return what launches of a variant have in common."""
        if variant not in self._variants:
            code = self.plan.code(self.name, variant) if variant.is_rewritten else None
            self._variants[variant] = LaunchedVariant(variant, ())
            if code is not None:
                held = code.objects_below, code.apart, code.placed_arguments
                self._variants[variant] = LaunchedVariant(variant, code.added_arguments, *held)
        return self._variants[variant]

    def _say(self, launch: DividedLaunch) -> None:
        if launch.note:
            occasion = self.name, launch.hindrance
            self.plan.say_once(occasion, f"kernel {self.name}: {launch.note} (said once, for all sizes)")
        has_one = launch.reason is None and not launch.is_rewritten and math.prod(launch.global_size) <= 1
        if has_one:
            reason = "it has no more than one work-item, so there is nothing to merge and nothing to search"
        elif launch.reason is None:
            reason = self.plan.reason(self.name, launch.is_rewritten, launch.note)
        else:
            reason = "; ".join(filter(None, (launch.reason, launch.note)))
        # What is said of such a launch says nothing of others.
        told = f"kernel {self.name} runs with {words_of(launch)}: {reason}"
        self.plan.tell_once(("chosen", self.name, has_one), told)


def _does_not_fit(advised: Variant, nearest: DividedLaunch) -> str:
    """Return the reason for a launch that can't be carried out exactly as it is advised."""
    hindrance = (
        nearest.note.partition(": launched ")[0] if nearest.note else "its sizes, its buffers or the device"
    )
    return f"what was measured ({advised}) does not fit this launch ({hindrance}), and nothing else was measured"


def _key(launch: OriginalLaunch) -> Hashable:
    return launch.device.int_ptr, *launch[1:]


def keep(known: dict[Hashable, _Value], key: Hashable, value: _Value) -> None:
    """Put something among what is known, which does not grow for ever; another thread may clear it at once."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value


def words_of(launch: DividedLaunch) -> str:
    """Return in words what is launched."""
    is_merged = bool(launch.coarsenings) or not launch.is_rewritten
    words = [names_of(launch.coarsenings) if is_merged else "nothing merged"]
    if launch.is_rewritten and launch.transforms is not None:
        words += launch.transforms.words
    words += map(str, launch.arrays)
    if launch.guarded:
        words.append("for any size")
    if launch.regrouped:
        groups = "in work-groups of" if launch.is_rewritten else "local size"
        words.append(f"{groups} {shape(launch.local_size or ())}")
    return ", ".join(words)


def added_values(
    added: Sequence[AddedArgument],
    count: int,
    original: OriginalLaunch,
    own: OwnLaunch | None,
    local_memory: Mapping[int, pyopencl.LocalMemory],
) -> dict[int, Argument] | None:
    """Return what is passed after the kernel's own arguments, and in the place of some of them, by index.

    None if the argument that one mirrors was not set.

    Args:
        added: the arguments added to the kernel.
        count: the number of its own.
        original: the original launch.
        own: what it is launched with in the place of that.
        local_memory: that among its own arguments, by index.
    """
    global_size = original.global_size if own is None else own.launch.global_size
    values: dict[int, Argument] = {}
    for index, size in () if own is None else own.local_memory:
        values[index] = pyopencl.LocalMemory(size)
    known = {**local_memory, **values}
    for index, entry in enumerate(added, count):
        if entry.meaning == "global-size":
            values[index] = np.uint64(global_size[entry.dimension])
        elif (local := _like_set(entry, known)) is not None:
            known[index] = values[index] = local
        else:
            return None
    return values


def _like_set(added: AddedArgument, known: Mapping[int, pyopencl.LocalMemory]) -> pyopencl.LocalMemory | None:
    """Local memory as large as that which is set for another argument; None where none is."""
    like = known.get(added.like)
    return None if like is None else pyopencl.LocalMemory(like.size)


def added_types(added: Sequence[AddedArgument]) -> list[type[np.uint64] | None]:
    """Return the types of added arguments as `pyopencl.Kernel.set_arg_types` takes them."""
    return [np.uint64 if entry.meaning == "global-size" else None for entry in added]
