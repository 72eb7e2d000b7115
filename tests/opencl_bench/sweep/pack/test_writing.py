"""What a pack holds, and what it says about what it doesn't hold."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.pack.plan import (
    Pack,
    PackedCandidate,
    PackedCodes,
    PackedSweep,
    code_to_file,
    plan_from_json,
    plan_to_json,
)
from coarsen.opencl_bench.sweep.pack.writing import PackPart, PackRequest, write_pack
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.plan import Point, Space
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Invalidity
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA, ArrayLayout, Order
from coarsen.variant.space import ArrayChoices
from coarsen.variant.variant import Variant
from tests.opencl_bench.sweep.pack.small_pack import SPACE, make_pack, request

SCALE = "kernel void scale(global float *values, float factor) { values[get_global_id(0)] *= factor; }\n"
SCALE_FILE = """\
file = "scale.cl"
kernel = "scale"
outputs = ["values"]

[ndrange]
global_size = ["n"]
local_size = [64]

[sizes.test]
n = 1024

[[arguments]]
name = "values"
buffer = "float"
elements = "n"
values = "uniform(-1, 1)"

[[arguments]]
name = "factor"
scalar = "float"
value = 2.5
"""


def sweep_of(pack: Pack, name: str) -> PackedSweep:
    return next(sweep for sweep in pack.plan.sweeps if sweep.name == name)


def test_each_code_once_and_as_it_was_compiled(small_pack: Path) -> None:
    pack = Pack(small_pack)
    codes = PackedCodes(pack, sweep_of(pack, "reduce"))
    original = codes.compiled(Variant((64,))).code
    assert original is not None and original == codes.compiled(Variant((128,))).code
    assert original.content == (Path(__file__).parents[4] / "opencl_bench/kernels/reduce.cl").read_text()
    coarsened = codes.compiled(Variant((64,), (Coarsening(2, 0, 1),))).code
    assert coarsened is not None and coarsened.content != original.content
    # The original and one or two coarsened ones of each kernel, and nothing else.
    named = {entry.code for sweep in pack.plan.sweeps for entry in sweep.candidates} - {None}
    assert {path.stem for path in (small_pack / "code").iterdir()} == named


def test_two_kernels_of_one_source_are_two_codes(tmp_path: Path) -> None:
    both = SCALE + SCALE.replace("scale", "divide").replace("*=", "/=")
    (tmp_path / "both.cl").write_text(both)
    for name in ("scale", "divide"):
        text = SCALE_FILE.replace("scale.cl", "both.cl").replace('kernel = "scale"', f'kernel = "{name}"')
        (tmp_path / f"{name}.toml").write_text(text)
    make_pack(tmp_path / "pack", tmp_path / "scale.toml", tmp_path / "divide.toml")
    pack = Pack(tmp_path / "pack")
    for name in ("scale", "divide"):
        codes = PackedCodes(pack, sweep_of(pack, name))
        made = [codes.compiled(Variant((64,), coarsened)).code for coarsened in ((), (Coarsening(2),))]
        assert [code.kernel for code in made if code is not None] == [name, name]
        assert made[0] is not None and made[0].content == both


def test_the_plan_knows_what_the_device_must_not_be_asked_for(small_pack: Path) -> None:
    sweep = sweep_of(Pack(small_pack), "reduce")
    broken = next(
        entry for entry in sweep.candidates if entry.candidate == Variant((64,), (Coarsening(2, 0, 64),))
    )
    assert broken.code is None
    assert broken.invalidity is Invalidity.CONSTRAINTS
    assert broken.failure.startswith("the stride 64 does not divide the coarsened local size")


def test_an_original_that_fits_nowhere_still_vouches_for_what_was_made_of_it(small_pack: Path) -> None:
    """A work-group of 2048 work-items, coarsened by 2, has as many as a device allows."""
    pack = Pack(small_pack)
    sweep = sweep_of(pack, "reduce")
    original = Variant((2048,))
    refused = PackedCandidate(original, invalidity=Invalidity.CONSTRAINTS, failure="too large")
    codes = PackedCodes(pack, replace(sweep, candidates=(*sweep.candidates, refused)))
    assert codes.compiled(original).code == codes.compiled(Variant((64,))).code
    assert codes.with_limits_of_pack(Point(original, None)).violation == "too large"


def test_files_are_included_however_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "nothing.h").write_text("")
    (tmp_path / "scale.cl").write_text(f'  #  include "nothing.h"\n{SCALE}')
    (tmp_path / "scale.toml").write_text(SCALE_FILE)
    with pytest.raises(InvalidInputError, match="its source includes files, which a pack does not hold"):
        write_pack(request(tmp_path / "scale.toml"), tmp_path / "pack")


def test_the_plan_survives_json(small_pack: Path) -> None:
    text = (small_pack / "plan.json").read_text()
    packed = plan_from_json(json.loads(text))
    assert json.loads(json.dumps(plan_to_json(packed))) == json.loads(text)
    assert plan_from_json(json.loads(json.dumps(plan_to_json(packed)))) == packed
    subject = packed.sweeps[0].subjects[0][1]
    assert (subject.benchmark, subject.preset, len(subject.ir_hash)) == ("reduce", "test", 64)


def test_a_refusal_is_part_of_the_plan(tmp_path: Path) -> None:
    """Work-items that wait for each other can't be merged; the original is packed."""
    waiting = (
        "{ while (atomic_or(lock, 0) != get_global_id(0)); values[get_global_id(0)] *= factor; atomic_inc(lock); }"
    )
    (tmp_path / "scale.cl").write_text(
        f"kernel void scale(global float *values, float factor, global volatile int *lock)\n{waiting}\n"
    )
    lock = '\n[[arguments]]\nname = "lock"\nbuffer = "int"\nelements = 1\nvalues = "zeros"\n'
    (tmp_path / "scale.toml").write_text(SCALE_FILE + lock)
    summary = make_pack(tmp_path / "pack", tmp_path / "scale.toml")
    (sweep,) = Pack(tmp_path / "pack").plan.sweeps
    coarsened = [each for each in sweep.candidates if each.candidate.is_coarsened and not each.code]
    refused = [each for each in coarsened if each.invalidity is not Invalidity.CONSTRAINTS]
    assert summary.codes == 1 and {each.invalidity for each in refused} == {Invalidity.COMPILE}
    assert all("waits-for-another" in each.failure for each in refused), refused


