"""Remembered choices in a file, to ship with a program or to take to another machine.

{"format": 1, "remembered": [
{"key": "5e88…", "kernel": "advect", …},
…
]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file, replace_file
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice
from coarsen.opencl_bench.results.remembered.choice_json import choice_from_json, choice_to_json

FORMAT = 1
# A choice takes 1 KiB: a program has thousands of kernels at the most.
LARGEST_FILE = 64 * MEBIBYTE
MOST_CHOICES = 50_000


def write_choices(choices: Iterable[RememberedChoice], path: Path) -> None:
    """Write choices in their order, each on a line of its own, in place of a file that may be there.

    Raises:
        InvalidInputError: the file can't be written, or a choice isn't in its normal form.
    """
    lines = ",\n".join(json.dumps(choice_to_json(choice)) for choice in choices)
    replace_file(f'{{"format": {FORMAT}, "remembered": [\n{lines}\n]}}\n'.encode(), path)


def read_choices(path: Path) -> list[RememberedChoice]:
    """Return the choices in a file of `write_choices`, equal to those written.

    Raises:
        InvalidInputError: the file can't be read, or anything in it isn't as it should be; the message is one line
            and names the file.
    """
    try:
        document = json.loads(read_file(path, LARGEST_FILE))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {' '.join(str(error).split())}") from None
    try:
        choices = [_choice(entry, number) for number, entry in enumerate(_entries(document), 1)]
        _check_different(choices)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None
    return choices


def _entries(document: object) -> list[object]:
    if not isinstance(document, dict) or set(document) != {"format", "remembered"}:
        raise InvalidInputError(
            "not a file of remembered choices; 'coarsen results export --remembered' writes one"
        )
    given, entries = document["format"], document["remembered"]
    if isinstance(given, bool) or given != FORMAT:
        raise InvalidInputError(f"its format is {str(given)[:20]!a}; this program reads format {FORMAT} alone")
    if not isinstance(entries, list):
        raise InvalidInputError("its field 'remembered' is not a list")
    if len(entries) > MOST_CHOICES:
        raise InvalidInputError(f"it has {len(entries)} choices; {MOST_CHOICES} are the most")
    return entries


def _choice(entry: object, number: int) -> RememberedChoice:
    try:
        return choice_from_json(entry)
    except InvalidInputError as error:
        raise InvalidInputError(f"choice {number}: {error}") from None


def _check_different(choices: list[RememberedChoice]) -> None:
    first: dict[str, int] = {}
    for number, choice in enumerate(choices, 1):
        other = first.setdefault(choice.key.digest, number)
        if other != number:
            raise InvalidInputError(f"choices {other} and {number} have one key")
