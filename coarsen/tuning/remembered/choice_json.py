"""A remembered choice as flat JSON, and back: the one form that the store and exported files are made from.

    RememberedChoice ⇄ {"key": "5e88…", "ir_hash": "3f29…", "kernel": "advect", …, "variant": {…}, …}

Nothing is lost. Refuses whatever isn't exactly such an object, and one whose key isn't that of its content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.base.limits import LONGEST_NAME
from coarsen.errors import InvalidInputError
from coarsen.tuning.remembered.choice import COARSEN, RememberedChoice, RememberedKey, SizeClass, canonical_json
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

_WHERE = "the remembered choice"
_HASH = r"[0-9a-f]{64}"
_KEY_FIELDS = tuple(field.name for field in fields(RememberedKey))
_ENCODERS: Mapping[Any, Callable[[Any], Any]] = MappingProxyType({Variant: variant_to_json, SizeClass: str})
# More than any tuning has; what a program allows takes some hundred letters.
_MOST_VERSIONS = 100
_LONGEST_ALLOWED = 10_000


def choice_to_json(choice: RememberedChoice) -> dict[str, Any]:
    """Return a choice as dictionaries, lists, texts and numbers; `choice_from_json` reads it back.

    Raises:
        InvalidInputError: it breaks a rule that `choice_from_json` holds, so it could not be read back.
    """
    content = encoded(choice, _ENCODERS)
    value = {"key": choice.key.digest, **content.pop("key"), **content}
    if choice_from_json(value) != choice:
        raise InvalidInputError(f"{_WHERE} {choice.key.digest[:12]} is not in its normal form")
    return value


def choice_from_json(value: object) -> RememberedChoice:
    """Return the choice that `choice_to_json` wrote.

    Raises:
        InvalidInputError: a field is missing, unknown or malformed; fields contradict each other; the key is not
            that of the content.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{_WHERE} is not a JSON object")
    if "key" not in value:
        raise InvalidInputError(f"{_WHERE} has no field 'key'")
    key = {name: value[name] for name in _KEY_FIELDS if name in value}
    content = {name: entry for name, entry in value.items() if name not in key}
    choice = decoded(RememberedChoice, {**content, "key": key}, _WHERE, _DECODERS)
    digest = choice.key.digest
    if value["key"] != digest:
        raise InvalidInputError(
            f"{_WHERE}'s key {str(value['key'])[:12]!a} is not that of its content, {digest[:12]!r}"
        )
    problem = next(_problems(choice), None)
    if problem is not None:
        raise InvalidInputError(f"{_WHERE} {problem}")
    return choice


def choice_in_row(row: Mapping[str, Any]) -> RememberedChoice:
    """Return the choice that a row of a store holds, by the names of its columns.

    Raises:
        InvalidInputError: it holds none; the message names the row.
    """
    try:
        return choice_from_json(dict(row))
    except InvalidInputError as error:
        key = ascii(str(row["key"])[:12])[1:-1]
        raise InvalidInputError(
            f"the remembered choice {key} is damaged: {error} ('coarsen results forget {key}' removes it)"
        ) from None


def _size_class(value: object) -> SizeClass:
    if not isinstance(value, str):
        raise InvalidInputError(f"the field 'size_class' of {_WHERE} must be text")
    return SizeClass.parse(value)


_DECODERS: Mapping[Any, Callable[[Any], Any]] = MappingProxyType(
    {Variant: variant_from_json, SizeClass: _size_class}
)


