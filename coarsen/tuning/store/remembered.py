"""The store's table of remembered choices.

    with open_store() as store:
        store.remembered.put(choice)
        store.remembered.find(choice.key)

Every call is a transaction of its own, safe against other processes that do the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Engine, Row, and_, delete, func, or_, select

from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey
from coarsen.tuning.remembered.choice_json import choice_in_row, choice_to_json
from coarsen.tuning.store.connection import Guard, writing
from coarsen.tuning.store.schema import Filter, passes, put_row
from coarsen.tuning.store.schema import remembered as table

KEYS_AT_A_TIME = 500  # SQLite limits the number of values in one statement


EVERYTHING = Filter()


class RememberedTable:
    """Remembered choices in an open store.

    All methods raise InvalidInputError, with one line, when the database fails or a choice in it is damaged.

    Args:
        engine: of the store's database.
        guard: around each use of it.
    """

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard

    def put(self, choice: RememberedChoice) -> None:
        """Remember a choice, in the place of the one of its key."""
        row = choice_to_json(choice)
        with self._guard(), writing(self._engine).begin() as connection:
            put_row(connection, table, row)

    def put_later(self, choices: Iterable[RememberedChoice]) -> int:
        """Remember all choices but those whose place is taken by one that was found at the same time or later.

        A tuning without a result takes the place of none that has one, which takes its place however old it is.
        It is done in one transaction. Returns the number of choices that are remembered now and weren't before.
        """
        # In one order for all writers, so that two of them never wait for each other.
        rows = sorted(map(choice_to_json, choices), key=lambda row: str(row["key"]))
        with self._guard(), writing(self._engine).begin() as connection:
            return sum(put_row(connection, table, row, _is_better) for row in rows)

    def find(self, key: RememberedKey) -> RememberedChoice | None:
        """Return the choice of a key, None if there is none."""
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(select(table).where(table.c.key == key.digest)).one_or_none()
            return _choice_of(row) if row else None

    def choices(self, chosen: Filter = EVERYTHING) -> list[RememberedChoice]:
        """Return the choices that a filter lets through, by kernel, then in the order in which they were found."""
        order = (table.c.kernel, table.c.found_at, table.c.key)
        with self._guard(), self._engine.connect() as connection:
            rows = connection.execute(select(table).where(passes(chosen, table)).order_by(*order)).all()
            return [_choice_of(row) for row in rows]

    def keys(self, chosen: Filter = EVERYTHING) -> list[str]:
        """Return the keys of the choices that a filter lets through, in their order, damaged ones among them."""
        query = select(table.c.key).where(passes(chosen, table)).order_by(table.c.key)
        with self._guard(), self._engine.connect() as connection:
            return [str(key) for key in connection.execute(query).scalars()]

    def kernels(self) -> dict[str, int]:
        """Return the number of choices for each kernel, by its name, in the order of the names."""
        query = select(table.c.kernel, func.count()).group_by(table.c.kernel)
        with self._guard(), self._engine.connect() as connection:
            return dict(sorted((str(kernel), int(count)) for kernel, count in connection.execute(query)))

    def forget(self, chosen: Filter) -> int:
        """Remove the choices that a filter lets through; return their number."""
        with self._guard(), writing(self._engine).begin() as connection:
            return connection.execute(delete(table).where(passes(chosen, table))).rowcount

    def forget_keys(self, keys: Sequence[str]) -> int:
        """Remove the choices of these keys; return the number of those that were there."""
        removed = 0
        with self._guard(), writing(self._engine).begin() as connection:
            for start in range(0, len(keys), KEYS_AT_A_TIME):
                some = keys[start : start + KEYS_AT_A_TIME]
                removed += connection.execute(delete(table).where(table.c.key.in_(some))).rowcount
        return removed


def _is_better(new: Any, old: Any) -> ColumnElement[bool]:  # noqa: ANN401 (collections of columns)
    is_later = and_(new.found_at > old.found_at, or_(new.trials > 0, old.trials == 0))
    return or_(is_later, and_(new.trials > 0, old.trials == 0))


def _choice_of(row: Row[Any]) -> RememberedChoice:
    return choice_in_row({column.name: row._mapping[column] for column in table.c})
