"""The text of a kernel's source: read, decoded, and told apart from LLVM IR, without a compiler."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from coarsen.base.files import opened
from coarsen.base.limits import MEBIBYTE, MOST_INPUT_BYTES
from coarsen.errors import InvalidInputError
from coarsen.frontend.included import included_files
from coarsen.frontend.options import parse_options

TOO_LARGE = f"larger than {MOST_INPUT_BYTES // MEBIBYTE} MiB, the most that is read of a kernel's source"
# The first line of LLVM assembly that is not a comment; none of these can start OpenCL C.
_ASSEMBLY = re.compile(
    r"(?:\s*;[^\n]*\n)*\s*(?:target (?:datalayout|triple)|source_filename|define |declare |[@%!]|attributes #)"
)
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Some editors put it before a text; it is no part of it.
BYTE_ORDER_MARK = "\ufeff"
_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def opencl_c_of(source: str | Path) -> str | None:
    """Return the OpenCL C text of a source, its lines as a lowered kernel counts them; None where it is LLVM IR.

    Raises:
        InvalidInputError: the file can't be read.
    """
    if isinstance(source, str):
        text = source.removeprefix(BYTE_ORDER_MARK)
    else:
        content = read_source(source)
        if is_bitcode(content) or source.suffix == ".ll":
            return None
        text = decode_source(content, source)
    return None if is_assembly(text) else text


def is_assembly(text: str) -> bool:
    """Return True if a text is LLVM assembly, which no OpenCL C starts like."""
    return _ASSEMBLY.match(text) is not None


def is_bitcode(content: bytes) -> bool:
    """Return True if a file's content is LLVM bitcode."""
    return content.startswith(_BITCODE_MAGIC)


def read_source(path: Path) -> bytes:
    """Return the content of a source file. Raises InvalidInputError if it is none, too large or empty."""
    try:
        with opened(path) as stream:
            content = stream.read(MOST_INPUT_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}") from None
    if len(content) > MOST_INPUT_BYTES:
        raise InvalidInputError(f"{path}: {TOO_LARGE}")
    if not content.strip():
        raise InvalidInputError(f"{path}: the file is empty")
    if path.suffix == ".bc" and not is_bitcode(content):
        raise InvalidInputError(f"{path}: not LLVM bitcode")
    return content


def decode_source(content: bytes, path: Path) -> str:
    """Return the text of a source file. Raises InvalidInputError if it is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # older sources have their comments in it
    if _CONTROL_CHARACTER.search(text):
        raise InvalidInputError(f"{path}: neither text nor LLVM bitcode")
    return text


# The hash that tells a kernel's source from all others, with the files that it includes.
#
# source, options ─▶ SHA-256 of the text, where it includes nothing ─▶ else of the text and of all included files


def source_hash_of(source: str) -> str:
    """Return what tells a source from all others: SHA-256 of its text, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()


def hash_with_headers(source: str, options: Sequence[str] = (), own: Path | None = None) -> str:
    """Return what tells a source with its headers from all others.

    Which folders headers lie in does not matter, only what they say. A header that isn't found, or that a macro
    names, is not in it.

    Args:
        source: OpenCL C.
        options: the build options, one by one, which name the folders of headers.
        own: the source's own folder; the working directory if None.
    """
    text = source_hash_of(source)
    try:
        folders = [Path(word[2:]) for word in parse_options(list(options)).clang_options if word.startswith("-I")]
        files = included_files(source, folders, own)
    except (InvalidInputError, OSError):
        return text
    if files is None or not files.hashes:
        return text
    return hashlib.sha256("\0".join((text, *sorted({*files.hashes.values()}))).encode()).hexdigest()
