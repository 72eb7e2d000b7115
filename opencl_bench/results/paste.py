"""Lines to paste for using a result: a best configuration as a call in a program, and as a command.

factor 4 along dimension 1, local size 16×16 ─▶ coarsen.Program(context, source, factor=4, dim=1)
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coarsen.tuning.records.measurement import Measurement
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.options import ARRAY_OPTIONS, COARSENING_OPTIONS, TRANSFORM_OPTIONS, VariantOption
from coarsen.variant.variant import Variant, shape


@dataclass(frozen=True, slots=True)
class Paste:
    """Instructions for using a configuration.

    Attributes:
        python: the call that makes the program; empty where the kernel is to be left as it is.
        command: the command that writes the coarsened source; empty likewise.
        launch: how it is launched, in words.
    """

    python: str
    command: str
    launch: str

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all of it, a line each."""
        return tuple(filter(None, (self.python, self.command, self.launch)))


def paste_of(measurement: Measurement, file: str = "FILE.cl") -> Paste:
    """Return what to paste for the configuration of a measurement.

    Args:
        measurement: any; whether it is worth pasting is for others to say.
        file: the kernel's source, as the command is to name it.
    """
    return paste_of_variant(measurement.candidate, measurement.subject.kernel, file)


def paste_of_variant(variant: Variant, kernel: str, file: str = "FILE.cl") -> Paste:
    """Return what to paste for a variant.

    Args:
        variant: any; without a local size the launch keeps its own.
        kernel: its kernel's name.
        file: the kernel's source, as the command is to name it.
    """
    if variant.is_original:
        at_size = f", at local size {shape(variant.local_size)}" if variant.local_size else ""
        return Paste("", "", f"leave {kernel} as it is{at_size}")
    return Paste(_python(variant), _command(variant, kernel, file), _launch(variant))


def _python(candidate: Variant) -> str:
    """The call that makes the program; empty for what `coarsen.Program` does not make.

    That is: layouts, arrays in other memory of a kernel that isn't coarsened.
    """
    is_moved = any(plan.moves_fields for plan in candidate.arrays)
    if is_moved or not candidate.is_coarsened:
        return ""
    said = _said_of_coarsenings(candidate)
    plain = [(option.name, tuple(map(_plain, values))) for option, values in said]
    arguments = [f"{name}={(values[0] if len(values) == 1 else values)!r}" for name, values in plain]
    arguments += [
        f"{option.field}={_plain(value)!r}" for option, value in _said(candidate) if option.field != "any_size"
    ]
    plans = ", ".join(map(_plan_call, candidate.arrays))
    arguments += [f"arrays=[{plans}]"] if plans else []
    options = [f"-D{name}={value}" for name, value in candidate.definitions]
    build = f".build({options!r})" if options else ""
    return f"coarsen.Program(context, source, {', '.join(arguments)}){build}"


def _plan_call(plan: ArrayPlan) -> str:
    """The call that makes the plan of a place or a pad."""
    said = [f"{option.field}={_plain(value)!r}" for option, value in _said_of_array(plan)]
    return f"coarsen.array_plan({', '.join([repr(plan.argument), *said])})"


def _command(candidate: Variant, kernel: str, file: str) -> str:
    words = ["coarsen", "apply", file, "--kernel", kernel]
    said = _said_of_coarsenings(candidate)
    for place in range(len(candidate.coarsenings)):
        words += [word for option, values in said for word in (f"--{option.name}", str(values[place]))]
    words += () if candidate.coarsenings else ("--factor", "1")
    for option, value in _said(candidate):
        words += (
            [f"--{'' if value else 'no-'}{option.name}"]
            if isinstance(value, bool)
            else [f"--{option.name}", value]
        )
    if candidate.transforms.is_tiled and candidate.local_size:
        # The code is for it alone.
        words += ["--local-size", "x".join(map(str, candidate.local_size))]
    for plan in candidate.arrays:
        for option, value in _said_of_array(plan):
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [f"--{option.name}", f"{plan.argument}={text}"]
    for name, value in candidate.definitions:
        words += ["-D", f"{name}={value}"]
    return shlex.join(words)


# What has to be said of a variant: the options that do not have their default.


def _said_of_coarsenings(candidate: Variant) -> list[tuple[VariantOption, list[Any]]]:
    """The options with a value for each coarsening; factors and dimensions are always said."""
    values = [
        (option, [getattr(each, option.field) for each in candidate.coarsenings])
        for option in COARSENING_OPTIONS.values()
    ]
    always = ("factor", "dimension")
    return [(option, each) for option, each in values if option.field in always or {*each} - {option.default}]


def _said(candidate: Variant) -> Iterator[tuple[VariantOption, Any]]:
    for option in TRANSFORM_OPTIONS.values():
        owner = candidate.transforms if hasattr(candidate.transforms, option.field) else candidate
        value = getattr(owner, option.field)
        if value != option.default:
            yield option, value


def _said_of_array(plan: ArrayPlan) -> Iterator[tuple[VariantOption, Any]]:
    as_written = ArrayPlan(plan.argument)
    for option in ARRAY_OPTIONS.values():
        value = getattr(plan, option.field)
        if value != getattr(as_written, option.field):
            yield option, value


def _plain(value: object) -> object:
    """A value as a program writes it: a number, a flag, a text, or a list of numbers."""
    return list(value) if isinstance(value, tuple) else value if isinstance(value, bool | int) else str(value)


def _launch(candidate: Variant) -> str:
    sizes = (
        f"global size and local size {shape(candidate.local_size)}"
        if candidate.local_size
        else "global and local size"
    )
    packed = " and ".join(plan.argument for plan in candidate.arrays if plan.moves_fields)
    first = f"pack {packed} as the command says (coarsen.Layout), and " if packed else ""
    return f"{first}launch it with the original {sizes}"
