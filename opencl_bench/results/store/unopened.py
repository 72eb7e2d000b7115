"""The remembered choices of a store that is not made by looking: for a look at what is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coarsen.opencl_bench.results.store.engine import engine_of, guard_of
from coarsen.opencl_bench.results.store.location import store_url
from coarsen.opencl_bench.results.store.remembered import RememberedTable


@contextmanager
def unopened_remembered(url: str | None) -> Iterator[RememberedTable]:
    """Connect to a store's table of remembered choices, which may not exist.

    Args:
        url: as for `open_store`.

    Raises:
        InvalidInputError: it is no URL of a database that is supported; the client library is missing.
    """
    place = store_url(url)
    engine = engine_of(place)
    try:
        yield RememberedTable(engine, guard_of(place))
    finally:
        engine.dispose()