def test_a_benchmark_of_ones_own_comes_along(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "scale.cl").write_text(SCALE)
    (tmp_path / "own" / "scale.toml").write_text(SCALE_FILE)
    make_pack(tmp_path / "pack", tmp_path / "own" / "scale.toml")
    shutil.rmtree(tmp_path / "own")
    moved = (tmp_path / "pack").rename(tmp_path / "moved")
    pack = Pack(moved)
    assert pack.benchmark(pack.plan.sweeps[0]) == str(moved / "benchmarks" / "0" / "scale.toml")
    assert (moved / "benchmarks" / "0" / "scale.cl").read_text() == SCALE


def test_the_files_that_fill_its_buffers_come_along(tmp_path: Path) -> None:
    own, numbers = tmp_path / "own", np.arange(1024, dtype=np.float32)
    (own / "data").mkdir(parents=True)
    (own / "scale.cl").write_text(SCALE)
    np.save(own / "data" / "in.npy", numbers)
    from_file = SCALE_FILE.replace('"uniform(-1, 1)"', "'file(\"data/in.npy\")'")
    (own / "scale.toml").write_text(from_file)
    make_pack(tmp_path / "pack", own / "scale.toml")
    shutil.rmtree(own)
    pack = Pack(tmp_path / "pack")
    workload = find_benchmark(Path(pack.benchmark(pack.plan.sweeps[0]))).workload("test")
    assert np.array_equal(workload.buffers["values"], numbers)


