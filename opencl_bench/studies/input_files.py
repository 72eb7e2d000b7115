"""Criterion 17c: the tuned files that the same rows and seed make in two processes, byte by byte.

python -m coarsen.opencl_bench.studies.input_files STORE … --device NAME [--kernels NAME …] [--json FILE]

Each process has a seed of its own for Python's hashes, which must decide nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.studies.input_command import device_parser
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines, run_line
from coarsen.opencl_bench.studies.input_shipped import shipped_kernels

HASH_SEEDS = ("1", "2")


def file_hashes(stores: Sequence[str], names: Sequence[str], device: str) -> dict[str, str]:
    """Return the SHA-256 of each kernel's tuned file. Raises as `shipped_kernels` does."""
    return {
        each.stored.kernel.name: hashlib.sha256(each.file.to_bytes()).hexdigest()
        for each in shipped_kernels(stores, names, find_device(device))
    }


def in_a_process(words: Sequence[str], hash_seed: str) -> dict[str, str]:
    """Return the hashes that a new process finds. Raises InvalidInputError with what it said where it fails."""
    command = [sys.executable, "-m", "coarsen.opencl_bench.studies.input_files", *words, "--hashes"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InvalidInputError(done.stderr.strip().removeprefix("error: ") or "the process failed")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Compare the files of two processes, and tell those that differ."""
    parser = device_parser(__doc__, "the number of criterion 17c")
    parser.add_argument("--hashes", action="store_true", help="print the hashes of this process alone")
    asked = parser.parse_args(words)
    if asked.hashes:
        print(json.dumps(file_hashes(asked.stores, asked.kernels, asked.device)))
        return 0
    own = [*asked.stores, "--device", asked.device, *(["--kernels", *asked.kernels] if asked.kernels else [])]
    first, second = (in_a_process(own, seed) for seed in HASH_SEEDS)
    different = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    print(f"{len(first)} tuned files, {len(different)} with other bytes {' '.join(different)}".rstrip())
    if asked.json and first:
        add_lines(asked.json, [run_line("17c", find_device(asked.device).platform_name, len(different))])
    return 0 if first and not different else 1


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
