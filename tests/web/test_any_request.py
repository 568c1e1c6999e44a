"""Whatever a program sends that fits, or does not fit, the OpenAPI document: the server answers, and it is never its fault."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

schemathesis = pytest.importorskip("schemathesis")
pytest.importorskip("starlette")

ENDLESS = "/api/events"  # a stream has no last byte to wait for
EXAMPLES = 6


@pytest.fixture(scope="module")
def document(server: Any) -> Any:
    server.note("Something to find", "With words in it.", tags=["seen"])
    server.post("log", dialog="Mira: I live in Lisbon.", topic="people")
    return schemathesis.openapi.from_dict(server.get("/api/openapi.json").json).exclude(path=ENDLESS)


def _operations() -> list[str]:
    from otolith.doors.web.routes import describe

    return sorted(f"{method.upper()} {path}" for path, methods in describe()["paths"].items() for method in methods
                  if path != ENDLESS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _operations())
def test_no_request_makes_the_server_fail(document: Any, server: Any, name: str) -> None:
    method, path = name.split(" ", 1)
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
        _ask(document[path][method].as_strategy(generation_mode=mode), server)


def _ask(cases: Any, server: Any) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def ask(case: Any) -> None:
        answer = case.call(base_url=server.url, headers={"Authorization": f"Bearer {server.token}"})
        assert answer.status_code < 500, (answer.status_code, answer.text)

    with suppress(Unsatisfiable):  # where everything fits, nothing can be wrong
        ask()
