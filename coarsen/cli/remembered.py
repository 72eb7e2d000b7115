"""`coarsen remembered`: what tuning found and launches use, into files and out of them."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.groups import Group
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, counted, print_json, print_line
from coarsen.cli.remembered_selection import every_key_of, key_of, nothing_to_forget
from coarsen.cli.stores import check_packages, existing_store
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.store.remembered import RememberedFilter

KernelWhole = Annotated[
    str | None, typer.Option("-k", "--kernel", metavar="NAME", help="Only choices for kernels of this name.")
]
DevicePart = Annotated[
    str | None,
    typer.Option("-d", "--device", metavar="NAME", help="Only choices for devices with this in their name."),
]
KeyPrefix = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="The choice's key, or as much of it as tells it apart.", show_default=False
    ),
]
KeyPrefixes = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY", help="Keys, or as much of each as tells it apart.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Forget everything.")]
ExportFile = Annotated[Path, typer.Argument(metavar="FILE", help="The JSON file to write.", show_default=False)]
ImportFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Files that 'coarsen remembered export' wrote.", show_default=False),
]


def ls(
    kernel: KernelWhole = None,
    device: DevicePart = None,
    store: StoreUrl = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """List what is remembered, a choice a line.

    Sizes are a class of launches: the global size up to the next power of two, and the local size as launched. The
    speed-up is that over the launch as it was. A tuning whose time was over before it had a result is listed, too:
    it is tried again only with more seconds.

    Example: coarsen remembered ls --device intel
    """
    with existing_store(store) as opened:
        from coarsen.cli.remembered_text import choices_as_data, print_choices

        found = opened.remembered.choices(_filter(kernel, device))
        if output_format is Format.JSON:
            print_json(choices_as_data(found, opened.location))
        else:
            print_choices(found, opened.location)


def show(key: KeyPrefix, store: StoreUrl = None, output_format: OutputFormat = Format.TABLE) -> None:
    """Show one choice in full, with the lines to paste.

    Example: coarsen remembered show 3f29a1
    """
    with existing_store(store) as opened:
        from coarsen.cli.remembered_text import print_choice
        from coarsen.opencl_bench.results.remembered.choice_json import choice_to_json
        from coarsen.opencl_bench.results.store.remembered import RememberedFilter

        found = opened.remembered.choices(RememberedFilter(key_prefix=key_of(opened, key)))
        if not found:
            raise InvalidInputError(f"the choice {key} was forgotten by another process")
        if output_format is Format.JSON:
            print_json(choice_to_json(found[0]))
        else:
            print_choice(found[0])


def forget(
    keys: KeyPrefixes = None,
    kernel: KernelWhole = None,
    device: DevicePart = None,
    every: All = False,
    store: StoreUrl = None,
) -> None:
    """Forget choices by key, by kernel or device, or all.

    Nothing is asked. A kernel whose choice is forgotten is predicted or tuned again at its next launch.

    Example: coarsen remembered forget --kernel advect
    """
    filters = kernel is not None or device is not None
    if sum((bool(keys), filters, every)) != 1:
        raise InvalidInputError("say what to forget: keys, or --kernel and --device, or --all")
    with existing_store(store) as opened:
        table = opened.remembered
        if keys:
            forgotten = table.forget_keys(every_key_of(opened, keys))
        else:
            forgotten = table.forget(_filter(kernel, device))
        if not forgotten:
            raise nothing_to_forget(opened, kernel, device)
        print_line(f"{counted(forgotten, 'choice')} forgotten in {opened.location}")


def export(
    file: ExportFile, kernel: KernelWhole = None, device: DevicePart = None, store: StoreUrl = None
) -> None:
    """Write choices to a JSON file, to ship with a program.

    Example: coarsen remembered export choices.json --kernel advect
    """
    with existing_store(store) as opened:
        from coarsen.opencl_bench.results.remembered.choice_json import write_choices

        choices = opened.remembered.choices(_filter(kernel, device))
        if not choices:
            raise InvalidInputError(f"there is no such choice in {opened.location}; nothing was written")
        write_choices(choices, file)
    print_line(f"{counted(len(choices), 'choice')} in {file}")


def import_(files: ImportFiles, store: StoreUrl = None) -> None:
    """Remember the choices of files.

    Of two choices for the same launches, the one that was found later is kept. Nothing is remembered if any of the
    files can't be read or is damaged. A choice for another driver than the device has is not used.

    Example: coarsen remembered import choices.json
    """
    check_packages()
    from coarsen.opencl_bench.results.remembered.choice_json import read_choices
    from coarsen.opencl_bench.results.store.database import open_store

    read = [(file, read_choices(file)) for file in files]
    with open_store(store) as opened:
        for file, choices in read:
            print_line(_taken(file, len(choices), opened.remembered.put_later(choices)))
        print_line(f"The choices are in {opened.location}")


remembered = Group(
    "List, show, forget, export and import what tuning found.",
    MappingProxyType({"ls": ls, "show": show, "forget": forget, "export": export, "import": import_}),
)


def _filter(kernel: str | None, device: str | None) -> RememberedFilter:
    from coarsen.opencl_bench.results.store.remembered import RememberedFilter

    return RememberedFilter(kernel, device)


def _taken(file: Path, choices: int, new: int) -> str:
    return f"{file}: {counted(choices, 'choice')}, {new} remembered, {choices - new} no later than what is there"
