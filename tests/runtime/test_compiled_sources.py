"""Sources are compiled once for all kernels and variants of a program, and anew where a header has changed."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl
import pytest

import coarsen
from coarsen.frontend.clang import Clang
from coarsen.frontend.device_macros import PORTABLE
from coarsen.frontend.lower import lower
from coarsen.runtime.toolchain import CompiledSources

FIVE = "\n".join(
    f"kernel void k{n}(global int *a) {{ a[get_global_id(0)] += {n} * (int)get_local_id(0); }}" for n in range(5)
)


@pytest.fixture
def clang_starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    starts: list[str] = []
    run = Clang.run

    def counted(self: Clang, arguments: list[str], source: str | None = None) -> object:
        starts.append(source or "")
        return run(self, arguments, source)

    monkeypatch.setattr(Clang, "run", counted)
    return starts


def test_a_program_of_five_kernels_starts_clang_once(context: cl.Context, clang_starts: list[str]) -> None:
    program = coarsen.Program(context, FIVE, factor=2).build()
    assert len(program.all_kernels()) == 5
    assert len(clang_starts) == 1


def test_a_changed_header_is_read_anew(tmp_path: Path, clang_starts: list[str]) -> None:
    sources, options = CompiledSources(), (f"-I{tmp_path}",)
    source = '#include "value.h"\nkernel void k(global int *a) { a[0] = VALUE; }'

    def stored() -> str:
        kernel = lower(sources.unit(source, options, PORTABLE), "k")
        return next(i.operands[0].text for i in kernel.instructions() if i.opcode == "store")

    (tmp_path / "value.h").write_text("#define VALUE 4\n")
    assert [stored(), stored()] == ["4", "4"]
    assert len(clang_starts) == 1
    (tmp_path / "value.h").write_text("#define VALUE 5\n")
    assert stored() == "5"
    assert len(clang_starts) == 2


def test_options_and_macros_tell_sources_apart(clang_starts: list[str]) -> None:
    sources = CompiledSources()
    source = "kernel void k(global int *a) { a[0] = VALUE; }"
    units = [sources.unit(source, (f"-DVALUE={value}",), PORTABLE) for value in range(6)]
    assert len(set(map(id, units))) == len(clang_starts) == 6
    assert sources.unit(source, ("-DVALUE=5",), PORTABLE) is units[5]
    # The first ones are forgotten.
    assert sources.unit(source, ("-DVALUE=0",), PORTABLE) is not units[0]
