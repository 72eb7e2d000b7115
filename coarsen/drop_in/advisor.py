"""Advice on a program's launches: what is remembered of them, or what tuning finds now.

request ─▶ key ─▶ remembered, and it still holds ─▶ its variant
               ─▶ else, where the mode says so: captured, searched apart, remembered ─▶ its variant
               ─▶ else the kernel as it is, or, where the mode says so, a predicted factor
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyopencl

from coarsen.bug_report import bug_message
from coarsen.devices.discovery import DeviceDescription, describe_device
from coarsen.drop_in.kernel_facts import KernelFacts, kernel_facts
from coarsen.drop_in.keys import key_of
from coarsen.drop_in.mode import Mode, Otherwise
from coarsen.errors import CoarsenError, InternalError, InvalidInputError
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice, RememberedKey, SizeClass, problem_of
from coarsen.opencl_bench.results.remembered.look_up import anything_remembered, remembered_choice
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.runtime.compiled_sources import CompiledSources
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.drop_in.remembering import Kept
    from coarsen.opencl_bench.tuning.tuned import Tuned

_log = logging.getLogger("coarsen")

# Of the seconds, what the search may take for other sizes of a kernel, since it begins with what was found.
_OTHER_SIZES_SHARE = 0.5

# Of the threads of a program one tunes, and the others wait until it has ended: each would have the device for
# itself, and one that waits for that no longer than it would tune itself gives up.
_TUNING = threading.Lock()

# The advice on launches of which nothing is known.
AS_IT_IS = Advice(Variant(), "nothing is remembered of such launches; tune=True searches")


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge of a program about a class of launches.

    Attributes:
        choice: what is chosen; None if there is nothing to choose.
        origin: where the choice comes from, or why there is none, in a few words.
        tuned: what tuning found in this process.
        is_remembered: whether later processes will find the choice.
        tried_seconds: that a tuning had which came to no result; with no more than these, none is tried again.
    """

    choice: RememberedChoice | None
    origin: str
    tuned: Tuned | None = None
    is_remembered: bool = True
    tried_seconds: float = 0.0

    @property
    def reason(self) -> str:
        """Return the origin of a choice, and what it gains."""
        return self.origin if self.choice is None else _reason(self.choice, self.origin)


