"""Homes to look at and to measure with: a small one that tells a story, and a large one that is only large."""

from __future__ import annotations

import random
from pathlib import Path

from otolith.memory import Memory

DAY = 86_400.0
NOTES = [
    ("Redis drops idle connections", "solution", ["redis", "network"],
     ("The load balancer closes a connection that was silent for **five minutes**. Set `socket_keepalive` and let the pool "
     "test a connection before it hands it out.\n\n```python\npool = ConnectionPool(socket_keepalive=True, "
     "health_check_interval=60)\n```\n\nSeen first after the move to the new cluster; see [[Move to the new cluster]].")),
    ("Move to the new cluster", "decision", ["infrastructure", "redis"],
     ("All caches move to the new cluster in March. Reasons:\n\n- one place to watch\n- snapshots every hour\n- the old one "
     "has no room left\n\nThe old cluster stays readable for two weeks.")),
    ("Timeouts after the move", "problem", ["redis", "network"], ("Requests that touch the session cache time out after a "
     "quiet night. It does not happen under load.")),
    ("Invoices are rounded per line", "decision", ["billing"], ("Every line is rounded to two digits before the sum is made, "
     "because the tax office checks line by line.")),
    ("One cent too much on long invoices", "error", ["billing"], ("Sums of more than forty lines were off by a cent; the sum "
     "was made of unrounded lines.")),
    ("Round before you add", "fix", ["billing"], "Rounding moved into the line itself. The sum only adds."),
    ("How we release", "procedure", ["release"], ("1. Freeze the branch on Tuesday.\n2. Run the long tests over night.\n"
     "3. Tag, then deploy to one region.\n4. Wait an hour, then the rest.")),
    ("Feature flags live in one table", "configuration", ["release", "flags"], ("`flags` has one row per flag with an owner "
     "and a date on which it must go.")),
    ("Two reviewers for billing", "workflow", ["billing", "team"], ("Changes under `billing/` need two people, one of whom "
     "has been on call this month.")),
    ("Retry with a budget, not with a count", "insight", ["network"], ("A fixed number of retries multiplies load exactly "
     "when there is too much of it. A budget of one retry per ten requests does not.")),
    ("Cursor pagination", "code_pattern", ["api"], "Give the client the last key it saw, never an offset: rows move."),
    ("Search is slow on Mondays", "problem", ["search"], "The weekly export warms nothing and evicts everything."),
    ("Warm the search cache after the export", "solution", ["search", "redis"], ("The export ends with the two hundred most "
     "frequent questions of the week.")),
]
LINKS = [(0, "SOLVES", 2), (1, "CAUSES", 2), (5, "SOLVES", 4), (5, "BUILDS_ON", 3), (9, "RELATED_TO", 0), (12, "SOLVES", 11),
         (12, "REQUIRES", 1), (8, "RELATED_TO", 3), (7, "RELATED_TO", 6)]
MEMOS = [("user_prefers_short_answers", "Answers come first, reasons after, both short.", "present"),
         ("tests_run_before_review", "Run the whole suite before asking anybody to look.", "past"),
         ("deploys_never_on_friday", "No deploy after Thursday noon, whatever the hurry.", "past")]
DIALOGS = [
    ("garden", ("Mira: I moved to Lisbon in May.\nAssistant: How do you like it?\nMira: I love it. I have a small garden with "
               "two lemon trees. My sister Ana is a botanist and she helps me.")),
    ("garden", ("Mira: The lemon trees have leaf miners. I never use poison.\nAssistant: Traps may help.\nMira: I bought "
               "sticky traps yesterday. I work as a translator, so I am at home most days.")),
    ("travel", ("Jonas: I live in Bergen.\nAssistant: Do you travel often?\nJonas: I prefer trains. I will visit Oslo in June. "
               "I am allergic to nuts, so I bring my own food.")),
    ("travel", ("Jonas: I live in Oslo now. We moved last week.\nAssistant: What changed?\nJonas: My wife works at the opera. "
               "I hate flying.")),
]


