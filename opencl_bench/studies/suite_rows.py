"""The outcomes of another project's tests, and in what two runs of them differ.

    python -m coarsen.opencl_bench.studies.suite_rows WITHOUT.json WITH.json

Rows are written by `suite_plugin`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class SuiteTest:
    """One test of a run.

    Attributes:
        outcome: "passed", "failed", "error", "skipped", "xfailed" or "xpassed"; empty while it runs.
        seconds: processor time, that of its child processes included.
        launches: kernels launched.
        coarsened: those of them that did not run as the test launched them.
    """

    outcome: str = ""
    seconds: float = 0.0
    launches: int = 0
    coarsened: int = 0


Rows = dict[str, SuiteTest]


def write_rows(rows: Mapping[str, SuiteTest], path: Path) -> None:
    """Write rows as JSON, by the tests' names."""
    path.write_text(json.dumps({name: asdict(row) for name, row in rows.items()}, indent=1), encoding="utf-8")


def read_rows(path: Path) -> Rows:
    """Read what `write_rows` wrote."""
    read: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: SuiteTest(**row) for name, row in read.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of the same tests.

    Attributes:
        outcomes: of the run with coarsened programs, counted.
        differing: the tests that ended otherwise, with both outcomes.
        seconds: processor time with and without.
        launches: those coarsened, and all.
    """

    outcomes: Mapping[str, int]
    differing: Mapping[str, tuple[str, str]]
    seconds: tuple[float, float]
    launches: tuple[int, int]

    def __str__(self) -> str:
        ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        times = "{:.1f} s, {:.1f} s without".format(*self.seconds)
        lines = [f"{ended}; {times}; {self.launches[0]} of {self.launches[1]} launches coarsened"]
        lines += [f"{name}: {now}, without {before}" for name, (now, before) in self.differing.items()]
        return "\n".join(lines)


def compared(without: Mapping[str, SuiteTest], with_it: Mapping[str, SuiteTest]) -> Comparison:
    """Compare the tests that both runs have."""
    names = [name for name in with_it if name in without]
    return Comparison(
        outcomes=Counter(with_it[name].outcome for name in names),
        differing={
            name: (with_it[name].outcome, without[name].outcome)
            for name in names
            if with_it[name].outcome != without[name].outcome
        },
        seconds=(
            sum(with_it[name].seconds for name in names),
            sum(without[name].seconds for name in names),
        ),
        launches=(
            sum(with_it[name].coarsened for name in names),
            sum(with_it[name].launches for name in names),
        ),
    )


def main() -> int:
    """Print in what two runs differ; return 1 if any test ended otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("without", type=Path, help="rows of the run without coarsened programs")
    parser.add_argument("with_it", type=Path, metavar="with", help="rows of the run with them")
    words = parser.parse_args()
    comparison = compared(read_rows(words.without), read_rows(words.with_it))
    print(comparison)
    return 1 if comparison.differing else 0


if __name__ == "__main__":
    sys.exit(main())
