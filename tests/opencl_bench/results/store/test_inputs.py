"""Inputs are described in a table of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.described_input import DescribedInput
from coarsen.tuning.store.connection import engine_of, store_url
from coarsen.tuning.store.database import open_store

WIDE = DescribedInput("spmv", "input-002", 0, (("rows", 64), ("skew", 500)), (("rows", 64.0), ("spread", 0.25)))
THIN = replace(WIDE, preset="input-001", parameters=(("rows", 1 << 20), ("skew", 0)))


def test_inputs_are_found_by_their_benchmark(url: str) -> None:
    with open_store(url) as store:
        store.inputs.put([WIDE, THIN, replace(WIDE, benchmark="other")])
        assert store.inputs.of("spmv") == [THIN, WIDE]
        assert store.inputs.of("none") == []


def test_a_description_takes_the_place_of_the_one_before(url: str) -> None:
    again = replace(WIDE, features=())
    with open_store(url) as store:
        store.inputs.put([WIDE, replace(WIDE, seed=1)])
        store.inputs.put([again])
        assert store.inputs.of("spmv") == [again, replace(WIDE, seed=1)]


def test_a_damaged_description_is_one_line(url: str) -> None:
    with open_store(url) as store:
        store.inputs.put([WIDE])
        with engine_of(store_url(url)).begin() as connection:
            connection.execute(text("UPDATE input SET parameters = '{}'"))
        with pytest.raises(InvalidInputError, match=r"the field 'parameters' of the input '.+' must be a list"):
            store.inputs.of("spmv")
