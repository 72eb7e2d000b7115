"""Checks of what users pass to the functions that they call."""

from __future__ import annotations

from coarsen.errors import InvalidInputError


def check_type(argument: str, value: object, types: tuple[type, ...], wanted: str) -> None:
    """Raise InvalidInputError, naming the argument and what is wanted, for a value of another type."""
    if not isinstance(value, types):
        raise InvalidInputError(f"{argument} is {wanted}, not {value!r}")
