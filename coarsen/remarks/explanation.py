"""What coarsening does to each line of a kernel's source.

    legality, divergence, regions (`Analysed`) ─▶ marks per source line ─▶ numbered lines, gutter
    coarsened kernel, if there is one ─▶ roles of its instructions ──▲

Instructions carry the source position that clang gave them, those of inlined helpers too, so a helper in the
same file is marked where it stands. A kernel without source (`.ll`, `.bc`) has the lines of its LLVM IR
marked instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.regions import Region
from coarsen.cost.memory_report import memory_lines, memory_report
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.origin import Role
from coarsen.ir.graph.printer import instruction_text, signature_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.transform.coarsen import Analysed
from coarsen.variant.coarsening import Level

Place = tuple[str, int]
_ROLES = {
    Role.ID: "i",
    Role.VOTE: "v",
    Role.DIVERGED: "s",
    Role.SLOW_PATH: "s",
    Role.REPLICA_LOOP: "l",
    Role.WIDE: "w",
    Role.GUARD: "g",
}
_NOT_OF_TRANSFORMS = frozenset({Role.SOURCE, Role.COMPILER})
LEGEND = (
    (".", "uniform: stands once"),
    ("D", "divergent: stands once for each merged work-item"),
    (">1", "divergent region 1 begins after this branch"),
    ("1", "inside divergent region 1, where merged work-items may part (see --report)"),
    ("B", "barrier: stands once"),
    ("U", "branch taken as uniform, since a barrier depends on it"),
    ("×", "coarsened, so many replicas have code of this line for themselves"),
    ("i", "coarsened, ids or sizes are computed for this line"),
    ("v", "coarsened, a vote whether all replicas go the same way"),
    ("s", "coarsened, a slow path too: where not all go the same way, one replica after the other"),
    ("l", "coarsened, the loop over the replicas of a slow path"),
    ("w", "coarsened, part of a vector access"),
    ("g", "coarsened, part of the guard of sizes that the factor does not divide"),
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of one line; all false and empty for a line without instructions.

    `regions` holds the numbers of the divergent regions that the line has instructions in, `heads` of those
    that its branch begins; regions count from 1. Of what came of the line in a coarsened kernel, if there is one,
    `replicas` is the number of replicas that have instructions of it for themselves, on the fast path, and `roles`
    what transforms made of it besides, in the order of `Role`.
    """

    has_code: bool = False
    divergent: bool = False
    barrier: bool = False
    assumed_uniform: bool = False
    regions: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    replicas: int = 0
    roles: tuple[Role, ...] = ()

    @property
    def gutter(self) -> str:
        """The marks of the analysis as they stand beside the line."""
        letters = ("B" if self.barrier else "") + ("U" if self.assumed_uniform else "")
        kind = "D" if self.divergent else letters or ("." if self.has_code else "")
        first = kind + (letters if self.divergent else "")
        regions = [f">{number}" for number in self.heads]
        regions += [str(number) for number in self.regions if number not in self.heads]
        return f"{first:<2} {','.join(regions)}".rstrip()

    @property
    def made_gutter(self) -> str:
        """The marks of the coarsened kernel as they stand after those: `×4 vs`."""
        replicas = f"×{self.replicas}" if self.replicas > 1 else ""
        letters = "".join(dict.fromkeys(_ROLES[role] for role in self.roles))
        return f"{replicas:<3} {letters}".rstrip()


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of source or of IR; `file` is empty for the kernel's own file."""

    number: int
    text: str
    marks: Marks
    file: str = ""


@dataclass(frozen=True)
class Explanation:
    """A kernel's lines with their marks.

    `elsewhere` are the marked lines of included files, without text; `memory` says what accesses cost on a GPU, as
    written, where that was asked for; `placeless` is what the instructions of the coarsened kernel are for that
    come from no line.
    """

    kernel: str
    dimension: int
    lines: tuple[MarkedLine, ...]
    regions: int
    elsewhere: tuple[MarkedLine, ...] = ()
    level: Level = Level.ITEM
    memory: tuple[str, ...] = ()
    placeless: tuple[Role, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.text_lines()) + "\n"

    def text_lines(self) -> Iterator[str]:
        """Heading, numbered lines with gutters, legend of the marks that occur, and what memory accesses cost."""
        yield self.heading
        yield ""
        yield from (self.text_of(line) for line in self.lines)
        for line in self.elsewhere:
            yield f"{line.file}:{line.number}: {line.marks.gutter} {line.marks.made_gutter}".rstrip()
        yield ""
        yield from (f"  {mark:<3} {meaning}" for mark, meaning in self.legend)
        for role in self.placeless:
            yield f"  coarsened, of no line: what {role.value}"
        if self.memory:
            yield ""
            yield from self.memory

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """The marks that occur, each with its meaning."""
        marks = [line.marks for line in (*self.lines, *self.elsewhere)]
        gutters = "".join(mark.gutter + mark.made_gutter for mark in marks)
        return tuple((mark, meaning) for mark, meaning in LEGEND if mark in gutters)

    @property
    def heading(self) -> str:
        """One line on the whole kernel."""
        count = {0: "no divergent region", 1: "1 divergent region"}.get(
            self.regions, f"{self.regions} divergent regions"
        )
        merged = "" if self.level is Level.ITEM else "work-groups "
        return f"kernel {self.kernel}, {merged}coarsened along dimension {self.dimension}: {count}"

    def text_of(self, line: MarkedLine) -> str:
        """Return one line with its number and gutter."""
        digits, gutter, made = self._widths
        marks = f"{line.marks.gutter:<{gutter}}"
        if made:
            marks += f"  {line.marks.made_gutter:<{made}}"
        return f"{line.number:>{digits}}  {marks} | {line.text}".rstrip()

    @cached_property
    def _widths(self) -> tuple[int, int, int]:
        """Of the line numbers and of the two gutters, in characters."""
        gutter = max((len(line.marks.gutter) for line in self.lines), default=0)
        made = max((len(line.marks.made_gutter) for line in self.lines), default=0)
        return len(str(len(self.lines))), gutter, made


