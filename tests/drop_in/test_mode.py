"""The values of `tune`, and what they stand for."""

from __future__ import annotations

import pytest

from coarsen.drop_in.mode import Otherwise, TuneChoice, mode_of
from coarsen.errors import InvalidInputError
from coarsen.tuning.settings import Tune


@pytest.mark.parametrize(
    ("tune", "mode"),
    [
        (None, (Otherwise.LEAVE, Tune())),
        (True, (Otherwise.TUNE, Tune())),
        (Tune(seconds=5), (Otherwise.TUNE, Tune(seconds=5))),
        ("remembered", (Otherwise.LEAVE, Tune())),
        (False, None),
    ],
)
def test_what_a_value_stands_for(tune: TuneChoice, mode: tuple[Otherwise, Tune] | None) -> None:
    assert mode_of(tune) == mode


@pytest.mark.parametrize("tune", ["yes", "predict", 20, 1.5, ()])
def test_other_values_are_none(tune: TuneChoice) -> None:
    with pytest.raises(InvalidInputError, match=r"tune is True, False, 'remembered' or a coarsen\.Tune, not"):
        mode_of(tune)


def test_what_tuning_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sqlalchemy" else object())
    with pytest.raises(InvalidInputError, match=r"tuning needs more packages: pip install 'coarsen\[tune\]'"):
        mode_of(True)
    assert mode_of(None) is not None, "what is remembered needs none"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seconds": 0}, "tuning takes more than 0 seconds, not 0"),
        ({"seconds": float("inf")}, "tuning takes more than 0 seconds, not inf"),
        ({"trials": 0}, "tuning takes at least one trial, not 0"),
        ({"levels": ("items",)}, "the levels are 'item' and 'group', not 'items'"),
        ({"levels": ()}, "the levels are 'item' and 'group', not 'none'"),
        ({"most_bytes": 0}, "the buffers of a launch hold at least one byte, not 0"),
    ],
)
def test_settings_out_of_range(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Tune(**settings)  # type: ignore[arg-type]
