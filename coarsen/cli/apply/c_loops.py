"""`coarsen apply FILE.c --explain`: the loops of C functions, explained."""

from __future__ import annotations

import importlib.util
import shlex
from dataclasses import fields

from coarsen.cli.apply.options import ApplyOptions
from coarsen.cli.declared import flags_of
from coarsen.cli.messages import raise_last
from coarsen.cli.output import write_result
from coarsen.errors import InvalidInputError
from coarsen.variant.options import ARRAY_OPTIONS, COARSENING_OPTIONS, TRANSFORM_OPTIONS

SUFFIX = ".c"
_TAKEN = ("file", "chosen", "explain", "kernel", "define", "include", "output")
_OF_VARIANTS = {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS, **ARRAY_OPTIONS}


def explain_c_file(asked: ApplyOptions) -> None:
    """Write what is known of the loops of a C file's functions, or of the one that `--kernel` names.

    Raises:
        InvalidInputError: another form is asked for, or options that C files don't take; islpy is missing; the
            file can't be read.
        RefusalError: a function is no affine loop nest; the others are explained first.
    """
    if not asked.explain:
        raise InvalidInputError(
            f"{asked.file}: of C files coarsen apply only explains the loops as yet: add --explain"
        )
    if others := _others(asked):
        raise InvalidInputError(f"{others} does not go with a C file, which takes --kernel, -D, -I and -o")
    if importlib.util.find_spec("islpy") is None:
        raise InvalidInputError("C files need islpy: pip install 'coarsen[loops]'")
    # Imported late: they load islpy, which only C files need.
    from coarsen.loops.explain import explain_loops

    text, refusals = explain_loops(asked.file, shlex.split(asked.build_options), asked.kernel)
    if text:
        write_result(text, asked.output)
    elif not refusals:
        raise InvalidInputError(f"{asked.file}: no function with a loop is defined in it")
    raise_last(refusals)


def _others(asked: ApplyOptions) -> str:
    """The first option that was given and that C files don't take; empty if there is none."""
    for name, declared in _OF_VARIANTS.items():
        if asked.chosen[name] not in (declared.default, None, []):
            return f"--{declared.name}"
    for each in fields(ApplyOptions):
        if each.name not in _TAKEN and getattr(asked, each.name) not in (each.default, None, []):
            return flags_of(each)[-1]
    return ""
