"""`make bench-recall`: recall on LoCoMo and other sets, latency and memory, the peers; as tables and a plot in bench/RESULTS.md.

    python bench/recall.py [DATA] [--models FOLDER] [--part locomo|sets|first|fit|latency|peers …] [--again] [--minutes N] [--quick]

DATA is the file or its folder: locomo-dev.json in the folder that OTOLITH_BENCH names, else in shared/bench beside this repository or further up; it
is measured with and never copied. MiniLM takes part if its weights are built or can be built now, peers if they have
environments or can get them; one that hangs or cannot be installed is named and left out. `--quick` leaves out 100,000 records
and the peers. A part is measured in pieces, and a piece again only if its code or data changed (bench/measured.py), or with
`--again`; so a run that is broken off goes on where it stopped, and with `--minutes` it starts no piece after so many.
The page is made anew from all pieces once there are all, and its prose stands here, so that no figure is left beside words about an older
one; the rows of README's table are those of the sets. What is slow and does not depend on what is measured is kept in
bench/.cache: what MiniLM made of a text, large homes, what peers answered. The figures also stand at the end of the page as JSON:
if one is more than 0.5 below those, or a piece was cut short, the run ends with 1. A figure that fell stays what the next run
is held against until `--accept` says that it may. What is left to measure ends it with 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import measured
from measured import FAILED, Piece, Result

from otolith.config import data_folder
from otolith.errors import Provider
from otolith.providers.build_minilm import set_up
from otolith.providers.minilm import GRAPH

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
README, RESULTS = HERE.parent / "README.md", HERE / "RESULTS.md"
PEERS = Path(os.environ.get("OTOLITH_PEERS") or Path(tempfile.gettempdir(), "peers"))
PARTS = ("locomo", "sets", "first", "fit", "latency", "peers")
FALL = 0.5  # points that a figure may lose
FIGURES = "<!-- figures: "
NAMES = ("locomo", "realmem", "docs", "japanese", "code", "messages", "chinese")
RIVALS = ("chromadb", "mem0ai", "mcp-memory-service", "txtai", "basic-memory")
# the rows of README's table: what a row says, of which set, and which of its cuts
TOLD = {
    "dialogs of two people (LoCoMo, five of them), turns, recall@10": ("locomo", 1),
    "one user's chats with an assistant (RealMem), sessions, recall@5": ("realmem", 2),
    "sections of product documentation, recall@5": ("docs", 1),
    "Japanese paragraphs, recall@1": ("japanese", 0),
    "Python functions by what they do, recall@1": ("code", 0),
}
SYSTEMS = ("BM25, stop words out", "Otolith, words alone", "Otolith, static", "Otolith, minilm")
OPENING = """# Recall, measured

Written by `make bench-recall`. The data is LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0), five development dialogs; none of
it is in this repository. Recall@k is the share of a question's evidence turns among the first k hits, averaged over questions,
without category 5 unless said. No language model takes part.

