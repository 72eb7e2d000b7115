"""Runs in several processes: handed over as they end, with one thread of linear algebra each."""

from __future__ import annotations

import importlib

import pytest
from threadpoolctl import threadpool_info

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.replay_processes import as_they_end, one_thread


def threads(_: int) -> list[int]:
    """The number of threads of each library that has its own, some of them loaded only now."""
    importlib.import_module("sklearn.gaussian_process")
    return [library["num_threads"] for library in threadpool_info()]


def refuse(number: int) -> int:
    if number == 1:
        raise InvalidInputError("not this one")
    return number


@pytest.mark.parametrize("processes", [1, 2])
def test_each_run_has_one_thread(processes: int) -> None:
    found = dict(as_they_end(threads, [0, 1], processes))
    assert found.keys() == {0, 1}
    assert all(counts and set(counts) == {1} for counts in found.values())


def test_the_limit_ends_with_the_context() -> None:
    before = threads(0)
    with one_thread():
        assert set(threads(0)) == {1}
    assert threads(0) == before


def test_what_a_run_raises_is_raised() -> None:
    with pytest.raises(InvalidInputError, match="not this one"):
        list(as_they_end(refuse, [0, 1, 2], 2))


def test_runs_are_handed_over_one_at_a_time() -> None:
    runs = as_they_end(refuse, [0, 1], 1)
    assert next(runs) == (0, 0)
