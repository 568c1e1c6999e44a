"""How long cutting takes beside what cannot be avoided: one regular-expression pass over sentence ends plus one
tokenization, paragraph by paragraph. Run: python bench/chunking.py [megabytes …]; the texts are made here from a seed.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable

from otolith.derive.chunking import ChunkingEngine
from otolith.model.words import word_set
from otolith.providers.tokens import count_many

SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|[。！？।؟]")
WORDS = sorted(
    word_set(
        "the a of and to in that is was it for on with as by at from this file memory agent question answer index folder "
        "server deployment configuration because whenever although paragraph sentence remember forgotten builder ladder "
        "London Postgres 2024 user prefers structured output usually decided architecture returned nothing several"
    )
)


def make_prose(size: int, sentences: tuple[int, int], rng: random.Random) -> list[str]:
    """Paragraphs with so many sentences each, together about `size` characters."""
    paragraphs: list[str] = []
    length = 0
    while length < size:
        said = (" ".join(rng.choices(WORDS, k=rng.randint(6, 22))).capitalize() for _ in range(rng.randint(*sentences)))
        paragraphs.append(". ".join(said) + ".")
        length += len(paragraphs[-1]) + 2
    return paragraphs


def least(run: Callable[[], object], times: int = 3) -> float:
    """The shortest of a few runs: what the machine's other work adds is not ours."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    sizes = [float(given) for given in sys.argv[1:]] or [1, 10]
    engine = ChunkingEngine()
    engine.count_tokens("loads the tokenizer")
    print(f"{'prose':<28}{'MB':>4}{'regex':>9}{'tokens':>9}{'cut':>9}{'ratio':>7}{'pieces':>8}{'min':>5}{'max':>5}")
    for label, shape in (
        ("one sentence a paragraph", (1, 1)),
        ("2-8 sentences", (2, 8)),
        ("8-20 sentences", (8, 20)),
        ("40-80 sentences", (40, 80)),
    ):
        for size in sizes:
            paragraphs = make_prose(int(size * 1_000_000), shape, random.Random(7))
            text = "\n\n".join(paragraphs)
            scan = least(lambda text=text: sum(1 for _ in SENTENCE_END.finditer(text)))  # type: ignore[misc]
            tokens = least(lambda given=paragraphs: count_many(given))  # type: ignore[misc]
            cut = least(lambda text=text: engine.chunk(text))  # type: ignore[misc]
            found = [piece.tokens for piece in engine.chunk(text)]
            print(
                f"{label:<28}{size:>4g}{scan:>9.3f}{tokens:>9.3f}{cut:>9.3f}{cut / (scan + tokens):>7.2f}"
                f"{len(found):>8}{min(found):>5}{max(found):>5}"
            )


if __name__ == "__main__":
    main()
