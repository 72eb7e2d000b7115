"""The store's table of described inputs.

    with open_store() as store:
        store.inputs.put([described])
        store.inputs.of("adaptive-spmv")

What was measured with an input is found by its benchmark, preset and seed; this table only says what it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Engine, select

from coarsen.codec import decoded, encoded
from coarsen.opencl_bench.records.described_input import DescribedInput
from coarsen.opencl_bench.results.store.engine import Guard, writing
from coarsen.opencl_bench.results.store.schema import input_table
from coarsen.opencl_bench.results.store.schema import put_row


class InputTable:
    """Described inputs in an open store.

    All methods raise InvalidInputError, with one line, when the database fails or a row of it is damaged.

    Args:
        engine: of the store's database.
        guard: around each use of it.
    """

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard

    def put(self, inputs: Iterable[DescribedInput]) -> None:
        """Store inputs in one transaction, each in the place of the one of its benchmark, preset and seed."""
        # In one order for all writers, so that two of them never wait for each other.
        rows = sorted(({"key": each.key, **encoded(each)} for each in inputs), key=lambda row: str(row["key"]))
        with self._guard(), writing(self._engine).begin() as connection:
            for row in rows:
                put_row(connection, input_table, row)

    def of(self, benchmark: str) -> list[DescribedInput]:
        """Return the inputs of a benchmark, by preset and seed."""
        query = select(input_table).where(input_table.c.benchmark == benchmark).order_by(input_table.c.preset, input_table.c.seed)
        with self._guard(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
            return [_input_of({column.name: row._mapping[column] for column in input_table.c}) for row in rows]


def _input_of(row: dict[str, object]) -> DescribedInput:
    value = {name: entry for name, entry in row.items() if name != "key"}
    return decoded(DescribedInput, value, f"the input {str(row['key'])[:12]!a}")
