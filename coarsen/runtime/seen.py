"""What policies and observers see of a kernel object's launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyopencl

from coarsen.runtime.advice import IMPATIENCE, AtHand, PassedLaunch, PassingObserver
from coarsen.runtime.arguments import SetArguments
from coarsen.runtime.enqueue import AnySizes, LaunchOptions, Target, as_tuple
from coarsen.runtime.launch import OriginalLaunch, plain_offset
from coarsen.runtime.launches import KernelLaunches


@dataclass(frozen=True, slots=True)
class SeenLaunches:
    """The launches of one kernel object, with the arguments that are set at present.

    `is_exposed` says that others may have set some of them.
    """

    launches: KernelLaunches
    arguments: SetArguments
    is_exposed: bool

    def at_hand(
        self,
        queue: pyopencl.CommandQueue,
        local: AnySizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> AtHand | None:
        """Return what a policy may look at, once all that the launch waits for is over; None if nothing."""
        if not self.launches.is_looked_at or not self.arguments.are_complete:
            return None
        # Imported late: most programs tune nothing.
        from coarsen.runtime.waiting import are_over, is_any_set_by_host

        # An iterator can be read only once.
        options["wait_for"] = as_tuple(options["wait_for"])
        events = (*(options["wait_for"] or ()), *waiting)
        if is_any_set_by_host(events):
            return None
        plan = self.launches.plan
        if not are_over(queue, events, plan.patience):
            plan.patience = IMPATIENCE
            self.launches.note_vain_look()
            return None
        return AtHand(queue, self.arguments.in_order(), _offset(local, options))

    def let_capture(
        self,
        original: OriginalLaunch,
        queue: pyopencl.CommandQueue,
        local: AnySizes | None,
        options: LaunchOptions,
        waiting: Sequence[pyopencl.Event],
    ) -> None:
        """Let an observer read the buffers of a launch that is about to be made, if it wants to."""
        observer = self.launches.observer
        if isinstance(observer, PassingObserver):
            passed = self._passed(original, local, options)
            if observer.wants(passed) and self.at_hand(queue, local, options, waiting) is not None:
                observer.capture(passed, queue)

    def show(self, target: Target, local: AnySizes | None, options: LaunchOptions) -> None:
        """Show the observer a launch that was made."""
        observer = self.launches.observer
        if observer is None:
            return
        observer.launched(self.launches.name, target.original, target.launch)
        if isinstance(observer, PassingObserver):
            observer.passed(self._passed(target.original, local, options))

    def _passed(self, original: OriginalLaunch, local: AnySizes | None, options: LaunchOptions) -> PassedLaunch:
        """Return a launch with what it passes."""
        is_known = self.arguments.are_complete and not self.is_exposed
        arguments = self.arguments.in_order() if is_known else None
        plan_options = self.launches.plan.options
        return PassedLaunch(plan_options, self.launches.name, original, arguments, _offset(local, options))


def _offset(local: AnySizes | None, options: LaunchOptions) -> tuple[int, ...] | None:
    offset: Any = plain_offset(options["global_offset"], local, options["g_times_l"])
    return offset and tuple(map(int, offset))
