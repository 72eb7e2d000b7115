"""Every test of a store runs in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coarsen.tuning.store.database import Store, open_store


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be created, in either database."""
    if request.param == "sqlite":
        return str(tmp_path / "results.sqlite")
    return str(request.getfixturevalue("postgresql_database"))


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A new store."""
    with open_store(url) as opened:
        yield opened
