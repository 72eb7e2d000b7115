"""A kernel object that chooses what runs for a launch, and shows the launch to whoever looks on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyopencl

from coarsen.runtime.advice import AtHand, PassedLaunch, PassingObserver
from coarsen.runtime.enqueue import LaunchOptions, Sizes, Target, as_tuple
from coarsen.runtime.kernel_with_arguments import KernelWithArguments
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.launches import added_values
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.sizes import plain_offset, plain_sizes
from coarsen.runtime.waiting import IMPATIENCE, are_over, is_any_set_by_host

# The reason for which the original runs though a variant was chosen.
_NO_VARIANT = "the variant that was chosen can't be built, or not be given the kernel's arguments"


class ChoosingKernel(KernelWithArguments):
    """A kernel object for whose launches a variant is chosen, by their sizes, their device and their arguments."""

    def divided(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        return self._launches.choose(OriginalLaunch(device, whole, local, self._local_bytes()))

    def _target(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event] = (),
    ) -> Target | None:
        """Return what to launch; None: the original kernel, as the caller says.

        `waiting` are events that the launch waits for besides those of its options.
        """
        try:
            whole, local = plain_sizes(*sizes, options["g_times_l"])
            device = queue.device
        except (TypeError, AttributeError):
            # Sizes that aren't sequences of integers, or what is no queue: PyOpenCL says so.
            return None
        launches = self._launches
        original = OriginalLaunch(device, whole, local, self._local_bytes())
        if launches.observer is not None:
            self._let_capture(original, queue, local, options, waiting)
        launch = launches.known(original)
        if launch is None:
            launch = launches.choose(original, self._at_hand(queue, local, options, waiting))
        launched = launches.variant_of(launch)
        if launched is None:
            return Target(self, None, launch, ()) if launch.regrouped else None
        if launched.is_conditional:
            launch, launched = launches.allowed(original, launch, self._set)
        kernel = None if launched is None else self._variants.get(launched)
        if launched is None or kernel is None:
            return None
        if not launched.added:
            return Target(kernel, launched, launch, ())
        added = added_values(launched.added, launches.argument_count, whole, self._set.local_memory)
        return None if added is None else Target(kernel, launched, launch, added)

    def _at_hand(
        self,
        queue: pyopencl.CommandQueue,
        local: Sizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> AtHand | None:
        """Return what an advisor may look at, once all that the launch waits for is over; None if nothing."""
        if not self._launches.is_looked_at or not self._set.are_complete:
            return None
        # An iterator can be read only once.
        options["wait_for"] = as_tuple(options["wait_for"])
        events = (*(options["wait_for"] or ()), *waiting)
        if is_any_set_by_host(events):
            return None
        plan = self._launches.plan
        if not are_over(queue, events, plan.patience):
            plan.patience = IMPATIENCE
            self._launches.note_vain_look()
            return None
        offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
        return AtHand(queue, self._set.in_order(), offset and tuple(map(int, offset)))

    def _let_capture(
        self,
        original: OriginalLaunch,
        queue: pyopencl.CommandQueue,
        local: Sizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> None:
        """Let an observer read the buffers of a launch that is about to be made, if it wants to."""
        observer = self._launches.observer
        if isinstance(observer, PassingObserver):
            passed = self._passed(original, local, options)
            if observer.wants(passed) and self._at_hand(queue, local, options, waiting) is not None:
                observer.capture(passed, queue)

    def _show(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        options: LaunchOptions,
        target: Target | None,
    ) -> None:
        """Show the observer a launch that was made."""
        observer = self._launches.observer
        if observer is not None:
            whole, local = plain_sizes(*sizes, options["g_times_l"])
            original = OriginalLaunch(queue.device, whole, local, self._local_bytes())
            divided = self._as_it_is(original) if target is None else target.launch
            observer.launched(self._launches.name, original, divided)
            if isinstance(observer, PassingObserver):
                observer.passed(self._passed(original, sizes[1], options))

    def _passed(self, original: OriginalLaunch, local: Sizes | None, options: LaunchOptions) -> PassedLaunch:
        """Return a launch with what it passes."""
        is_known = self._set.are_complete and not self._is_exposed
        offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
        return PassedLaunch(
            self._launches.plan.options,
            self._launches.name,
            original,
            self._set.in_order() if is_known else None,
            offset and tuple(map(int, offset)),
        )

    def _as_it_is(self, original: OriginalLaunch) -> DividedLaunch:
        """Return how a launch was carried out that ran the original kernel with the caller's sizes."""
        known = self._launches.known(original)
        if known is None or not (known.coarsenings or known.regrouped):
            return known or DividedLaunch(original.global_size, original.local_size, ())
        return DividedLaunch(original.global_size, original.local_size, (), reason=_NO_VARIANT)
