"""The policy that takes what is remembered of the nearest size: `coarsen.Program(…, tuned="remembered")`.

Of a tuning the best variant is remembered, and not the times of others: where one overtakes another between two
sizes isn't known. What is remembered is read and built with the program; about a kernel of which nothing is
remembered another policy decides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from coarsen.policy.remembered import Remembered, reason_for
from coarsen.runtime.advice import Decision, LaunchRequest
from coarsen.runtime.launch import Sizes
from coarsen.tuning.remembered.choice import RememberedChoice
from coarsen.tuning.settings import Tune
from coarsen.variant.variant import Variant

# How many times as large, or as small, a size may be as any that is remembered.
FURTHEST = 4


class Nearest(Remembered):
    """Decides as is remembered of the nearest size that was tuned with the same local size."""

    def __init__(self, settings: Tune) -> None:
        super().__init__(settings)
        self._choices: dict[Hashable, list[RememberedChoice]] = {}

    def choices(self, request: LaunchRequest) -> list[RememberedChoice]:
        """As `Remembered.choices`, read once."""
        key = request.source, request.options, request.kernel, request.launch.device.int_ptr
        if key not in self._choices:
            self._choices[key] = super().choices(request)
        return self._choices[key]

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return what is remembered of the nearest size; None for a kernel of which nothing is."""
        choices = self.choices(request)
        if not choices:
            return None
        nearest = nearest_choice(choices, request.launch.global_size, request.launch.local_size)
        if nearest is None:
            return Decision(Variant(), "nothing is remembered of launches of about these sizes")
        origin = f"remembered of the global size {nearest.global_size}, from {nearest.found_at[:10]}"
        return Decision(nearest.variant, reason_for(nearest, origin), is_exact=True)


def nearest_choice(
    choices: Sequence[RememberedChoice], global_size: Sizes, local_size: Sizes | None
) -> RememberedChoice | None:
    """Return the choice for the nearest size (of logarithms) with the same local size.

    Args:
        choices: the latest first.
        global_size: of a launch, in work-items.
        local_size: likewise; None where it is left to the driver.

    Returns:
        None where no choice has this local size, or an extent is more than `FURTHEST` times as large, or as small,
        as in any of them.
    """
    wanted, local = _in_three_dimensions(global_size), local_size and _in_three_dimensions(local_size)
    alike = {
        _in_three_dimensions(choice.global_size): choice
        for choice in reversed(choices)
        if (own := choice.key.size_class.local_size) == local_size or (own and _in_three_dimensions(own) == local)
    }
    known = [*zip(*alike, strict=True)]
    for extent, extents in zip(wanted, known, strict=False):
        is_flat = max(extents) == 1
        if extent * FURTHEST < min(extents) or extent > (1 if is_flat else FURTHEST * max(extents)):
            return None

    def distance(sizes: Sizes) -> tuple[float, Sizes]:
        return sum(math.log(one / other) ** 2 for one, other in zip(sizes, wanted, strict=True)), sizes

    return alike[min(alike, key=distance)] if alike else None


def _in_three_dimensions(sizes: Sizes) -> Sizes:
    return (*sizes, *[1] * (3 - len(sizes)))
