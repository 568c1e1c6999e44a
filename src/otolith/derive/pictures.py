"""Pictures: a note's decay, a histogram of all (text, SVG), the graph of records (Mermaid, dot, SVG).

Values in, text out, the same bytes for the same values. Text is plain characters without colour, so it
survives a pipe; SVG is self-contained. A graph's layout starts on a circle and settles by a fixed number of
steps, without chance. No title can break out of its label.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from math import exp
from typing import NamedTuple

from otolith.derive.front_pages import one_line
from otolith.model.decay import DAY, LAMBDA, PINNED, THRESHOLDS, Decay, days_until, status
from otolith.model.kinds import NOTE_TYPES
from otolith.model.shape import Value
from otolith.model.times import day

LONGEST = 730.0  # days that a curve looks back or ahead at most
SHORTEST = 30.0
BINS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
COLOURS = {"Active": "#2e7d32", "Fading": "#f9a825", "Dormant": "#ef6c00", "Archived": "#9e9e9e"}
WIDE, HIGH = 640, 320  # of an SVG
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 32, 36
LABEL_LENGTH = 40
STEPS = 120
MOST_DRAWN = 400  # nodes of an SVG; the layout's work grows with their square
OTHER = "#616161"


class Curve(NamedTuple):
    """A score from its last access on, if nobody asks again; days count from now, so the past is negative."""

    title: str
    score: float
    now: float
    back: float
    ahead: float

    def at(self, days: float) -> float:
        return PINNED if self.score >= PINNED else self.score * exp(-LAMBDA * days)

    @property
    def top(self) -> float:
        return self.at(-self.back) or 1.0


class Bar(Value):
    """A range of scores and how many records stand in it."""

    label: str
    status: str
    count: int


def trace_curve(title: str, decay: Decay, now: float) -> Curve:
    """Follow one score from its last access until it is archived, at most two years."""
    left = days_until(decay.score, THRESHOLDS[2][1]) or 0.0
    back = 0.0 if decay.pinned else min(decay.days, LONGEST)
    return Curve(title=one_line(title, 60), score=decay.score, now=now, back=back,
                 ahead=min(LONGEST, max(SHORTEST, left * 1.1)))


def draw_curve(curve: Curve, width: int = 60, height: int = 12) -> str:
    """The curve for a terminal: dots are the score, dashes the thresholds, the bar is today."""
    step = (curve.back + curve.ahead) / (width - 1)
    grid = [[" "] * width for _ in range(height)]

    def row(score: float) -> int:
        return min(height - 1, max(0, round((1 - score / curve.top) * (height - 1))))

    labels = {0: f"{curve.top:.2f}", height - 1: "0.00"}
    for _, low in THRESHOLDS[:-1]:
        if low < curve.top and row(low) not in labels:
            grid[row(low)] = ["-"] * width
            labels[row(low)] = f"{low:.2f}"
    today = round(curve.back / step)
    for line in grid:
        line[today] = "|"
    for column in range(width):
        grid[row(curve.at(column * step - curve.back))][column] = "●"
    dates = [day(curve.now - curve.back * DAY), day(curve.now + curve.ahead * DAY)]
    lines = [f"{labels.get(at, ''):>6} {''.join(line).rstrip()}" for at, line in enumerate(grid)]
    foot = " " * 7 + dates[0] + " " * max(1, width - 20) + dates[1]
    return "\n".join([_caption(curve), *lines, foot]) + "\n"


def svg_curve(curve: Curve) -> str:
    """The curve as SVG."""
    span = curve.back + curve.ahead

    def across(days: float) -> float:
        return LEFT + (days + curve.back) / span * (WIDE - LEFT - RIGHT)

    def down(score: float) -> float:
        return TOP + (1 - score / curve.top) * (HIGH - TOP - BOTTOM)

    shapes = [element("text", _caption(curve), x=LEFT, y=20)]
    for name, low in THRESHOLDS[:-1]:
        if low < curve.top:
            shapes.append(element("line", x1=LEFT, x2=WIDE - RIGHT, y1=down(low), y2=down(low),
                                  stroke=COLOURS[name], stroke_dasharray="4 3"))
            shapes.append(element("text", f"{low:g}", x=LEFT - 4, y=down(low) + 4, text_anchor="end"))
    days = [at / 120 * span - curve.back for at in range(121)]
    points = " ".join(f"{across(at):.1f},{down(curve.at(at)):.1f}" for at in days)
    first, last = day(curve.now - curve.back * DAY), day(curve.now + curve.ahead * DAY)
    shapes += [
        element("line", x1=across(0), x2=across(0), y1=TOP, y2=HIGH - BOTTOM, stroke="#616161"),
        element("polyline", fill="none", stroke=COLOURS[status(curve.score)], stroke_width=2, points=points),
        element("text", first, x=LEFT, y=HIGH - 14),
        element("text", last, x=WIDE - RIGHT, y=HIGH - 14, text_anchor="end"),
    ]
    return page(_caption(curve), shapes, wide=WIDE, high=HIGH)


def _caption(curve: Curve) -> str:
    return f"{curve.title}: {curve.score:.3f} {status(curve.score)} on {day(curve.now)}"


def count_bars(scores: Iterable[float]) -> list[Bar]:
    """The histogram's bars, lowest scores first; pinned records have their own."""
    counts = [0] * (len(BINS) + 1)
    for score in scores:
        counts[len(BINS) if score >= PINNED else max(0, bisect_right(BINS, score) - 1)] += 1
    bounds = [f"{low:g}–{high:g}" for low, high in pairwise(BINS)] + [f"{BINS[-1]:g}+"]
    bars = [Bar(label=label, status=status(low), count=count)
            for label, low, count in zip(bounds, BINS, counts, strict=False)]
    return [*bars, Bar(label="pinned", status="Active", count=counts[-1])]


