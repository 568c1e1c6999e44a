"""Decay in pictures: one note's curve, and a histogram of all, as text for a terminal and as SVG.

Text is plain signs without colour, so it survives a pipe; SVG is self-contained and the same for the same numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp

from strata.derive.markdown import one_line
from strata.derive.svg import element, page
from strata.model.decay import DAY, LAMBDA, PINNED, THRESHOLDS, Decay, days_until, status
from strata.model.times import day

LONGEST = 730.0  # days that a curve looks back or ahead at most
SHORTEST = 30.0
BINS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
COLOURS = {"Active": "#2e7d32", "Fading": "#f9a825", "Dormant": "#ef6c00", "Archived": "#9e9e9e"}
WIDE, HIGH = 640, 320  # of an SVG
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 32, 36


@dataclass(frozen=True, kw_only=True)
class Curve:
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


@dataclass(frozen=True, kw_only=True)
class Bar:
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
            shapes.append(element("line", x1=LEFT, x2=WIDE - RIGHT, y1=down(low), y2=down(low), stroke=COLOURS[name],
                                  stroke_dasharray="4 3"))
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
    lines = [f"{bar.label:>9}  {bar.status:<8}  {_bar(bar.count / most, width):<{width}} {bar.count}" for bar in bars]
    return "\n".join([_count(bars), *lines]) + "\n"


def _bar(share: float, width: int) -> str:
    """A bar in eighths of a sign; what is there at all is visible."""
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
        name = element("title", f"{bar.label} {bar.status}: {bar.count}")
        shapes.append(element("rect", None, name, x=x + 2, y=ground - tall, width=wide - 4, height=tall,
                              fill=COLOURS[bar.status]))
        shapes.append(element("text", bar.label, x=x + wide / 2, y=HIGH - 20, text_anchor="middle", font_size=9))
        if bar.count:
            shapes.append(element("text", str(bar.count), x=x + wide / 2, y=ground - tall - 3, text_anchor="middle",
                                  font_size=9))
    return page(_count(bars), shapes, wide=WIDE, high=HIGH)


def _count(bars: Sequence[Bar]) -> str:
    return f"decay scores of {sum(bar.count for bar in bars)} records"
