"""The launches of the thirteen nests keep every dependence; what would not is found."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.loops.clang_tree import functions_of
from coarsen.loops.kernel_text import KernelText
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import LaunchIf, Launching, LaunchLoop, NestLaunch
from tests.loops.check_order import violations
from tests.loops.executed import Executed, execute
from tests.loops.nests import NESTS
from tests.loops.test_kernels import _INSIDE, made

Launches = tuple[Launching, ...]


@functools.cache
def _executed(name: str, least: int) -> tuple[dict[str, int], list[Executed]]:
    sizes = {size: least + place % 3 for place, size in enumerate(NESTS[name].sizes.split())}
    made(name, "vla")
    (function,) = functions_of(Path(_INSIDE.name, f"{name}_vla", "loops.c"))
    return sizes, execute(function, sizes)


def wrong(name: str, launches: Launches, least: int = 3) -> list[str]:
    sizes, executed = _executed(name, least)
    return violations(launches, executed, made(name, "vla").nest, sizes)


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("name", NESTS)
def test_launches_keep_every_dependence(name: str, least: int) -> None:
    assert not wrong(name, made(name, "vla").launches, least)


# Mistakes, each of which must be found.


def _each(launches: Launches, change: Callable[[Any], Any]) -> Launches:
    """All launches, loops and conditions changed, what is inside of others first; None leaves one out."""
    found = []
    for each in launches:
        inner = each if isinstance(each, NestLaunch) else replace(each, body=_each(each.body, change))
        changed = change(inner)
        found += [] if changed is None else [changed]
    return tuple(found)


def _of(kind: type, **values: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    return lambda each: replace(each, **values) if isinstance(each, kind) else each


def _kernel(name: str, change: Callable[[NestKernel], NestKernel]) -> Callable[[Any], Any]:
    def changed(each: Any) -> Any:  # noqa: ANN401
        if not isinstance(each, NestLaunch) or each.kernel.kernel.name != name:
            return each
        return replace(each, kernel=replace(each.kernel, kernel=change(each.kernel.kernel)))

    return changed


def _text(right: str, other: str) -> Callable[[Any], Any]:
    def changed(each: Any) -> Any:  # noqa: ANN401
        if not isinstance(each, NestLaunch):
            return each
        assert right in each.kernel.text
        text = KernelText(each.kernel.kernel, each.kernel.text.replace(right, other), each.kernel.arguments)
        return replace(each, kernel=text)

    return changed


def _statements(change: Callable[[int, Any], Any]) -> Callable[[NestKernel], NestKernel]:
    return lambda kernel: replace(
        kernel, statements=tuple(change(number, each) for number, each in enumerate(kernel.statements))
    )


def _last_first(launches: Launches) -> Launches:
    return tuple(
        reversed(
            [
                each if isinstance(each, NestLaunch) else replace(each, body=_last_first(each.body))
                for each in launches
            ]
        )
    )


def _as_one(each: Launching) -> Launching:
    """The two kernels of a time step as one."""
    if not isinstance(each, LaunchLoop):
        return each
    first, second = _launches_in(each.body)
    one, two = first.kernel.kernel, second.kernel.kernel
    both = replace(one, statements=(*one.statements, *two.statements), places={**one.places, **two.places})
    return replace(each, body=(replace(first, kernel=replace(first.kernel, kernel=both)),))


def _launches_in(body: Sequence[Launching]) -> list[NestLaunch]:
    return [one for each in body for one in ([each] if isinstance(each, NestLaunch) else _launches_in(each.body))]


PLANTED: dict[str, tuple[str, Callable[[Launches], Launches]]] = {
    "two launches as one": ("jacobi_2d", lambda all_: _each(all_, _as_one)),
    "the last launch first": ("gemver", _last_first),
    "the inner launches swapped": ("doitgen", _last_first),
    "every other time step": ("jacobi_2d", lambda all_: _each(all_, _of(LaunchLoop, step=2))),
    "a time step too few": ("heat_3d", lambda all_: _each(all_, _of(LaunchLoop, behind="steps - 1"))),
    "a time step too many": ("fdtd_2d", lambda all_: _each(all_, _of(LaunchLoop, behind="steps + 1"))),
    "a work-item too few": ("mv", lambda all_: _each(all_, _of(NestLaunch, global_size=("n - 1",)))),
    "dimensions swapped": ("mm", lambda all_: _each(all_, _of(NestLaunch, global_size=("n", "m")))),
    "a condition that never holds": ("syrk", lambda all_: (LaunchIf(("n > 99",), all_),)),
    "a launch left out": (
        "fdtd_2d",
        lambda all_: _each(all_, lambda each: None if getattr(each, "kernel", None) and each.kernel.kernel.name.endswith("_2") else each),
    ),
    "another step": ("jacobi_2d", lambda all_: _each(all_, lambda each: replace(each, steps={"t": "0"}) if isinstance(each, NestLaunch) else each)),
    "no guard": ("tmv", lambda all_: _each(_each(all_, _text("if (i < n)", "if (i < n + 1)")), _of(NestLaunch, global_size=("n - 1",)))),
    "no offset": ("jacobi_2d", lambda all_: _each(all_, _text("get_global_id(0) + 1", "get_global_id(0)"))),
    "a guard that keeps some out": ("mm", lambda all_: _each(all_, _text("i < n", "i < n - 1"))),
    "a sum by several work-items": (
        "mv",
        lambda all_: _each(all_, _kernel("mv", lambda kernel: replace(kernel, places={**kernel.places, "S2": ((0, 1),)}))),
    ),
    "a sum before its first value": ("mv", lambda all_: _each(all_, _kernel("mv", _statements(lambda n, each: replace(each, position=(0, -n, *each.position[2:])))))),
    "a sum from its end": (
        "tmv",
        lambda all_: _each(all_, _kernel("tmv", _statements(lambda _, each: replace(each, loops=tuple(replace(one, step=-1) for one in each.loops))))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_mistake_is_found(mistake: str) -> None:
    name, plant = PLANTED[mistake]
    launches = made(name, "vla").launches
    planted = plant(launches)
    assert planted != launches
    assert wrong(name, planted)
