"""Facts about kernels in the cache: what is compiled once, and what has to be compiled again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.policy import keys as facts
from coarsen.policy.keys import KernelFacts, kernel_facts
from coarsen.runtime.text_cache import versions as code_versions
from coarsen.runtime.toolchain import CompiledSources

SOURCE = "kernel void scale(global int *x) { x[get_global_id(0)] *= FACTOR; }"
OPTIONS = ("-DFACTOR=2",)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COARSEN_NO_CACHE", raising=False)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that were compiled."""
    kernels: list[str] = []
    compile_ = facts._compiled

    def counting(
        sources: CompiledSources,
        source: str,
        kernel: str,
        *rest: Any,  # noqa: ANN401 (as they are)
    ) -> KernelFacts:
        kernels.append(kernel)
        return compile_(sources, source, kernel, *rest)

    monkeypatch.setattr(facts, "_compiled", counting)
    return kernels


def test_what_was_compiled_is_not_compiled_again(tmp_path: Path, compiled: list[str]) -> None:
    first, again = (kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, str(tmp_path)) for _ in range(2))
    assert first == again == kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, False)
    assert len(compiled) == 2


def test_whatever_they_depend_on_is_in_the_key(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path)
    other = "kernel void other(global int *x) { x[get_local_id(0)] = 1; }"
    texts = (SOURCE, SOURCE.replace("*= FACTOR", "-= FACTOR"), f"{SOURCE}\n{other}")
    found = [kernel_facts(text, "scale", OPTIONS, PORTABLE, folder) for text in texts]
    found += [
        kernel_facts(texts[2], "other", OPTIONS, PORTABLE, folder),
        kernel_facts(SOURCE, "scale", ("-DFACTOR=3",), PORTABLE, folder),
        kernel_facts(SOURCE, "scale", OPTIONS, DeviceMacros(frozenset({"cl_khr_fp64"}), 300), folder),
    ]
    assert [each.groups_matter for each in found] == [False, False, False, True, False, False]
    assert found[0].ir_hash == found[2].ir_hash and len({each.ir_hash for each in found[:5]}) == 4
    monkeypatch.setattr(code_versions, "_installed", lambda: {"code": "another"})
    kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, folder)
    assert len(compiled) == 7


def test_a_header_that_changes_is_seen(tmp_path: Path, compiled: list[str]) -> None:
    (tmp_path / "headers").mkdir()
    header = tmp_path / "headers" / "by.h"
    source = f'#include "by.h"\n{SOURCE}'
    options = (f"-I{header.parent}",)
    hashes = []
    for factor in (2, 2, 3, 2):
        header.write_text(f"#define FACTOR {factor}\n")
        hashes.append(kernel_facts(source, "scale", options, PORTABLE, str(tmp_path / "cache")).ir_hash)
    assert hashes[0] == hashes[1] == hashes[3] != hashes[2]
    assert len(compiled) == 2


def test_what_is_not_known_in_all_is_not_kept(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    timed = f"constant char built[] = __TIME__; {SOURCE}"
    monkeypatch.setattr(code_versions, "_installed", lambda: None)
    kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, str(folder))
    monkeypatch.undo()
    kernel_facts(timed, "scale", OPTIONS, PORTABLE, str(folder))
    with pytest.raises(InvalidInputError):
        kernel_facts(SOURCE, "scale", (), PORTABLE, str(folder))
    assert not folder.exists()


def test_a_damaged_file_is_none(tmp_path: Path, compiled: list[str]) -> None:
    wanted = kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, str(tmp_path))
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    content = file.read_bytes()
    for damaged in (content[:-1], content.replace(wanted.ir_hash.encode(), b"0" * 64), b""):
        file.write_bytes(damaged)
        assert kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, str(tmp_path)) == wanted
        assert file.read_bytes() == content


def test_no_llvm_is_loaded_for_what_is_known(tmp_path: Path) -> None:
    code = (
        "import sys; from coarsen.policy.keys import kernel_facts; "
        "from coarsen.frontend.device_macros import PORTABLE; "
        f"kernel_facts({SOURCE!r}, 'scale', {OPTIONS!r}, PORTABLE, {str(tmp_path)!r}); "
        "print('llvmlite' in sys.modules)"
    )
    kernel_facts(SOURCE, "scale", OPTIONS, PORTABLE, str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
