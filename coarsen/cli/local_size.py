"""Local sizes on the command line: `64`, `16x16`."""

from __future__ import annotations

import re

from coarsen.errors import InvalidInputError

_SIZE = re.compile(r"[1-9][0-9]{0,8}([x×][1-9][0-9]{0,8}){0,2}")


def local_size_of(word: str) -> tuple[int, ...] | None:
    """`16x16` as a local size, in work-items; None for what is no size."""
    if not _SIZE.fullmatch(word.strip()):
        return None
    return tuple(int(extent) for extent in re.split("[x×]", word.strip()))


def launch_place(size: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    """Return a local size along three dimensions, those that are missing being 1; None for none."""
    if size is None:
        return None
    width, height, depth = (*size, 1, 1)[:3]
    return width, height, depth


def parsed_local_size(text: str | None) -> tuple[int, ...] | None:
    """Return the sizes given to `--local-size`; None where it wasn't given. Raises InvalidInputError."""
    if text is None:
        return None
    size = local_size_of(text)
    if size is None:
        raise InvalidInputError(f"--local-size takes one to three sizes, such as 64 or 16x16, not '{text}'")
    return size
