"""A remembered choice: the variant that tuning found for a kernel's launches of one class of sizes on a device.

kernel, device, what the program allowed, SizeClass ─▶ RememberedKey ─▶ RememberedChoice
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from coarsen.base.version import __version__
from coarsen.errors import InvalidInputError, printable_in_line
from coarsen.tuning.measure.speedup import Speedup
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.variant import LocalSize, Variant

# Whose version says how kernels were coarsened, in `RememberedChoice.versions`.
COARSEN = "coarsen"


@dataclass(frozen=True, slots=True)
class RememberedKey:
    """What a choice is for. Versions of drivers are not part of it: a choice takes the place of an older one.

    Attributes:
        ir_hash: the SHA-256 of the uncoarsened kernel's normalised IR, in hexadecimal digits.
        kernel: its name.
        vendor: of the device, as in `Environment`.
        device: its name.
        platform: its platform's name.
        allowed: the transforms, levels and whatever else the program allowed; from `allowed_text`.
        size_class: of the launch before coarsening.
    """

    ir_hash: str
    kernel: str
    vendor: str
    device: str
    platform: str
    allowed: str
    size_class: SizeClass

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all fields, in hexadecimal digits: the choice's key in stores and files."""
        content = {**asdict(self), "size_class": str(self.size_class)}
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RememberedChoice:
    """The result of a tuning, or the fact that its time was over before it had one.

    Attributes:
        key: what it is for.
        variant: what to launch; its local size is that of the launch before coarsening, empty for the program's
            own. Without coarsenings and local size: leave the launch as it is.
        speedup: over the launch as it was.
        speedup_over_uncoarsened: over the uncoarsened kernel at its best local size; None where that isn't known.
        global_size: that it was tuned at, in work-items.
        local_size: likewise, as launched; None where the device chose it.
        driver_version: of the device when it was tuned.
        platform_version: likewise.
        versions: of what made the code then, by name, as in `Environment`; `coarsen` is among them.
        trials: the number of configurations tried; 0 where the time was over before there was a result.
        seconds: the wall-clock time that the tuning took; without a result, that it was given.
        processes: the number of fresh processes that confirmed it.
        found_at: when, UTC in ISO 8601 as `datetime.isoformat` writes it.
    """

    key: RememberedKey
    variant: Variant
    speedup: Speedup
    speedup_over_uncoarsened: Speedup | None
    global_size: tuple[int, ...]
    local_size: LocalSize | None
    driver_version: str
    platform_version: str
    versions: tuple[tuple[str, str], ...]
    trials: int
    seconds: float
    processes: int
    found_at: str

    @property
    def has_result(self) -> bool:
        """Return False if the time was over before anything was found out: the launch stays as it is for that."""
        return self.trials > 0

    @property
    def leaves_as_is(self) -> bool:
        """Return True if nothing that was tried is faster than the launch as it was."""
        return not self.variant.is_rewritten and not self.variant.local_size


def allowed_text(allowed: Mapping[str, object]) -> str:
    """Return what a program allows as the text of a key: JSON with sorted names and no blanks.

    Args:
        allowed: by name; values are texts, numbers, flags, None, or lists and dictionaries of these.
    """
    return canonical_json(dict(allowed))


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def problem_of(
    choice: RememberedChoice, driver_version: str, platform_version: str, coarsen_version: str = __version__
) -> str | None:
    """Return why a choice no longer holds, in one sentence without a full stop; None if it does.

    Args:
        choice: found under a key of this kernel and device.
        driver_version: of the device now.
        platform_version: of its platform now.
        coarsen_version: of this program; versions that differ in the last number alone are as good as the same.
    """
    found_with = dict(choice.versions).get(COARSEN, "of an unknown version")
    if _minor(found_with) != _minor(coarsen_version):
        return f"it was found with coarsen {printable_in_line(found_with)}, and this is coarsen {coarsen_version}"
    versions = (
        ("driver", choice.driver_version, driver_version),
        ("platform version", choice.platform_version, platform_version),
    )
    for what, then, now in versions:
        if then != now:
            texts = printable_in_line(then), printable_in_line(now)
            return f"it was found with {what} '{texts[0]}', and the device has '{texts[1]}' now"
    if not (choice.leaves_as_is or choice.speedup.is_certain):
        return choice.speedup.doubt.replace("the machine is busy", "the machine was busy")
    return None


