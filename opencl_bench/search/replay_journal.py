"""A file that each run of a replay is added to at its end, so that an interruption costs the last one alone.

A run is a line of JSON. A line that was cut off when the machine went down is passed over: its run is done again.
Runs of other spaces, budgets or versions of a searcher may be in the same file; see `replay_origin.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coarsen.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.files import read_file
from coarsen.opencl_bench.search.replay_run import Run

_SUFFIX = ".runs.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, and what it is of.

    Attributes:
        origin: of all that decides the run.
        space: the name of the table.
        searcher: its name.
        seed: of the run.
        run: what was tried.
    """

    origin: str
    space: str
    searcher: str
    seed: int
    run: Run


@dataclass(frozen=True, slots=True)
class Journal:
    """The file of the finished runs.

    Attributes:
        path: of the file, which need not exist.
    """

    path: Path

    @classmethod
    def beside(cls, rows: Path) -> Journal:
        """Return the journal of a file of rows: `quality.parquet` has `quality.runs.jsonl`."""
        return cls(rows.with_suffix(_SUFFIX))

    def runs(self) -> dict[str, Run]:
        """Return the runs by origin; of none where there is no file.

        Raises:
            InvalidInputError: the file can't be read, or has a line that is something else.
        """
        return {entry.origin: entry.run for entry in self._entries()} if self.path.exists() else {}

    def add(self, entry: Entry) -> None:
        """Add a run at the end.

        Raises:
            InvalidInputError: the file can't be written.
        """
        line = json.dumps(encoded(entry), separators=(",", ":"), allow_nan=False)
        try:
            with self.path.open("a+b") as file:
                # In one write, so that two processes that use the same file don't mix their lines.
                file.write(f"{'' if _ends_a_line(self.path) else chr(10)}{line}\n".encode())
        except OSError as error:
            raise InvalidInputError(f"{self.path}: can't be written: {error.strerror}") from None

    def _entries(self) -> Iterator[Entry]:
        for number, line in enumerate(read_file(self.path).splitlines(), 1):
            try:
                value = json.loads(line)
            except ValueError:
                continue  # cut off, or empty
            yield decoded(Entry, value, f"{self.path}, line {number}: the run")


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"
