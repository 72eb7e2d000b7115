"""Benchmarks one after the other share the processes that compile, and nothing that these keep of a kernel."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.tuning.processes import compiler
from coarsen.tuning.processes.child_process import ChildProcess
from coarsen.tuning.processes.compiler import CompilePool, Compiler
from coarsen.tuning.records.measurement import Invalidity
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.sweep.small_sweep import METHOD

ROOT = Path(__file__).parents[3]
SOURCE = "kernel void twice(global float *values) { values[get_global_id(0)] *= 2; }"
FILE = """\
file = "twice.cl"
kernel = "twice"
outputs = ["values"]
[ndrange]
global_size = ["n"]
local_size = [8]
[sizes.test]
n = 64
[[arguments]]
name = "values"
buffer = "float"
elements = "n"
values = "uniform(-1, 1)"
"""


@pytest.fixture
def pool() -> Iterator[CompilePool]:
    """One that compiles one after the other."""
    with CompilePool(1) as working:
        yield working


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The services whose processes were started."""
    found: list[str] = []

    def start(service: str, variables: Mapping[str, str] | None) -> ChildProcess:
        found.append(service)
        return ChildProcess(service, variables=variables)

    monkeypatch.setattr(compiler, "ChildProcess", start)
    return found


@pytest.fixture
def _crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that dies of factor 2 and hangs at factor 4."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(compiler, "SERVICE", "tests.opencl_bench.sweep.crashing_compile_service")


def compiling(pool: CompilePool, benchmark: str) -> Compiler:
    return Compiler(benchmark, "opencl_c", None, METHOD, pool)


def along_0(factor: int) -> Variant:
    return Variant((8, 8), (Coarsening(factor, 0),))


def test_benchmarks_share_a_process(pool: CompilePool, started: list[str]) -> None:
    hashes = set()
    for name in ("mt", "launch-0-4", "reduce"):
        with compiling(pool, name) as one:
            hashes.add(one.ir_hash(()))
            assert one.compiled(along_0(2)).code is not None
    assert len(hashes) == 3
    assert started == [compiler.SERVICE]


def test_a_kernel_is_read_anew_for_every_benchmark(pool: CompilePool, tmp_path: Path) -> None:
    (tmp_path / "twice.cl").write_text(SOURCE)
    (tmp_path / "twice.toml").write_text(FILE)
    name = str(tmp_path / "twice.toml")
    with compiling(pool, name) as one:
        first = one.ir_hash(())
        (tmp_path / "twice.cl").write_text(SOURCE.replace("2", "3"))
        assert one.ir_hash(()) == first
    with compiling(pool, name) as another:
        assert another.ir_hash(()) != first
        code = another.compiled(Variant((8,))).code
    assert code is not None
    assert code.content == SOURCE.replace("2", "3")


@pytest.mark.usefixtures("_crashing")
def test_a_process_that_died_is_replaced_for_the_next_benchmark(pool: CompilePool) -> None:
    with compiling(pool, "mt") as one:
        assert one.compiled(along_0(2)).invalidity is Invalidity.COMPILE
    with compiling(pool, "mtLocal") as another:
        assert another.compiled(along_0(8)).code is not None


def test_what_has_not_begun_is_given_up_with_its_benchmark(pool: CompilePool, started: list[str]) -> None:
    go_on = threading.Event()
    pool.submit(go_on.wait)
    with compiling(pool, "mt") as one:
        waiting = [one.ahead(along_0(factor)) for factor in (2, 4)]
    go_on.set()
    assert [future.cancelled() for future in waiting] == [True, True]
    assert pool.submit(lambda: "still at work").result() == "still at work"
    assert started == []


@pytest.mark.usefixtures("_crashing")
def test_the_end_of_a_crew_waits_for_no_compiler() -> None:
    with CompilePool(1) as pool, compiling(pool, "mt") as one:
        one.ir_hash(())
        hanging = one.ahead(along_0(4))
        while not hanging.running():
            time.sleep(0.01)
        start = time.monotonic()
    assert time.monotonic() - start < METHOD.compile_seconds / 4
    assert hanging.result().invalidity is Invalidity.COMPILE


@pytest.mark.usefixtures("_crashing")
def test_what_is_compiled_stays_once_a_crew_is_stopped(pool: CompilePool) -> None:
    working = compiling(pool, "mt")
    done = working.compiled(along_0(8))
    hanging, waiting = working.ahead(along_0(4)), working.ahead(along_0(16))
    while not hanging.running():
        time.sleep(0.01)
    pool.stop()
    assert working.compiled(along_0(8)) == done
    assert hanging.result().invalidity is Invalidity.COMPILE
    assert waiting.cancelled()


@pytest.mark.usefixtures("_crashing")
def test_a_shorter_limit_holds_from_then_on(pool: CompilePool) -> None:
    working = compiling(pool, "mt")
    working.compiled(along_0(8))
    working.use(replace(METHOD, compile_seconds=0.2))
    found = working.compiled(along_0(4))
    assert (found.invalidity, found.failure) == (Invalidity.TIMEOUT, "not compiled within 0.2 s")
