"""The second judge stays what was announced: what it measures is not changed after models are made.

`frozen.sha256` is a table of `sha256sum`, made in the repository's root. Whoever has to change a file, because
it is wrong, says so in `models/launch/METHOD.md` and renews the table.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[4]
TABLE = Path(__file__).with_name("frozen.sha256")
FOLDERS = ("opencl_bench/kernels/judge", "opencl_bench/workloads/judge")


def announced() -> dict[str, str]:
    """The hash of each file that was announced, by its path."""
    rows = (line.split() for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {path: digest for digest, path in rows}


def test_every_file_is_announced() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).glob("*.*") if path.is_file()]
    files.append(ROOT / "opencl_bench/workloads/judge_driver.py")
    assert {path.relative_to(ROOT).as_posix() for path in files} == set(announced())
    assert sum(path.suffix == ".cl" for path in files) == 30


def test_no_file_has_changed() -> None:
    found = {path: hashlib.sha256((ROOT / path).read_bytes()).hexdigest() for path in announced()}
    assert found == announced()
