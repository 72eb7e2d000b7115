"""Tables of what tuning has remembered of a kernel at several sizes, used from `build()` on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from coarsen.dispatch.choosing import chooser
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.drop_in import measured_launch
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.policy.tree import FEATURES, RememberedKernel, RememberedSize, remembered_file, remembered_tree
from coarsen.runtime.advice import AdviceRequest
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import SOURCE, Buffers, Recorder, found, program_of

pytestmark = [pytest.mark.compiled_devices, pytest.mark.usefixtures("certain")]
# What the search is made to find, by the number of work-items.
FACTORS = {1024: 2, 8192: 4, 65536: 4, 262144: 8}


@pytest.fixture
def remembered(context: cl.Context, queue: cl.CommandQueue, store: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with what a program with `tune=True` remembers at four sizes."""

    def tune_request(request: AdviceRequest, *_rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        return found(request, FACTORS[request.launch.global_size[0]])

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    program, _ = program_of(context, True)
    for count in FACTORS:
        Buffers(context, count).launch(queue, program)
    return store


def table_program(context: cl.Context, **options: Any) -> tuple[Program, Recorder]:  # noqa: ANN401
    recorder = Recorder()
    return Program(context, SOURCE, tuned="remembered", observer=recorder, **options).build(), recorder


def test_the_nearest_size_counts(context: cl.Context, queue: cl.CommandQueue, remembered: str) -> None:
    assert Path(remembered).exists()
    program, recorder = table_program(context, tune=False)
    # Beside those that were tuned, sizes between and beyond them, and some that no factor divides.
    wanted = {1024: 2, 512: 2, 2048: 2, 4096: 4, 32768: 4, 131072: 4, 196608: 8, 524288: 8, 64: 1, 4194304: 1}
    for count, factor in wanted.items():
        Buffers(context, count).launch(queue, program)
        divided = recorder.seen[-1]
        assert divided.coarsenings == ((Coarsening(factor),) if factor > 1 else ()), count
    Buffers(context, 1000).launch(queue, program, (8,))
    assert recorder.seen[-1].coarsenings == ()


def test_nothing_is_built_or_looked_up_at_a_launch(
    context: cl.Context, queue: cl.CommandQueue, remembered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, recorder = table_program(context)
    Path(remembered).unlink()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("at a launch")

    for name in (
        "pyopencl.Program.build",
        "coarsen.runtime.plan.build_for_launches",
        "coarsen.runtime.code.Codes._coarsened",
        "coarsen.policy.remembered.Remembered.choose",
    ):
        monkeypatch.setattr(name, refuse)
    for count in (1024, 8192, 1016, 300_000, 524288):
        Buffers(context, count).launch(
            queue, program, (8,) if count == 1016 else (64,) if count % 64 == 0 else None
        )
    assert [bool(divided.coarsenings) for divided in recorder.seen] == [True, True, False, False, True]


def test_kernels_of_which_nothing_is_remembered_are_tuned(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[AdviceRequest]
) -> None:
    program, recorder = table_program(context, tune=True)
    buffers.launch(queue, program)
    assert len(searched) == 1
    assert Path(store).exists()
    program, recorder = table_program(context, tune=True)
    buffers.launch(queue, program, times=2)
    assert len(searched) == 1
    assert [divided.coarsenings for divided in recorder.seen] == 2 * [(Coarsening(4),)]


def kernel(**changes: Any) -> RememberedKernel:  # noqa: ANN401 (any field)
    return replace(RememberedKernel(SOURCE, "add", 4), **changes)


def test_a_file_to_be_kept(context: cl.Context, queue: cl.CommandQueue, remembered: str, tmp_path: Path) -> None:
    file = remembered_file(kernel(), context.devices[0])
    assert file is not None
    assert file == remembered_file(kernel(), context.devices[0], Tune(store=remembered))
    assert TunedFile.from_bytes(file.to_bytes()).to_bytes() == file.to_bytes()
    assert {version.variant.factor for version in file.versions} == {1, 2, 4, 8}
    assert len(file.versions) == 4
    path = tmp_path / "add.tuned.json"
    file.write(path)
    Path(remembered).unlink()
    recorder = Recorder()
    program = Program(context, SOURCE, tuned=path, tune=False, observer=recorder).build()
    Buffers(context, 4096).launch(queue, program)
    assert recorder.seen[-1].coarsenings == (Coarsening(4),)


@pytest.mark.parametrize(
    "changes", [{"source": SOURCE.replace("+=", "-=")}, {"name": "other"}, {"options": "-cl-mad-enable"}], ids=str
)
def test_other_kernels_have_none(changes: dict[str, Any], context: cl.Context, remembered: str) -> None:
    assert Path(remembered).exists()
    assert remembered_file(kernel(**changes), context.devices[0]) is None


def test_what_no_longer_holds_or_isnt_allowed_is_left_out(context: cl.Context, remembered: str) -> None:
    with open_store(remembered) as opened:
        choices = opened.remembered.choices()
        opened.remembered.put(replace(choices[0], driver_version="0"))
        opened.remembered.put(replace(choices[1], versions=(("coarsen", "0.0.1"),)))
        opened.remembered.put(replace(choices[2], variant=Variant()))
    file = remembered_file(kernel(), context.devices[0])
    assert file is not None
    assert len(file.versions) == 2
    assert isinstance(file.evidence["remembered"], list)
    assert len(file.evidence["remembered"]) == 2
    assert remembered_file(kernel(), context.devices[0], Tune(levels=("group",))) is None


def test_what_cant_be_asked_for_together(context: cl.Context, store: str, said: Callable[[], list[str]]) -> None:
    assert not Path(store).exists()
    options: tuple[dict[str, Any], ...] = ({"factor": 2}, {"factor": {"add": 2}}, {"form": "spirv"})
    for each in options:
        with pytest.raises(InvalidInputError, match="leave out factor and form"):
            Program(context, SOURCE, tuned="remembered", **each)
    table_program(context)
    assert not said()


def chosen(sizes: list[RememberedSize], launch: tuple[tuple[int, ...], tuple[int, ...] | None]) -> int:
    """The version that a tree of sizes chooses for a launch."""
    from tests.dispatch.files import PLAIN

    versions = tuple(replace(PLAIN.versions[0], variant=Variant((1 + number,))) for number in range(20))
    tree = remembered_tree(sizes, 0)
    file = replace(PLAIN, versions=versions, features=FEATURES, tree=tree, tree_without_supplied=None)
    made = chooser(file, tree)
    whole, local = launch
    sizes_of = (
        *whole,
        *[1] * (3 - len(whole)),
        *((0, 0, 0) if local is None else (*local, *[1] * (3 - len(local)))),
    )
    names = [f"{which}_size_{dimension}" for which in ("global", "local") for dimension in range(3)]
    numbers = dict(zip(names, sizes_of, strict=True))
    version = made.version([numbers[name] for name in made.features.inputs])
    assert version is not None
    return version


def test_a_tree_knows_every_size_and_no_other_local_size() -> None:
    """Sizes of one to three dimensions, and several local sizes, each with a version of its own."""
    launches: list[tuple[tuple[int, ...], tuple[int, ...] | None]] = [
        ((1024,), (64,)),
        ((1 << 20,), (64,)),
        ((1024,), None),
        ((1024,), (32,)),
        ((1024, 64), (16, 16)),
        ((64, 1024), (16, 16)),
        ((4096, 4096), (16, 16)),
        ((1024, 64), (16, 8)),
        ((64, 64, 64), (8, 8, 4)),
        ((512, 64, 64), (8, 8, 4)),
    ]
    sizes = [RememberedSize(*launch, number) for number, launch in enumerate(launches, 1)]
    assert [chosen(sizes, launch) for launch in launches] == list(range(1, 11))
    assert [chosen(sizes[::-1], launch) for launch in launches] == list(range(1, 11))
    for other in ((128,), (1,), (64, 2)):
        assert chosen(sizes, ((1024, 2)[: len(other)], other)) == 0
    assert chosen(sizes, ((1024 * 31,), (64,))) == 1
    assert chosen(sizes, ((1024 * 33,), (64,))) == 2
    assert [chosen(sizes, ((size,), (64,))) for size in (256, 255, 1 << 22, (1 << 22) + 1)] == [1, 0, 2, 0]
    assert remembered_tree([], 3) == Leaf(3)
    assert remembered_tree([RememberedSize((64,), None, 3)], 3) == Leaf(3)