def draw_histogram(bars: Sequence[Bar], width: int = 50) -> str:
    """The bars for a terminal, one a line, with their status and count."""
    most = max((bar.count for bar in bars), default=0) or 1
    lines = [f"{bar.label:>9}  {bar.status:<8}  {_bar(bar.count / most, width):<{width}} {bar.count}"
             for bar in bars]
    return "\n".join([_count(bars), *lines]) + "\n"


def _bar(share: float, width: int) -> str:
    """A bar in eighths of a character; what is there at all is visible."""
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def svg_histogram(bars: Sequence[Bar]) -> str:
    """The bars as SVG."""
    most = max((bar.count for bar in bars), default=0) or 1
    wide, ground = (WIDE - LEFT - RIGHT) / max(1, len(bars)), HIGH - BOTTOM
    shapes = [element("text", _count(bars), x=LEFT, y=20)]
    for at, bar in enumerate(bars):
        tall, x = bar.count / most * (ground - TOP), LEFT + at * wide
        label: dict[str, str | float] = {"x": x + wide / 2, "text_anchor": "middle", "font_size": 9}
        name = element("title", f"{bar.label} {bar.status}: {bar.count}")
        shapes.append(element("rect", None, name, x=x + 2, y=ground - tall, width=wide - 4, height=tall,
                              fill=COLOURS[bar.status]))
        shapes.append(element("text", bar.label, y=HIGH - 20, **label))
        if bar.count:
            shapes.append(element("text", str(bar.count), y=ground - tall - 3, **label))
    return page(_count(bars), shapes, wide=WIDE, high=HIGH)


def _count(bars: Sequence[Bar]) -> str:
    return f"decay scores of {sum(bar.count for bar in bars)} records"


class DrawnNode(NamedTuple):
    """A record in the picture."""

    id: str
    title: str
    type: str


class Arrow(NamedTuple):
    """A link in the picture."""

    source: str
    type: str
    target: str
    strength: float = 0.5


class Drawing(NamedTuple):
    """Nodes and the links between them, in order; links to what is not drawn are left out."""

    nodes: tuple[DrawnNode, ...]
    arrows: tuple[Arrow, ...]


def gather_graph(nodes: Iterable[DrawnNode], arrows: Iterable[Arrow]) -> Drawing:
    """Put a graph in order, each node and each link once."""
    by_id = {node.id: node for node in sorted(nodes, reverse=True)}
    kept = {arrow for arrow in arrows if arrow.source in by_id and arrow.target in by_id}
    return Drawing(nodes=tuple(sorted(by_id.values())), arrows=tuple(sorted(kept)))


def _colour(type_: str) -> str:
    return NOTE_TYPES[type_].colour if type_ in NOTE_TYPES else OTHER


def draw_mermaid(graph: Drawing) -> str:
    """A Mermaid flowchart."""
    names = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f'    {names[node.id]}["{_mermaid(node.title)}"]:::{_word(node.type)}' for node in graph.nodes]
    lines += [f"    {names[arrow.source]} -->|{_word(arrow.type)}| {names[arrow.target]}"
              for arrow in graph.arrows]
    for type_ in sorted({_word(node.type) for node in graph.nodes}):
        lines.append(f"    classDef {type_} fill:#fff,stroke:{_colour(type_)}")
    return "\n".join(lines) + "\n"


def _mermaid(title: str) -> str:
    """A label: Mermaid reads # as the start of a character's number, so every special one is written so."""
    label = one_line(title, LABEL_LENGTH)
    return "".join(part if part.isalnum() or part in " .,:-_/" else f"#{ord(part)};" for part in label) or " "


def _word(type_: str) -> str:
    return "".join(part if part.isalnum() or part == "_" else "_" for part in type_) or "_"


