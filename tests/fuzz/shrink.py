"""Shrinks a failing trial: takes any simpler one that fails in the same way, until none does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from tests.fuzz.attempt import Verdict
from tests.fuzz.trial import Trial
from tests.fuzz.variants import variants

Judge = Callable[[Trial], Verdict]
MAX_ATTEMPTS = 600


def shrink(trial: Trial, judge: Judge, max_attempts: int = MAX_ATTEMPTS) -> Trial:
    """The smallest trial found that fails as this one does, after at most so many attempts.

    Having found a simpler one it goes on with that one's variants from where it was: what was in vain before
    mostly is again. It starts anew as long as it has found anything since it last did.
    """
    kind = judge(trial).kind
    left, position, found = max_attempts, 0, False
    while left:
        simpler = next(islice(variants(trial), position, None), None)
        if simpler is None and not found:
            break
        if simpler is None:
            position, found = 0, False
            continue
        left -= 1
        if judge(simpler).kind == kind:
            trial, found = simpler, True
        else:
            position += 1
    return trial