def test_what_can_not_be_packed(tmp_path: Path) -> None:
    (tmp_path / "include.cl").write_text(f'#include "other.h"\n{SCALE}')
    (tmp_path / "other.h").write_text("")
    own = tmp_path / "include.toml"
    own.write_text(SCALE_FILE.replace("scale.cl", "include.cl"))
    with pytest.raises(InvalidInputError, match="nothing to pack: include as opencl_c: its source includes files"):
        make_pack(tmp_path / "pack", own)
    (tmp_path / "full" / "something").mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="full isn't empty"):
        make_pack(tmp_path / "full", "reduce")
    with pytest.raises(InvalidInputError, match="no preset 'huge'"):
        write_pack(PackRequest((PackPart("reduce", "huge", SPACE),)), tmp_path / "other")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"format": 9', '"format": 8', "reads format 9"),
        ('"benchmark": "reduce"', '"benchmark": "../reduce"', "leads out of the pack"),
        ('"seed": 0', '"seed": "zero"', "must be a whole number"),
        ('"form": "opencl_c"', '"form": "cubin"', "must be one of opencl_c, spirv, ptx"),
        ('"candidates"', '"candidate"', "no field 'candidates'"),
        ('"local_size": [\n       64\n', '"local_size": [\n       -1\n', "not the local size of a work-group"),
        ("{", "[", "is no JSON"),
    ],
)
def test_a_damaged_plan_is_one_line(small_pack: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (small_pack / "plan.json").read_text()
    assert old in text
    (tmp_path / "plan.json").write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidInputError, match=message) as caught:
        Pack(tmp_path)
    assert "\n" not in str(caught.value)


def test_layouts_go_through_a_plan() -> None:
    choices = ArrayChoices("bodies", (SOA, ArrayLayout.parse("aosoa:4")), (None, Order((1, 0))))
    space = Space(arrays=(choices,))
    assert decoded(Space, json.loads(json.dumps(encoded(space))), "the space") == space


def test_changed_code_is_not_run(small_pack: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(small_pack, tmp_path / "changed"))
    for file in (changed / "code").iterdir():
        file.write_text(file.read_text() + "\n")
    pack = Pack(changed)
    with pytest.raises(InvalidInputError, match="is not what the pack was made with"):
        PackedCodes(pack, pack.plan.sweeps[0]).compiled(Variant((64,)))


def test_links_in_a_pack_are_not_followed(small_pack: Path, tmp_path: Path) -> None:
    linked = Path(shutil.copytree(small_pack, tmp_path / "linked"))
    code = next((linked / "code").iterdir())
    code.rename(tmp_path / "elsewhere.cl")
    code.symlink_to(tmp_path / "elsewhere.cl")
    with pytest.raises(InvalidInputError, match="is a link; a pack holds files and folders only"):
        Pack(linked).code(code.stem)
    (linked / "plan.json").rename(tmp_path / "plan.json")
    (linked / "plan.json").symlink_to(tmp_path / "plan.json")
    with pytest.raises(InvalidInputError, match=r"plan\.json is a link"):
        Pack(linked)


def test_a_kernel_outside_of_the_pack_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(SCALE)
    (tmp_path / "scale.toml").write_text(SCALE_FILE)
    make_pack(tmp_path / "pack", tmp_path / "scale.toml")
    pack = Pack(tmp_path / "pack")
    packed = tmp_path / "pack" / "benchmarks" / "0" / "scale.toml"
    pack.check_kernel_file(find_benchmark(packed.resolve()))
    packed.write_text(SCALE_FILE.replace("scale.cl", "../../../scale.cl"))
    with pytest.raises(InvalidInputError, match=r"the kernel of scale, .*, is not in the pack"):
        pack.check_kernel_file(find_benchmark(packed.resolve()))


def test_code_of_a_pack_that_reads_files_is_not_run(small_pack: Path, tmp_path: Path) -> None:
    pack = Path(shutil.copytree(small_pack, tmp_path / "pack"))
    key, data = code_to_file(Code("opencl_c", "reduce", '#embed "/etc/passwd"\n'))
    (pack / "code" / f"{key}.json").write_bytes(data)
    with pytest.raises(InvalidInputError, match="#embed reads a file of this machine"):
        Pack(pack).code(key)
