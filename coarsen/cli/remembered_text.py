"""How `coarsen results` prints remembered choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from coarsen.cli.output import counted, print_line, print_table
from coarsen.cli.results_text import KEY_DIGITS
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice
from coarsen.opencl_bench.results.remembered.choice_json import choice_to_json
from coarsen.variant.variant import shape

_AS_IT_IS = "as it is"
_HEADINGS = ("key", "kernel", "device", "sizes", "choice", "speed-up", "found")


def print_choices(choices: Sequence[RememberedChoice], location: str) -> None:
    """Print a line per choice, and below where they are."""
    if choices:
        print_table(_HEADINGS, map(_row, choices))
        print_line()
    print_line(f"{counted(len(choices), 'choice')} in {location}")


def choices_as_data(choices: Iterable[RememberedChoice], location: str) -> dict[str, Any]:
    """Return the same for JSON."""
    return {"store": location, "remembered": [choice_to_json(choice) for choice in choices]}


def print_choice(choice: RememberedChoice) -> None:
    """Print all that is known of a choice, a field a line, and how to use it in a program."""
    print_table(["field", "value"], ([name, value] for name, value in _fields(choice) if value))
    print_line()
    for line in paste_of_variant(choice.variant, choice.key.kernel).lines:
        print_line(line)


def _row(choice: RememberedChoice) -> list[str]:
    key = choice.key
    return [
        *(key.digest[:KEY_DIGITS], key.kernel, f"{key.device} ({key.platform})", str(key.size_class)),
        *(_words(choice), str(choice.speedup) if choice.has_result else "-"),
        choice.found_at[:16].replace("T", " "),
    ]


def _words(choice: RememberedChoice) -> str:
    if not choice.has_result:
        return f"no result in {choice.seconds:.3g} s"
    return _AS_IT_IS if choice.leaves_as_is else str(choice.variant)


def _fields(choice: RememberedChoice) -> Iterator[tuple[str, str]]:
    """All fields with their names; empty ones are not shown."""
    key = choice.key
    yield "key", key.digest
    yield "kernel", key.kernel
    yield "SHA-256 of the IR", key.ir_hash
    yield "choice", _words(choice)
    yield "speed-up over the launch as it was", str(choice.speedup) if choice.has_result else ""
    yield "over the fastest local size tried uncoarsened", str(choice.speedup_over_uncoarsened or "")
    yield "class of sizes", str(key.size_class)
    yield "tuned at", f"global size {shape(choice.global_size)}, local size {_local_size(choice)}"
    if choice.has_result:
        yield "confirmed", f"in {_processes(choice.processes)}"
        yield "tried", f"{counted(choice.trials, 'configuration')} in {choice.seconds:.3g} s"
    else:
        yield "tried", f"for {choice.seconds:.3g} s, without a result; tuning with more seconds tries again"
    yield "found", choice.found_at
    yield "allowed", key.allowed
    yield "device", key.device
    yield "vendor", key.vendor
    yield "driver", choice.driver_version
    yield "platform", f"{key.platform}, {choice.platform_version}"
    yield "versions", " ".join(f"{name}={version}" for name, version in choice.versions)


def _local_size(choice: RememberedChoice) -> str:
    return "left to the device" if choice.local_size is None else shape(choice.local_size)


def _processes(number: int) -> str:
    return "1 new process" if number == 1 else f"{number} new processes"