def _minor(version: str) -> list[str]:
    """The first two numbers of a version."""
    return version.split(".")[:2]


# Classes of launches that share a choice: one local size, global sizes between the same powers of two, which
# divide alike.
#
# (1504, 304) in groups of (16, 16) ─▶ 2^10%32x2^8%16/16x16 ◀─ (1056, 272) in groups of (16, 16)
# (1500,) where the device chooses the groups ─▶ 2^10%4/open
#
# A choice has factors and local sizes that are powers of two: what divides one launch of a class divides all.

_OPEN = "open"
_BASE = "2^"
_EXPONENT = r"2\^(?:0|[1-9]\d?)%[1-9]\d{0,5}"
_EXTENT = r"[1-9]\d{0,9}"
# No choice divides by more.
_MOST_DIVISOR = 1 << 15
_TEXT = rf"({_EXPONENT}(?:x{_EXPONENT}){{0,2}})/({_OPEN}|{_EXTENT}(?:x{_EXTENT}){{0,2}})"


class SizeClass(NamedTuple):
    """A class of launches; `str` and `parse` write and read it.

    Attributes:
        exponents: floor(log2) of each global extent.
        divisors: the largest power of two that divides each, but at most 2^15.
        local_size: as launched, in work-items; None where the device chooses it.
    """

    exponents: tuple[int, ...]
    divisors: tuple[int, ...]
    local_size: LocalSize | None

    @staticmethod
    def of(global_size: Sequence[int], local_size: Sequence[int] | None) -> SizeClass:
        """Return the class of a launch.

        Args:
            global_size: in work-items, one to three extents.
            local_size: in work-items, as many extents; None where the device chooses it.

        Raises:
            InvalidInputError: extents below 1, or not as many as there are dimensions.
        """
        extents = tuple(map(int, global_size))
        local = None if local_size is None else tuple(map(int, local_size))
        if not 1 <= len(extents) <= DIMENSIONS or (local is not None and len(local) != len(extents)):
            raise InvalidInputError(f"not the sizes of one launch: {extents} and {local}")
        if min(extents + (local or ())) < 1:
            raise InvalidInputError(f"a launch without work-items: {extents} and {local}")
        exponents = tuple(extent.bit_length() - 1 for extent in extents)
        return SizeClass(exponents, tuple(math.gcd(extent, _MOST_DIVISOR) for extent in extents), local)

    @staticmethod
    def parse(text: str) -> SizeClass:
        """Return the class that `str` wrote. Raises InvalidInputError for any other text."""
        found = re.fullmatch(_TEXT, text)
        if found is None:
            raise InvalidInputError(
                f"not a class of sizes, such as 2^10%32x2^8%16/16x16 or 2^20%4/open: {text[:60]!a}"
            )
        pairs = [tuple(map(int, each.removeprefix(_BASE).split("%"))) for each in found[1].split("x")]
        exponents, divisors = tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)
        if any(math.gcd(divisor, _MOST_DIVISOR) != divisor for divisor in divisors):
            raise InvalidInputError(f"a class of sizes with a divisor that is no power of two: {text!a}")
        local_size = None if found[2] == _OPEN else tuple(map(int, found[2].split("x")))
        if local_size is not None and len(local_size) != len(exponents):
            raise InvalidInputError(f"a class of sizes with different numbers of dimensions: {text!a}")
        return SizeClass(exponents, divisors, local_size)

    def __str__(self) -> str:
        pairs = zip(self.exponents, self.divisors, strict=True)
        extents = "x".join(f"{_BASE}{exponent}%{divisor}" for exponent, divisor in pairs)
        local_size = _OPEN if self.local_size is None else "x".join(map(str, self.local_size))
        return f"{extents}/{local_size}"
