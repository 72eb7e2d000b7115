"""Draws the SVG files of the explanation pages, beside this file: `python docs/images/drawings.py`.

Each has a white ground of its own, so that it reads the same on a light page, a dark page and paper. What is told
apart by colour is told apart by a pattern or by words too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH = 480
# Okabe and Ito's palette, lightened so that black text reads on it.
FILLS = ("#a6d3ee", "#f7d38a", "#a3dcc6", "#f0b9a0")
GREY, INK, GROUND = "#e9e9e9", "#111111", "#ffffff"
_FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_HATCH = (
    '<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="1.6" height="7" fill="#111111" fill-opacity="0.45"/></pattern>'
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#111111"/></marker>'
)


@dataclass
class Drawing:
    """An SVG image that is added to from top to bottom; lengths are in units of a 480 wide page."""

    title: str
    height: int
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, *, size: int = 14, bold: bool = False, anchor: str = "start"
    ) -> None:
        """Words on a base line."""
        weight = ' font-weight="700"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str,
        *,
        fill: str = GROUND,
        hatched: bool = False,
    ) -> None:
        """A box with words in its middle; hatched boxes have them on a light strip."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect {place} rx="3" fill="{fill}" stroke="{INK}"/>')
        middle = y + height / 2
        if hatched:
            self.parts.append(f'<rect {place} rx="3" fill="url(#hatch)"/>')
            strip = min(width - 6, 8 * len(words) + 6)
            self.parts.append(
                f'<rect x="{x + width / 2 - strip / 2:g}" y="{middle - 9:g}" width="{strip:g}" height="18" rx="3"'
                f' fill="{fill}"/>'
            )
        self.text(x + width / 2, middle + 5, words, anchor="middle")

    def arrow(self, *points: tuple[float, float]) -> None:
        """An arrow along points."""
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#head)"/>'
        )

    def line(self, *points: tuple[float, float], dashed: bool = False) -> None:
        """A line along points."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{INK}" stroke-width="1.4"{dash}/>')

    def svg(self) -> str:
        """The file."""
        inside = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}"'
            f' height="{self.height}" role="img" font-family="{_FONT}" fill="{INK}">\n'
            f"<title>{escape(self.title)}</title>\n<defs>{_HATCH}</defs>\n"
            f'<rect width="{WIDTH}" height="{self.height}" rx="6" fill="{GROUND}"/>\n{inside}\n</svg>\n'
        )


def merged_work_items() -> Drawing:
    """Which of eight work-items become which replica of which of four, for strides 1, 2 and 4."""
    drawing = Drawing("Eight work-items of a work-group, merged by factor 2 with strides 1, 2 and 4", 400)
    drawing.text(14, 26, "a work-group of 8 work-items, factor 2: 4 are left", bold=True)
    _row(drawing, 40, [GREY] * 8, [str(item) for item in range(8)], [False] * 8)
    drawing.text(14, 94, "local id before", size=13)
    for position, stride in enumerate((1, 2, 4)):
        _stride_row(drawing, 118 + 82 * position, stride)
    drawing.box(14, 368, 22, 20, "", fill=GROUND)
    drawing.text(42, 383, "replica 0")
    drawing.box(120, 368, 22, 20, "", fill=GROUND, hatched=True)
    drawing.text(148, 383, "replica 1")
    drawing.text(240, 383, "one letter: one work-item after", size=13)
    return drawing


def _stride_row(drawing: Drawing, y: float, stride: int) -> None:
    merged = [(item // (2 * stride)) * stride + item % stride for item in range(8)]
    hatched = [item % (2 * stride) >= stride for item in range(8)]
    drawing.text(14, y + 8, f"stride {stride}", bold=True)
    names = [f"{item}: {'abcd'[to]}" for item, to in enumerate(merged)]
    _row(drawing, y + 16, [FILLS[to] for to in merged], names, hatched)
    pairs = [[item for item in range(8) if merged[item] == to] for to in range(4)]
    after = ",  ".join(f"{'abcd'[to]} = {first} and {second}" for to, (first, second) in enumerate(pairs))
    drawing.text(14, y + 66, after, size=13)


def _row(drawing: Drawing, y: float, fills: list[str], names: list[str], hatched: list[bool]) -> None:
    for position, (fill, name, is_hatched) in enumerate(zip(fills, names, hatched, strict=True)):
        drawing.box(14 + 57 * position, y, 53, 34, name, fill=fill, hatched=is_hatched)


def dimensions() -> Drawing:
    """A square of work-items merged along dimension 0, and along dimension 1."""
    drawing = Drawing("Four by four work-items, merged by factor 2 along dimension 0 or along dimension 1", 264)
    for dimension, left in ((0, 14), (1, 252)):
        drawing.text(left, 26, f"along dimension {dimension}", bold=True)
        for x in range(4):
            for y in range(4):
                along = (x, y)[dimension]
                to = along // 2 * 2 + (y, x)[dimension] % 2
                at_x, at_y = _place(x, dimension == 0, 48), _place(y, dimension == 1, 34)
                drawing.box(left + at_x, 40 + at_y, 48, 34, f"{x},{y}", fill=FILLS[to], hatched=along % 2 == 1)
        launch = ("2 × 4", "4 × 2")[dimension]
        drawing.text(left, 222, f"launched as {launch}", size=13)
    drawing.text(14, 250, "Numbers: id along 0, along 1. Boxes that touch merge. Hatched: replica 1.", size=12)
    return drawing


def _place(index: int, is_merged: bool, size: int) -> int:
    """Where the box of an id starts: merged ones touch."""
    gaps = index // 2 * 2 if is_merged else index
    return size * index + 5 * gaps


def instructions() -> Drawing:
    """What stands once and what is interleaved in the kernel `row_scale`."""
    drawing = Drawing("The instructions of two work-items before, and of the one that they become after", 374)
    drawing.text(14, 26, "before: two work-items", bold=True)
    drawing.text(262, 26, "after: one", bold=True)
    steps = (
        ("y", True),
        ("x and i", False),
        ("load in[i]", False),
        ("load scale[y]", True),
        ("multiply", False),
        ("store", False),
    )
    for position, (words, _) in enumerate(steps):
        y = 40 + 44 * position
        drawing.box(14, y, 104, 32, words, fill=FILLS[0])
        drawing.box(124, y, 104, 32, words, fill=FILLS[1], hatched=True)
    for position, (words, uniform) in enumerate(steps):
        y = 40 + 44 * position
        if uniform:
            drawing.box(262, y, 204, 32, f"{words}, once", fill=GREY)
        else:
            drawing.box(262, y, 99, 32, words, fill=FILLS[0])
            drawing.box(367, y, 99, 32, words, fill=FILLS[1], hatched=True)
    drawing.text(14, 328, "Divergent instructions stand twice, next to each other.", size=13)
    drawing.text(14, 348, "y and scale[y] are uniform along dimension 0 and stand once.", size=13)
    return drawing


def divergent_region() -> Drawing:
    """Copies beside a fast path, for two replicas of an `if`."""
    drawing = Drawing("A divergent region: one copy after the other, or with a fast path", 372)
    drawing.text(14, 26, "one copy after the other", bold=True)
    for replica in (0, 1):
        y = 42 + 84 * replica
        drawing.box(14, y, 84, 32, f"row{replica} < n ?")
        drawing.arrow((98, y + 16), (128, y + 16))
        drawing.text(101, y + 10, "yes", size=12)
        drawing.box(130, y, 84, 32, f"region {replica}", fill=FILLS[replica], hatched=bool(replica))
        drawing.arrow((56, y + 32), (56, y + 82))
        drawing.text(62, y + 58, "no", size=12)
        drawing.line((172, y + 32), (172, y + 66), (60, y + 66))
    drawing.text(30, 226, "goes on", size=13)
    drawing.line((234, 14), (234, 356), dashed=True)
    drawing.text(250, 26, "fast path", bold=True)
    drawing.box(250, 42, 96, 32, "both < n ?")
    drawing.arrow((346, 58), (370, 58))
    drawing.text(347, 52, "yes", size=12)
    drawing.box(372, 34, 48, 48, "0", fill=FILLS[0])
    drawing.box(420, 34, 48, 48, "1", fill=FILLS[1], hatched=True)
    drawing.text(364, 100, "once, interleaved", size=12)
    drawing.arrow((298, 74), (298, 124))
    drawing.text(304, 104, "no", size=12)
    drawing.box(250, 126, 96, 32, "one < n ?")
    drawing.arrow((346, 142), (370, 142))
    drawing.text(347, 136, "yes", size=12)
    drawing.box(372, 126, 96, 32, "region 0 or 1", fill=GREY)
    drawing.text(372, 176, "each alone", size=12)
    drawing.arrow((298, 158), (298, 208))
    drawing.text(304, 186, "no", size=12)
    drawing.text(272, 226, "goes on", size=13)
    _launch_of_guard(drawing)
    return drawing


def _launch_of_guard(drawing: Drawing) -> None:
    drawing.text(250, 258, "n = 5, factor 2, 8 rows:", size=13)
    for row in range(8):
        drawing.box(
            250 + 27.5 * row,
            268,
            26,
            26,
            str(row),
            fill=FILLS[row % 2] if row < 5 else GROUND,
            hatched=row % 2 == 1,
        )
    for pair, words in enumerate(("both", "both", "one", "none")):
        drawing.text(277 + 55 * pair, 312, words, size=12, anchor="middle")
    drawing.text(250, 338, "Few pairs have to part.", size=13)


def lock_step() -> Drawing:
    """Iterations of two replicas of a loop over time, copied and in lock-step."""
    drawing = Drawing("A divergent loop: replica 0 takes five turns, replica 1 three", 276)
    drawing.text(14, 26, "one copy after the other: 8 steps", bold=True)
    for turn in range(5):
        drawing.box(14 + 56 * turn, 40, 52, 30, f"0: {turn + 1}", fill=FILLS[0])
    for turn in range(3):
        drawing.box(14 + 56 * (5 + turn), 40, 52, 30, f"1: {turn + 1}", fill=FILLS[1], hatched=True)
    drawing.text(14, 108, "in lock-step: 5 steps", bold=True)
    for turn in range(5):
        drawing.box(14 + 56 * turn, 120, 52, 30, f"0: {turn + 1}", fill=FILLS[0])
        if turn < 3:
            drawing.box(14 + 56 * turn, 152, 52, 30, f"1: {turn + 1}", fill=FILLS[1], hatched=True)
    drawing.line((180, 112), (180, 216), dashed=True)
    drawing.text(14, 206, "together: none leaves", size=13)
    drawing.text(188, 206, "replica 0 alone", size=13)
    drawing.text(14, 240, "time runs to the right; “0: 3” is the third turn of replica 0", size=13)
    drawing.text(14, 260, "stacked: next to each other in the code, independent of each other", size=13)
    return drawing


def memory_access() -> Drawing:
    """Sectors that eight lanes touch at two strides; the banks of a tile's column, without and with a pad."""
    drawing = Drawing("Which sectors eight lanes touch at once, and in which banks the column of a tile lies", 442)
    drawing.text(14, 26, "8 lanes, factor 2, replica 0: which elements?", bold=True)
    _sectors(drawing, 40, 1, "stride 1: every second one, 2 sectors")
    _sectors(drawing, 122, 8, "stride 8: side by side, 1 sector")
    drawing.text(14, 212, "a frame is a sector of 32 bytes, 8 floats; replica 1 takes the white ones", size=13)
    drawing.text(14, 248, "a column of a tile, in 4 banks", bold=True)
    _tile(drawing, 14, 0, "rows of 4: all in bank 0")
    _tile(drawing, 254, 1, "rows of 5: one in each bank")
    return drawing