class TuningAdvisor:
    """Advises programs in one mode; an `Advisor` of `coarsen.runtime`.

    Args:
        mode: what is done where nothing is remembered.
        says_reasons: whether it is a warning that a launch can't be tuned; if not, the advice alone says it.
    """

    def __init__(self, mode: Mode, says_reasons: bool = True) -> None:
        self._mode = mode
        self._says_reasons = says_reasons
        self._known: dict[RememberedKey, Known] = {}
        self._facts: dict[Hashable, KernelFacts] = {}
        self._sources = CompiledSources()
        self._locks: defaultdict[RememberedKey, threading.Lock] = defaultdict(threading.Lock)
        self._locks_guard = threading.Lock()
        self._said: set[str] = set()
        self._is_readable = True

    @property
    def looks_at_arguments(self) -> bool:
        """Return True if launches are tuned."""
        return self._mode.otherwise is Otherwise.TUNE

    def advise(self, request: AdviceRequest) -> Advice | None:
        """Return what is remembered, or found now, else the launch as it is; None where the mode is to predict.

        Raises:
            CoarsenError: nothing can be said of the launch.
        """
        return self.advice_of(self.known(request))

    def advice_of(self, known: Known | None) -> Advice | None:
        """Return the advice that follows from what is known; None where the factor is to be predicted."""
        if known is not None and known.choice is not None:
            return Advice(known.choice.variant, known.reason, is_exact=True)
        if self._mode.otherwise is Otherwise.PREDICT:
            return None
        return AS_IT_IS if known is None else Advice(Variant(), known.reason)

    def known(self, request: AdviceRequest) -> Known | None:
        """Return what is remembered, or found now; None where that is nothing.

        Raises:
            CoarsenError: nothing can be said of the launch.
        """
        tunes = self._mode.otherwise is Otherwise.TUNE
        if not tunes and not self._may_remember(request.kernel):
            return None
        device = describe_device(request.launch.device)
        facts = self._facts_of(request, device)
        key = key_of(
            facts.ir_hash,
            request.kernel,
            device,
            request.options,
            request.transforms,
            SizeClass.of(request.launch.global_size, request.launch.local_size),
        )
        with self._lock_of(key):
            known = self._known.get(key) or self._looked_up(key, device)
            if known is None and tunes and self._is_readable and request.queue is not None:
                with _TUNING:
                    known = self._tuned(key, facts, device, request)
            if known is not None:
                self._known[key] = known
        return known

    def _may_remember(self, kernel: str) -> bool:
        """Return True if the store has any choice for a kernel of this name; False where it can't be read."""
        if self._is_readable:
            try:
                return anything_remembered(self._mode.settings.store, kernel)
            except InvalidInputError as error:
                self._give_up_reading(error)
        return False

    def _lock_of(self, key: RememberedKey) -> threading.Lock:
        """The lock of a class of launches: of two threads that launch at once, one tunes."""
        with self._locks_guard:
            return self._locks[key]

    def _facts_of(self, request: AdviceRequest, device: DeviceDescription) -> KernelFacts:
        key = request.source, request.options, request.kernel, device
        if key not in self._facts:
            self._facts[key] = kernel_facts(
                request.source,
                request.kernel,
                request.options,
                device.macros,
                request.cache_dir,
                self._sources,
            )
        return self._facts[key]

    def _looked_up(self, key: RememberedKey, device: DeviceDescription) -> Known | None:
        """Return what the store has, if it still holds."""
        choice = self._read(key)
        if choice is None:
            return None
        problem = problem_of(choice, device.driver_version, device.platform_version)
        if problem is not None:
            tunes = self._mode.otherwise is Otherwise.TUNE
            again = "it is searched again" if tunes else "tune=True searches again"
            self._say(f"what is remembered of kernel {key.kernel} is not used: {problem}; {again}")
            return None
        if not choice.has_result:
            return self._without_result(choice)
        if not is_allowed(choice.variant, self._mode.settings):
            return None
        return Known(choice, f"remembered from {choice.found_at[:10]}")

    def _without_result(self, choice: RememberedChoice) -> Known | None:
        """Return what follows from a tuning whose time was over; None where there is more time now."""
        reason = (
            f"its tuning had no result in {choice.seconds:.3g} s ({choice.found_at[:10]}); "
            f"with more it is tried again: --seconds, or coarsen.Tune(seconds={2 * choice.seconds:.3g})"
        )
        if self._mode.otherwise is not Otherwise.TUNE:
            return Known(None, reason, tried_seconds=choice.seconds)
        is_longer = self._seconds(choice.key) > choice.seconds
        return None if is_longer else self._not_tuned(choice.key.kernel, reason)

    def _read(self, key: RememberedKey) -> RememberedChoice | None:
        if not self._is_readable:
            return None
        try:
            return remembered_choice(self._mode.settings.store, key)
        except InvalidInputError as error:
            self._give_up_reading(error)
            return None

    def _give_up_reading(self, error: InvalidInputError) -> None:
        """Read no more: each launch of another kernel would wait for a server that does not answer."""
        self._is_readable = False
        consequence = ", so nothing is tuned" if self._mode.otherwise is Otherwise.TUNE else ""
        self._say(f"what is remembered can't be read{consequence}: {error}")

    def _tuned(
        self, key: RememberedKey, facts: KernelFacts, device: DeviceDescription, request: AdviceRequest
    ) -> Known:
        """Search now; the answer has no choice where that can't be done."""
        # Imported late: a program that remembers measures nothing.
        from coarsen.drop_in.live_line import say_ending, tuning_is_shown
        from coarsen.drop_in.measured_launch import check_sizes_are_known, tune_request
        from coarsen.drop_in.remembering import choice_of, no_result, remember, remember_no_result
        from coarsen.opencl_bench.tuning.captured_tuning import alone_on
        from coarsen.opencl_bench.tuning.settings import TimeOverError

        settings = replace(self._mode.settings, seconds=self._seconds(key))
        try:
            check_sizes_are_known(request.arguments)
            with alone_on(device, settings.seconds), tuning_is_shown(key.kernel, settings) as shown:
                # Another process may have tuned it while this one waited for the device.
                found = self._looked_up(key, device)
                if found is not None:
                    return found
                before = self._found_at_other_sizes(key)
                tuned = tune_request(request, device, facts.groups_matter, shown, before)
        except TimeOverError as error:
            nothing = no_result(key, device, *request.launch[1:3], settings.seconds)
            self._say_unless_kept(remember_no_result(nothing, settings.store))
            return self._not_tuned(key.kernel, str(error))
        except InternalError as error:
            return self._failed(key.kernel, error)
        except (CoarsenError, pyopencl.Error, OSError, MemoryError) as error:
            return self._not_tuned(key.kernel, str(error))
        except Exception as error:
            # The program must not end of it.
            return self._failed(key.kernel, error)
        if tuned.doubt:
            return self._not_tuned(key.kernel, tuned.doubt)
        say_ending(str(tuned), settings)
        choice = choice_of(tuned, key, device)
        kept = remember(choice, settings.store)
        self._say_unless_kept(kept)
        return Known(choice, "tuned just now", tuned, not kept.reason)

    def _say_unless_kept(self, kept: Kept) -> None:
        if kept.reason:
            self._say(f"what was found can't be remembered: {kept.reason}")

    def _seconds(self, key: RememberedKey) -> float:
        """Return what a search may take: less where it begins with what was found at other sizes."""
        share = 1.0 if self._found_at_other_sizes(key) is None else _OTHER_SIZES_SHARE
        return share * self._mode.settings.seconds

    def _found_at_other_sizes(self, key: RememberedKey) -> Variant | None:
        """The latest variant that this program chose for the same kernel at other sizes; None if there is none."""
        alike = [
            known.choice.variant
            for other, known in list(self._known.items())
            if known.choice is not None and replace(other, size_class=key.size_class) == key
        ]
        return alike[-1] if alike else None

    def _not_tuned(self, kernel: str, reason: str) -> Known:
        if self._says_reasons:
            self._say(f"kernel {kernel} is not tuned: {reason}")
        return Known(None, f"not tuned: {reason}")

    def _failed(self, kernel: str, error: Exception) -> Known:
        self._say(f"kernel {kernel} is not tuned: {bug_message(error)}")
        return Known(None, "not tuned: an internal error of coarsen")

    def _say(self, message: str) -> None:
        """Log a warning, once."""
        if message not in self._said:
            self._said.add(message)
            _log.warning(message)


def is_allowed(variant: Variant, settings: Tune) -> bool:
    """Return True if settings allow a variant that was found with others."""
    return (
        all(coarsening.level in settings.levels for coarsening in variant.coarsenings)
        and (settings.wide_accesses or not variant.transforms.wide_accesses)
        and (settings.distinct or not variant.transforms.distinct)
        and (settings.local_sizes or not variant.local_size)
    )


def _reason(choice: RememberedChoice, origin: str) -> str:
    if choice.leaves_as_is:
        return f"{origin}: nothing is faster than the launch as it is"
    gain = choice.speedup
    times = f"{gain.ratio:.2f} ({gain.low:.2f} to {gain.high:.2f}) times as fast as the launch as it is"
    processes = "one new process" if choice.processes == 1 else f"{choice.processes} new processes"
    return f"{origin}: {times}, in {processes}"
