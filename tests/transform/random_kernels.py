"""Random kernels, race-free by construction, for comparing original and coarsened results.

Variables `d0…` may differ between work-items, `u0…` start uniform; everything is unsigned, so that nothing
overflows into undefined behaviour. Work-items meet only through local memory between barriers, which stand where
control flow is uniform for the group, and through atomics whose order can't be seen. Loops are bounded.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

VALUES = 4
ARRAY = 4
MAX_DEPTH = 3


@dataclass
class KernelGenerator:
    """Writes one kernel; the same seed gives the same kernel."""

    seed: int
    _random: random.Random = field(init=False)
    _counter: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def source(self) -> str:
        """OpenCL C of a kernel `fuzzed(data, result, total, tile, a, b)`."""
        names = [f"d{i}" for i in range(VALUES)] + [f"u{i}" for i in range(VALUES)]
        initial = [f"data[id * {VALUES} + {i}]" for i in range(VALUES)]
        initial += ["a", "b", "a * 7u + b", f"data[{VALUES} + 1]"]
        lines = ["const uint id = get_global_id(0);", "const uint item = get_local_id(0);"]
        lines += ["const uint items = get_local_size(0);"]
        lines += [f"uint {name} = {value};" for name, value in zip(names, initial, strict=True)]
        lines += [f"uint array[{ARRAY}] = {{a, b, 3u, 4u}};"]
        for _ in range(self._random.randint(3, 7)):
            lines += self._top_level()
        lines += [f"result[id * {VALUES * 2} + {i}] = {name};" for i, name in enumerate(names)]
        lines += [f"result[id * {VALUES * 2}] ^= array[a % {ARRAY}u] + array[d1 % {ARRAY}u];"]
        body = "\n    ".join(lines)
        return (
            "kernel void fuzzed(global const uint *data, global uint *result, global uint *total,\n"
            f"                   local uint *tile, uint a, uint b) {{\n    {body}\n}}\n"
        )

    def _top_level(self) -> list[str]:
        choice = self._random.random()
        if choice < 0.2:
            return self._exchange()
        if choice < 0.35:
            counter = self._fresh("t")
            body = [*self._block(1, in_loop=False), *self._exchange()]
            return [f"for (uint {counter} = 0; {counter} < b % 4u; ++{counter}) {{", *body, "}"]
        if choice < 0.45:
            return ["if ((a ^ b) % 3u != 1u) {", *self._block(1, in_loop=False), *self._exchange(), "}"]
        if choice < 0.5:
            return [f"if (id / items % 2u == {self._random.randint(0, 1)}u) {{", *self._exchange(), "}"]
        return self._statement(0, in_loop=False)

    def _exchange(self) -> list[str]:
        offset = self._random.randint(1, 5)
        return [
            f"tile[item] = {self._expression()};",
            "barrier(CLK_LOCAL_MEM_FENCE);",
            f"{self._target()} += tile[(item + {offset}u) % items];",
            "barrier(CLK_LOCAL_MEM_FENCE);",
        ]

    def _block(self, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 3)):
            lines += self._statement(depth, in_loop)
        return lines

    def _statement(self, depth: int, in_loop: bool) -> list[str]:
        choice = self._random.random()
        if depth < MAX_DEPTH and choice < 0.22:
            return self._condition(depth, in_loop)
        if depth < MAX_DEPTH and choice < 0.4:
            return self._loop(depth)
        if in_loop and choice < 0.48:
            return [f"if ({self._test()}) {self._random.choice(['break', 'continue'])};"]
        if choice < 0.58:
            return [f"array[{self._expression()} % {ARRAY}u] = {self._expression()};"]
        if choice < 0.66:
            return [f"atomic_add(&total[{self._expression()} % 8u], {self._expression()});"]
        if choice < 0.72:
            return [f"{self._target()} = array[{self._expression()} % {ARRAY}u];"]
        operator = self._random.choice(["=", "+=", "^=", "*="])
        return [f"{self._target()} {operator} {self._expression()};"]

    def _condition(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if ({self._test()}) {{", *self._block(depth + 1, in_loop), "}"]
        if self._random.random() < 0.5:
            lines[-1] = "} else {"
            lines += [*self._block(depth + 1, in_loop), "}"]
        return lines

    def _loop(self, depth: int) -> list[str]:
        counter = self._fresh("i")
        bound = self._random.choice(["b % 5u", f"{self._random.randint(1, 6)}u", f"{self._value()} % 7u"])
        body = self._block(depth + 1, in_loop=True)
        if self._random.random() < 0.6:
            head = f"for (uint {counter} = 0, end = {bound}; {counter} < end; ++{counter}) {{"
            return [head, *body, "}"]
        guard = f"{counter}++ < 6u && ({self._test()})"
        if self._random.random() < 0.5:
            return [f"{{ uint {counter} = 0; while ({guard}) {{", *body, "} }"]
        return [f"{{ uint {counter} = 0; do {{", *body, f"}} while ({guard}); }}"]

    def _test(self) -> str:
        comparison = (
            f"{self._expression()} % {self._random.randint(2, 9)}u {self._random.choice(['<', '==', '>'])} 1u"
        )
        if self._random.random() < 0.25:
            return f"({comparison}) {self._random.choice(['&&', '||'])} ({self._value()} & 4u)"
        return comparison

    def _expression(self) -> str:
        operator = self._random.choice(["+", "*", "^", "-", "&", "|"])
        value = f"({self._value()} {operator} {self._value()})"
        choice = self._random.random()
        if choice < 0.2:
            return f"({value} >> {self._random.randint(1, 9)})"
        if choice < 0.3:
            return f"data[{value} % (get_global_size(0) * {VALUES}u)]"
        return value

    def _value(self) -> str:
        choice = self._random.random()
        if choice < 0.12:
            return f"{self._random.randint(0, 99)}u"
        if choice < 0.2:
            return self._random.choice(["id", "item", "items", "(uint)get_group_id(0)"])
        return self._target()

    def _target(self) -> str:
        return f"{self._random.choice('duu')}{self._random.randrange(VALUES)}"

    def _fresh(self, prefix: str) -> str:
        self._counter += 1
        return f"{prefix}{self._counter}"
