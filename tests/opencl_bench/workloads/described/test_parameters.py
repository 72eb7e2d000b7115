"""Parameters of a described kernel: from its source and its file, in local size, launches and buffers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coarsen.dispatch.features import Feature
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.engine.plan import DeviceLimits, Space, points, variant_space
from coarsen.tuning.workload.benchmark import BufferArgument, Clock, ScratchArgument
from coarsen.variant.variant import Variant
from tests.opencl_bench.workloads.described.conftest import Write
from tests.opencl_bench.workloads.described.row_sums import write_sums

LIMITS = DeviceLimits(1024, (1024, 1024, 1024), 2**20)
# Of the blend kernel's file before there were parameters: what is stored under it must be found for ever.
GOLDEN = "b743c4fc01deccfbe5f36cc834aba70eb7dd8ade2b824ca44baeeca4e9b3c5dd"


def test_a_file_without_parameters_keeps_its_hash(write: Write) -> None:
    read = read_benchmark(write())
    assert read.inputs_hash == GOLDEN
    assert (read.clock, read.local_size_of, read.other_kernels) == (Clock.SUM, None, ())


def test_pragmas_of_the_source_are_parameters(tmp_path: Path) -> None:
    read = read_benchmark(write_sums(tmp_path))
    assert read.tunables == {
        "IMPL": ("0", "1"),
        "BLKSZ": ("32", "16", "64"),
        "PARTS": ("2", "4"),
        "LU": ("1", "2", "4"),
    }
    assert (read.other_kernels, read.clock, read.input_macros) == (("sum_parts", "finish"), Clock.SPAN, ())
    assert read.kernel_file == tmp_path / "sum.cl"
    assert "#pragma" not in read.source
    check_kernel_of(tmp_path / "sum.toml")


def test_the_local_size_follows_from_parameters(tmp_path: Path) -> None:
    read = read_benchmark(write_sums(tmp_path))
    assert read.presets["test"].local_size == (32,)
    space = variant_space(read, "test", Space(), LIMITS)
    assert {(v.local_size, dict(v.definitions)["BLKSZ"]) for v in space} == {((n,), str(n)) for n in (16, 32, 64)}
    first, *others = points(read, "test", Space(factors=(1, 2), strides=(1,)), LIMITS)
    assert first.candidate == Variant((32,), definitions=read.own_definitions)
    excluded = {
        (p.candidate.local_size, dict(p.candidate.definitions)["PARTS"])
        for p in others
        if "where: 'PARTS * BLKSZ <= 128' does not hold" in str(p.violation)
    }
    assert excluded == {((64,), "4")}


def test_launches_and_scratch_follow_from_parameters(tmp_path: Path) -> None:
    read = read_benchmark(write_sums(tmp_path))
    (launch,) = read.launches("test", (32,), read.own_definitions)
    assert (launch.kernel, launch.global_size, launch.local_size) == ("sum", (128,), (32,))
    definitions = tuple({**dict(read.own_definitions), "IMPL": "1", "PARTS": "4"}.items())
    workload = read.workload("test", 0, (32,), definitions)
    parts, finish = workload.launches
    assert (parts.kernel, parts.global_size, parts.local_size) == ("sum_parts", (4, 128), (4, 16))
    assert (finish.kernel, finish.global_size, finish.local_size) == ("finish", (128,), (1,))
    assert finish.arguments == (BufferArgument("sums"), ScratchArgument("parts", 2048))
    assert workload.buffers["parts"].shape == (512,)


def test_the_file_wins_over_the_source_and_says_so(tmp_path: Path) -> None:
    path = write_sums(
        tmp_path, ("[sizes.test]", '[parameters]\nBLKSZ = "range 32,64,32"\nPARTS = [4, 2]\n\n[sizes.test]')
    )
    parameters = read_description(path).parameters
    # The default stays the source's.
    assert parameters.values["BLKSZ"] == ("32", "64") and parameters.values["PARTS"] == ("2", "4")
    assert parameters.overridden == (
        f"{path}: parameters.BLKSZ: it takes the place of the pragma at {tmp_path}/sum.cl:2",
        f"{path}: parameters.PARTS: it takes the place of the pragma at {tmp_path}/sum.cl:4",
    )


def test_a_default_that_the_source_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"parameters\.PARTS: PARTS is 2 in the source, which is none"):
        read_benchmark(write_sums(tmp_path, ("[sizes.test]", "[parameters]\nPARTS = [4, 8]\n[sizes.test]")))


HALVED = ("sums[row] = total;\n}\n\nkernel void sum_parts", "sums[row] = total HALF;\n}\n\nkernel void sum_parts")


@pytest.mark.parametrize(
    ("defined", "is_refused"),
    [("#ifdef LATER\n#define HALF * 0.5f\n#else\n#define HALF\n#endif", True), ("#define HALF", False)],
)
def test_the_version_of_all_defaults_is_what_the_source_builds(
    tmp_path: Path, defined: str, is_refused: bool
) -> None:
    later = ("#pragma coarsen where", f"{defined}\n#pragma coarsen where")
    path = write_sums(tmp_path, HALVED, later, ("[sizes.test]", "[tunables]\nLATER = [1, 2]\n[sizes.test]"))
    if not is_refused:
        check_kernel_of(path)
        return
    with pytest.raises(InvalidInputError, match=r"sum\.cl without -D is another kernel than with the defaults"):
        check_kernel_of(path)


def test_features_are_of_the_source_and_of_the_file(tmp_path: Path) -> None:
    features = read_description(write_sums(tmp_path)).features
    assert features == (Feature("length", "width"), Feature("rows", "height"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[sizes.test]", '[parameters]\nBLKSZ = "erange 1,2"\n[sizes.test]', "parameters.BLKSZ: 'erange' takes"),
        ("[sizes.test]", "[parameters]\nBLKSZ = 3\n[sizes.test]", "parameters.BLKSZ: it must be a text such as"),
        ("[sizes.test]", "[tunables]\nBLKSZ = [3]\n[sizes.test]", "tunables.BLKSZ: it is a parameter, too"),
        (
            'local_size = ["BLKSZ"]',
            'local_size = ["BLKSIZE"]',
            "ndrange.local_size: 'BLKSIZE' is no parameter (did you mean BLKSZ?)",
        ),
        ('local_size = ["BLKSZ"]', 'local_size = ["height"]', "ndrange.local_size: 'height' is no parameter"),
        (
            'local_size = ["BLKSZ"]',
            'local_size = ["BLKSZ", 1]',
            "must have an entry for each of the 1 dim",
        ),
        (
            '"IMPL == at_once"',
            '"IMPL == at_onec"',
            "when: IMPL is compared with at_onec, which is none",
        ),
        ('"parts", "values"', '"part", "values"', "launches[1].arguments: there is no argument 'part'"),
        ("scratch = true", 'scratch = true\nvalues = "zeros"', "values: scratch has none before a launch"),
        ('outputs = ["sums"]', 'outputs = ["sums", "parts"]', "outputs: 'parts' is scratch"),
        ('elements = "height"', 'elements = "height * PARTS"', "(sums): the extent of an output depends on PARTS"),
        ("where PARTS * BLKSZ <= 128", "where PARTS * BLKSZ", "sum.cl:6: 'PARTS * BLKSZ' must compare"),
        ("where PARTS * BLKSZ <= 128", "where PART <= 128", "where: there is no 'PART' (did you mean PARTS?)"),
        ("input length = width", "input length = widht", "sum.cl:7: the feature length needs 'widht'"),
        ('rows = "height"', 'rows = "heigth"', "features.rows: the feature rows needs 'heigth'"),
        ('rows = "height"', "rows = 3", "features.rows: it must be a text such as"),
        ("input length = width", "input length", "sum.cl:7: the feature length lacks '= EXPRESSION'"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write_sums(tmp_path, (old, new))
    with pytest.raises(InvalidInputError) as failure:
        read_benchmark(path)
    assert message in str(failure.value) and "\n" not in str(failure.value)
    assert str(failure.value).startswith(str(tmp_path))


def test_a_choice_without_any_launch_is_refused(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ('when = "IMPL == at_once"', 'when = "BLKSZ == 1"'))
    with pytest.raises(InvalidInputError, match="launches: there is none for BLKSZ = 32, IMPL = 0"):
        read_benchmark(path)


SEARCH_FILE = """\
file = "search.cl"
kernel = "search"
outputs = ["found"]

