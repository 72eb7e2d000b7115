"""How far the numbers of a profile can be trusted: those that were not the same from one run to the next."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from coarsen.models.analytic.machine import DeviceProfile, Point, Quantity

# On a machine that does nothing else nearly all numbers spread by less.
UNSTEADY_SPREAD = 0.25
_BEARABLE_SHARE = 0.2


def busy_remark(profile: DeviceProfile) -> str | None:
    """Return one line about a calibration that other work disturbed.

    None where at most a fifth of its numbers spread.
    """
    spreads = list(_spreads(profile))
    unsteady = sum(spread > UNSTEADY_SPREAD for spread in spreads)
    if not spreads or unsteady <= _BEARABLE_SHARE * len(spreads):
        return None
    return (
        f"{unsteady} of {len(spreads)} numbers changed by more than {UNSTEADY_SPREAD:.0%} from run to run: "
        "something else used the device; calibrate again when nothing does"
    )


def _spreads(value: object) -> Iterator[float]:
    """The spreads of all measured numbers in a value."""
    if isinstance(value, Quantity | Point):
        if value.spread is not None:
            yield value.spread
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _spreads(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _spreads(tuple(value.values()))
    elif isinstance(value, tuple):
        for each in value:
            yield from _spreads(each)
