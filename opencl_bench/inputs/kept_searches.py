"""Searches of folds, kept in a file: whoever makes the same choices again need not search again.

A line of JSON for each search: the SHA-256 of all that it depends on, and what it tried. The program itself is not
among that: after a change of a searcher, begin another file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, MutableMapping
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.found import Found, fastest


class KeptSearches(MutableMapping[Hashable, Found]):
    """Results of searches by all that they depend on; each is written as it comes.

    Args:
        path: of the file; it need not be there yet.

    Raises:
        InvalidInputError: the file can't be read or written, or holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.touch()
            lines = path.read_text(encoding="utf-8").splitlines()
            self._found = dict(map(_read, lines))
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(f"{path}: it keeps no searches: {error}; name another file") from None

    def __getitem__(self, key: Hashable) -> Found:
        """Return the result of a search. Raises KeyError."""
        return self._found[_digest(key)]

    def __setitem__(self, key: Hashable, found: Found) -> None:
        """Keep the result of a search; its notes are left out."""
        trace = [[trial.choice, trial.time] for trial in found.trace]
        line = json.dumps({"search": _digest(key), "ending": found.ending, "trace": trace})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        self._found[_digest(key)] = found

    def __delitem__(self, key: Hashable) -> None:
        """Forget a search, but for what the file has of it."""
        del self._found[_digest(key)]

    def __iter__(self) -> Iterator[Hashable]:
        """Enumerate the digests of the searches."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return the number of searches."""
        return len(self._found)


def _digest(key: Hashable) -> str:
    return hashlib.sha256(repr(key).encode()).hexdigest()


def _read(line: str) -> tuple[str, Found]:
    kept = json.loads(line)
    trace = tuple(Trial(tuple(choice), time) for choice, time in kept["trace"])
    return str(kept["search"]), Found(fastest(trace), trace, str(kept["ending"]))