def draw_dot(graph: Drawing) -> str:
    """A Graphviz digraph."""
    lines = ["digraph otolith {", "    rankdir=LR;",
             '    node [shape=box, style=rounded, fontname="sans-serif"];']
    for node in graph.nodes:
        lines.append(f'    {_quoted(node.id)} [label={_quoted(one_line(node.title, LABEL_LENGTH))}, '
                     f'color="{_colour(node.type)}"];')
    for arrow in graph.arrows:
        lines.append(f'    {_quoted(arrow.source)} -> {_quoted(arrow.target)} [label={_quoted(arrow.type)}, '
                     f"penwidth={0.5 + 2 * arrow.strength:.2f}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def draw_svg(graph: Drawing, wide: int = 960, high: int = 640) -> str:
    """A picture of its own; of a larger graph the nodes with the most links."""
    shown = _most_linked(graph)
    places = {node.id: spot for node, spot in zip(shown.nodes, _lay_out(shown, wide, high), strict=True)}
    tip = element("path", d="M0 0 8 4 0 8z", fill="#9e9e9e")
    marker = element("marker", None, tip, id="tip", viewBox="0 0 8 8", refX=15, refY=4, markerWidth=7,
                     markerHeight=7, orient="auto")
    shapes = [element("defs", None, marker)]
    for arrow in shown.arrows:
        (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
        shapes.append(element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#9e9e9e",
                              stroke_width=0.5 + 2 * arrow.strength, marker_end="url(#tip)"))
        shapes.append(element("text", arrow.type, x=(x1 + x2) // 2, y=(y1 + y2) // 2, fill="#616161",
                              font_size=8, text_anchor="middle"))
    for node in shown.nodes:
        x, y = places[node.id]
        dot = element("circle", cx=x, cy=y, r=6, fill=_colour(node.type))
        name = element("title", f"{one_line(node.title)} ({node.type})")
        label = element("text", one_line(node.title, LABEL_LENGTH), x=x, y=y + 16, text_anchor="middle")
        shapes.append(element("g", None, dot, name, label))
    title = f"{len(shown.nodes)} records, {len(shown.arrows)} links"
    return page(title, shapes, wide=wide, high=high, size=10)


def _most_linked(graph: Drawing) -> Drawing:
    if len(graph.nodes) <= MOST_DRAWN:
        return graph
    degree = dict.fromkeys((node.id for node in graph.nodes), 0)
    for arrow in graph.arrows:
        degree[arrow.source] += 1
        degree[arrow.target] += 1
    kept = sorted(graph.nodes, key=lambda node: (-degree[node.id], node.id))[:MOST_DRAWN]
    return gather_graph(kept, graph.arrows)


def _lay_out(graph: Drawing, wide: int, high: int) -> Sequence[tuple[int, int]]:
    """Places by attraction along links and repulsion between all nodes, cooling from the width to nothing.

    Nodes start on a circle in their own order. In each step every pair pushes apart by k²/d, every link
    pulls by d²/k and all are drawn a little to the middle, so that loose parts stay in the picture; no step
    is longer than the temperature. The result is stretched to fill the picture.
    """
    import numpy

    count = len(graph.nodes)
    if count == 0:
        return []
    angles = 2 * numpy.pi * numpy.arange(count) / count
    spots = numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)
    order = {node.id: at for at, node in enumerate(graph.nodes)}
    joined = [(order[arrow.source], order[arrow.target]) for arrow in graph.arrows
              if arrow.source != arrow.target]
    ends = numpy.array(joined, dtype=int).reshape(-1, 2)
    ideal = 1.5 / numpy.sqrt(count)
    for step in range(STEPS):
        apart = spots[:, None, :] - spots[None, :, :]
        distance = numpy.maximum(numpy.sqrt((apart**2).sum(axis=2)), 1e-3)
        push = (apart * (ideal**2 / distance**2)[:, :, None]).sum(axis=1)
        along = spots[ends[:, 0]] - spots[ends[:, 1]]
        pull = along * (numpy.sqrt((along**2).sum(axis=1, keepdims=True)) / ideal)
        numpy.subtract.at(push, ends[:, 0], pull)
        numpy.add.at(push, ends[:, 1], pull)
        push -= spots * 0.1
        length = numpy.maximum(numpy.sqrt((push**2).sum(axis=1, keepdims=True)), 1e-9)
        spots = spots + push / length * numpy.minimum(length, 0.2 * (1 - step / STEPS))
    low, size = spots.min(axis=0), numpy.maximum(spots.max(axis=0) - spots.min(axis=0), 1e-9)
    room = numpy.array([wide - 160, high - 80])
    placed = numpy.where(size > 1e-6, (spots - low) / size, 0.5) * room + numpy.array([80, 40])
    return [(int(x), int(y)) for x, y in numpy.rint(placed)]


def element(name: str, content: str | None = None, *inner: str, **attributes: str | float) -> str:
    """<name …>content inner</name>; an attribute's underscore is a dash, floats have one decimal."""
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
                    for key, value in attributes.items())
    body = escape(content or "", quote=False) + "".join(inner)
    return f"<{name}{pairs}>{body}</{name}>" if body else f"<{name}{pairs}/>"


def _value(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else escape(str(value))


def page(title: str, shapes: Iterable[str], *, wide: int, high: int, size: int = 11) -> str:
    """A picture that stands alone: its own name, a white ground."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" role="img" font-family="sans-serif" font-size="{size}">')
    ground = element("rect", width=wide, height=high, fill="#fff")
    return "\n".join([head, element("title", title), ground, *shapes, "</svg>"]) + "\n"