def _problems(choice: RememberedChoice) -> Iterator[str]:
    """Yield in which respects the fields, each right by itself, make no choice."""
    key, variant, dimensions = choice.key, choice.variant, len(choice.global_size)
    names = (key.kernel, key.vendor, key.device, key.platform, choice.driver_version, choice.platform_version)
    longest = max(len(name) for pair in (names, *choice.versions) for name in pair)
    own_class = SizeClass.of(choice.global_size, choice.local_size)
    if not re.fullmatch(_HASH, key.ir_hash):
        yield "has a hash of its kernel that isn't 64 hexadecimal digits"
    if longest > LONGEST_NAME:
        yield f"has a name of {longest} letters; {LONGEST_NAME} are the most"
    if not _is_allowed_text(key.allowed):
        yield "has a field 'allowed' that is no JSON object in its normal form"
    if own_class != key.size_class:
        yield f"was tuned at sizes of class {own_class}, not {key.size_class}"
    if variant.local_size and len(variant.local_size) != dimensions:
        yield f"has a local size of {len(variant.local_size)} extents for {dimensions}"
    if any(coarsening.dimension >= dimensions for coarsening in variant.coarsenings):
        yield "coarsens a dimension that its launch doesn't have"
    if variant.arrays:
        yield "lays arrays out otherwise, which nobody would pack for it"
    # Others could make another kernel of it.
    are_numbers = all(re.fullmatch(r"\d{1,10}", value) for _, value in variant.definitions)
    if variant.definitions and not (variant.local_size and are_numbers):
        yield "defines macros that are no whole numbers, or without a local size"
    for gain in filter(None, (choice.speedup, choice.speedup_over_uncoarsened)):
        if not (gain.ratio > 0 and 0 <= gain.low <= gain.high):
            yield f"has a speed-up that is none: {gain.ratio:g}, from {gain.low:g}"
    if min(choice.trials, choice.seconds, choice.processes) < 0:
        yield "has a negative number of trials, seconds or processes"
    if len(choice.versions) > _MOST_VERSIONS or COARSEN not in dict(choice.versions):
        yield "doesn't say which coarsen it was found with"
    if not _is_normal_time(choice.found_at):
        yield f"was found at {choice.found_at[:60]!a}; a time in UTC is like 2026-11-20T12:00:00+00:00"


def _is_allowed_text(text: str) -> bool:
    if len(text) > _LONGEST_ALLOWED:
        return False
    try:
        value = json.loads(text)
        return isinstance(value, dict) and canonical_json(value) == text
    except (ValueError, RecursionError):
        return False


def _is_normal_time(text: str) -> bool:
    """Return True for a time in the one form whose order as text is that of time."""
    try:
        time = datetime.fromisoformat(text)
        return time.utcoffset() == timedelta(0) and time.isoformat() == text
    except ValueError:
        return False


# Remembered choices in a file, to ship with a program or to take to another machine.
#
# {"format": 1, "remembered": [
# {"key": "5e88…", "kernel": "advect", …},
# …
# ]}

FORMAT = 1
# A choice takes 1 KiB: a program has thousands of kernels at the most.
LARGEST_FILE = 64 << 20
MOST_CHOICES = 50_000


def write_choices(choices: Iterable[RememberedChoice], path: Path) -> None:
    """Write choices in their order, each on a line of its own, in place of a file that may be there.

    Raises:
        InvalidInputError: the file can't be written, or a choice isn't in its normal form.
    """
    # Imported late, here and below: a program reads no such file.
    from coarsen.base.files import replace_file

    lines = ",\n".join(json.dumps(choice_to_json(choice)) for choice in choices)
    replace_file(f'{{"format": {FORMAT}, "remembered": [\n{lines}\n]}}\n'.encode(), path)


def read_choices(path: Path) -> list[RememberedChoice]:
    """Return the choices in a file of `write_choices`, equal to those written.

    Raises:
        InvalidInputError: the file can't be read, or anything in it isn't as it should be; the message is one line
            and names the file.
    """
    from coarsen.base.files import read_file

    try:
        document = json.loads(read_file(path, LARGEST_FILE))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {' '.join(str(error).split())}") from None
    where = f"{path}: "
    first: dict[RememberedKey, int] = {}
    choices = []
    try:
        for number, entry in enumerate(_entries(document), 1):
            where = f"{path}: choice {number}: "
            choices.append(choice_from_json(entry))
            where = f"{path}: "
            if (other := first.setdefault(choices[-1].key, number)) != number:
                raise InvalidInputError(f"choices {other} and {number} have one key")
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}{error}") from None
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
