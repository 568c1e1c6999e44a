"""Works to test with: small by default, and the seed's own example with every field filled."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from otolith.index.works import Member, Touch
from otolith.model.record import threads_of
from otolith.model.work import Work

NOON = 1_770_724_800  # 2026-02-10T12:00:00Z
HOUR, DAY = 3600, 86_400

SEED_INTENT = {
    "goal": "Fix JWT token expiry causing logout", "task_type": "bug_fix",
    "context": "Users reporting random logouts after 1 hour",
    "constraints": ["Don't break existing sessions", "Must be backwards compatible"],
}
SEED_PERCEPTION = {
    "observations": [
        {"what": "Token refresh logic missing from auth interceptor", "where": "src/auth/interceptor.ts",
         "significance": "Causes 401 on token expiry instead of refresh"},
        {"what": "Refresh endpoint exists but unused", "where": "src/api/auth.ts:45",
         "significance": "Infrastructure exists, just not wired up"},
    ],
    "relevant_files": [{"path": "src/auth/interceptor.ts", "relevance": "Main auth handling",
                        "state_summary": "Axios interceptor, no refresh logic"}],
    "patterns_noticed": ["Other interceptors use retry pattern"],
    "anomalies": ["Token TTL is 1hr but refresh TTL is 7d - mismatch"],
}
SEED_REASONING = {
    "approach_chosen": "Add refresh interceptor with retry queue",
    "why_chosen": "Handles concurrent requests during refresh, matches existing patterns",
    "alternatives_considered": [
        {"approach": "Increase token TTL to 24hr", "why_rejected": "Security concern, doesn't fix root cause"},
        {"approach": "Proactive refresh before expiry", "why_rejected": "Complex timer management, race conditions"},
    ],
    "assumptions": ["Refresh endpoint is idempotent", "401 always means token expiry (might need refinement)"],
    "risks_identified": ["Refresh token could also be expired", "Infinite retry loop if refresh consistently fails"],
}
SEED_ACTION = {
    "type": "file_edit", "timestamp": 1705432800,
    "details": {"file_path": "src/auth/interceptor.ts", "lines_affected": "45-89",
                "diff_summary": "Added refreshToken() call on 401, with request queue"},
    "result": {"success": True, "duration_ms": 150},
}
SEED_OUTCOME = {
    "success": True, "summary": "JWT refresh now works, no more random logouts",
    "learnings": ["Always check for refresh token expiry too", "Request queue pattern prevents race conditions"],
    "verified_by": {"type": "test", "command": "npm test -- --grep 'auth'", "result": "14 tests passed"},
    "follow_up_needed": ["Add monitoring for refresh failures", "Consider refresh token rotation"],
}


def member_of(work: Work) -> Member:
    """The work as finding chapters sees it."""
    threads = threads_of(work.project_id, work.files(), work.tags, work.session_id)
    return Member(work.id, work.project_id, work.created, tuple(threads), tuple(link.target for link in work.all_links()))


def touch_of(work: Work, operation: str = "", replaced: bool = False) -> Touch:
    """The work as notices see it."""
    return Touch(work.id, work.intent.goal, work.intent.task_type, work.agent_id, work.created, 0.0, work.outcome.success,
                 work.outcome.summary, operation, work.outcome.failure_reason or "", work.reasoning.approach_chosen,
                 replaced, follow_ups=work.outcome.follow_up_needed or ())


@pytest.fixture
def seed() -> dict[str, Any]:
    """The five layers as the seed's own examples have them."""
    return copy.deepcopy({"intent": SEED_INTENT, "perception": SEED_PERCEPTION, "reasoning": SEED_REASONING,
                          "actions": [SEED_ACTION], "outcome": SEED_OUTCOME})


@pytest.fixture
def seed_work(seed: dict[str, Any]) -> Work:
    return Work.from_dict({"id": "mem_seed", "created_at": NOON, "session_id": "s1", "origin": {"agent": "main"}, **seed})


@pytest.fixture
def make():
    """make(3, goal=…, files=[…]) is the work mem_3, three hours after noon unless `at` says otherwise."""

    def work(number: int, *, goal: str = "", at: float | None = None, success: bool = True, summary: str = "",
             files: Any = (), task: str = "bug_fix", reason: str | None = None, category: str | None = None,
             learnings: Any = (), approach: str = "", follow_ups: Any = None, **more: Any) -> Work:
        outcome = {"success": success, "summary": summary or f"Result {number}", "learnings": list(learnings),
                   "failure_reason": reason, "failure_category": category,
                   "follow_up_needed": None if follow_ups is None else list(follow_ups)}
        actions = [{"type": "file_edit", "details": {"file_path": path}} for path in files]
        return Work.from_dict({
            "id": f"mem_{number}", "created_at": NOON + number * HOUR if at is None else at,
            "intent": {"goal": goal or f"Goal {number}", "task_type": task}, "outcome": outcome, "actions": actions,
            "reasoning": {"approach_chosen": approach}, **more})

    return work
