"""A plugin of pytest that runs another project's tests with a `coarsen.Program` for every `pyopencl.Program`.

    python -m pytest -p coarsen.opencl_bench.studies.suite_plugin --coarsen-mode factor-2 \
        --coarsen-rows rows.json --coarsen-sample 12 test_array.py

It writes what became of each test; `suite_rows` compares two such runs. A sample is, of each file, the first so
many tests in an order that is random, and the same in every run and on every device. Tests that the rows have
already are left out, so that a run that was cut off goes on.
"""

from __future__ import annotations

import random
import re
import resource
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyopencl

from coarsen.drop_in.program import Program
from coarsen.errors import RefusalError
from coarsen.opencl_bench.studies.suite_rows import Rows, SuiteTest, read_rows, write_rows
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.original_launch import OriginalLaunch

if TYPE_CHECKING:
    import pytest

_SEED = 20261122
# The options of `coarsen.Program` in each mode; None for PyOpenCL's own programs.
MODES: Mapping[str, Mapping[str, Any] | None] = {
    "none": None,
    "predicted": {"tune": "predict"},
    "factor-2": {"factor": 2},
    "factor-4-groups": {"factor": 4, "level": "group"},
    "tuned": {"tune": Tune(seconds=30, trials=6)},
    "remembered": {"tune": "remembered"},
}
# PyOpenCL's tests have the device in their names.
_DEVICE = re.compile(r"<context factory for.*?>>-?")


class SuiteRun:
    """One run: the rows, and the test that runs at present."""

    def __init__(self, path: Path | None, sample: int | None) -> None:
        self._path = path
        self._sample = sample
        self._rows: Rows = read_rows(path) if path is not None and path.exists() else {}
        self._current = SuiteTest()
        self._begun = 0.0

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        """Count a launch, as `LaunchObserver` has it."""
        self._current.launches += 1
        self._current.coarsened += bool(divided.coarsenings or divided.regrouped)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the sample, without the tests that have a row."""
        items[:] = [item for item in sampled(items, self._sample) if name_of(item) not in self._rows]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a row."""
        self._rows[name_of(item)] = self._current = SuiteTest()
        self._begun = _seconds()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended; where its preparation or its end failed, that."""
        if report.when == "call" or report.outcome != "passed":
            self._current.outcome = _outcome(report)

    def pytest_runtest_logfinish(self) -> None:
        """Write the rows: a crash of the next test loses none."""
        self._current.seconds = _seconds() - self._begun
        if self._path is not None:
            write_rows(self._rows, self._path)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add this plugin's options."""
    group = parser.getgroup("coarsen")
    group.addoption("--coarsen-mode", choices=MODES, default="predicted", help="how programs are coarsened")
    group.addoption("--coarsen-rows", type=Path, help="the file that the outcomes are written to")
    group.addoption("--coarsen-sample", type=int, help="so many tests of each file; all if left out")


def pytest_configure(config: pytest.Config) -> None:
    """Give the name `pyopencl.Program` to ours, before a test is imported."""
    run = SuiteRun(config.getoption("--coarsen-rows"), config.getoption("--coarsen-sample"))
    config.pluginmanager.register(run)
    options = MODES[config.getoption("--coarsen-mode")]
    if options is not None:
        vars(pyopencl)["Program"] = _class_of_programs(options, run)


def _class_of_programs(options: Mapping[str, Any], run: SuiteRun) -> type[Program]:
    """Return a class that stands for PyOpenCL's, also where an object's class is asked for."""
    plain = pyopencl.Program

    class ClassOfPrograms(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

    class SuiteProgram(Program, metaclass=ClassOfPrograms):
        def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (whatever PyOpenCL takes)
            untyped: Any = super().__init__
            untyped(*arguments, **named, **options, observer=run)

        def build(self, *arguments: Any, **named: Any) -> SuiteProgram:  # noqa: ANN401
            try:
                return super().build(*arguments, **named)
            except RefusalError:
                # PyOpenCL has built it, and no kernel of it can be coarsened.
                return self

    return SuiteProgram


def sampled(items: Sequence[pytest.Item], most: int | None) -> list[pytest.Item]:
    """Return the first tests of each file in a random order that is always the same; all if `most` is None."""
    if most is None:
        return list(items)
    files: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item)
    kept: list[pytest.Item] = []
    for file, members in files.items():
        ordered = sorted(members, key=name_of)
        random.Random(f"{_SEED} {file}").shuffle(ordered)
        kept += ordered[:most]
    return kept


def name_of(item: pytest.Item) -> str:
    """Return the name of a test without its device."""
    return _DEVICE.sub("", item.nodeid)


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.outcome == "skipped" else "xpassed"
    return "error" if report.outcome == "failed" and report.when != "call" else report.outcome


def _seconds() -> float:
    """Return the processor time of this process, and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
