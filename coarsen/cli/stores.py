"""Opening the store for commands that show, copy or remove what is in it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.store.database import Store

STORE_PACKAGES = ("sqlalchemy",)


def check_packages(packages: Iterable[str] = STORE_PACKAGES) -> None:
    """Raise InvalidInputError, saying how to install them, unless these packages are installed."""
    if any(importlib.util.find_spec(package) is None for package in packages):
        raise InvalidInputError("the store of results needs more packages: pip install 'coarsen[bench]'")


def existing_store(text: str | None, packages: Iterable[str] = STORE_PACKAGES) -> Store:
    """Open a store that is there.

    Args:
        text: its URL or file; None: the default one.
        packages: that the command needs.

    Raises:
        InvalidInputError: there is none, it can't be opened, or a package is missing.
    """
    check_packages(packages)
    # Imported late: it loads SQLAlchemy, which may not be installed.
    from coarsen.opencl_bench.results.store.database import open_existing_store

    return open_existing_store(text)
