"""The hint of a message about an unknown name: ` (did you mean sgemm?)`."""

from __future__ import annotations

from collections.abc import Iterable

# Of difflib's measure of likeness, 0 to 1: one wrong letter of three is still found.
_LIKENESS = 0.6
_HINTS = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names what is spelled almost so, upper and lower case alike; empty where nothing is.

    Args:
        name: what was given.
        known: the names that there are.
    """
    near = similar_names(name, known)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that are spelled almost so, upper and lower case alike, the nearest first.

    Args:
        name: what was given.
        known: the names that there are.
    """
    # Imported late: it takes longer to load than most programs need it.
    import difflib

    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.strip().casefold(), list(by_folded), _HINTS, _LIKENESS)
    return [by_folded[each] for each in near]
