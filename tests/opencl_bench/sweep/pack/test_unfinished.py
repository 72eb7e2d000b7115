"""A pack whose writing was interrupted: the next call goes on, and the pack is the same in the end."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.sweep.pack import writing
from coarsen.opencl_bench.sweep.pack.plan import PackedSweep
from coarsen.opencl_bench.sweep.pack.writing import write_pack
from coarsen.tuning.engine.plan import Space
from tests.opencl_bench.sweep.pack.small_pack import make_pack, request

NAMES = ("launch-0-24", "launch-0-22")
SPACE = Space(factors=(1, 2), strides=(1,))


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def without_seconds(text: bytes) -> bytes:
    """A plan without how long its compilations took."""
    return b"\n".join(line for line in text.splitlines() if b'"seconds"' not in line)


def test_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_pack(tmp_path / "whole", *NAMES, space=SPACE)
    packed = writing._packed_sweep
    done: list[str] = []

    def once(*arguments: Any) -> PackedSweep:  # noqa: ANN401 (whatever it takes)
        if done:
            raise KeyboardInterrupt
        done.append(str(arguments[1].benchmark))
        return packed(*arguments)

    monkeypatch.setattr(writing, "_packed_sweep", once)
    with pytest.raises(KeyboardInterrupt):
        make_pack(tmp_path / "pack", *NAMES, space=SPACE)
    assert not (tmp_path / "pack" / "plan.json").exists()

    done.clear()
    shutil.copytree(tmp_path / "pack", tmp_path / "damaged")
    make_pack(tmp_path / "pack", *NAMES, space=SPACE)
    assert done == [NAMES[1]], "the first was not packed again"
    whole, continued = contents(tmp_path / "whole"), contents(tmp_path / "pack")
    assert without_seconds(whole.pop("plan.json")) == without_seconds(continued.pop("plan.json"))
    assert whole == continued

    for code in (tmp_path / "damaged" / "code").iterdir():
        code.unlink()
    monkeypatch.setattr(writing, "_packed_sweep", packed)
    summary = write_pack(request(*NAMES, space=SPACE), tmp_path / "damaged")
    assert summary.codes == len(list((tmp_path / "damaged" / "code").iterdir()))
