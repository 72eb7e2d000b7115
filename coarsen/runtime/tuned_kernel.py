"""A kernel of which a tuned file chooses the version for each launch.

    mv(queue, (height,), (256,), a, x, width, height, y)         # sizes are those of the default version
    mv.launch(queue, a, x, width, height, y, features={…})       # sizes are the file's
    mv.explain(width=64, height=1 << 20)                         # what would be chosen, and why

What was decided for a launch is kept, with a kernel object, for all that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pyopencl

from coarsen.dispatch.choosing import Number
from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import PLAIN, Argument
from coarsen.runtime.deciding_kernel import DecidingKernel
from coarsen.runtime.enqueue import (
    ENQUEUE,
    LaunchOptions,
    Sizes,
    WaitList,
    as_tuple,
    in_tuples,
    positional,
    without_options,
)
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.sizes import plain_offset, plain_sizes
from coarsen.runtime.tuned_arguments import Arguments
from coarsen.runtime.tuned_decision import NO_FEATURES, AnyDecision
from coarsen.runtime.tuned_explanation import TunedExplanation, explain
from coarsen.runtime.tuned_prepared import Prepared, keep
from coarsen.runtime.tuned_sequence import NotLaunchedError, PreparedSequence

_SET_REFERENCES: Callable[..., None] = PLAIN._set_arg_multi
_SET_NUMBERS: Callable[..., None] = PLAIN._set_arg_buf_multi


class TunedKernel(DecidingKernel):
    """The drop-in for `pyopencl.Kernel` of a kernel with a tuned file; for one thread, as PyOpenCL's are.

    Arguments of a call are set for what it launches, and for that alone: `pyopencl.enqueue_nd_range_kernel`
    launches the kernel as it is written, with what `set_args` set.
    """

    # PyOpenCL's annotation names the sizes otherwise than its code does.
    def __call__(  # type: ignore[override]
        self,
        queue: pyopencl.CommandQueue,
        global_size: Sizes,
        local_size: Sizes | None,
        *args: Argument,
        global_offset: Sizes | None = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
        wait_for: WaitList = None,
        **by_name: Argument,
    ) -> pyopencl.Event:
        """As `pyopencl.Kernel.__call__`, with the sizes of the default version; another may be launched."""
        if global_offset is None and self._only_device is not None and not g_times_l and self._types is None:
            key: Hashable = None
            found: Prepared | None = None
            try:
                key = self._key(args), global_size, local_size
                found = self._known.get(key)
            except (TypeError, AttributeError, IndexError):
                key = found = None
            if key is not None and len(args) == self._count and not by_name:
                if found is None and _are_plain(global_size, local_size):
                    passed: Any = global_size, local_size
                    found = self._decide(self._only_device, args, passed)
                    keep(self._known, key, found)
                if found is not None:
                    return self._enqueue(queue, found, args, None, wait_for, allow_empty_ndrange)
        options: LaunchOptions = {
            "global_offset": global_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        return self._call(queue, in_tuples(global_size, local_size), args, options, by_name)

    def launch(
        self,
        queue: pyopencl.CommandQueue,
        *args: Argument,
        features: Mapping[str, float] | None = None,
        wait_for: WaitList = None,
    ) -> pyopencl.Event:
        """Launch the version that is chosen, with the sizes that the tuned file has for it.

        Args:
            queue: where to launch.
            args: the kernel's arguments.
            features: numbers that only the caller knows, by the names that the file has for them.
            wait_for: events to wait for.

        Raises:
            InvalidInputError: the file has no sizes, or none for these arguments; a feature that it doesn't have.
        """
        supplied = self._tuned.tree.supplied_values(features) if features else None
        key: Hashable = None
        found: Prepared | None = None
        try:
            key = self._key(args), supplied, self._device_key(queue)
            found = self._known_without_sizes.get(key)
        except (TypeError, AttributeError, IndexError):
            key = found = None
        if found is None or len(args) != self._count or self._types is not None:
            self._check_launch(args)
            args = self._typed(args)
            named = dict(zip(self._tuned.tree.supplied, supplied or (), strict=False))
            given = {name: value for name, value in named.items() if value is not None}
            found = self._decide(self._device(queue), args, None, given)
            keep(self._known_without_sizes, key, found)
        return self._enqueue(queue, found, args, None, wait_for, False)

    def explain(self, **values: Number) -> TunedExplanation:
        """Return what is chosen for a launch, and why.

        Args:
            values: whole and real arguments by their names, sizes of buffers in bytes as `bytes_NAME`, supplied
                features by theirs; `global_size_0` and so on where the file has no sizes.

        Raises:
            InvalidInputError: a name that the file doesn't have, or a number that it needs is missing.
        """
        return explain(self._tuned.file, values)

    def _call(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: Arguments,
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """Make a call that isn't known yet, or that is passed in another form."""
        args = positional(args, by_name) if by_name else args
        if len(args) > self._count:
            args = without_options(args, self._count, options)
        is_usual = len(args) == self._count and not by_name and not self._is_plain
        typed = self._typed(args) if is_usual else None
        try:
            passed = plain_sizes(*sizes, options["g_times_l"])
            offset = plain_offset(options["global_offset"], sizes[1], options["g_times_l"])
        except TypeError:
            typed = None
        if typed is None:
            # PyOpenCL says what is wrong, or makes its own of the arguments.
            if self._is_plain:
                self._tuned.default.check_own("arguments of types that are no numbers'")
            before, self._set_again = self._set_again, None
            try:
                return self._call_original(queue, sizes, args, options, by_name)
            except Exception:
                # Else a later launch would run with arguments from before the last call.
                self._set_again = before
                raise
        has_offset = offset is not None and any(offset)
        try:
            key = self._call_key(queue, typed, passed, has_offset)
            found = None if key is None else self._known.get(key)
        except (TypeError, AttributeError, IndexError):
            key = found = None
        if found is None:
            found = self._decide(self._device(queue), typed, passed, NO_FEATURES, has_offset)
            keep(self._known, key, found)
        return self._enqueue(queue, found, typed, offset, options["wait_for"], options["allow_empty_ndrange"])

    def _enqueue(
        self,
        queue: pyopencl.CommandQueue,
        found: Prepared,
        args: Arguments,
        offset: Sizes | None,
        wait_for: WaitList,
        allow_empty: bool,
    ) -> pyopencl.Event:
        """Set the arguments, and launch."""
        if isinstance(found, PreparedSequence):
            return self._enqueue_sequence(queue, found, args, wait_for)
        kernel, references, numbers, global_size, local_size, decision = found
        pairs = self._references(args) + references
        if pairs:
            _SET_REFERENCES(kernel, pairs)
        pairs = self._numbers(args) + numbers
        if pairs:
            _SET_NUMBERS(kernel, pairs)
        self._note_call(kernel)
        event: pyopencl.Event = ENQUEUE(
            queue, kernel, global_size, local_size, offset, wait_for, False, allow_empty
        )
        if self._launches.observer is not None:
            self._show_launch(queue, decision, args)
        return event

    def _enqueue_sequence(
        self, queue: pyopencl.CommandQueue, found: PreparedSequence, args: Arguments, wait_for: WaitList
    ) -> pyopencl.Event:
        # An iterator can be read only once.
        wait_for = as_tuple(wait_for)
        try:
            event = found.enqueue(queue, args, wait_for)
        except NotLaunchedError as error:
            number = found.decision.version.number
            decision = found.decision.otherwise(f"the version {number}, which can't be launched: {error}")
            one = self._objects.prepared(decision, self, self._count)
            return self._enqueue(queue, one, args, None, wait_for, False)
        self._note_call(None)
        if self._launches.observer is not None:
            self._show_launch(queue, found.decision, args)
        return event

    def _show_launch(self, queue: pyopencl.CommandQueue, decision: AnyDecision, args: Arguments) -> None:
        observer = self._launches.observer
        if observer is not None:
            given = sum(value.size for value in args if isinstance(value, pyopencl.LocalMemory))
            original = OriginalLaunch(queue.device, *decision.asked, given)
            observer.launched(self._launches.name, original, decision.shown())

    def _check_launch(self, args: Arguments) -> None:
        if len(args) != self._count:
            raise InvalidInputError(
                f"kernel {self._launches.name} takes {self._count} arguments, {len(args)} were given"
            )
        if not self._tuned.file.has_sizes:
            raise InvalidInputError(
                f"the tuned file of kernel {self._launches.name} has no sizes of launches: call it with sizes"
            )


def _are_plain(global_size: Any, local_size: Any) -> bool:  # noqa: ANN401 (whatever the caller passes)
    """Return True for sizes in tuples of whole numbers of Python's, which most callers pass."""
    if type(global_size) is not tuple or (type(local_size) is not tuple and local_size is not None):
        return False
    if local_size is not None and len(global_size) == len(local_size) == 1:
        # The most common launch.
        return type(global_size[0]) is int is type(local_size[0])
    # Faster than a loop.
    return {*map(type, global_size), *map(type, local_size or ())} == {int}
