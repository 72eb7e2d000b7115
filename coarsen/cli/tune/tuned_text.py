"""A tuned file in words: its tree as rules, its versions and what each is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.cli.output import counted, print_line, print_lines, print_records, print_table
from coarsen.dispatch.tree import Leaf, rules, versions_of
from coarsen.dispatch.tuned_file import LaidOutVersion, TunedFile

if TYPE_CHECKING:
    from coarsen.opencl_bench.inputs.evidence import ChoiceWorth, FoundOverInputs, VersionWorth


def print_tuned_file(file: TunedFile, found: FoundOverInputs | None) -> None:
    """Print a tuned file for people.

    Args:
        file: over inputs, or of one size.
        found: what it keeps of its tuning over inputs; None where it was tuned at one size, or keeps nothing.
    """
    print_line(f"{file.kernel} on {file.device}, driver {file.driver}, tuned by coarsen {file.coarsen_version}")
    if found is not None and found.is_cold:
        print_line("the caches were flushed before every timed run")
    print_line()
    if found is None:
        if file.evidence:
            chosen = ", ".join(f"version {number}" for number in sorted(versions_of(file.tree)))
            print_line(f"tuned at one size: {chosen} as arrays are written")
        else:
            _print_rules(file)
            print_line()
            print_line("the speed of its versions is not known: it keeps no times of a tuning")
        print_line()
        print_table(["version", "what"], ([str(n), str(each.variant)] for n, each in enumerate(file.versions)))
    else:
        _print_rules(file)
        print_line()
        _print_worth(file, found)
    if file.layouts:
        print_line()
        print_line("for a coarsen.Program whose arrays lie so:")
        print_records(file.layouts, _LAYOUT_COLUMNS, numbers=[*_LAYOUT_COLUMNS][1:])
    elif found is None and file.evidence:
        print_line()
        print_line("no layout was found to be faster than the launch as it was")


def _print_rules(file: TunedFile) -> None:
    if isinstance(file.tree, Leaf):
        print_line(f"not input-sensitive: one version suffices, version {file.tree.version}")
    else:
        print_lines(*rules(file.tree))


def _print_worth(file: TunedFile, found: FoundOverInputs) -> None:
    headings = ["version", "what", "chosen at", "fastest of these at", "over the default", "without it"]
    print_table(headings, (_cells(file, each) for each in found.worth), numbers=headings[2:])
    print_line()
    print_lines(*worth_lines(found.choice))
    print_line()
    print_line("what a version may be chosen by, of a launch:")
    for feature in file.features:
        print_line(f"    {feature.name} = {feature.expression}")


_LAYOUT_COLUMNS: Mapping[str, Callable[[LaidOutVersion], str]] = MappingProxyType(
    {
        "what": lambda each: str(each.variant),
        "over the default": lambda each: f"{each.speedup:.2f} times as fast",
        "conversion": lambda each: f"{each.conversion_seconds * 1e3:.3g} ms",
        "pays after": lambda each: counted(each.runs_until_it_pays, "run") if each.runs_until_it_pays else "never",
    }
)


def worth_lines(choice: ChoiceWorth) -> Iterator[str]:
    """Yield what choosing is worth at the inputs of the tuning, beside each baseline."""
    yield "what is chosen, over all inputs of the tuning:"
    yield f"    {choice.over_default:.2f} times as fast as the default version"
    yield f"    {choice.over_fixed:.2f} times as fast as the fixed best"
    yield f"    {choice.share:.2f} of the speed of the fastest that was tried, in this file or not"


def print_summary(file: TunedFile, inputs: int, output: str, choice: ChoiceWorth) -> None:
    """Print what a tuning over inputs has made.

    Args:
        file: the tuned file.
        inputs: how many inputs there were.
        output: where the file was written.
        choice: what choosing between its versions is worth.
    """
    chosen = len(versions_of(file.tree))
    if chosen == 1:
        print_line(f"{file.kernel} is not input-sensitive: one version suffices for {counted(inputs, 'input')}")
    else:
        print_line(f"{file.kernel}: {chosen} versions for {counted(inputs, 'input')}")
    print_lines(*worth_lines(choice))
    print_line(f"wrote {output}; coarsen results show {output} has its rules")


def _cells(file: TunedFile, worth: VersionWorth) -> list[str]:
    default = " (the default)" if worth.number == file.default else ""
    over = "" if worth.over_default is None else f"{worth.over_default:.2f} times as fast"
    without = "" if worth.without is None else f"{worth.without:.3f} times as long"
    return [
        f"{worth.number}",
        f"{worth.variant}{default}",
        counted(worth.chosen, "input"),
        counted(worth.best, "input"),
        over,
        without,
    ]
