"""The ChunkingEngine, the types it hands on and the links a chunk gets by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otolith.derive.chunking import ChunkingEngine, Piece
from otolith.derive.chunks import Linkable, auto_links, detect_type
from otolith.errors import Invalid
from otolith.model.text import sentences


def by_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def by_signs(texts: Sequence[str]) -> list[int]:
    return [(len(text.encode()) + 3) // 4 for text in texts]


def with_a_prefix(texts: Sequence[str]) -> list[int]:
    """Like tokenizers that put a token before every text: a sum of counts is larger than the count of the sum."""
    return [len(text) // 3 + 2 for text in texts]


def cut(text: str, count: object = by_words, least: int = 100, most: int = 800) -> list[Piece]:
    return ChunkingEngine(least, most, count=count).chunk(text)  # type: ignore[arg-type]


def sentence(length: int, word: str = "word") -> str:
    return " ".join([word.capitalize(), *[word] * (length - 1)]) + "."


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_every_way_to_end_a_line_cuts_alike(end: str) -> None:
    text = "line one of text here\n" * 2000 + "\n" + "and a paragraph of its own\n" * 300

    assert len(cut(text.replace("\n", end))) <= len(cut(text)) + 1


PARAGRAPH = " ".join(sentence(12) for _ in range(12))  # 144 words
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            [
                "word ",
                "End. ",
                "\n",
                "\n\n",
                "```\n",
                "~~~\n",
                "  x = 1\n",
                "# Head\n",
                "。",
                "字",
                "e\u0301",
                "\r\n",
                "👩‍🔬",
                "\t",
                "- item\n",
                "...",
                "a" * 40,
            ]
        ),
        max_size=150,
    ).map("".join),
)


@given(
    TEXTS, st.sampled_from([by_words, by_signs, with_a_prefix]), st.sampled_from([(1, 2), (3, 8), (5, 40), (10, 20)])
)
@example("```\n" + "a b c\n" * 9 + "```\n", by_words, (3, 8))
@settings(max_examples=300, deadline=None)
def test_pieces_join_to_the_text_at_their_offsets_and_never_exceed_the_maximum(text, count, sizes):
    pieces = cut(text, count, *sizes)

    assert "".join(piece.content for piece in pieces) == text
    assert all(text[piece.start : piece.stop] == piece.content for piece in pieces)
    assert all(piece.tokens == count([piece.content])[0] for piece in pieces)
    assert all(piece.tokens <= sizes[1] or len(piece.content) == 1 for piece in pieces)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=40), st.sampled_from([by_words, by_signs]))
@settings(max_examples=100, deadline=None)
def test_pieces_reach_the_minimum_unless_the_whole_text_does_not(lengths, count):
    text = "\n\n".join(sentence(length) for length in lengths)

    pieces = cut(text, count)

    assert len(pieces) == 1 or all(100 <= piece.tokens <= 800 for piece in pieces)
    assert len(pieces) > 1 or pieces[0].tokens <= 800


@pytest.mark.clause("chunk-27")
def test_prose_is_cut_into_pieces_of_100_to_800_real_tokens():
    engine = ChunkingEngine()
    text = "\n\n".join(" ".join(sentence(9 + n % 7, "memory") for n in range(k % 40 + 1)) for k in range(60))

    pieces = engine.chunk(text)

    assert len(pieces) > 5
    assert all(100 <= engine.count_tokens(piece.content) <= 800 for piece in pieces)
    assert "".join(piece.content for piece in pieces) == text


@pytest.mark.clause("chunk-27")
def test_a_text_under_100_tokens_is_one_piece():
    pieces = ChunkingEngine().chunk("User prefers Python.\n\nIt was said twice.\n")

    assert [piece.content for piece in pieces] == ["User prefers Python.\n\nIt was said twice.\n"]


def test_paragraphs_that_are_large_enough_stand_alone():
    text = f"{PARAGRAPH}\n\n{PARAGRAPH}\n\n{PARAGRAPH}\n"

    assert [piece.content.strip() for piece in cut(text)] == [PARAGRAPH] * 3


def test_small_paragraphs_are_merged_until_they_reach_the_minimum():
    pieces = cut("\n\n".join(sentence(30) for _ in range(12)))

    assert [piece.tokens for piece in pieces] == [120, 120, 120]


def test_a_small_remainder_goes_to_the_piece_before_it():
    pieces = cut(f"{PARAGRAPH}\n\n{PARAGRAPH}\n\n{sentence(20)}")

    assert [piece.tokens for piece in pieces] == [144, 164]


def test_a_small_remainder_behind_a_full_piece_is_balanced_with_it():
    full = " ".join(sentence(79) for _ in range(10))  # 790
    pieces = cut(f"{full}\n\n{sentence(40)}")

    assert len(pieces) == 2
    assert all(300 <= piece.tokens <= 530 for piece in pieces)


def test_a_paragraph_that_is_too_large_is_cut_at_sentences():
    pieces = cut(" ".join(sentence(23) for _ in range(100)))

    assert len(pieces) > 2
    assert all(piece.content.rstrip().endswith(".") for piece in pieces)


@pytest.mark.parametrize("end", ["。", "！", "？", "।", "؟", "۔", "。」", "!", "?"])
def test_sentences_end_in_any_script(end):
    one = "字" * 30 + end + (" " if end in "!?" else "")
    pieces = cut(one * 60, by_signs)

    assert len(pieces) > 1
    assert all(piece.content.rstrip().endswith(end) for piece in pieces)


def test_one_endless_sentence_is_cut_between_words():
    pieces = cut("word " * 3000)

    assert all(piece.content.endswith("word ") for piece in pieces)


@pytest.mark.parametrize("sign", ["e\u0301\u0323", "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "字\u0301\u0302\u0303\u0304\u0305\u0306"])
def test_one_endless_word_is_cut_by_force_but_not_inside_a_sign(sign):
    pieces = cut(sign * 6000, by_signs)

    assert len(pieces) > 1
    assert all(piece.content.startswith(sign) and piece.content.endswith(sign) for piece in pieces)


def test_a_fenced_block_is_not_cut_and_keeps_its_indentation():
    code = "```python\n" + "def f():\n\n    return 1\n\n\n" * 60 + "```\n"
    text = f"{PARAGRAPH}\n\n{code}\n{PARAGRAPH}\n"

    pieces = cut(text)

    assert any(piece.content.strip() == code.strip() for piece in pieces)
    assert cut(f"{sentence(50)}\n\n{code}")[0].content.endswith(code)


def test_a_fence_that_alone_exceeds_the_maximum_is_cut_at_lines():
    code = "~~~\n" + "    if x then y\n" * 600 + "~~~\n"

    pieces = cut(code)

    assert len(pieces) > 2
    assert all(piece.content.endswith("\n") for piece in pieces)
    assert all(piece.content.startswith("    if x") for piece in pieces[1:])


def test_sizes_win_over_a_fence_that_leaves_no_room():
    fence = "```\n" + "one two three four five\n" * 157 + "```\n"  # 787 words
    pieces = cut(f"{fence}\n{sentence(20)}\n\n{fence}")

    assert all(100 <= piece.tokens <= 800 for piece in pieces)


def test_a_fence_that_must_be_cut_is_cut_at_a_line_and_not_at_a_sentence_in_it():
    fence = "```\n" + "echo done. Then go on\n" * 157 + "```\n"  # 787 words, and a sentence begins in every line
    pieces = cut(f"{fence}\n{sentence(20)}\n\n{fence}")

    assert all(100 <= piece.tokens <= 800 for piece in pieces)
    assert all(piece.content.endswith("\n") for piece in pieces)


def test_a_paragraph_with_as_many_tokens_as_signs_in_one_half_is_cut_within_the_sizes():
    text = "a " * 1500 + "abcdefghijklmnopqrst " * 300  # its bytes say little of where its tokens are

    pieces = cut(text)

    assert all(100 <= piece.tokens <= 800 for piece in pieces)
    assert all(piece.content.endswith(" ") for piece in pieces)  # never within a word


def test_what_turns_out_too_long_is_cut_at_a_sentence_near_its_middle():
    dense, thin = "A b c d e f g h i j. " * 130, "Abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz. " * 200
    pieces = cut(dense + thin)

    assert all(100 <= piece.tokens <= 800 for piece in pieces)
    assert all(piece.content.endswith(". ") for piece in pieces)


def test_a_heading_stays_with_what_it_is_over():
    pieces = cut(f"{PARAGRAPH}\n\n## Next\n\n{PARAGRAPH}\n")

    assert pieces[1].content.startswith("## Next")


def test_an_empty_text_has_no_pieces():
    assert cut("") == []


def test_a_minimum_above_half_of_the_maximum_is_refused():
    with pytest.raises(Invalid):
        ChunkingEngine(min_tokens=500, max_tokens=800)


def test_long_runs_of_one_sign_take_no_more_than_linear_work():
    counted = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal counted
        counted += sum(map(len, texts))
        return by_signs(texts)

    for sign in (".", " ", "\n", "a", "```\n", "? ", '"'):
        counted = 0
        text = sign * (200_000 // len(sign))
        assert "".join(piece.content for piece in cut(text, count)) == text
        assert counted < 5 * len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith met Mr. Jones. They talked.", ["Dr. Smith met Mr. Jones.", "They talked."]),
        ("We use e.g. Redis. It is fast.", ["We use e.g. Redis.", "It is fast."]),
        ("Version 3.11 is out. Use it!", ["Version 3.11 is out.", "Use it!"]),
        ("See No. 5 for this. No. That is wrong.", ["See No. 5 for this.", "No.", "That is wrong."]),
        ('"Really?" he asked. Yes.', ['"Really?" he asked.', "Yes."]),
        ("Well... perhaps. ok", ["Well... perhaps.", "ok"]),
        ("今日は雨。明日は晴れ！本当？", ["今日は雨。", "明日は晴れ！", "本当？"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("Заработало. теперь дальше.", ["Заработало.", "теперь дальше."]),
        ("1. First item\n2. Second item\n- third", ["1. First item", "2. Second item", "- third"]),
        ("Look at example.org. It runs 3.11. Fine.", ["Look at example.org.", "It runs 3.11.", "Fine."]),
        ("A heading\n\nAnd what stands below it", ["A heading", "And what stands below it"]),
    ],
)
def test_sentences_are_found_where_a_reader_finds_them(text, expected):
    assert sentences(text) == expected


TYPES = {
    "preference": [
        "User prefers Python",
        "User prefers Python over JavaScript",
        "I like tea more than coffee.",
        "She loves hiking.",
        "I don't like long meetings",
        "My favourite editor is Vim",
        "I'd rather use tabs.",
        "Users like dark mode.",
        "Please always answer in English.",
        "I can't stand YAML",
        "Never use semicolons in my code.",
        "I want a dark theme.",
        "I wish the tests were faster",
        "I would like to read shorter answers.",
    ],
    "decision": [
        "User decided to use RLM architecture instead of RAG...",
        "We decided to ship on Friday.",
        "going with Postgres",
        "We chose Rust.",
        "The team has agreed to freeze the API.",
        "Let's use SQLite for the index.",
        "Decision: keep the old parser.",
        "We will use Redis for caching.",
        "They settled on a monorepo.",
        "We concluded that one queue is enough.",
    ],
    "pattern": [
        "Whenever the cache is cold, the first request always times out.",
        "He usually deploys on Mondays.",
        "The build tends to fail after midnight.",
        "She goes running every morning.",
        "The user often asks for tables.",
    ],
    "fact": [
        "The server listens on port 8080.",
        "It looks like rain",
        "Alice lives in Berlin.",
        "Python is like Ruby in many ways.",
        "He said something like that.",
        "We have not decided yet.",
        "They are going with her to Paris.",
        "东京是日本的首都。",
        "If you prefer, the port can be changed.",
        "I would like to know when it ships.",
    ],
    "note": [
        "TODO: fix the login page",
        "Buy milk and eggs",
        "groceries: milk, eggs, bread",
        "Call the dentist tomorrow.",
        "- [ ] update the docs",
        "Do you like tea?",
        "Remember to renew the certificate",
        "random thoughts on naming",
        "Just a thought: the cache may be cold.",
        "just a passing thought about names",
        "",
    ],
}


@pytest.mark.parametrize(("text", "expected"), [(text, kind) for kind, texts in TYPES.items() for text in texts])
def test_the_type_follows_from_what_is_said(text, expected):
    assert detect_type(text) == expected


def test_one_preference_does_not_name_a_long_report():
    report = " ".join(f"The server number {n} is up." for n in range(20)) + " I like tea."

    assert detect_type(report) == "fact"


def neighbour(name: str, minutes: float, conversation: str = "c1", *tags: str) -> Linkable:
    return Linkable(id=name, conversation_id=conversation, created=1_000_000 + minutes * 60, tags=tags)


def test_a_chunk_is_tied_to_its_conversation_by_the_conversations_id():
    assert auto_links(neighbour("new", 0), [neighbour("old", -1)]).context_of == ("c1",)


def test_a_chunk_follows_only_the_nearest_predecessor_within_five_minutes():
    before = [neighbour("far", -4), neighbour("near", -1), neighbour("other", -0.5, "c2"), neighbour("later", 1)]

    assert auto_links(neighbour("new", 0), before).follows == ("near",)
    assert auto_links(neighbour("new", 0), [neighbour("edge", -5)]).follows == ("edge",)
    assert auto_links(neighbour("new", 0), [neighbour("past", -5.02)]).follows == ()


def test_pieces_of_one_moment_follow_each_other_in_the_order_given():
    assert auto_links(neighbour("c", 0), [neighbour("a", 0), neighbour("b", 0)]).follows == ("b",)


def test_a_chunk_is_related_to_the_ten_with_most_shared_tags_then_the_newest():
    others = [neighbour(f"one{n}", n, "c2", "x") for n in range(12)] + [neighbour("two", -999, "c2", "X", "y")]

    related = auto_links(neighbour("new", 20, "c1", "x", "y"), [*others, neighbour("none", 19, "c2", "z")]).related_to

    assert related == ("two", *[f"one{n}" for n in range(11, 2, -1)])
