"""What is expected of choices before anything is measured, and the order in which it says to try them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from coarsen.opencl_bench.search.spaces import Choice

# Expects the logarithm of a choice's time; differences between choices count alone.
Prior = Callable[[Choice], float]
# Expected log times nearer to each other than this many decimals tell are taken to be equal.
_DECIMALS = 6


def promising_first(choices: Sequence[Choice], prior: Prior) -> list[Choice]:
    """Return choices in the order in which to try them: one of each expected time, least first, then a second.

    A prior that knows little expects the same of many choices. The best ones would otherwise be all those that
    differ from one in what it does not know of.

    Args:
        choices: in the order in which those of the same expected time are taken.
        prior: what is expected.
    """
    alike: dict[float, list[Choice]] = {}
    for choice in choices:
        alike.setdefault(round(prior(choice), _DECIMALS), []).append(choice)
    turns = itertools.zip_longest(*(alike[expected] for expected in sorted(alike)))
    return [choice for turn in turns for choice in turn if choice is not None]
