"""The options of a command, declared once: as the fields of a dataclass, which the command gets.

    seconds: float | None = option("The most that tuning may take.", "NUMBER")     --seconds NUMBER
    kernel: str | None = option("The kernel.", "NAME", "-k --kernel")               -k, --kernel NAME

`takes` makes what typer reads of them. This module does without typer, as a run does that starts at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import partial
from typing import Annotated, Any, TypeVar, get_type_hints

T = TypeVar("T")
Command = Callable[..., None]


def option(
    help_text: str,
    metavar: str | None = None,
    flags: str = "",
    *,
    default: Any = None,  # noqa: ANN401 (of any type)
    **further: Any,  # noqa: ANN401 (what typer takes)
) -> Any:  # noqa: ANN401 (as `field`)
    """Return a field that is an option.

    Args:
        help_text: what `--help` says.
        metavar: how its value is written; what its type says if None.
        flags: its names, which blanks divide; that of the field if left out.
        default: its value where nobody gives one; MISSING for an option that has to be given.
        further: `parser`, `min`, `show_default` and the like, as typer has them.
    """
    metadata = {"flags": flags, "help": help_text, "metavar": metavar, **further}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def argument(help_text: str, metavar: str, *, default: Any = MISSING, **further: Any) -> Any:  # noqa: ANN401
    """Return a field that is an argument: a word without a flag. Arguments as those of `option`."""
    return option(help_text, metavar, default=default, **{"is_argument": True, "show_default": False, **further})


def several(declared: Mapping[str, tuple[Any, Field[Any]]]) -> Any:  # noqa: ANN401 (as `field`)
    """Return a field that holds the values of several options by name, each declared by its type and `option`."""
    return field(metadata={"several": declared})


def flags_of(declared: Field[Any]) -> tuple[str, ...]:
    """Return the names of an option."""
    return tuple(declared.metadata["flags"].split()) or (f"--{declared.name.replace('_', '-')}",)


def takes(options: type[T]) -> Callable[[Callable[[T], None]], Command]:
    """Let a command take the options that a dataclass declares."""

    def with_options(function: Callable[[T], None]) -> Command:
        types = get_type_hints(options)
        made: dict[str, inspect.Parameter] = {}
        # What a command has in common with others comes last.
        for each in sorted(fields(options), key=lambda each: each.name not in options.__annotations__):  # type: ignore[arg-type]
            for name, (hint, declared) in _several(each, types).items():
                made[name] = _parameter(name, hint, declared)
        command = partial(_call, function, options)
        command.__name__, command.__doc__ = function.__name__, function.__doc__  # type: ignore[attr-defined]
        command.__annotations__ = {name: each.annotation for name, each in made.items()}
        command.__signature__ = inspect.Signature([*made.values()])  # type: ignore[attr-defined]
        return command

    return with_options


def _call(function: Callable[[T], None], options: type[T], /, **given: Any) -> None:  # noqa: ANN401 (what typer read)
    own = {}
    for each in fields(options):  # type: ignore[arg-type]
        if "several" in each.metadata:
            own[each.name] = {name: given[name] for name in each.metadata["several"]}
        elif each.name in given:
            own[each.name] = given[each.name]
    function(options(**own))


def _several(declared: Field[Any], types: Mapping[str, Any]) -> Mapping[str, tuple[Any, Field[Any]]]:
    found: Mapping[str, tuple[Any, Field[Any]]] = declared.metadata.get("several", {})
    return found or {declared.name: (types[declared.name], declared)}


def _parameter(name: str, hint: Any, declared: Field[Any]) -> inspect.Parameter:  # noqa: ANN401 (any type)
    # Imported late: it takes as long as a small program takes to start.
    import typer

    given = {each: value for each, value in declared.metadata.items() if each not in ("flags", "is_argument")}
    is_argument = declared.metadata.get("is_argument", False)
    info = typer.Argument(**given) if is_argument else typer.Option(*flags_of(declared), **given)
    default = inspect.Parameter.empty if declared.default is MISSING else declared.default
    annotation = Annotated[hint, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