def explain_kernel(
    analysed: Analysed, source: str | None, coarsened: Kernel | None = None, *, for_gpu: bool = False
) -> Explanation:
    """Mark the lines of a kernel's OpenCL C, or of its LLVM IR where `source` is None or no line of it is known.

    Args:
        analysed: the kernel as it was lowered from `source`, along a dimension and at a level
            (`coarsen.transform.coarsen.analyse`).
        source: the text that was compiled.
        coarsened: what was made of it: each line of source is marked with what came of it there, too.
        for_gpu: whether to say what memory accesses cost on a GPU.
    """
    kernel, divergence = analysed.kernel, analysed.divergence
    known = {i: (i.position.file, i.position.line) for i in kernel.instructions() if i.position is not None}
    has_source = source is not None and any(not file for file, _ in known.values())
    if source is not None and has_source:
        texts, places = source.removesuffix("\n").split("\n"), known
    else:
        texts, places = _lines_of_ir(kernel)
    made = tuple(coarsened.instructions()) if has_source and coarsened is not None else ()
    marks = _marks(analysed, places, made)
    own = {line: found for (file, line), found in marks.items() if not file}
    lines = (MarkedLine(n, text, own.get(n, Marks())) for n, text in enumerate(texts, start=1))
    elsewhere = (MarkedLine(line, "", found, file) for (file, line), found in sorted(marks.items()) if file)
    report = memory_report(kernel, local_size=kernel.required_work_group_size) if for_gpu else None
    return Explanation(
        kernel.name,
        divergence.dimension,
        tuple(lines),
        len(analysed.regions),
        tuple(elsewhere),
        Level.GROUP if divergence.merges_groups else Level.ITEM,
        tuple(memory_lines(report)) if report is not None else (),
        _roles(i for i in made if i.position is None),
    )


def _lines_of_ir(kernel: Kernel) -> tuple[list[str], dict[Instruction, Place]]:
    """Return the lines of a kernel's LLVM IR in normal form, and where its instructions stand."""
    texts = [f"{signature_text(kernel.graph.function(kernel.name))} {{"]
    places: dict[Instruction, Place] = {}
    for block in kernel.blocks:
        texts.append(f"{block.name}:")
        for instruction in block.instructions:
            texts.append(f"  {instruction_text(instruction)}")
            places[instruction] = ("", len(texts))
    return [*texts, "}"], places


def _marks(
    analysed: Analysed, places: Mapping[Instruction, Place], coarsened: Iterable[Instruction]
) -> Mapping[Place, Marks]:
    """The marks of each file and line, with what came of it."""
    made: defaultdict[Place, list[Instruction]] = defaultdict(list)
    for instruction in coarsened:
        if instruction.position is not None:
            made[instruction.position.file, instruction.position.line].append(instruction)
    found: defaultdict[Place, list[tuple[str, Instruction]]] = defaultdict(list)
    block = analysed.kernel.block
    for name, inside in block.items():
        for instruction in inside.instructions:
            if instruction in places:
                found[places[instruction]].append((name, instruction))
    # Numbered from 1 in the order in which the lines of their heads stand.
    ordered = sorted(analysed.regions, key=lambda region: places.get(block[region.head].terminator, ("", 0)))
    regions = dict(enumerate(ordered, start=1))
    return {
        place: _marks_of(instructions, analysed, regions, made[place]) for place, instructions in found.items()
    }


def _marks_of(
    instructions: Sequence[tuple[str, Instruction]],
    analysed: Analysed,
    regions: Mapping[int, Region],
    made: Sequence[Instruction],
) -> Marks:
    """The marks of a line that has these instructions, each with the name of its block."""
    block = analysed.kernel.block
    blocks = {name for name, _ in instructions}
    branches = {name for name, instruction in instructions if instruction is block[name].terminator}
    return Marks(
        has_code=True,
        divergent=any(analysed.divergence.is_divergent(instruction) for _, instruction in instructions),
        barrier=any(is_barrier(instruction) for _, instruction in instructions),
        assumed_uniform=not branches.isdisjoint(analysed.divergence.assumed_uniform),
        regions=tuple(number for number, region in regions.items() if not blocks.isdisjoint(region.blocks)),
        heads=tuple(number for number, region in regions.items() if region.head in branches),
        replicas=len({i.origin.replica for i in made if i.origin.role is Role.SOURCE} - {None}),
        roles=_roles(made),
    )


def _roles(made: Iterable[Instruction]) -> tuple[Role, ...]:
    """Return what transforms made instructions of a coarsened kernel for."""
    roles = {instruction.origin.role for instruction in made} - _NOT_OF_TRANSFORMS
    return tuple(role for role in Role if role in roles)
