"""What `make test` leaves to the gate, and whose turn it is: no kernel goes without a device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import selection
from tests.devices.described_devices import TAHITI
from tests.selection import (
    FULL,
    Turn,
    choose_by_themselves,
    everything_is_asked_for,
    is_one_of_two,
    is_taken,
    needs_one_device,
    places,
    takes_turn,
    turns_by,
)
from tests.slow_tests import LISTED, slow_ones, slow_tests, times_of
from tests.working_devices import devices_that_work, short_name

ROOT = Path(__file__).parent.parent
DEVICES = ("intel", "pocl", "oclgrind")


@pytest.fixture(autouse=True)
def three_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the gate has."""
    there_are(monkeypatch, *DEVICES)


def there_are(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(selection, "places", lambda: {name: place for place, name in enumerate(names)})


def test_what_is_listed_as_slow_is_there() -> None:
    for name in slow_tests():
        file, function = name.split("::")
        assert f"def {function}(" in (ROOT / file).read_text(), f"{name} is no test: take it out of {LISTED.name}"


def test_lists_name_what_is_there() -> None:
    assert [path for path in choose_by_themselves() if not (ROOT / path).is_file()] == []
    places = (ROOT / "tests" / name for name in selection.ON_ONE_DEVICE)
    assert [path for path in places if not (path.is_dir() or path.with_suffix(".py").is_file())] == []
    for name in selection.GATE_EVERY:
        file, function = name.split("::")
        assert f"def {function}(" in (ROOT / "tests" / file).read_text(), f"{name} is no test"
    assert needs_one_device("tests/cli/test_apply.py") and not needs_one_device("tests/transform/test_guard.py")


@pytest.mark.parametrize("wanted", ["full", ""])
@pytest.mark.parametrize("count", range(1, 20))
def test_each_kernel_meets_each_device(monkeypatch: pytest.MonkeyPatch, wanted: str, count: int) -> None:
    monkeypatch.setenv(selection.FULL, wanted)
    kernels = [name for name in "abcdefgh" for _ in range(count)]
    for kernel in "abcdefgh":
        turns = [turn for name, turn in zip(kernels, turns_by(kernels), strict=True) if name == kernel]
        assert all(any(turn.is_for(device) for turn in turns) for device in DEVICES)


def test_in_the_gate_each_of_many_combinations_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(selection.FULL, "full")
    turns = turns_by(["a"] * 9 + ["b"] * 6)
    assert [[turn.is_for(device) for device in DEVICES].count(True) for turn in turns] == [1] * 15
    own = [turn.is_odd for turn in turns if turn.is_for("intel")]
    assert own == [False, True, False, True, False]


@pytest.mark.parametrize(("wanted", "every"), [("full", 3), ("all", 1), ("", 1)])
def test_of_the_slowest_the_gate_runs_some(monkeypatch: pytest.MonkeyPatch, wanted: str, every: int) -> None:
    monkeypatch.setenv(selection.FULL, wanted)
    slow = "transform/layouts/test_order_positions.py::test_the_same_elements_are_found"
    assert (
        selection.gate_every(f"tests/{slow}") == every and selection.gate_every("tests/test_codec.py::test_x") == 1
    )
    assert everything_is_asked_for() == bool(wanted)


@pytest.mark.parametrize("names", [DEVICES[:1], DEVICES[1:2], DEVICES[:2], DEVICES[1:], ("nvidia",)])
def test_fewer_devices_share_all_of_them(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    monkeypatch.setenv(selection.FULL, "full")
    there_are(monkeypatch, *names)
    turns = turns_by(["a"] * 9 + ["b"] * 6 + ["c"])
    takers = [[turn.is_for(device) for device in names].count(True) for turn in turns]
    assert takers[:15] == [1] * 15
    assert takers[15] == len(names), "a kernel's only combination is for each"
    for kernel in range(2):
        own = [turn for turn in turns if turn.kernel == kernel and turn.is_for(names[0])]
        assert {turn.is_odd for turn in own} == {False, True}


def test_one_of_two_is_taken_by_one_of_two_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {name: replace(TAHITI, platform_name=name) for name in DEVICES}

    def taken(name: str) -> list[int]:
        return [number for number in range(8) if is_one_of_two(number, described[name])]

    assert (taken("intel"), taken("pocl")) == ([0, 3, 5, 6], [1, 2, 4, 7])
    there_are(monkeypatch, "intel", "oclgrind")
    assert taken("intel") == list(range(8))


def test_a_device_takes_one_of_as_many_as_there_are_and_all_in_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    described = {name: replace(TAHITI, platform_name=name) for name in DEVICES}

    def takers(number: int) -> int:
        return sum(takes_turn(number, device) for device in described.values())

    monkeypatch.delenv(FULL, raising=False)
    assert {takers(number) for number in range(20)} == {1}
    monkeypatch.setenv(FULL, "full")
    assert {takers(number) for number in range(20)} == {3}
    monkeypatch.delenv(FULL)
    there_are(monkeypatch, "pocl")
    assert all(takes_turn(number, described["pocl"]) for number in range(20))


def test_devices_that_work_have_places_one_after_the_other() -> None:
    assert sorted(places().values()) == list(range(len(places())))
    assert set(places()) == {short_name(device) for device in devices_that_work()}


def test_one_of_many_is_taken_whatever_the_place() -> None:
    for every in (2, 3, 6):
        for start in range(0, 20 * every, every):
            for place in range(every):
                assert sum(is_taken(start + number, every, place) for number in range(every)) == 1
    assert [number for number in range(16) if is_taken(number, 2)] == [0, 3, 5, 6, 9, 10, 12, 15]


def test_few_combinations_need_not_have_one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(selection.FULL, raising=False)
    assert not any(Turn.of_some(1, 0, 1).is_for(device) for device in DEVICES)
    assert Turn(1, 0, 1).is_for("intel")


REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_slow[1]" time="2.0"/>
<testcase classname="tests.test_a" name="test_quick" time="0.1"/>
<testcase classname="tests.test_b" name="test_slower" time="2.5"/>
<testcase classname="tests.test_b" name="test_slow" time="1.5"/>
<testcase classname="tests.transform.test_suite" name="test_slow" time="{rest}"/>
{many}</testsuite></testsuites>"""
ONE = '<testcase classname="tests.test_c" name="test_many[{number}]" time="0.6"/>'


@pytest.mark.parametrize(("rest", "slow"), [(9989, True), (99989, False)])
def test_a_report_says_what_is_slow(tmp_path: Path, rest: int, slow: bool) -> None:
    path = tmp_path / "gate.xml"
    path.write_text(REPORT.format(rest=rest, many="\n".join(ONE.format(number=number) for number in range(8))))
    wanted = [
        "tests/test_a.py::test_slow",
        "tests/test_b.py::test_slow 4",
        "tests/test_b.py::test_slower",
        "tests/test_c.py::test_many 4",
    ]
    assert list(slow_ones(times_of(path))) == (wanted if slow else [])


def test_what_falls_to_a_device_that_can_not_take_it_goes_to_one_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FULL, "full")
    monkeypatch.setattr(selection, "places", lambda: {name: place for place, name in enumerate(DEVICES)})
    turns = [Turn(0, place, 30) for place in range(30)]
    for able in (DEVICES, ("pocl", "intel"), ("oclgrind",)):
        takers = [[name for name in DEVICES if turn.falls_to(name, able)] for turn in turns]
        assert all(len(each) == 1 and each[0] in able for each in takers)
        assert {name for each in takers for name in each} == set(able)
        own = [(turn, each) for turn, each in zip(turns, takers, strict=True) if turn.is_for(each[0])]
        assert len(own) == sum(any(turn.is_for(name) for name in able) for turn in turns)
    assert not any(turn.falls_to(name, ()) for turn in turns for name in DEVICES)
    monkeypatch.delenv(FULL)
    sampled = [turn for turn in turns if turn.falls_to("intel", ("pocl", "intel"))]
    assert sampled == [turn for turn in turns if turn.is_for("intel")]
