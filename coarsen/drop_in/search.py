"""The policy that searches now where nothing is remembered.

request ─▶ remembered, and it still holds ─▶ its variant
        ─▶ else captured, searched apart, remembered ─▶ its variant
        ─▶ else the kernel as it is
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyopencl

from coarsen.base.bug_report import bug_message
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, InternalError, InvalidInputError
from coarsen.policy.remembered import Known, Remembered, without_result
from coarsen.runtime.advice import LaunchRequest
from coarsen.runtime.arguments import Argument
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.drop_in.measured_launch import Kept

# Of the seconds, what the search may take for other sizes of a kernel, since it begins with what was found.
_OTHER_SIZES_SHARE = 0.5

# Of the threads of a program one tunes, and the others wait until it has ended: each would have the device for
# itself, and one that waits for that no longer than it would tune itself gives up.
_TUNING = threading.Lock()


def check_sizes_are_known(arguments: Sequence[Argument] | None) -> None:
    """Raise InvalidInputError for a launch with shared virtual memory, of which only the address is kept."""
    for index, argument in enumerate(arguments or ()):
        if isinstance(argument, pyopencl.SVMPointer):
            raise InvalidInputError(
                f"the size of its argument {index}, shared virtual memory, is not known: coarsen.tune takes it"
            )


class SearchNow(Remembered):
    """Decides as is remembered, and searches at the first launch of which nothing is.

    Args:
        settings: of the search, and where things are remembered.
    """

    looks_at_arguments = True
    _nothing = "nothing is remembered of such launches, and what this one is passed could not be looked at"
    _what_then = "it is searched again"
    _unreadable = "what is remembered can't be read, so nothing is tuned"

    def _needs_key(self, request: LaunchRequest) -> bool:
        return True

    def _without_result(self, choice: RememberedChoice) -> Known | None:
        is_longer = self._seconds(choice.key) > choice.seconds
        return None if is_longer else self._not_tuned(choice.key.kernel, without_result(choice))

    def _found(self, key: RememberedKey, device: DeviceDescription, request: LaunchRequest) -> Known | None:
        if not self._is_readable or request.queue is None:
            return None
        with _TUNING:
            return self._tuned(key, device, request)

    def _tuned(self, key: RememberedKey, device: DeviceDescription, request: LaunchRequest) -> Known:
        """Search now; the answer has no choice where that can't be done."""
        # Imported late: a program that remembers measures nothing.
        from coarsen.drop_in.live_line import say_ending, tuning_is_shown
        from coarsen.drop_in.measured_launch import choice_of, no_result, remember, tune_request
        from coarsen.tuning.captured_tuning import alone_on
        from coarsen.tuning.progress import TimeOverError

        settings = replace(self._settings, seconds=self._seconds(key))
        by_macros = self._by_macros(request) if self._by_macros and settings.local_sizes else None
        own = by_macros.sizes[0].definitions if by_macros else ()
        try:
            check_sizes_are_known(request.arguments)
            with alone_on(device, settings.seconds), tuning_is_shown(key.kernel, settings) as shown:
                # Another process may have tuned it while this one waited for the device.
                found = self._looked_up(key, device)
                if found is not None:
                    return found
                before = self._found_at_other_sizes(key)
                groups_matter = self._facts_of(request, device).groups_matter
                tuned = tune_request(request, device, groups_matter, shown, before, by_macros)
        except TimeOverError as error:
            nothing = no_result(key, device, *request.launch[1:3], settings.seconds)
            self._say_unless_kept(remember(nothing, settings.store))
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
        # What stands for a launch's sizes where versions have their own is what the key has.
        _, whole, local, *_ = request.launch
        choice = replace(choice_of(tuned, key, device, own), global_size=whole, local_size=local)
        if by_macros and choice.variant.local_size:
            group = (*choice.variant.local_size, *[1] * (len(whole) - len(choice.variant.local_size)))
            choice = replace(choice, variant=replace(choice.variant, local_size=group))
        self._say_unless_kept(remember(choice, settings.store))
        return Known(choice, "tuned just now")

    def _say_unless_kept(self, kept: Kept) -> None:
        if kept.reason:
            self._say(f"what was found can't be remembered: {kept.reason}")

    def _seconds(self, key: RememberedKey) -> float:
        """Return what a search may take: less where it begins with what was found at other sizes."""
        share = 1.0 if self._found_at_other_sizes(key) is None else _OTHER_SIZES_SHARE
        return share * self._settings.seconds

    def _found_at_other_sizes(self, key: RememberedKey) -> Variant | None:
        """The latest variant that this program chose for the same kernel at other sizes; None if there is none."""
        alike = [
            known.choice.variant
            for other, known in list(self._known.items())
            if known.choice is not None and replace(other, size_class=key.size_class) == key
        ]
        return alike[-1] if alike else None

    def _not_tuned(self, kernel: str, reason: str) -> Known:
        self._say(f"kernel {kernel} is not tuned: {reason}")
        return Known(None, f"not tuned: {reason}")

    def _failed(self, kernel: str, error: Exception) -> Known:
        self._say(f"kernel {kernel} is not tuned: {bug_message(error)}")
        return Known(None, "not tuned: an internal error of coarsen")
