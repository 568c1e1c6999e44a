"""The graph of records in pictures: Mermaid, Graphviz dot and SVG.

Values in, text out, the same for the same graph: nodes and links are put in order first, and the SVG's layout starts on
a circle and settles by a fixed number of steps, without chance. No title can break out of its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strata.derive.markdown import one_line
from strata.derive.svg import element, page

LABEL_SIGNS = 40
STEPS = 120
MOST_DRAWN = 400  # nodes of an SVG; the layout's work grows with their square
COLOURS = {
    "solution": "#2e7d32", "fix": "#558b2f", "decision": "#1565c0", "configuration": "#00838f", "problem": "#c62828",
    "error": "#ad1457", "workflow": "#6a1b9a", "code_pattern": "#4527a0", "procedure": "#283593", "insight": "#f9a825",
}
OTHER = "#616161"


@dataclass(frozen=True, kw_only=True, order=True)
class Node:
    """A record in the picture."""

    id: str
    title: str
    type: str


@dataclass(frozen=True, kw_only=True, order=True)
class Arrow:
    """A link in the picture."""

    source: str
    type: str
    target: str
    strength: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Nodes and the links between them, in order; links to what is not drawn are left out."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


def gather_graph(nodes: Iterable[Node], arrows: Iterable[Arrow]) -> Graph:
    """Put a graph in order, each node and each link once."""
    by_id = {node.id: node for node in sorted(nodes, reverse=True)}
    kept = {arrow for arrow in arrows if arrow.source in by_id and arrow.target in by_id}
    return Graph(nodes=tuple(sorted(by_id.values())), arrows=tuple(sorted(kept)))


def draw_mermaid(graph: Graph) -> str:
    """A Mermaid flowchart."""
    names = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f'    {names[node.id]}["{_mermaid(node.title)}"]:::{_word(node.type)}' for node in graph.nodes]
    lines += [f"    {names[arrow.source]} -->|{_word(arrow.type)}| {names[arrow.target]}" for arrow in graph.arrows]
    for type_ in sorted({_word(node.type) for node in graph.nodes}):
        lines.append(f"    classDef {type_} fill:#fff,stroke:{COLOURS.get(type_, OTHER)}")
    return "\n".join(lines) + "\n"


def _mermaid(title: str) -> str:
    """A label: Mermaid reads # as the start of a character's number, so every special sign is written as one."""
    label = one_line(title, LABEL_SIGNS)
    return "".join(sign if sign.isalnum() or sign in " .,:-_/" else f"#{ord(sign)};" for sign in label) or " "


def _word(type_: str) -> str:
    return "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in type_) or "_"


def draw_dot(graph: Graph) -> str:
    """A Graphviz digraph."""
    lines = ["digraph strata {", "    rankdir=LR;", '    node [shape=box, style=rounded, fontname="sans-serif"];']
    for node in graph.nodes:
        lines.append(f'    {_quoted(node.id)} [label={_quoted(one_line(node.title, LABEL_SIGNS))}, '
                     f'color="{COLOURS.get(node.type, OTHER)}"];')
    for arrow in graph.arrows:
        lines.append(f'    {_quoted(arrow.source)} -> {_quoted(arrow.target)} [label={_quoted(arrow.type)}, '
                     f"penwidth={0.5 + 2 * arrow.strength:.2f}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def draw_svg(graph: Graph, wide: int = 960, high: int = 640) -> str:
    """A picture of its own; of a larger graph the nodes with the most links."""
    shown = _most_linked(graph)
    places = {node.id: spot for node, spot in zip(shown.nodes, _lay_out(shown, wide, high), strict=True)}
    tip = element("path", d="M0 0 8 4 0 8z", fill="#9e9e9e")
    marker = element("marker", None, tip, id="tip", viewBox="0 0 8 8", refX=15, refY=4, markerWidth=7, markerHeight=7,
                     orient="auto")
    shapes = [element("defs", None, marker)]
    for arrow in shown.arrows:
        (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
        shapes.append(element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#9e9e9e",
                              stroke_width=0.5 + 2 * arrow.strength, marker_end="url(#tip)"))
        shapes.append(element("text", arrow.type, x=(x1 + x2) // 2, y=(y1 + y2) // 2, fill="#616161", font_size=8,
                              text_anchor="middle"))
    for node in shown.nodes:
        x, y = places[node.id]
        dot = element("circle", cx=x, cy=y, r=6, fill=COLOURS.get(node.type, OTHER))
        name = element("title", f"{one_line(node.title)} ({node.type})")
        label = element("text", one_line(node.title, LABEL_SIGNS), x=x, y=y + 16, text_anchor="middle")
        shapes.append(element("g", None, dot, name, label))
    title = f"{len(shown.nodes)} records, {len(shown.arrows)} links"
    return page(title, shapes, wide=wide, high=high, size=10)


def _most_linked(graph: Graph) -> Graph:
    if len(graph.nodes) <= MOST_DRAWN:
        return graph
    degree = dict.fromkeys((node.id for node in graph.nodes), 0)
    for arrow in graph.arrows:
        degree[arrow.source] += 1
        degree[arrow.target] += 1
    kept = sorted(graph.nodes, key=lambda node: (-degree[node.id], node.id))[:MOST_DRAWN]
    return gather_graph(kept, graph.arrows)


def _lay_out(graph: Graph, wide: int, high: int) -> Sequence[tuple[int, int]]:
    """Places by attraction along links and repulsion between all nodes, cooling from the width to nothing.

    Nodes start on a circle in their own order. In each step every pair pushes apart by k²/d, every link pulls by d²/k
    and all are drawn a little to the middle, so that loose parts stay in the picture; no step is longer than the
    temperature. The result is stretched to fill the picture.
    """
    import numpy

    count = len(graph.nodes)
    if count == 0:
        return []
    angles = 2 * numpy.pi * numpy.arange(count) / count
    spots = numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)
    order = {node.id: at for at, node in enumerate(graph.nodes)}
    joined = [(order[arrow.source], order[arrow.target]) for arrow in graph.arrows if arrow.source != arrow.target]
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
    placed = numpy.rint(numpy.where(size > 1e-6, (spots - low) / size, 0.5) * room + numpy.array([80, 40])).astype(int)
    return [(int(x), int(y)) for x, y in placed]
