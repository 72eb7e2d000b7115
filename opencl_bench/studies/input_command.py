"""What the programs that read stored rows of kernels that adapt take on their command lines alike."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def stores_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of `STORE … [--kernels NAME …]`.

    Args:
        doc: of the program's module; its first line describes the program.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("stores", nargs="+", metavar="STORE")
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="adaptive-<kernel>; else all")
    return parser


def device_parser(doc: str | None, numbers: str) -> argparse.ArgumentParser:
    """Return a parser of `STORE … --device NAME [--kernels NAME …] [--json FILE]`.

    Args:
        doc: as for `stores_parser`.
        numbers: which numbers the file gets.
    """
    parser = stores_parser(doc)
    parser.add_argument("--device", required=True, help="part of its name")
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"{numbers}, added to a file")
    return parser


def say_no_rows() -> None:
    """Say on standard error that there is nothing to tell of the device."""
    print("the stores have no rows of this device", file=sys.stderr)
