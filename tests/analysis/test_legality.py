"""Where a refusal points: at the statement itself, be it in a function that the kernel calls."""

from __future__ import annotations

import pytest

from coarsen.api import coarsen
from coarsen.errors import RefusalError

BEFORE = "kernel void k(global int *p, int n)\n{\nfor (int i = 0; i < n; ++i)\n    p[i] = i;\np[1] = 2;\n"
HELPER = "void forever(global int *p)\n{\n    int k = 3;\n    for (;;)\n        atomic_add(p, k);\n}\n"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f"{HELPER}{BEFORE}forever(p);\n}}", 4),
        (f"{HELPER}{BEFORE}if (p[n])\n    forever(p);\n}}", 4),
        (f"{HELPER}{BEFORE}for (int j = 0; j < n; ++j)\n    if (p[j])\n        forever(p);\n}}", 4),
        (f"{BEFORE}for (;;)\n    p[1] += p[2];\n}}", 6),
        (f"{BEFORE}if (p[n])\n    for (;;)\n        for (int j = 0; j < n; ++j)\n            p[j] = p[1];\n}}", 8),
    ],
)
def test_endless_loop(source: str, line: int) -> None:
    with pytest.raises(RefusalError) as caught:
        coarsen(source, factor=2)
    assert caught.value.code == "endless-loop"
    assert caught.value.position is not None
    assert caught.value.position.line == line
