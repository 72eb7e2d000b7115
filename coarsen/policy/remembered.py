"""The policy that takes what is remembered.

request ─▶ key ─▶ remembered, and it still holds ─▶ its variant
               ─▶ else the kernel as it is, or another policy's decision
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyopencl

from coarsen.devices.discovery import DeviceDescription, describe_device
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.policy.keys import KernelFacts, kernel_facts, key_of
from coarsen.runtime.advice import Decision, LaunchRequest, Policy
from coarsen.runtime.launch import OwnLaunch
from coarsen.runtime.toolchain import CompiledSources
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, SizeClass, problem_of
from coarsen.tuning.remembered.look_up import anything_remembered, remembered_choice, remembered_choices
from coarsen.tuning.settings import Tune
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.tuning.workload.benchmark import ByMacros

_log = logging.getLogger("coarsen")
_Read = TypeVar("_Read")


class Known(NamedTuple):
    """The knowledge of a program about a class of launches.

    Attributes:
        choice: what is chosen; None if there is nothing to choose.
        origin: where the choice comes from, or why there is none, in a few words.
    """

    choice: RememberedChoice | None
    origin: str

    @property
    def reason(self) -> str:
        """Return the origin of a choice, and what it gains."""
        return self.origin if self.choice is None else reason_for(self.choice, self.origin)


class Remembered(Policy):
    """Decides as is remembered; launches of which nothing is stay as they are.

    Args:
        settings: where things are remembered, and what of it may be used.
        by_macros: gives the sizes of a launch of the program's one kernel, by values of its source's macros;
            None where these stay as they are.
    """

    # What is said where nothing is remembered, of a choice that no longer holds, and where nothing can be read.
    _nothing = "nothing is remembered of such launches; tune=True searches"
    _what_then = "tune=True searches again"
    _unreadable = "what is remembered can't be read"

    def __init__(self, settings: Tune, by_macros: Callable[[LaunchRequest], ByMacros] | None = None) -> None:
        self._settings = settings
        self._by_macros = by_macros
        self._known: dict[RememberedKey, Known] = {}
        # Read when the program was built, for the first launch of each class.
        self._at_build: dict[RememberedKey, RememberedChoice] = {}
        self._facts: dict[Hashable, KernelFacts] = {}
        self._sources = CompiledSources()
        self._locks: defaultdict[RememberedKey, threading.Lock] = defaultdict(threading.Lock)
        self._locks_guard = threading.Lock()
        self._said: set[str] = set()
        self._is_readable = True

    def known_variants(self, request: LaunchRequest) -> Iterable[Variant]:
        """Return the variants of what is remembered of a kernel on a device."""
        try:
            choices = self.choices(request)
        except (CoarsenError, pyopencl.Error):
            # The first launch says so.
            return ()
        self._at_build.update((choice.key, choice) for choice in choices)
        return dict.fromkeys(choice.variant for choice in choices)

    def choose(self, request: LaunchRequest) -> Decision:
        """Return what is remembered, else the launch as it is.

        Raises:
            CoarsenError: nothing can be said of the launch.
        """
        known = self.known(request)
        if known is not None and known.choice is not None:
            return self._with_macros(Decision(known.choice.variant, known.reason, is_exact=True), request)
        return Decision(Variant(), self._nothing if known is None else known.reason)

    def _with_macros(self, decision: Decision, request: LaunchRequest) -> Decision:
        """A decision with the sizes that its macros take, if it has any."""
        definitions = decision.variant.definitions
        if self._by_macros is None or not definitions:
            return decision
        sizes = {each.definitions: each for each in self._by_macros(request).sizes}
        if (found := sizes.get(definitions)) is None:
            return Decision(Variant(), "what was found has macros that are no longer tried")
        sized = request.launch._replace(global_size=found.global_size, local_size=found.local_size)
        own = OwnLaunch(sized, definitions)
        return decision._replace(own=own, otherwise=lambda problem: Decision(Variant(), problem))

    def known(self, request: LaunchRequest, *also: str) -> Known | None:
        """Return what is known of a launch, by `also` as by build options; None where that is nothing.

        Raises:
            CoarsenError: nothing can be said of the launch.
        """
        if not self._needs_key(request):
            return None
        device = describe_device(request.launch.device)
        launch = request.launch
        key = self._key(request, device, SizeClass.of(launch.global_size, launch.local_size), *also)
        with self._lock_of(key):
            known = self._known.get(key) or self._looked_up(key, device) or self._found(key, device, request)
            if known is not None:
                self._known[key] = known
        return known

    def choices(self, request: LaunchRequest) -> list[RememberedChoice]:
        """Return what is remembered of a kernel on a device at all sizes, holds and is allowed; the latest first.

        What has other macros than the program is not among it.

        Raises:
            InvalidInputError: the source does not compile.
            RefusalError: the kernel can't be read.
        """
        every = self._read(lambda: remembered_choices(self._settings.store, request.kernel))
        if not every:
            return []
        device = describe_device(request.launch.device)
        key = self._key(request, device, SizeClass.of((1,), None))
        found = [
            choice
            for choice in every
            if replace(choice.key, size_class=key.size_class) == key
            and problem_of(choice, device.driver_version, device.platform_version) is None
            and choice.has_result
            and not choice.variant.definitions
            and is_allowed(choice.variant, self._settings)
        ]
        return sorted(found, key=lambda choice: (choice.found_at, choice.key.digest), reverse=True)

    def _needs_key(self, request: LaunchRequest) -> bool:
        """Return True if anything may be known; to compute a key may take a compilation."""
        is_read = any(key.kernel == request.kernel for key in list(self._at_build))
        return is_read or bool(self._read(lambda: anything_remembered(self._settings.store, request.kernel)))

    def _found(self, key: RememberedKey, device: DeviceDescription, request: LaunchRequest) -> Known | None:
        """Find a choice where none is remembered: here, none."""
        return None

    def _lock_of(self, key: RememberedKey) -> threading.Lock:
        """The lock of a class of launches: of two threads that launch at once, one tunes."""
        with self._locks_guard:
            return self._locks[key]

    def _key(
        self, request: LaunchRequest, device: DeviceDescription, size_class: SizeClass, *also: str
    ) -> RememberedKey:
        ir_hash, options = self._facts_of(request, device).ir_hash, (*request.options, *also)
        return key_of(ir_hash, request.kernel, device, options, request.transforms, size_class)

    def _facts_of(self, request: LaunchRequest, device: DeviceDescription) -> KernelFacts:
        key = request.source, request.options, request.kernel, device
        if key not in self._facts:
            self._facts[key] = kernel_facts(
                request.source, request.kernel, request.options, device.macros, request.cache_dir, self._sources
            )
        return self._facts[key]

    def _looked_up(self, key: RememberedKey, device: DeviceDescription) -> Known | None:
        """Return what the store has, if it still holds."""
        choice = self._at_build.pop(key, None)
        choice = choice or self._read(lambda: remembered_choice(self._settings.store, key))
        if choice is None:
            return None
        problem = problem_of(choice, device.driver_version, device.platform_version)
        if problem is not None:
            self._say(f"what is remembered of kernel {key.kernel} is not used: {problem}; {self._what_then}")
            return None
        if not choice.has_result:
            return self._without_result(choice)
        has_unknown_macros = choice.variant.definitions and self._by_macros is None
        if has_unknown_macros or not is_allowed(choice.variant, self._settings):
            return None
        return Known(choice, f"remembered from {choice.found_at[:10]}")

    def _without_result(self, choice: RememberedChoice) -> Known | None:
        """Return what follows from a tuning whose time was over; None where there is more time now."""
        return Known(None, without_result(choice))

    def _read(self, what: Callable[[], _Read]) -> _Read | None:
        """Return what a store has; None, said once, where it can't be read."""
        if not self._is_readable:
            return None
        try:
            return what()
        except InvalidInputError as error:
            # Each launch of another kernel would wait for a server that does not answer.
            self._is_readable = False
            self._say(f"{self._unreadable}: {error}")
            return None

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
        and (settings.tiles or not variant.transforms.is_tiled)
    )


def without_result(choice: RememberedChoice) -> str:
    """Say that a tuning had no result, and what to do about it."""
    return (
        f"its tuning had no result in {choice.seconds:.3g} s ({choice.found_at[:10]}); "
        f"with more it is tried again: --seconds, or coarsen.Tune(seconds={2 * choice.seconds:.3g})"
    )


def reason_for(choice: RememberedChoice, origin: str) -> str:
    """Return the origin of a choice, and what it gains."""
    if choice.leaves_as_is:
        return f"{origin}: nothing is faster than the launch as it is"
    gain = choice.speedup
    times = f"{gain.ratio:.2f} ({gain.low:.2f} to {gain.high:.2f}) times as fast as the launch as it is"
    processes = "one new process" if choice.processes == 1 else f"{choice.processes} new processes"
    return f"{origin}: {times}, in {processes}"
