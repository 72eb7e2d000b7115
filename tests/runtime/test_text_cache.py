"""The cache of coarsened text: what is found in it and what is not, by its requests and by programs."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache import versions
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import Place
from coarsen.variant.transforms import transforms_of
from tests.runtime.text_cache_requests import KERNEL, SOURCE, VARIANT, Compiler, asked, only_file

REFUSED = """
kernel void knot(global int *values, int count) {
    int i = 0;
    if (count > 3) goto inside;
again:
    values[i++] = 1;
inside:
    values[i++] = 2;
    if (i < count) goto again;
}
"""
PLAIN = "kernel void plain(global int *values) { values[get_global_id(0)] *= 2; }"
ITEMS = 96


def test_the_second_time_nothing_is_coarsened(tmp_path: Path) -> None:
    compiler = Compiler()
    first, second = (asked(compiler, tmp_path / "text") for _ in range(2))
    assert first == second == KERNEL
    assert compiler.calls == ["scale"]


ENTRIES = (Coarsening(2), Coarsening(4, 1), Coarsening(4, stride=2), Coarsening(4, level=Level.GROUP))
OTHERS = (
    transforms_of("cpu", fast_path="never"),
    transforms_of("cpu", lock_step="always"),
    transforms_of("cpu", clean_up=False),
    transforms_of("cpu", wide_accesses=True),
    transforms_of("cpu", distinct=True),
    transforms_of("gpu"),
)
CHANGED_SOURCE = SOURCE.replace("+", "-")


@pytest.mark.parametrize(
    "changed",
    [
        {"source": CHANGED_SOURCE},
        {"kernel": "other"},
        *({"variant": replace(VARIANT, coarsenings=(entry,))} for entry in ENTRIES),
        {"variant": replace(VARIANT, any_size=True)},
        {"variant": replace(VARIANT, arrays=(ArrayPlan("values", place=Place.CONSTANT),))},
        *({"variant": replace(VARIANT, transforms=each)} for each in OTHERS),
        {"options": ("-DN=2",)},
        {"macros": DeviceMacros(frozenset({"cl_khr_fp64"}))},
        {"macros": DeviceMacros(opencl_version=200)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_each_part_of_a_request_counts(changed: dict[str, Any], tmp_path: Path) -> None:
    compiler = Compiler()
    asked(compiler, tmp_path)
    asked(compiler, tmp_path, **changed)
    asked(compiler, tmp_path, **changed)
    assert len(compiler.calls) == 2


def test_the_form_counts(tmp_path: Path) -> None:
    spirv = Compiler(KERNEL._replace(text="", spirv=b"\x03\x02#\x07"))
    asked(Compiler(), tmp_path)
    for _ in range(2):
        assert asked(spirv, tmp_path, form="spirv").spirv == b"\x03\x02#\x07"
    assert len(spirv.calls) == 1
    assert asked(Compiler(), tmp_path) == KERNEL


@pytest.mark.parametrize("name", ["coarsen", "code", "llvmlite", "ziglang", "clang"])
def test_each_version_counts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = versions._installed()
    assert installed is not None
    compiler = Compiler()
    asked(compiler, tmp_path)
    monkeypatch.setattr(versions, "_installed", lambda: {**installed, name: "another"})
    asked(compiler, tmp_path)
    assert len(compiler.calls) == 2


def test_other_compilers_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COARSEN_CLANG", "clang-99")
    compiler = Compiler()
    for _ in range(2):
        assert asked(compiler, tmp_path) == KERNEL
    assert len(compiler.calls) == 2
    assert not any(tmp_path.iterdir())


def test_all_code_that_coarsens_counts() -> None:
    """A module that takes part and isn't hashed would leave texts of older code in use."""
    for folder in versions.FOLDERS:
        assert (versions.PACKAGE / folder).is_dir()
    code = (
        "import sys, coarsen\n"
        f"coarsen.coarsen({PLAIN!r}, any_size=True).spirv\n"
        f"coarsen.coarsen({SOURCE!r}).opencl_c\n"
        "print(*(name for name in sys.modules if name.startswith('coarsen.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "coarsen.transform.coarsen" in loaded
    packages = {module.name for module in pkgutil.iter_modules([str(versions.PACKAGE)]) if module.ispkg}
    parts = {name.split(".")[1] for name in loaded} & packages
    # Features and models say what should be done, not how.
    assert parts <= {*versions.FOLDERS}


def test_a_refusal_is_kept(tmp_path: Path) -> None:
    compiler = Compiler(RefusalError("collective", "it calls a reduction", SourcePosition(3, 7, "a.h")))
    raised = []
    for _ in range(2):
        with pytest.raises(RefusalError) as caught:
            asked(compiler, tmp_path)
        raised.append((caught.value.code, caught.value.reason, caught.value.position, str(caught.value)))
    assert raised[0] == raised[1]
    assert raised[1][:3] == ("collective", "it calls a reduction", SourcePosition(3, 7, "a.h"))
    assert len(compiler.calls) == 1


@pytest.mark.parametrize(
    "error",
    [
        RefusalError("too-deep", "nested too deeply"),
        RefusalError("spirv-unsupported", "it took more than 60 seconds"),
        InvalidInputError("clang can't be run"),
    ],
)
def test_what_may_be_otherwise_next_time_is_not_kept(
    error: RefusalError | InvalidInputError, tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(type(error)):
            asked(Compiler(error), tmp_path)
    assert asked(Compiler(), tmp_path) == KERNEL


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that programs use."""
    monkeypatch.delenv("COARSEN_NO_CACHE", raising=False)
    monkeypatch.setenv("COARSEN_CACHE_DIR", str(tmp_path))
    return tmp_path / "coarsened-text"


def results(queue: cl.CommandQueue, program: cl.Program) -> list[int]:
    values = np.arange(ITEMS, dtype=np.int32)
    flags = cl.mem_flags
    buffer = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
    program.scale(queue, (ITEMS,), (24,), buffer, np.int32(3))
    cl.enqueue_copy(queue, values, buffer)
    return [int(value) for value in values]


@pytest.mark.compiled_devices
def test_results_from_the_cache_are_the_same(
    context: cl.Context, queue: cl.CommandQueue, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [item * 3 + item % 24 for item in range(ITEMS)]
    assert results(queue, coarsen.Program(context, SOURCE, factor=4).build()) == expected
    (file,) = cache.iterdir()

    def compiled(*arguments: object, **options: object) -> None:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr("coarsen.api.coarsen_variant", compiled)
    program = coarsen.Program(context, SOURCE, factor=4).build()
    assert results(queue, program) == expected
    assert program.scale.divided(context.devices[0], (ITEMS,), (24,)).global_size == (ITEMS // 4,)
    with pytest.raises(AssertionError, match="in the cache"):
        coarsen.Program(context, SOURCE, factor=4).build(cache_dir=False)
    file.write_bytes(file.read_bytes()[:99])
    with pytest.raises(AssertionError, match="in the cache"):
        coarsen.Program(context, SOURCE, factor=4).build()


@pytest.mark.compiled_devices
def test_a_refused_kernel_is_not_lowered_again(
    context: cl.Context, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for _ in range(2):
        with pytest.raises(RefusalError) as caught:
            coarsen.Program(context, REFUSED, factor=2).build()
        said.append(str(caught.value))
        monkeypatch.setattr("coarsen.api.coarsen_variant", None)
    assert said[0] == said[1]
    assert "[irreducible]" in said[0]
    assert only_file(cache)


def fresh_process(words: Sequence[str]) -> list[str]:
    """The compilers that a process has loaded after it has built a program from the cache."""
    code = (
        "import subprocess, sys\n"
        "import coarsen, pyopencl\n"
        "device = coarsen.open_device(coarsen.find_device(sys.argv[1]))\n"
        f"coarsen.Program(pyopencl.Context([device]), {SOURCE!r}, factor=4).build().scale\n"
        "print(*(name for name in ('llvmlite', 'networkx', 'coarsen.api') if name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_warm_process_loads_no_compiler(cache: Path) -> None:
    assert "llvmlite" in fresh_process(["intel"])
    assert fresh_process(["intel"]) == []