def _sectors(drawing: Drawing, y: float, stride: int, words: str) -> None:
    for element in range(16):
        x = 16 + 28 * element + 4 * (element // 8)
        is_first = element % (2 * stride) < stride
        drawing.box(x, y + 6, 26, 28, str(element), fill=FILLS[0] if is_first else GROUND, hatched=is_first)
    for sector in range(2):
        x = 13 + 228 * sector
        drawing.line((x, y), (x + 228, y), (x + 228, y + 40), (x, y + 40), (x, y))
    drawing.text(14, y + 60, words, size=13)


def _tile(drawing: Drawing, x: float, pad: int, words: str) -> None:
    for bank in range(4):
        drawing.text(x + 25 + 50 * bank, 270, f"bank {bank}", size=12, anchor="middle")
    for row in range(4):
        for column in range(4 + pad):
            word = row * (4 + pad) + column
            is_read = column == 0
            name = f"{row},{column}" if column < 4 else "pad"
            drawing.box(
                x + 50 * (word % 4),
                280 + 26 * (word // 4),
                48,
                24,
                name,
                fill=FILLS[1] if is_read else GREY if column >= 4 else GROUND,
                hatched=is_read,
            )
    drawing.text(x, 432, words, size=13)


def work_groups() -> Drawing:
    """Two work-groups with local memory that become one."""
    drawing = Drawing(
        "Two work-groups with local memory, and the one that they become at the level of groups", 350
    )
    drawing.text(14, 26, "before: two work-groups of 4", bold=True)
    for group in (0, 1):
        _group(drawing, 14 + 232 * group, 40, [group], f"group {group}")
    drawing.text(14, 190, "after: one work-group of 4, with both tiles", bold=True)
    _group(drawing, 14, 204, [0, 1], "group 0")
    return drawing


def _group(drawing: Drawing, x: float, y: float, replicas: list[int], name: str) -> None:
    wide = len(replicas) == 2
    width = 452 if wide else 220
    drawing.line((x, y), (x + width, y), (x + width, y + 126), (x, y + 126), (x, y))
    drawing.text(x + 8, y + 18, name, size=13)
    each = (width - 8) / 4
    for item in range(4):
        left = x + 6 + each * item
        part = (each - 4) / len(replicas)
        for position, replica in enumerate(replicas):
            drawing.box(
                left + part * position, y + 26, part, 30, str(item), fill=FILLS[replica], hatched=replica == 1
            )
    drawing.box(x + 6, y + 62, width - 12, 22, "barrier", fill=GREY)
    half = (width - 12) / len(replicas)
    for position, replica in enumerate(replicas):
        words = f"tile{'' if position == 0 else '_2'}, local memory"
        drawing.box(x + 6 + half * position, y + 90, half, 30, words, fill=FILLS[replica], hatched=replica == 1)


DRAWINGS = {
    "merged-work-items": merged_work_items,
    "dimensions": dimensions,
    "instructions": instructions,
    "divergent-region": divergent_region,
    "lock-step": lock_step,
    "memory-access": memory_access,
    "work-groups": work_groups,
}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        Path(__file__).with_name(f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
