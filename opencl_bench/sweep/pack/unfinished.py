"""What an interrupted writing of a pack has left: sweeps that are packed, so that the next call goes on.

DIR/unfinished/<key>.json   a plan of one sweep, whose code is in DIR/code already
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.files import read_file, replace_file
from coarsen.opencl_bench.sweep.pack.plan import Packed, code_file
from coarsen.opencl_bench.sweep.pack.plan_json import plan_from_json, plan_to_json

FOLDER = "unfinished"


def key_of(content: object) -> str:
    """Return the key of a sweep: a hash of all that it is packed from, as JSON takes it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Unfinished:
    """The packed sweeps of a pack that isn't complete.

    Args:
        folder: of the pack.
    """

    def __init__(self, folder: Path) -> None:
        self._pack = folder
        self._folder = folder / FOLDER

    @property
    def is_there(self) -> bool:
        """Return True if a call was interrupted."""
        return self._folder.is_dir()

    def find(self, key: str) -> Packed | None:
        """Return the sweep of this key; None where there is none, or some of its code isn't there."""
        with contextlib.suppress(OSError, ValueError, InvalidInputError):
            packed = plan_from_json(json.loads(read_file(self._folder / f"{key}.json")))
            files = [code_file(code_hash, entry.form) for code_hash, entry in packed.codes.items()]
            if all((self._pack / file).is_file() for file in files):
                return packed
        return None

    def add(self, key: str, packed: Packed) -> None:
        """Keep a sweep."""
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_file(json.dumps(plan_to_json(packed), ensure_ascii=False).encode(), self._folder / f"{key}.json")

    def remove(self) -> None:
        """Forget all: the pack is complete."""
        shutil.rmtree(self._folder, ignore_errors=True)
