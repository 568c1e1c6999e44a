"""Decay and graph drawn as text and SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from otolith.derive.pictures import (
    Arrow,
    Drawing,
    DrawnNode,
    count_bars,
    draw_curve,
    draw_dot,
    draw_histogram,
    draw_mermaid,
    draw_svg,
    gather_graph,
    svg_curve,
    svg_histogram,
    trace_curve,
)
from otolith.model.decay import DAY, PINNED, take_apart
from otolith.model.record import Usage

NOW = 1_770_000_000.0
HOSTILE = 'a "b" <script>]; } \\ #1 | end\n-->'


def curve(title="Redis fix", pinned=False, used_days_ago=20.0):
    decay = take_apart(importance=0.8, created=NOW - 90 * DAY, usage=Usage(7, NOW - used_days_ago * DAY), type_="fix",
                       now=NOW, pinned=pinned)
    return trace_curve(title, decay, NOW)


def graph(*titles: str) -> Drawing:
    titles = titles or ("Fix", "Problem", "Error", "Alone")
    nodes = [DrawnNode(id=f"id{at}", title=title, type="fix") for at, title in enumerate(titles)]
    arrows = [Arrow(source="id0", type="SOLVES", target="id1", strength=0.8),
              Arrow(source="id1", type="CAUSES", target="id2"), Arrow(source="id0", type="SOLVES", target="gone")]
    return gather_graph(nodes, arrows)


def test_a_curve_starts_high_falls_and_marks_today():
    drawn = draw_curve(curve())
    rows = drawn.split("\n")[1:13]
    heights = [next(at for at, row in enumerate(rows) if row[7:].ljust(60)[column] == "●") for column in range(60)]

    assert heights == sorted(heights)
    assert heights[0] == 0
    assert heights[-1] == 11
    assert all("|" in row or "●" in row for row in rows)
    assert "Redis fix: 1.317 Active on 2026-02-02" in drawn
    assert "0.50 ---" in drawn


def test_a_pinned_notes_curve_is_flat():
    drawn = draw_curve(curve(pinned=True))

    assert drawn.split("\n")[1].count("●") == 60


@pytest.mark.parametrize("draw", [svg_curve, draw_curve])
def test_the_same_curve_is_drawn_in_the_same_bytes(draw):
    assert draw(curve()) == draw(curve())


def test_a_curve_of_something_never_important_does_not_fail():
    decay = take_apart(importance=0.0, created=0.0, usage=Usage(), type_="fix", now=NOW)

    assert "0.000 Archived" in draw_curve(trace_curve("x", decay, NOW))
    ElementTree.fromstring(svg_curve(trace_curve("x", decay, NOW)))


def test_an_svg_curve_is_well_formed_whatever_the_title():
    root = ElementTree.fromstring(svg_curve(curve(title=HOSTILE)))
    points = next(item for item in root if item.tag.endswith("polyline")).attrib["points"].split()

    assert "<script>" in "".join(root.itertext())
    assert [float(point.split(",")[1]) for point in points] == sorted(float(point.split(",")[1]) for point in points)


def test_a_histogram_counts_every_score_once():
    scores = [0.0, 0.049, 0.05, 0.2, 0.5, 7.0, PINNED, PINNED]
    bars = count_bars(scores)

    assert sum(bar.count for bar in bars) == len(scores)
    assert {bar.label: bar.count for bar in bars}["pinned"] == 2
    assert {bar.status for bar in bars} == {"Active", "Fading", "Dormant", "Archived"}


def test_the_fullest_bar_is_the_longest_and_a_small_one_is_seen():
    drawn = draw_histogram(count_bars([0.3] * 1000 + [0.6]))
    lengths = {int(line.split()[-1]): len(re.findall("[█▏▎▍▌▋▊▉]", line)) for line in drawn.split("\n")[1:] if line}

    assert lengths[1000] == 50
    assert lengths[1] == 1


@pytest.mark.parametrize("scores", [[], [0.1, 0.6, PINNED]])
def test_an_svg_histogram_is_well_formed(scores):
    assert ElementTree.fromstring(svg_histogram(count_bars(scores))).tag.endswith("svg")


def test_a_graph_is_put_in_order_and_loses_links_to_what_is_not_drawn():
    mixed = gather_graph(reversed(graph().nodes), reversed(graph().arrows * 2))

    assert mixed == graph()
    assert len(mixed.arrows) == 2


def test_mermaid_names_nodes_and_labels_links():
    drawn = draw_mermaid(graph())

    assert drawn.startswith("flowchart LR\n")
    assert 'n0["Fix"]:::fix' in drawn
    assert "n0 -->|SOLVES| n1" in drawn


def test_dot_quotes_what_it_prints():
    drawn = draw_dot(graph(HOSTILE, "Problem", "Error"))

    assert r'label="a \"b\" <script>]; } \\ #1 | end -->"' in drawn
    assert '"id0" -> "id1" [label="SOLVES", penwidth=2.10];' in drawn


def test_no_title_breaks_out_of_a_mermaid_label():
    label = re.search(r'n0\["(.*)"\]:::fix', draw_mermaid(graph(HOSTILE)))

    assert label
    assert not set(label[1]) & set('"<>[]{}|\\')


@pytest.mark.parametrize("count", [0, 1, 2, 40, 450])
def test_an_svg_graph_keeps_every_node_inside_the_picture(count):
    nodes = [DrawnNode(id=f"id{at:04d}", title=HOSTILE, type="fix") for at in range(count)]
    arrows = [Arrow(source=f"id{at:04d}", type="FOLLOWS", target=f"id{at + 1:04d}") for at in range(count - 1)]
    root = ElementTree.fromstring(draw_svg(gather_graph(nodes, arrows)))
    circles = [item for item in root.iter() if item.tag.endswith("circle")]

    assert len(circles) == min(count, 400)
    assert all(0 <= int(circle.attrib["cx"]) <= 960 and 0 <= int(circle.attrib["cy"]) <= 640 for circle in circles)


def test_linked_nodes_lie_nearer_than_strangers():
    nodes = [DrawnNode(id=f"id{at}", title=str(at), type="fix") for at in range(12)]
    arrows = [Arrow(source=f"id{at}", type="FOLLOWS", target=f"id{(at + 6)}") for at in range(6)]
    root = ElementTree.fromstring(draw_svg(gather_graph(nodes, arrows)))
    lines = [item.attrib for item in root.iter() if item.tag.endswith("line")]
    lengths = [((int(a["x1"]) - int(a["x2"])) ** 2 + (int(a["y1"]) - int(a["y2"])) ** 2) ** 0.5 for a in lines]

    assert max(lengths) < 400


def test_the_same_graph_is_drawn_in_the_same_bytes():
    assert draw_svg(graph()) == draw_svg(graph())
    assert draw_mermaid(graph()) == draw_mermaid(graph())
