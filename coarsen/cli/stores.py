"""Opening the store for commands that show, copy or remove what is in it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from coarsen.cli.declared import option
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.tuning.records.measurement import Measurement
    from coarsen.tuning.remembered.choice import RememberedChoice
    from coarsen.tuning.store.database import Store

STORE_PACKAGES = ("sqlalchemy",)
# Keys are shown in part: twelve hexadecimal digits tell more rows apart than any store has.
KEY_DIGITS = 12
_NAMED_KEYS = 4  # in an error


def store_option() -> Any:  # noqa: ANN401 (as `field`)
    """Return the option that names a store."""
    return option(
        "The store of rows, an SQLite file.  [default: $COARSEN_STORE, or a file in the user's data folder]",
        "FILE",
        "--store",
    )


def check_packages(
    packages: Iterable[str] = STORE_PACKAGES, what: str = "the store of results", extra: str = "bench"
) -> None:
    """Raise InvalidInputError unless packages are installed that something needs; `extra` of coarsen has them."""
    if any(importlib.util.find_spec(package) is None for package in packages):
        raise InvalidInputError(f"{what} needs more packages: pip install 'coarsen[{extra}]'")


def existing_store(text: str | None, packages: Iterable[str] = STORE_PACKAGES) -> Store:
    """Open a store that is there.

    Args:
        text: its file; None: the default one.
        packages: that the command needs.

    Raises:
        InvalidInputError: there is none, it can't be opened, or a package is missing.
    """
    check_packages(packages)
    # Imported late: it loads SQLAlchemy, which may not be installed.
    from coarsen.tuning.store.database import open_existing_store

    return open_existing_store(text)


def row_or_choice(store: Store, prefix: str) -> tuple[Measurement | None, RememberedChoice | None]:
    """Return the row, or the choice, whose key begins so. Raises InvalidInputError unless it is just one."""
    from coarsen.tuning.store.schema import Filter

    rows = choices = Filter(key_prefix=prefix)
    found = (
        [row for row, _ in zip(store.measurements(rows), range(_NAMED_KEYS + 1), strict=False)] if prefix else []
    )
    kept = store.remembered.choices(choices) if prefix else []
    keys = [*(row.key for row in found), *(each.key.digest for each in kept)]
    _check_one(keys, prefix, store, store.count(rows) + len(kept) if keys else 0)
    return (found[0], None) if found else (None, kept[0])


def choice_key(store: Store, prefix: str) -> str:
    """Return the choice's key that begins so. Raises InvalidInputError unless it is just one."""
    from coarsen.tuning.store.schema import Filter

    found = store.remembered.keys(Filter(key_prefix=prefix)) if prefix else []
    _check_one(found, prefix, store, len(found))
    return found[0]


def _check_one(keys: Sequence[str], prefix: str, store: Store, count: int) -> None:
    if not prefix:
        raise InvalidInputError("a key has at least one letter; 'coarsen results ls' lists them")
    if not keys:
        raise InvalidInputError(f"no key begins with '{prefix}' in {store.location}")
    if count > 1:
        names = ", ".join(key[: max(KEY_DIGITS, len(prefix) + 4)] for key in keys[:_NAMED_KEYS])
        more = f" and {count - _NAMED_KEYS} more" if count > _NAMED_KEYS else ""
        raise InvalidInputError(f"{count} keys begin with '{prefix}': {names}{more}")
