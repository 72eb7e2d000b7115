"""Which remembered choices the words of a command mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coarsen.cli.output import counted
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.printable import printable_in_line

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.store.database import Store

KEY_DIGITS = 12  # of a key, where it is shown in part
_NAMED = 4  # keys and kernels, in an error


def key_of(store: Store, prefix: str) -> str:
    """Return the one key that begins so. Raises InvalidInputError where there is none, or more than one."""
    from coarsen.opencl_bench.results.store.remembered import RememberedFilter

    if not prefix:
        raise InvalidInputError("a key has at least one letter; 'coarsen remembered ls' lists them")
    found = store.remembered.keys(RememberedFilter(key_prefix=prefix))
    if not found:
        raise InvalidInputError(f"no remembered choice's key begins with '{prefix}' in {store.location}")
    if len(found) > 1:
        names = ", ".join(key[: max(KEY_DIGITS, len(prefix) + 4)] for key in found[:_NAMED])
        raise InvalidInputError(f"the keys of {len(found)} choices begin with '{prefix}': {names}{_more(found)}")
    return found[0]


def every_key_of(store: Store, prefixes: Sequence[str]) -> list[str]:
    """Return the keys that begin so, each once. Raises InvalidInputError as `key_of` does."""
    return list(dict.fromkeys(key_of(store, prefix) for prefix in prefixes))


def nothing_to_forget(store: Store, kernel: str | None, device: str | None) -> InvalidInputError:
    """Return the error that says what is remembered, where none of it was meant."""
    kernels = store.remembered.kernels()
    if not kernels:
        return InvalidInputError(f"nothing is remembered in {store.location}")
    meant = [f"the kernel '{kernel}'"] if kernel is not None else []
    meant += [f"a device called '{device}'"] if device is not None else []
    names = ", ".join(f"{printable_in_line(name)} ({count})" for name, count in list(kernels.items())[:_NAMED])
    hint = did_you_mean(kernel, kernels) if kernel is not None and kernel not in kernels else ""
    return InvalidInputError(
        f"none of the {counted(sum(kernels.values()), 'choice')} in {store.location} is for "
        f"{' and '.join(meant)}{hint}: they are for {names}{_more(kernels)}"
    )


def _more(found: Sequence[str] | dict[str, int]) -> str:
    return f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