def tell_story(home: Path, now: float) -> None:
    """Half a year of one small team, and two people who talk."""
    moment = [now]
    with Memory(home, clock=lambda: moment[0]) as mem:
        made = []
        for at, (title, kind, tags, text) in enumerate(NOTES):
            moment[0] = now - (170 - 12 * at) * DAY
            made.append(mem.note(title, text, type=kind, tags=tags, importance=0.4 + 0.05 * (at % 10)))
        moment[0] = now - 20 * DAY
        for source, word, target in LINKS:
            mem.link(made[source].id, word, made[target].id, strength=0.8)
        for at, (name, text, category) in enumerate(MEMOS):
            moment[0] = now - (60 - 20 * at) * DAY
            mem.memo(name, text, category=category, tags=["habit"])
        _work(mem, moment, now)
        if hasattr(mem, "log"):
            for at, (topic, text) in enumerate(DIALOGS):
                moment[0] = now - (40 - 10 * at) * DAY
                mem.log(text, topic=topic)
        if hasattr(mem, "remember"):
            moment[0] = now - 2 * DAY
            mem.remember("The export of the search index takes forty minutes on the small machine and nine on the large one. "
                         "Nobody needs it before seven in the morning, so it may run at five.", tags=["search"])
        for at in range(30):
            moment[0] = now - (30 - at) * DAY
            mem.recall(("redis connections", "rounding of invoices", "how do we release", "search")[at % 4], limit=1 + at % 4)
        moment[0] = now - 5 * DAY
        mem.log("user: The API port is 8080.", topic="shop")
        moment[0] = now - 4 * DAY
        mem.log("assistant: The API port is 8443.", topic="shop")
        moment[0] = now - 3 * DAY
        mem.edit(made[0].id, text=made[0].text.replace("**five minutes**", "**four minutes**"))
        moment[0] = now - 3600
        mem.pin(made[6].id)
        mem.episode("Talked through the release", summary="Two flags must go before the next one.")
        moment[0] = now
        mem.upkeep()


LAYERS = {
    "perception": {"observations": [{"what": "The pool hands out connections that were silent for minutes", "where": "cache/pool.py"}],
                   "relevant_files": [{"path": "cache/pool.py", "relevance": "where connections are kept"}],
                   "anomalies": ["It never happens under load"]},
    "reasoning": {"approach_chosen": "Let the pool test a connection before it hands it out",
                  "why_chosen": "the load balancer's limit is not ours to change",
                  "alternatives_considered": [{"approach": "Open a connection for each request", "why_rejected": "twice as slow"}]},
    "actions": [{"type": "file_read", "details": {"file_path": "cache/pool.py"}, "result": {"success": True}},
                {"type": "file_edit", "details": {"file_path": "cache/pool.py", "diff_summary": "health_check_interval=60, socket_keepalive"},
                 "result": {"success": True}},
                {"type": "command_run", "details": {"command": "pytest tests/cache"}, "result": {"success": True, "output_summary": "14 passed"}}],
}


def _work(mem: Memory, moment: list[float], now: float) -> None:
    for at, (goal, status) in enumerate([("Find why sessions time out", True), ("Round invoices per line", True),
                                         ("Move search to the new cluster", False), ("Make the export quicker", True)]):
        moment[0] = now - (90 - 20 * at) * DAY
        mem.record(goal=goal, task_type="investigation" if at % 2 == 0 else "feature_add", success=status,
                   summary=f"{goal}: {'done' if status else 'given up for now, the index does not fit'}.", tags=["billing"],
                   **(LAYERS if at == 0 else {}))


SYLLABLES = ("an", "bel", "cor", "dra", "el", "fin", "gos", "hal", "ir", "jun", "kel", "lor", "mir", "nev", "or", "pas", "qui")
WORDS = tuple(a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES[:14])  # as many as a small vocabulary has


def draw_words(chance: random.Random, count: int) -> list[str]:
    """Words as unevenly frequent as those of a language."""
    return [WORDS[int(len(WORDS) ** chance.random()) - 1] for _ in range(count)]


def fill(home: Path, records: int, now: float, *, links: int = 0, seed: int = 7) -> None:
    """Many notes of random words, some linked."""
    chance = random.Random(seed)
    moment = [now]
    with Memory(home, clock=lambda: moment[0]) as mem, mem.bulk():
        made = []
        for at in range(records):
            moment[0] = now - (records - at) * 600.0
            title, text = " ".join(draw_words(chance, 3)), " ".join(draw_words(chance, 60))
            made.append(mem.note(f"{title} {at}".capitalize(), f"{text}.",
                                 type=chance.choice(("solution", "problem", "decision", "general")),
                                 tags=chance.sample(WORDS[:80], 2), importance=round(chance.random(), 2)).id)
        moment[0] = now
        for _ in range(links):
            source = made[int(len(made) * chance.random() ** 2)]
            target = made[chance.randrange(len(made))]
            if source != target:
                mem.link(source, "RELATED_TO", target)
