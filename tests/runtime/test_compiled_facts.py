"""The facts of a kernel's variants: compiled by real devices, and kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.runtime.compiled_variants import KernelSource, compiled_variants, launched_size
from coarsen.runtime.text_cache import compiled as cache
from coarsen.runtime.text_cache.compiled import CachedFacts
from coarsen.runtime.text_cache.location import OFF_VARIABLES
from coarsen.runtime.text_cache.store import Store
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

SOURCE = "kernel void scale(global int *values) { values[get_global_id(0)] *= 2; }"
PROGRAM = ProgramText("scale", SOURCE, ("-cl-std=CL1.2",), (64,))
FACTS = CompiledFacts(item_lanes=8, operation_bytes=12.5)
REFUSED = """kernel void knot(global int *values, int count) {
    int i = 0;
    if (count > 3) goto inside;
again:
    values[i++] = 1;
inside:
    values[i++] = 2;
    if (i < count) goto again;
}"""


@dataclass
class Compiler:
    """Stands in for the reading process: answers each program with a reading, and remembers them."""

    reading: Reading = field(default_factory=lambda: Reading(FACTS))
    programs: list[ProgramText] = field(default_factory=list)

    def __call__(self, device: DeviceDescription, programs: Sequence[ProgramText]) -> list[Reading]:
        self.programs += programs
        return [self.reading for _ in programs]


@pytest.fixture
def device() -> DeviceDescription:
    return find_device("intel")


def asked(
    compiler: Compiler, folder: Path, device: DeviceDescription, programs: Sequence[ProgramText] = (PROGRAM,)
) -> list[Reading]:
    """The answers of a fresh cache in the folder."""
    return CachedFacts(compiler, Store(folder))(device, programs)


def test_what_was_compiled_is_not_compiled_again(tmp_path: Path, device: DeviceDescription) -> None:
    compiler = Compiler()
    other = replace(PROGRAM, kernel="other")
    assert asked(compiler, tmp_path, device) == [Reading(FACTS)]
    assert asked(compiler, tmp_path, device, [other, PROGRAM]) == [Reading(FACTS)] * 2
    assert compiler.programs == [PROGRAM, other], "only what is missing is asked for"


def test_whatever_it_depends_on_is_in_its_key(
    tmp_path: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Compiler()
    asked(compiler, tmp_path, device)
    asked(compiler, tmp_path, device, [replace(PROGRAM, source=SOURCE + " ")])
    asked(compiler, tmp_path, device, [replace(PROGRAM, options=("-DN=1",))])
    asked(compiler, tmp_path, device, [replace(PROGRAM, local_size=())])
    asked(compiler, tmp_path, replace(device, driver_version="another"))
    asked(compiler, tmp_path, replace(device, index="7:7"))
    assert len(compiler.programs) == 5, "of another place, it is the same device"
    monkeypatch.setenv("CL_CONFIG_USE_VECTORIZER", "False")
    asked(compiler, tmp_path, device)
    monkeypatch.setattr(cache, "disassembler_version", lambda: None)
    asked(compiler, tmp_path, device)
    monkeypatch.setattr(cache, "prediction_versions", lambda: {"prediction": "other readers"})
    asked(compiler, tmp_path, device)
    assert len(compiler.programs) == 8


def test_without_its_version_nothing_is_kept(
    tmp_path: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "prediction_versions", lambda: None)
    compiler = Compiler()
    assert asked(compiler, tmp_path, device) == asked(compiler, tmp_path, device)
    assert len(compiler.programs) == 2 and list(tmp_path.iterdir()) == []


def test_a_failure_is_not_kept(tmp_path: Path, device: DeviceDescription) -> None:
    failed = Compiler(Reading(failure="its compiler crashed"))
    assert asked(failed, tmp_path, device) == [failed.reading]
    assert asked(Compiler(), tmp_path, device) == [Reading(FACTS)]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda _: b"", lambda data: data[:70] + b"x" + data[71:]]
)
def test_a_damaged_file_is_compiled_anew(tmp_path: Path, device: DeviceDescription, damage: object) -> None:
    assert callable(damage)
    compiler = Compiler()
    asked(compiler, tmp_path, device)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert asked(compiler, tmp_path, device) == asked(compiler, tmp_path, device) == [Reading(FACTS)]
    assert len(compiler.programs) == 2, "it is whole again"


def test_another_entry_s_file_is_none(tmp_path: Path, device: DeviceDescription) -> None:
    compiler = Compiler()
    asked(compiler, tmp_path, device)
    (file,) = tmp_path.iterdir()
    asked(compiler, tmp_path, device, [replace(PROGRAM, local_size=(32,))])
    other = next(each for each in tmp_path.iterdir() if each != file)
    file.write_bytes(other.read_bytes())
    asked(compiler, tmp_path, device)
    assert len(compiler.programs) == 3


def test_two_at_once_do_not_disturb_each_other(tmp_path: Path, device: DeviceDescription) -> None:
    found: list[list[Reading]] = []
    programs = [replace(PROGRAM, local_size=(size,)) for size in range(1, 9)]
    threads = [
        threading.Thread(target=lambda: found.append(asked(Compiler(), tmp_path, device, programs)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[Reading(FACTS)] * 8] * 4
    untouched = Compiler()
    assert asked(untouched, tmp_path, device, programs) == [Reading(FACTS)] * 8
    assert untouched.programs == []


def test_the_original_is_compiled_as_it_is(device: DeviceDescription) -> None:
    compiler = Compiler()
    kernel = KernelSource("scale", SOURCE + " // as written", ("-cl-std=CL1.2", "-DN=2"))
    variants = [Variant((64,)), Variant((64,), (Coarsening(4),)), Variant((64,), (), (("N", "3"),))]
    compiled_variants(kernel, device, variants, False, compiler)
    original, coarsened, defined = compiler.programs
    assert original == ProgramText("scale", kernel.source, kernel.options, (64,))
    assert defined == replace(original, options=(*kernel.options, "-DN=3"))
    assert "as written" not in coarsened.source and coarsened.local_size == (16,)
    assert coarsened.options == ("-cl-std=CL1.2",)


def test_a_refusal_is_the_failure_of_its_variant(device: DeviceDescription) -> None:
    variants = [Variant(), Variant((), (Coarsening(2),)), Variant()]
    found = compiled_variants(KernelSource("knot", REFUSED), device, variants, False, Compiler())
    assert [reading.facts for reading in found] == [FACTS, None, FACTS]
    assert found[1].failure


def test_the_local_size_of_a_launch() -> None:
    merged = (Coarsening(4), Coarsening(32, 1), Coarsening(2, 0, level=Level.GROUP))
    assert launched_size(Variant((64, 8), merged)) == (16, 1)
    assert launched_size(Variant((), merged)) == ()


def test_a_real_device_s_facts_come_back_from_the_cache(
    tmp_path: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in OFF_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    kernel, variants = KernelSource("scale", SOURCE), [Variant(), Variant((), (Coarsening(4),))]
    first = compiled_variants(kernel, device, variants, str(tmp_path))
    again = compiled_variants(kernel, device, variants, str(tmp_path), Compiler(Reading(failure="asked")))
    assert first == again
    original, coarsened = (reading.facts for reading in first)
    assert original is not None and coarsened is not None
    assert original.item_lanes and original.code_bytes and coarsened.code_bytes
    assert coarsened.code_bytes > original.code_bytes
