r"""The strings of LLVM's text, in constants and in metadata: c"a\22b\\\00" holds the bytes of a"b\ and a zero."""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")


def unescaped(body: str) -> bytes:
    """Return the bytes of a string.

    Args:
        body: what stands between the quotes, where LLVM writes a backslash as two of them, and what can't be
            printed as a backslash and two hexadecimal digits.
    """
    return _ESCAPE.sub(lambda match: _byte(match[1]), body.encode())


def _byte(escape: bytes) -> bytes:
    return b"\\" if escape == b"\\" else bytes.fromhex(escape.decode())
