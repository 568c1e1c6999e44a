"""From a question to an answer: look for candidates every way there is, rank them, see that they are fresh, deliver.

Filters hold for every candidate, whichever way it came. What a part of the search could not do is a notice, never an
error. Only what is delivered is counted as used, once a call, unless the home was told not to count.
"""

from __future__ import annotations

from typing import Any

from otolith.errors import Invalid
from otolith.home import Home
from otolith.model.recall import Filter, Recall
from otolith.model.record import DEPTHS
from otolith.recall.deliver import deliver
from otolith.recall.finding import Found, find

LONGEST_LIMIT = 1000
LIKE_ENOUGH = {"static": 0.30, "minilm": 0.30}  # the cosine from which a best passage is an answer; see bench/RESULTS.md
COVERED_ENOUGH = 0.5  # the share of the question's rare words


def recall(home: Home, query: str, chosen: Filter, *, limit: int = 10, depth: str = "full", budget: int | None = None,
           providers: Any = None) -> Recall:
    """The records that answer a question, best first, at a depth, within a budget of tokens."""
    _check(query, limit, depth, budget)
    home.ensure_fresh()
    found = find(home, query, chosen, limit, providers)
    if home.touch([one.passage.unit for one in found.best[: 2 * limit]]):
        found = find(home, query, chosen, limit, providers)
    hits = deliver(home, found, limit=limit, depth=depth, budget=budget, as_of=chosen.as_of)
    home.used(list(dict.fromkeys(hit.id for hit in hits)))
    return Recall(query=query, depth=depth, budget=budget, hits=hits, tokens=sum(hit.tokens or 0 for hit in hits),
                  enough=bool(hits) and _enough(found), index_lag=home.lag(), notices=list(dict.fromkeys(found.notices)))


def _check(query: Any, limit: Any, depth: Any, budget: Any) -> None:
    if not isinstance(query, str):
        raise Invalid(f"the question must be text, not {type(query).__name__}")
    if not query.strip():
        raise Invalid("the question is empty", "say what to look for")
    if depth not in DEPTHS:
        raise Invalid(f"no depth {depth!r}", f"use one of {', '.join(DEPTHS)}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LONGEST_LIMIT:
        raise Invalid(f"the limit must be from 1 to {LONGEST_LIMIT}; got {limit!r}")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise Invalid(f"the budget must be a positive number of tokens; got {budget!r}", "leave it out for no limit")


def _enough(found: Found) -> bool:
    """Is there an answer among the best: named outright, or with half of what is asked, or near in meaning?"""
    near = LIKE_ENOUGH.get(found.embedder or "")
    return any(one.how is not None or one.covered >= COVERED_ENOUGH or (near is not None and one.likeness >= near)
               for one in found.best)
