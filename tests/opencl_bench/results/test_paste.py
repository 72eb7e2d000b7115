"""The lines to paste say what was measured, and the command line takes them."""

from __future__ import annotations

import shlex

import pytest

from coarsen.opencl_bench.results.paste import paste_of
from coarsen.variant.coarsening import Coarsening, configuration, configuration_of
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

TWO = (Coarsening(2, 0), Coarsening(4, 1, 8))


@pytest.mark.parametrize(
    ("coarsenings", "python", "words"),
    [
        ((Coarsening(4, 1),), "factor=4, dim=1", "--factor 4 --dim 1"),
        ((Coarsening(4, 0, 8),), "factor=4, dim=0, stride=8", "--factor 4 --dim 0 --stride 8"),
        (
            TWO,
            "factor=(2, 4), dim=(0, 1), stride=(1, 8)",
            "--factor 2 --dim 0 --stride 1 --factor 4 --dim 1 --stride 8",
        ),
    ],
)
def test_what_to_paste(coarsenings: tuple[Coarsening, ...], python: str, words: str) -> None:
    candidate = Variant((16, 16), configuration(coarsenings))
    paste = paste_of(some_measurement(candidate=candidate), "my kernel.cl")
    assert paste.python == f"coarsen.Program(context, source, {python})"
    assert paste.command == f"coarsen apply 'my kernel.cl' --kernel mysgemmNT {words}"
    assert paste.launch == "launch it with the original global size and local size 16×16"
    arguments = eval(f"dict({python})")
    assert configuration_of(
        arguments["factor"], arguments["dim"], arguments.get("stride", 1), "item"
    ) == configuration(coarsenings)


def test_macros_are_said() -> None:
    candidate = Variant((16,), (Coarsening(2),), (("TILE", "16"), ("NAME", "a b")))
    paste = paste_of(some_measurement(candidate=candidate))
    assert paste.python.endswith(".build(['-DTILE=16', '-DNAME=a b'])")
    assert shlex.split(paste.command)[-4:] == ["-D", "TILE=16", "-D", "NAME=a b"]


def test_nothing_to_paste_where_nothing_is_faster() -> None:
    paste = paste_of(some_measurement(candidate=Variant((64,))))
    assert paste.lines == ("leave mysgemmNT as it is, at local size 64",)
