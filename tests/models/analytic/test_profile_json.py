"""Profiles as files: they come back as they were, and bad ones are refused in one line."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import (
    SHIPPED,
    DeviceProfile,
    Point,
    Source,
    find_profile,
    interpolated,
    profile_from_json,
    profile_name,
    profile_to_json,
    read_profile,
    write_profile,
)
from tests.models.analytic.profiles import PROFILE


def test_a_profile_comes_back_from_its_file(tmp_path: Path) -> None:
    write_profile(PROFILE, tmp_path / "nowhere.json")
    assert read_profile(tmp_path / "nowhere.json") == PROFILE
    assert find_profile(str(tmp_path / "nowhere.json")) == PROFILE


def test_what_is_not_known_may_be_missing(tmp_path: Path) -> None:
    bare = DeviceProfile(
        name="bare",
        device="Bare",
        vendor="",
        platform="",
        driver="",
        is_gpu=False,
        source=Source("published", "2012-01-01", "a leaflet"),
        compute_units=1,
    )
    assert profile_from_json(profile_to_json(bare), "bare") == bare


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("format",), "something else", "this is no device profile"),
        (("version",), 99, "format 99"),
        (("compute_units",), 0, "compute_units must be above 0"),
        (("compute_units",), True, "'compute_units' of the profile must be a whole number"),
        (("clock",), "fast", "'clock' of the profile must be a number"),
        (("clock",), 10**400, "the profile is damaged"),
        (("bandwidth", 1, "at"), 1.0, "bandwidth must be in rising order"),
        (("bandwidth", 0, "value"), 0, r"bandwidth\[0\].value must be above 0"),
        (("levels", 0, "bandwidth"), float("nan"), "'bandwidth' of the profile's levels must be a number"),
        (("rates",), [], "'rates' of the profile must be an object"),
        (("rates", "float", "throughput"), 3, "the profile's rates's throughput is not a JSON object"),
        (("launch", "gap", "value"), -1, "gap.value must be a number of at least 0"),
        (("launch", "naps"), {}, "the profile's launch has an unknown field 'naps'"),
        (("source", "kind"), "guessed", "'kind' of the profile's source must be one of measured, published"),
        (("is_gpu",), None, "'is_gpu' of the profile must be true or false"),
        (("unheard",), 1, "the profile has an unknown field 'unheard'"),
    ],
)
def test_a_bad_profile_is_refused(place: tuple[Any, ...], value: object, message: str) -> None:
    data = copy.deepcopy(profile_to_json(PROFILE))
    inside: Any = data
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(InvalidInputError, match=message) as error:
        profile_from_json(data, "bad.json")
    assert "\n" not in str(error.value) and str(error.value).startswith("bad.json: ")


@pytest.mark.parametrize("content", ["", "[]", "null", "{", '"text"', "\xff", "[" * 100_000])
def test_a_file_that_is_no_profile(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InvalidInputError, match="this is no device profile"):
        read_profile(path)


def test_a_name_that_is_no_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(InvalidInputError, match="there is no profile 'nothing'"):
        find_profile("nothing")


def test_the_users_own_profile_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "coarsen" / "profiles"
    folder.mkdir(parents=True)
    own = replace(PROFILE, name="pocl")
    write_profile(own, folder / "pocl.json")
    assert find_profile("pocl") == own


def test_names_of_profiles() -> None:
    assert profile_name("NVIDIA H200 (PCIe)") == "nvidia-h200-pcie"
    assert profile_name("…") == "device"


def test_every_shipped_profile_can_be_read() -> None:
    for path in SHIPPED.glob("*.json"):
        profile = read_profile(path)
        assert profile.name == path.stem
        assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1


def test_a_curve_between_its_points() -> None:
    curve = (Point(1.0, 10.0), Point(4.0, 40.0))
    assert [interpolated(curve, at) for at in (0, 1, 2, 4, 9)] == pytest.approx([10, 10, 20, 40, 40])
    assert interpolated((), 1.0) is None