[ndrange]
global_size = ["nodes"]
local_size = [16]

[contents]
net = "graph(nodes, edges)"

[sizes.test]
nodes = 64
edges = 256

[[arguments]]
name = "found"
buffer = "int"
elements = "nodes"

[[arguments]]
name = "starts"
buffer = "int"
elements = "nodes + 1"
values = "net.starts"

[[arguments]]
name = "targets"
buffer = "uint"
elements = "edges"
values = "net.targets"
"""


def _search(folder: Path, *replacements: tuple[str, str]) -> Path:
    text = SEARCH_FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "search.cl").write_text("kernel void search() {}\n")
    path = folder / "search.toml"
    path.write_text(text)
    return path


def test_contents_that_buffers_share_go_together(tmp_path: Path) -> None:
    read = read_benchmark(_search(tmp_path))
    buffers = read.workload("test", seed=3).buffers
    starts, targets = buffers["starts"], buffers["targets"]
    assert starts[0] == 0 and starts[-1] == len(targets) == 256
    assert (np.diff(starts) >= 1).all() and targets.dtype == np.uint32 and targets.max() < 64
    again = read.workload("test", seed=3).buffers
    assert all((buffers[name] == again[name]).all() for name in ("starts", "targets"))
    assert (targets != read.workload("test", seed=4).buffers["targets"]).any()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"net.starts"', '"net.rows"', "values: 'net.rows': contents have starts"),
        ('"net.starts"', '"nett.starts"', "values: there are no contents 'nett'"),
        ("graph(nodes,", "graph(", "contents.net: "),
        ("graph(nodes,", "graph(nodez,", "contents.net: there is no 'nodez'"),
        ('values = "net.targets"', 'values = "near(3)"', "must have the form near(table, reach)"),
        ('buffer = "uint"', 'buffer = "ushort"', "is for int, uint, long, ulong, not for ushort"),
        ('elements = "nodes + 1"\nvalues', 'elements = "nodes"\nvalues', "'net.starts' has 65 elements, and"),
        ("edges = 256", "edges = 6", "a graph of 64 nodes can't have 6 edges"),
    ],
)
def test_a_mistake_in_contents_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as failure:
        read_benchmark(_search(tmp_path, (old, new))).workload("test")
    assert message in str(failure.value) and "\n" not in str(failure.value)