## What is found
A session is one `log`, an entry, of which a hit names its turn (`bench/locomo.py --way remember` makes a chunk of each turn
instead). All through `Memory`, hits as they are delivered at `limit=50`; "in 1,000 tokens" is `budget=1000`, the turns around hits included
(for the rows that are not Otolith: the best turns that fit). BM25 is SQLite FTS5 with Porter's stems on the same turns, "alone"
the cosine of an embedder's vectors. The interval is a bootstrap over dialogs; with five of them it is wide.
"""
FOUND = """
![Recall@10 with its interval](recall.svg)
"""
SETS = """
## Other kinds of data, and whether it knows when it does not know
Dialogs of two people (LoCoMo, turns); one user's 226 sessions with an assistant (RealMem, sessions, only earlier ones stored); sections
of product documentation as notes; Japanese paragraphs (JSQuAD) as notes; functions of installed packages as chunks, asked for by
the first sentence of their docstring; two of the dialogs as a messenger has them (a message a sentence, small letters, nobody named,
BM25 over whole turns), and a few Chinese paragraphs among Japanese ones: on these two no weight was fitted. Recall at the cuts named, through `Memory.recall`. Then how many questions in a hundred are
called `enough`: own ones, foreign ones (which another dialog or another set can answer), and ones about the wrong person
(LoCoMo's category 5; there only those not called `about_somebody_else`).
"""
FIRST = """
## What comes first
A dialog logged under three topics, with notes that edges without a text link, and every ladder built by `upkeep`: how often an
aggregate (topic, global memory, chapter, wisdom) or an edge stands first where a turn that answers is among ten (`bench/first.py`).
"""
LEFT_OUT = """
## On what was left out
The weights were fitted on these same sets, so the rows above are in sample. `bench/fit.py` fits them without a dialog, or without
a fifth of the questions, and measures those; its candidates are the passages that the shipped search ranks, without what the
rules of delivery, importance, age and use add. Cuts as above.
"""
HONEST = """
Which signs there are, how many seeds and how far neighbours reach was chosen by looking at all of this data, so expect other
data a little lower. The speaker sign (a turn by the person the question names counts more) is kept because it helps the
questions that have an answer; the column with category 5, whose questions name the wrong person on purpose, tells what it
costs there. MiniLM's figures differ by up to half a point from one kind of processor to the next (its sums are of small integers).
That smoothing over neighbours helps notes was not shown and it is not done there. RealMem's foreign questions are
weakly foreign: what documentation asks, an assistant may well have been asked.
"""
SPEED = """
## How fast, and how much memory
Records are turns with a quarter of their words exchanged, in sessions of thirty. Warm, in process, 200 questions, one thread,
milliseconds: p50 and p95 of wall time, then of processor time. The bare figures are an FTS5 query without stop words (ten best)
and one float32 scan; everybody is asked every question in turn. Recall is held to 12× of their sum at 1,000 records, 2× at 10,000,
0.5× at 100,000, and 400 MB; with few records most of its time goes to what they do not do: it embeds the question, ranks, reads the
files of its hits and writes the usage ledger. Claims are read before, as upkeep does. chromadb is given the vector and returns ids. Where the machine was busy (the load is
told), wall time says as much about the others on it; then the ratio of processor times is the one to read.
"""
COLD = """
From the shell, on the 10,000 records, in turn with what it is held against (medians; at most 3×), and the static embedder's rate
(at least 0.7× of looking up the tokens' rows and taking their mean). The cold start is close to its limit: several runs on a busy
machine gave 2.6× to 3.1×; a third of what it adds is the tokenizer's file being read.
"""
OTHERS = """
## Others on the same dialogs
Each through its own recall call in an environment of its own, one memory a turn, offline (every proxy leads nowhere), with
Otolith's own embedders; mem0 with infer off, mcp-memory-service by its hybrid search. mcp-memory-service needs a Python that may
load SQLite extensions.
"""
UNHELPFUL = """
## What did not help
Tried while recall was built, on all five dialogs, and not repeated by this run: best match over single word vectors, a prior for
length, a sign for image captions, turns three away, BM25's length term (0 to 0.75 within half a point), leaving stop words out of
what is embedded, smoothing of vectors alone (MiniLM lost 1.5 to 3 points), correcting the spelling of these questions. With 40
seeds each from words and meaning instead of 80, R@10 falls by half a point; with 60, by a tenth. Within 1,000 tokens some twenty hits
fit; neighbours of the first hits before further hits (84.3 to 85.0 where hits alone give 84.9), and shorter hits first beyond the fifth to
twentieth (83.2 to 85.2), lift some dialogs and lower others. For documentation, what the whole note has of the question: R@5 80.8 → 82.5,
R@10 88.0 → 87.5, R@1 50.1 → 49.1 on questions left out. For RealMem's foreign questions, beside the score the mean of the first five, the
nearest meaning or the best record's share: 14 to 16 % instead of 16 pass where 94 % of own ones do; only with the length of the question
8 %, and that tells the style of the sets apart and nothing else. For dialogs, beside the signs there are: the nearest passage of the same
session, numbers for "how many", places for "where", neighbouring words of the question side by side, length, who is spoken to, the share
of words, their number: none lifts R@10 and R@25 in more dialogs than it lowers. For documentation and code, MiniLM's word pieces and blocks:
R@10 up by a point, R@5 and R@1 down. For documentation, code and Japanese together, on questions left out, beside pairs of words (R@1/5/10 of
documentation with built-in vectors 47.8/82.2/88.5 without any): pairs within eight words 49.1/82.0/88.0, the title's share 48.2/83.8/88.0 (by words
alone R@1 falls by 2.4), the second best passage 45.1/81.4/86.0, its meaning 45.2/80.4/85.0, openings 48.2/80.2/87.5, length 46.1/83.2/88.0, the spread of
the words and parts of unknown words within a point. Within 1,000 tokens, the ranked turns again by score less what a token costs, by score
for each token and by its logarithm, with the first three to ten kept in place: 83.6 to 85.1 where 84.6 is delivered, each with two dialogs below. For
RealMem's foreign questions see DECISIONS.md: distance to the tenth, cover, unknown mass and the number of sessions change two of 160."""
HEADS = {
    "sets": "| set and cuts | system | recall | own enough | foreign enough | wrong person enough |\n|---|---|---|---|---|---|",
    "first": "| asked | answered | first |\n|---|---|---|",
    "fit": "| weights | | | | |\n|---|---|---|---|---|",
    "latency": "| records | what | p50 | p95 | p50, processor | p95, processor |\n|---|---|---|---|---|---|",
    "cold": "| what | Otolith | beside | ratio |\n|---|---|---|---|",
    "peers": "| peer | vectors | R@5 | R@10 | R@25 | R@50 |\n|---|---|---|---|---|---|",
}


def pieces(part: str, data: Path, models: Sequence[str], *, quick: bool) -> Iterator[Piece]:
    """What a part is measured in."""
    folder, minilm = data.parent, [Path(word, GRAPH) for word in models[1:]]
    every = [data, folder / "realmem-dev.json", folder / "units" / "docs.json", folder / "units" / "japanese.json", *minilm]
    by = {"words": [], "static": [], **({"minilm": [*models]} if models else {})}
    if part == "locomo":
        for name, given in by.items():
            yield Piece(part, name, "locomo.py", [str(data), "--way", "log", "--embedder", name, *given], [data, *minilm])
    elif part == "sets":
        for of in NAMES:
            for name, given in by.items():
                yield Piece(part, f"{of}-{name}", "sets.py", [str(folder), "--only", of, "--embedder", name, *given], every)
    elif part == "first":
        yield Piece(part, "static", "first.py", [str(data)], [data])
    elif part == "fit":
        for name, given in by.items():
            yield Piece(part, name, "fit.py", [str(folder), "--embedder", name, *given], every)
    elif part == "peers":
        for given in ([], models) if models else ([],):
            for name in RIVALS:
                yield Piece(part, f"{name}-{'minilm' if given else 'static'}", "peers.py", [str(data), "--install", "--peer", name, *given], [data])
    else:
        chroma = PEERS / "chromadb" / "bin" / "python"
        beside = ["--keep", str(CACHE / "homes"), *(["--chroma", str(chroma)] if chroma.exists() else [])]
        for count in (1000, 10_000, *([] if quick else [100_000])):
            once = ["--once"] if count == 10_000 else []
            yield Piece(part, str(count), "latency.py", [str(data), "--records", str(count), *once, *beside], [data])


Measured = dict[str, list[Result]]  # part → what its pieces came to


def run(chosen: Sequence[Piece], jobs: int, until: float) -> tuple[dict[Path, Result], list[Piece]]:
    """(what failed, what there was no time for) of these pieces, each a process of its own."""
    failed: dict[Path, Result] = {}
    left: list[Piece] = []

    def work(piece: Piece) -> None:
        if time.monotonic() > until:
            left.append(piece)
            return
        start = time.monotonic()
        result = measured.measure(piece)
        if any(line.startswith(FAILED) for line in result.lines):
            failed[piece.file] = result
        print(f"{piece.part}, {piece.name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, chosen))
    return failed, left


def page(known: Measured, before: str = "", *, accept: bool = True) -> str:
    found, sets, first, left_out, speed, others = ((measured.told(known[part]), lines_of(known[part])) for part in PARTS)
    cold = [line for line in speed[1] if line.startswith(("| `otolith", "| static"))]
    warm = [line for line in speed[1] if line not in cold]
    now = figures(found[1] + sets[1])
    old = {} if accept else held_to(before)
    held = {**old, **{name: values for name, values in now.items() if not fell(old.get(name, values), values)}}
    parts = [OPENING, found[0], "", *found[1], FOUND, SETS, sets[0], "", HEADS["sets"], *sets[1], FIRST, first[0], "", HEADS["first"], *first[1], LEFT_OUT, left_out[0], "", HEADS["fit"],
             *left_out[1], HONEST, SPEED, speed[0], "", HEADS["latency"], *warm, COLD, HEADS["cold"], *cold, OTHERS, others[0], "",
             HEADS["peers"], *others[1], UNHELPFUL, "", f"{FIGURES}{json.dumps(held)} -->"]
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def lines_of(results: Sequence[Result]) -> list[str]:
    """Each line once: pieces tell some of what they measure beside."""
    return list(dict.fromkeys(line for result in results for line in result.lines))


def figures(lines: Sequence[str]) -> dict[str, list[float]]:
    """The recall figures of each row of Otolith, by its name."""
    rows: dict[str, list[float]] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "Otolith" in line and len(cells) > 2:
            named, values = (f"{cells[0]}, {cells[1]}", cells[2].split(" / ")) if "@" in cells[0] else (cells[0], cells[1:6])
            rows[named] = [float(value) for value in values]
    return rows


def held_to(page: str) -> dict[str, list[float]]:
    rows: dict[str, list[float]] = json.loads(page.partition(FIGURES)[2].partition(" -->")[0] or "{}")
    return rows


def fell(before: Sequence[float], after: Sequence[float]) -> bool:
    return any(now < was - FALL for was, now in zip(before, after, strict=True))


def fallen(before: dict[str, list[float]], after: dict[str, list[float]]) -> list[str]:
    """Which figures are lower than they were."""
    return [f"{name}: {was} → {now}" for name, values in before.items() if name in after
            for was, now in zip(values, after[name], strict=True) if now < was - FALL]


def told(readme: str, lines: Sequence[str]) -> str:
    """README with the rows of its table as they were measured."""
    cells = {}
    for line in lines:
        named, system, values, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        cells[named.split(" ")[0], system] = values.split(" / ")
    rows = {text: [cells.get((of, system)) for system in SYSTEMS] for text, (of, _) in TOLD.items()}
    made = {f"| {text} |": f"| {text} | " + " | ".join(row[TOLD[text][1]] if row else "" for row in values) + " |"
            for text, values in rows.items() if any(values)}
    return "".join(next((f"{row}\n" for start, row in made.items() if line.startswith(start)), line)
                   for line in readme.splitlines(keepends=True))


def plot(lines: Sequence[str]) -> str:
    """R@10 of each system as bars, with their intervals, as SVG."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]
    left, wide, step = 210, 430, 24
    height = step * len(rows) + 34
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 50}" height="{height}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="#fff"/>']
    for tick in range(0, 101, 20):
        x = left + wide * tick / 100
        drawn.append(f'<path d="M{x:.0f} 4V{height - 26}" stroke="#ddd"/><text x="{x:.0f}" y="{height - 10}" '
                     f'text-anchor="middle" fill="#555">{tick}</text>')
    for at, (name, _, mean, *_, interval) in enumerate(rows):
        y, (low, high) = 6 + step * at, (left + wide * float(end) / 100 for end in interval.split("–"))
        colour = "#2f6f8f" if name.startswith("Otolith") else "#b5b5b5"
        drawn.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text><rect x="{left}" y="{y}" height="17" '
                     f'width="{wide * float(mean) / 100:.1f}" fill="{colour}"/><path d="M{low:.1f} {y + 8.5}H{high:.1f}" '
                     f'stroke="#000"/><text x="{high + 6:.1f}" y="{y + 13}">{mean}</text>')
    return "\n".join([*drawn, "</svg>"]) + "\n"


def find_data() -> Path:
    named = os.environ.get("OTOLITH_BENCH")
    near = [Path(named)] if named else [folder / "shared" / "bench" for folder in HERE.resolve().parents]
    places = [folder / "locomo-dev.json" for folder in near]
    return next((path for path in places if path.is_file()), places[0])


def find_weights(folder: Path, *, fetch: bool) -> list[str]:
    """The words that name MiniLM's weights to a script, built first if they are not there; none if that fails."""
    try:
        set_up(folder, fetch=fetch)
    except Provider as error:
        print(error, file=sys.stderr)
        return []
    return ["--models", str(folder.resolve())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=find_data())
    built = data_folder() / "models"
    parser.add_argument("--models", type=Path, default=built if (built / GRAPH).is_file() else CACHE / "models",
                        help="folder with the MiniLM weights; they are built there if they are missing")
    parser.add_argument("--part", action="append", choices=(*PARTS, "none"), help="measure only this; may be repeated")
    parser.add_argument("--again", action="store_true", help="measure also what is unchanged")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start nothing after so many; what is left ends the run with 2")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="pieces that are measured at the same time")
    parser.add_argument("--accept", action="store_true", help="let the next run be held to these figures also where they fell")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    given.data = given.data / "locomo-dev.json" if given.data.is_dir() else given.data
    if not given.data.is_file():
        print(f"no data at {given.data}; get LoCoMo and name its file, or its folder by OTOLITH_BENCH", file=sys.stderr)
        return 3
    parts = given.part or (PARTS[:-1] if given.quick else PARTS)
    models = find_weights(given.models, fetch=bool(set(parts) - {"latency", "none"}))
    every = {part: [*pieces(part, given.data.resolve(), models, quick=given.quick)] for part in PARTS if not (given.quick and part == "peers")}
    chosen = [piece for part in PARTS if part in parts for piece in every[part] if given.again or not measured.is_fresh(piece)]
    until = time.monotonic() + 60 * given.minutes
    failed, left = run([piece for piece in chosen if piece.part != "latency"], given.jobs, until)
    alone = run([piece for piece in chosen if piece.part == "latency"], 1, until)  # beside others it would measure them
    failed, left = failed | alone[0], left + alone[1]
    found = {part: [failed.get(piece.file) or measured.read(piece) for piece in some] for part, some in every.items()}
    known = {part: [result for result in some if result] for part, some in found.items()}
    missing = [piece for part, some in every.items() for piece, result in zip(some, found[part], strict=True) if result is None]
    lost = fallen(held_to(RESULTS.read_text()), figures(lines_of(known["locomo"] + known["sets"])))
    if missing or given.quick:  # no page with holes
        print(*(line for some in known.values() for line in lines_of(some)), sep="\n")
    else:
        write(known, accept=given.accept)
    for line in lost:
        print(f"fallen by more than {FALL}: {line}", file=sys.stderr)
    short = [line for result in failed.values() for line in result.lines if line.startswith(FAILED)]
    print(*short, *(f"not measured yet: {piece.part}, {piece.name}" for piece in missing),
          *(f"as it was measured before: {piece.part}, {piece.name}" for piece in left if piece not in missing), sep="\n", file=sys.stderr)
    return 1 if lost or short else 2 if left or missing else 0


def write(known: Measured, *, accept: bool) -> None:
    """Write the page, the plot and README's table."""
    found, sets = lines_of(known["locomo"]), lines_of(known["sets"])
    RESULTS.write_text(page(known, RESULTS.read_text(), accept=accept))
    (HERE / "recall.svg").write_text(plot(found))
    README.write_text(told(README.read_text(), [line for line in sets if line.startswith("|")]))
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    sys.exit(main())
