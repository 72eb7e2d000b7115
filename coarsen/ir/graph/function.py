"""Functions: arguments and blocks in order, and who may change them.

A function is *owned* by whoever made or copied it, until it is sealed; a sealed one never changes again, so that
what analyses find out about it stays true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from coarsen.errors import InternalError
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Attachment, Block, Instruction, users
from coarsen.ir.graph.operands import Argument


class Function:
    """A function with a body.

    Attributes:
        name: without `@`.
        arguments: in order.
        blocks: the entry first.
        prefix: what LLVM writes before the name: linkage, convention, result's attributes and type.
        suffix: what stands after the arguments: address significance, attribute groups.
        attachments: its metadata, without debug information.
        is_sealed: whether it never changes again.
    """

    def __init__(self, name: str, prefix: str = "define void", suffix: str = "") -> None:
        self.name = name
        self.prefix = prefix
        self.suffix = suffix
        self.arguments: list[Argument] = []
        self.attachments: tuple[Attachment, ...] = ()
        self.is_sealed = False
        self._blocks: list[Block] = []

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks, the entry first."""
        return self._blocks

    @property
    def entry(self) -> Block:
        """The block that is executed first."""
        return self._blocks[0]

    def add_arguments(self, arguments: Iterable[Argument]) -> None:
        """Put further arguments after all others."""
        self.check_owned()
        self.arguments += arguments

    def attachment(self, kind: str) -> str | None:
        """Return the metadata node of a kind, such as `!12`; None if there is none."""
        return dict(self.attachments).get(kind)

    def attach(self, kind: str, node: str) -> None:
        """Put a metadata node in the place of the one of its kind, or after all others."""
        self.check_owned()
        self.attachments = tuple({**dict(self.attachments), kind: node}.items())

    def detach(self, kind: str) -> None:
        """Drop the metadata node of a kind, if there is one."""
        self.check_owned()
        self.attachments = tuple(each for each in self.attachments if each[0] != kind)

    def instructions(self) -> Iterator[Instruction]:
        """Return an iterator over all instructions, block by block."""
        return chain.from_iterable(block.instructions for block in self._blocks)

    def insert(self, index: int, block: Block) -> Block:
        """Put a block that stands nowhere before the one at an index, and give it back."""
        self.check_owned()
        if block.function is not None:
            raise InternalError(f"the block '{block.name}' stands in a function already")
        self._blocks.insert(index, block)
        block.function = self
        return block

    def append(self, block: Block) -> Block:
        """Put a block that stands nowhere at the end, and give it back."""
        return self.insert(len(self._blocks), block)

    def add_after(self, place: Block, block: Block) -> Block:
        """Put a block that stands nowhere after another one, and give it back."""
        return self.insert(self._blocks.index(place) + 1, block)

    def erase(self, block: Block) -> None:
        """Throw away a block with its instructions. Raises InternalError if something leads to it.

        The phis that it leads to forget what they take from it.
        """
        for user in users(block):
            if user.opcode is Opcode.PHI:
                user.remove_incoming(block)
        if block.uses:
            raise InternalError(f"the block '{block.name}' is used and can't be thrown away")
        block.replace_instructions(())
        self._blocks.remove(block)
        block.function = None

    def seal(self) -> None:
        """Let the function never change again."""
        self.is_sealed = True

    def check_owned(self) -> None:
        """Raise InternalError if the function is sealed."""
        if self.is_sealed:
            raise InternalError(f"the function '{self.name}' is sealed: copy it before you change it")
