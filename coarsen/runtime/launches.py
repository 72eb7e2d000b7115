"""The launches of one kernel of a program, whichever of its kernel objects they come from.

PyOpenCL makes a new kernel object each time a program is asked for one, which takes longer than a launch. What
doesn't belong to one of them is here: how launches are carried out, and coarsened kernel objects that nobody uses
at present. A kernel object belongs to one user at a time, so that threads with kernels of their own don't meet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl

from coarsen.errors import InternalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.runtime.advice import GUESS
from coarsen.runtime.arguments import Argument, SetArguments
from coarsen.runtime.choice import ALL_HOLD, Assumptions, LaunchChooser
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, OwnLaunch, SequenceVersion, names_of
from coarsen.runtime.plan import CoarseningPlan
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant, shape

if TYPE_CHECKING:
    from coarsen.runtime.sequence import SequenceKernels

# A launch that can't be looked at, since its queue is never empty, is held up so many times.
_MOST_VAIN_LOOKS = 20
# The number of launches whose kernels are kept at hand.
_MOST_KNOWN = 4096


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
        # Has no arguments of its own: it only tells what the original kernel needs.
        original = plan.original(name)
        self.name = name
        self.plan = plan
        self.argument_count = original.num_args
        self.has_several_devices = plan.has_several_devices
        self.is_coarsened = plan.coarsens(name)
        self.is_looked_at = plan.is_looked_at(name)
        self.file = plan.file_of(name)
        self._vain_looks = 0
        self.observer = plan.observer
        self._chooser = LaunchChooser(name, original, plan)
        self._variants: dict[Variant, LaunchedVariant] = {}
        self._known: dict[int, tuple[DividedLaunch, LaunchedVariant | None]] = {}
        # As `LaunchChooser` has it.
        self.choose, self.known = self._chooser.choose, self._chooser.known
        self.otherwise = self._chooser.otherwise

    def variant_of(self, launch: DividedLaunch) -> LaunchedVariant | None:
        """Return the variant that a launch runs, None for the original kernel; says what there is to say, once."""
        known = self._known.get(id(launch))
        if known is None or known[0] is not launch:
            known = launch, self._new_variant_of(launch)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[id(launch)] = known
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
            launch = self._chooser.choose_careful(original, assumptions)
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
        if not launch.coarsenings and (own is None or not (definitions or own.local_memory)):
            return None
        return self.launched(
            self.plan.variant_of(launch.coarsenings, launch.guarded, launch.transforms, launch.arrays, definitions)
        )

    def launched(self, variant: Variant) -> LaunchedVariant:
        """Return what launches of a variant have in common."""
        if variant not in self._variants:
            code = self.plan.code(self.name, variant) if variant.coarsenings else None
            self._variants[variant] = (
                LaunchedVariant(variant, ())
                if code is None
                else LaunchedVariant(
                    variant, code.added_arguments, code.objects_below, code.apart, code.placed_arguments
                )
            )
        return self._variants[variant]

    def _say(self, launch: DividedLaunch) -> None:
        if launch.note:
            occasion = self.name, launch.hindrance
            self.plan.say_once(occasion, f"kernel {self.name}: {launch.note} (said once, for all sizes)")
        if launch.reason is None:
            reason = self.plan.reason(self.name, bool(launch.coarsenings), launch.note)
        else:
            reason = "; ".join(filter(None, (launch.reason, launch.note)))
        is_guess = bool(launch.coarsenings) and reason.startswith(GUESS)
        say = self.plan.say_once if is_guess else self.plan.tell_once
        say(
            ("guessed" if is_guess else "chosen", self.name),
            f"kernel {self.name} runs with {words_of(launch)}: {reason}",
        )


class LaunchedKernels:
    """The coarsened kernel objects of one `Kernel`; others may use them once it is gone."""

    __slots__ = ("_launches", "_sequences", "_types", "kernels")

    def __init__(self, launches: KernelLaunches) -> None:
        self._launches = launches
        self._types: tuple[Any, ...] | None = None
        self.kernels: dict[LaunchedVariant, pyopencl.Kernel] = {}
        self._sequences: dict[SequenceVersion, SequenceKernels] = {}

    def __del__(self) -> None:
        for version, sequence in self._sequences.items():
            version.unused.append(sequence)
        if self._types is None:
            for launched, kernel in self.kernels.items():
                launched.unused.append(kernel)

    def get(self, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if the kernel refuses it. Raises DeviceError."""
        known = self.kernels.get(launched)
        if known is None:
            known = self._launches.kernel(launched)
            if known is not None:
                self.kernels[launched] = known
                self._set_types(launched, known)
        return known

    def sequence(self, version: SequenceVersion) -> SequenceKernels:
        """Return the kernel objects of a version of several launches, with their scratch."""
        if version not in self._sequences:
            try:
                self._sequences[version] = version.unused.pop()
            except IndexError:
                # Imported late: hardly any program has such versions.
                from coarsen.runtime.sequence import SequenceKernels

                self._sequences[version] = SequenceKernels(version)
        return self._sequences[version]

    def set_argument_types(self, types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`, for all variants, those of later too."""
        self._types = tuple(types)
        for launched, kernel in self.kernels.items():
            self._set_types(launched, kernel)

    def _set_types(self, launched: LaunchedVariant, kernel: pyopencl.Kernel) -> None:
        if self._types is not None:
            kernel.set_arg_types((*self._types, *added_types(launched.added)))


def words_of(launch: DividedLaunch) -> str:
    """Return in words what is launched."""
    words = [names_of(launch.coarsenings)]
    if launch.coarsenings and launch.transforms is not None:
        words += launch.transforms.words
    words += map(str, launch.arrays)
    if launch.guarded:
        words.append("for any size")
    if launch.regrouped:
        groups = "in work-groups of" if launch.coarsenings else "local size"
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
