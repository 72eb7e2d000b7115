"""Searches of folds and plans of kernels, kept in a file: whoever makes the same choices again need not make them.

    {"search": "5e88…", "ending": "…", "trace": […]}     a search, by the SHA-256 of all that it depends on
    {"plan": "71bc…", "left_out": {…}, …}                all choices of a kernel, likewise (`kept_plans.py`)

Files may be joined line by line. The program is not among what a search depends on: after a change of a searcher,
begin another file. It is among what a plan depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.kept_lines import KeptLines
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.found import Found, fastest

SEARCH, PLAN = "search", "plan"


class KeptSearches(MutableMapping[str, Found]):
    """Results of searches by their keys (`stage_one_replay.search_key`), and plans; each is written as it comes.

    Args:
        path: of the file; it need not be there yet.

    Attributes:
        plans: the plans of kernels that are kept, by their keys.

    Raises:
        InvalidInputError: the file can't be read or written, or holds something else.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._lines = KeptLines(path, (SEARCH, PLAN))
            self._found = dict(_read(line) for line in self._lines.found if SEARCH in line)
            self.plans = {str(line[PLAN]): line for line in self._lines.found if PLAN in line}
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(f"{path}: it keeps no searches: {error}; name another file") from None

    def __getitem__(self, key: str) -> Found:
        """Return the result of a search. Raises KeyError."""
        return self._found[key]

    def __setitem__(self, key: str, found: Found) -> None:
        """Keep the result of a search; its notes are left out."""
        trace = [[trial.choice, trial.time] for trial in found.trace]
        self._lines.add({SEARCH: key, "ending": found.ending, "trace": trace})
        self._found[key] = found

    def __delitem__(self, key: str) -> None:
        """Forget a search, but for what the file has of it."""
        del self._found[key]

    def __iter__(self) -> Iterator[str]:
        """Enumerate the keys of the searches."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return the number of searches."""
        return len(self._found)

    def keep_plan(self, key: str, plan: Mapping[str, Any]) -> None:
        """Keep the choices of a kernel.

        Args:
            key: of all that they depend on.
            plan: as JSON takes it.
        """
        self._lines.add({PLAN: key, **plan})
        self.plans[key] = {PLAN: key, **plan}


def _read(line: Mapping[str, Any]) -> tuple[str, Found]:
    trace = tuple(Trial(tuple(choice), time) for choice, time in line["trace"])
    return str(line[SEARCH]), Found(fastest(trace), trace, str(line["ending"]))
