"""The form of a file in the cache: a line with the SHA-256 of the rest, and the rest is JSON.

An entry has its key in it: a file that was cut off, changed or renamed is none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TypeVar

from coarsen.codec import decoded, encoded
from coarsen.errors import InvalidInputError

T = TypeVar("T")


def file_of(entry: object) -> bytes:
    """Return what is written to an entry's file."""
    content = json.dumps(encoded(entry, {bytes: _base64})).encode()
    return b"%s\n%s" % (_checksum(content), content)


def entry_of(file: bytes, kind: type[T]) -> T | None:
    """Return the entry of a file; None where it is not whole, or not of this kind."""
    checksum, _, content = file.partition(b"\n")
    if checksum != _checksum(content):
        return None
    try:
        return decoded(kind, json.loads(content), "the entry", {bytes: _from_base64})
    except (ValueError, RecursionError, InvalidInputError):
        return None


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_base64(text: object) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError("it is not written in base 64") from None
