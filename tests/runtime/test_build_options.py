"""Build options in the forms that PyOpenCL takes."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.runtime.code import BuildOptions, device_options, options_of_coarsened


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, ()),
        ("", ()),
        ("-DN=4 -cl-mad-enable", ("-DN=4", "-cl-mad-enable")),
        (["-D", "N=4", "-Iinclude"], ("-D", "N=4", "-Iinclude")),
        (["-D N=4 -w"], ("-D", "N=4", "-w")),
        (("-I 'a folder'",), ("-I", "a folder")),
    ],
)
def test_every_form_gives_single_options(options: BuildOptions, expected: tuple[str, ...]) -> None:
    given = device_options(options)
    assert given[: len(expected)] == expected
    assert given[len(expected)] == "-I", "PyOpenCL's own headers follow"
    assert len(given) == len(expected) + 2


def test_the_environments_options_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-cl-opt-disable -DX")
    assert device_options("-w")[-2:] == ("-cl-opt-disable", "-DX")


def test_what_was_asked_before_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["-w"]
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-DX")
    assert (device_options(options)[0], device_options(options)[-1]) == ("-w", "-DX")
    options[0] = "-cl-mad-enable"
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-DY")
    assert (device_options(options)[0], device_options(options)[-1]) == ("-cl-mad-enable", "-DY")


def test_quotes_that_do_not_match_are_an_invalid_input() -> None:
    with pytest.raises(InvalidInputError, match="build options"):
        device_options("-DNAME='open")


def test_a_coarsened_kernel_needs_no_preprocessor() -> None:
    options = ("-D", "N=4", "-DM", "-I", "x", "-Iy", "-cl-std=CL2.0", "-cl-mad-enable", "-U", "N")
    assert options_of_coarsened(options) == ("-cl-mad-enable",)
