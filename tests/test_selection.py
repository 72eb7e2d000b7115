"""What `make test` leaves to the gate, and whose turn it is: no kernel goes without a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import selection
from tests.selection import PLACES, Turn, choose_by_themselves, is_taken, needs_one_device, turns_by
from tests.slow_tests import LISTED, slow_ones, slow_tests, times_of

ROOT = Path(__file__).parent.parent


def test_what_is_listed_as_slow_is_there() -> None:
    for name in slow_tests():
        file, function = name.split("::")
        assert f"def {function}(" in (ROOT / file).read_text(), f"{name} is no test: take it out of {LISTED.name}"


def test_lists_name_what_is_there() -> None:
    assert [path for path in choose_by_themselves() if not (ROOT / path).is_file()] == []
    folders = (f"tests/{name}/" for name in selection.ON_ONE_DEVICE)
    assert [path for path in folders if not (ROOT / path).is_dir()] == []
    assert needs_one_device("tests/cli/test_apply.py") and not needs_one_device("tests/transform/test_guard.py")


@pytest.mark.parametrize("wanted", ["full", ""])
@pytest.mark.parametrize("count", range(1, 20))
def test_each_kernel_meets_each_device(monkeypatch: pytest.MonkeyPatch, wanted: str, count: int) -> None:
    monkeypatch.setenv(selection.FULL, wanted)
    kernels = [name for name in "abcdefgh" for _ in range(count)]
    for kernel in "abcdefgh":
        turns = [turn for name, turn in zip(kernels, turns_by(kernels), strict=True) if name == kernel]
        assert all(any(turn.is_for(device) for turn in turns) for device in PLACES)


def test_in_the_gate_each_of_many_combinations_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(selection.FULL, "full")
    turns = turns_by(["a"] * 9 + ["b"] * 6)
    assert [[turn.is_for(device) for device in PLACES].count(True) for turn in turns] == [1] * 15
    own = [turn.is_odd for turn in turns if turn.is_for("intel")]
    assert own == [False, True, False, True, False]


def test_one_of_many_is_taken_whatever_the_place() -> None:
    for every in (2, 3, 6):
        for start in range(0, 20 * every, every):
            for place in range(every):
                assert sum(is_taken(start + number, every, place) for number in range(every)) == 1
    assert [number for number in range(16) if is_taken(number, 2)] == [0, 3, 5, 6, 9, 10, 12, 15]


def test_few_combinations_need_not_have_one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(selection.FULL, raising=False)
    assert not any(Turn.of_some(1, 0, 1).is_for(device) for device in PLACES)
    assert Turn(1, 0, 1).is_for("intel")


REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_slow[1]" time="2.0"/>
<testcase classname="tests.test_a" name="test_quick" time="0.1"/>
<testcase classname="tests.test_b" name="test_slower" time="2.5"/>
<testcase classname="tests.test_b" name="test_slow" time="1.5"/>
<testcase classname="tests.transform.test_suite" name="test_slow" time="1.5"/>
{many}</testsuite></testsuites>"""
ONE = '<testcase classname="tests.test_c" name="test_many[{number}]" time="0.6"/>'


def test_a_report_says_what_is_slow(tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    path.write_text(REPORT.format(many="\n".join(ONE.format(number=number) for number in range(8))))
    assert list(slow_ones(times_of(path))) == [
        "tests/test_a.py::test_slow",
        "tests/test_b.py::test_slower",
        "tests/test_c.py::test_many 4",
    ]
