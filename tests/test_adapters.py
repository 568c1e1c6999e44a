"""Otolith behind LangGraph's store and the OpenAI Agents SDK's session, run by the libraries themselves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, TypedDict

import pytest

from otolith.memory import Memory

langgraph = pytest.importorskip("langgraph.store.base")
agents = pytest.importorskip("agents")

from otolith.doors.agents.adapters.langgraph import OtolithStore  # noqa: E402
from otolith.doors.agents.adapters.openai_agents import OtolithSession  # noqa: E402


@pytest.fixture
def store(mem: Memory) -> OtolithStore:
    return OtolithStore(mem)


def test_what_is_put_can_be_got(store: OtolithStore, clock: Any) -> None:
    store.put(("users", "ann"), "tea", {"likes": "green tea"})
    clock.pass_time(hours=1)
    store.put(("users", "ann"), "tea", {"likes": "black tea"})

    item = store.get(("users", "ann"), "tea")

    assert item is not None
    assert item.value == {"likes": "black tea"}
    assert (item.updated_at - item.created_at).total_seconds() == 3600


def test_what_was_never_put_is_none(store: OtolithStore) -> None:
    assert store.get(("users",), "nobody") is None


def test_a_deleted_item_is_gone(store: OtolithStore) -> None:
    store.put(("users",), "ann", {"a": 1})
    store.delete(("users",), "ann")
    assert store.get(("users",), "ann") is None
    assert store.search(("users",)) == []


@pytest.mark.parametrize("label", ["..", "a/b", "ü ñ", "%2E", "a\nb", "東京", ".hidden", "con:nul"])
def test_any_key_and_namespace_comes_back_as_it_was(store: OtolithStore, label: str) -> None:
    namespace = (label.replace(".", "-") or "x", "inner")
    store.put(namespace, label, {"a": label})

    item = store.get(namespace, label)

    assert item is not None
    assert (item.namespace, item.key, item.value) == (namespace, label, {"a": label})
    assert namespace in store.list_namespaces()


def test_searching_by_words_finds_the_item_in_its_namespace(store: OtolithStore) -> None:
    store.put(("ann",), "one", {"text": "the kettle whistles at dawn"})
    store.put(("ben",), "two", {"text": "the kettle is broken"})
    store.put(("ann",), "three", {"text": "bicycles need oil"})

    found = store.search(("ann",), query="kettle")

    assert [item.key for item in found] == ["one"]
    assert found[0].score is not None


def test_searching_by_filter_compares_values(store: OtolithStore) -> None:
    for number in range(5):
        store.put(("n",), str(number), {"number": number, "even": number % 2 == 0})

    assert {item.key for item in store.search(("n",), filter={"number": {"$gte": 3}})} == {"3", "4"}
    assert {item.key for item in store.search(("n",), filter={"even": True})} == {"0", "2", "4"}
    assert len(store.search(("n",), limit=2, offset=4)) == 1


def test_namespaces_are_listed_by_pattern_and_depth(store: OtolithStore) -> None:
    for namespace in (("a", "x", "v1"), ("a", "y", "v2"), ("b", "x", "v1")):
        store.put(namespace, "k", {"a": 1})

    assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "x"), ("a", "y")]
    assert store.list_namespaces(suffix=("*", "v1")) == [("a", "x", "v1"), ("b", "x", "v1")]


@pytest.mark.parametrize("stray", ["stray.txt", "stray.json", "half.json", "x.json.bak"])
def test_a_stray_file_is_neither_searched_nor_listed(store: OtolithStore, home: Path, stray: str) -> None:
    store.put(("u", "ann"), "tea", {"likes": "kettle tea"})
    for folder in ("u/ann", "u/stray"):
        path = home / "memories/langgraph" / folder / stray
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"value": {"likes": "kettle"}}' if stray == "half.json" else "a kettle, by hand")
    store.mem.sync()

    assert [item.key for item in store.search(("u",))] == ["tea"]
    assert [item.key for item in store.search(("u",), query="kettle")] == ["tea"]
    assert store.list_namespaces() == [("u", "ann")]


def test_a_graph_keeps_what_it_learns_in_the_home(mem: Memory, home: Path) -> None:
    from langgraph.graph import END, START, StateGraph
    from langgraph.store.base import BaseStore

    class State(TypedDict):
        said: str

    def learn(state: State, *, store: BaseStore) -> State:
        store.put(("facts",), "first", {"text": state["said"]})
        return {"said": f"learned: {state['said']}"}

    graph: Any = StateGraph(State)
    graph.add_node("learn", learn)
    graph.add_edge(START, "learn")
    graph.add_edge("learn", END)
    answer = graph.compile(store=OtolithStore(mem)).invoke({"said": "tea is green"})

    assert answer["said"] == "learned: tea is green"
    assert "tea is green" in (home / "memories/langgraph/facts/first.json").read_text()


def test_the_store_works_from_async_code(store: OtolithStore) -> None:
    async def story() -> Any:
        await asyncio.gather(*(store.aput(("n",), str(number), {"n": number}) for number in range(10)))
        return await store.asearch(("n",), limit=20)

    assert len(asyncio.run(story())) == 10


def test_a_session_keeps_items_in_order(mem: Memory) -> None:
    async def story() -> Any:
        session = OtolithSession("conversation/1", mem)
        await session.add_items([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}])
        await session.add_items([{"role": "user", "content": "line\nbreak\u2028and ünïcode"}])
        again = OtolithSession("conversation/1", mem)
        return await again.get_items(), await again.get_items(2), await OtolithSession("other", mem).get_items()

    whole, last, other = asyncio.run(story())

    assert [item["content"] for item in whole] == ["hello", "good day", "line\nbreak\u2028and ünïcode"]
    assert last == whole[1:]
    assert other == []


def test_the_last_item_is_popped_and_the_session_cleared(mem: Memory) -> None:
    async def story() -> Any:
        session = OtolithSession("s", mem)
        assert await session.pop_item() is None
        await session.add_items([{"role": "user", "content": str(number)} for number in range(3)])
        popped = await session.pop_item()
        left = await session.get_items()
        await session.clear_session()
        return popped, left, await session.get_items()

    popped, left, cleared = asyncio.run(story())

    assert popped["content"] == "2"
    assert [item["content"] for item in left] == ["0", "1"]
    assert cleared == []


def test_a_long_session_spreads_over_pages(mem: Memory, home: Path) -> None:
    async def story() -> Any:
        session = OtolithSession("long", mem)
        for number in range(10):
            await session.add_items([{"role": "user", "content": f"{number} " + "x" * 30_000}])
        return await session.get_items()

    items = asyncio.run(story())

    assert [item["content"].split()[0] for item in items] == [str(number) for number in range(10)]
    assert len(list((home / "memories/sessions/long").iterdir())) == 5


def test_sessions_that_share_a_memory_may_be_used_at_once(mem: Memory) -> None:
    async def story() -> Any:
        sessions = [OtolithSession(f"s{number % 6}", mem) for number in range(12)]
        await asyncio.gather(*(session.add_items([{"role": "user", "content": f"{at} {number}"}])
                               for number in range(6) for at, session in enumerate(sessions)))
        return [await session.get_items() for session in sessions[:6]]

    assert [len(items) for items in asyncio.run(story())] == [12] * 6


@pytest.mark.parametrize("content", ["x" * 120_000, "中" * 90_000, 'say "no" \\ ' * 40_000, "line\n\u2028\x85\ud83d " * 20_000])
def test_an_item_larger_than_a_page_is_kept_whole(mem: Memory, content: str) -> None:
    items = [{"role": "user", "content": "q"}, {"type": "function_call_output", "call_id": "1", "output": content},
             {"role": "assistant", "content": "a"}]

    async def story() -> Any:
        session = OtolithSession("s", mem)
        await session.add_items(items)
        whole = await session.get_items()
        popped = [await session.pop_item() for _ in range(2)]
        left = await session.get_items()
        await session.add_items(items[1:])
        return whole, popped, left, await session.get_items()

    whole, popped, left, again = asyncio.run(story())

    assert whole == items
    assert popped == [items[2], items[1]]
    assert left == items[:1]
    assert again == items


def test_an_item_of_which_a_page_is_lost_is_left_out(mem: Memory, home: Path) -> None:
    async def story() -> Any:
        session = OtolithSession("s", mem)
        await session.add_items([{"role": "user", "content": "q"}, {"output": "x" * 200_000}])
        sorted((home / "memories/sessions/s").iterdir())[-1].unlink()
        mem.sync()
        before = await session.get_items()
        await session.add_items([{"output": "y" * 200_000}])
        return before, await session.get_items(), await session.pop_item(), await session.pop_item(), await session.pop_item()

    before, after, *popped = asyncio.run(story())

    assert before == [{"role": "user", "content": "q"}]
    assert after == [*before, {"output": "y" * 200_000}]
    assert popped == [after[1], after[0], None]


def test_an_item_that_looks_like_a_part_comes_back_as_it_was(mem: Memory) -> None:
    async def story() -> Any:
        session = OtolithSession("s", mem)
        await session.add_items([["otolith-part", 1, 1, "{}"], {"role": "user", "content": "q"}])
        return await session.get_items()

    assert asyncio.run(story()) == [["otolith-part", 1, 1, "{}"], {"role": "user", "content": "q"}]


def test_an_item_that_cannot_be_written_keeps_the_others_out_too(mem: Memory) -> None:
    async def story() -> Any:
        session = OtolithSession("s", mem)
        with pytest.raises(TypeError):
            await session.add_items([{"role": "user", "content": "q"}, {"output": object()}])
        return await session.get_items()

    assert asyncio.run(story()) == []


def test_keeping_a_session_logs_only_what_was_not_logged_yet(mem: Memory, home: Path) -> None:
    def said(*texts: str) -> list[Any]:
        return [{"role": "user", "content": text} for text in texts]

    async def story() -> Any:
        session = OtolithSession("s", mem)
        await session.add_items(said("I live in Rome.", "I like tea."))
        first = await session.keep("people")
        same = await session.keep("people")
        await session.pop_item()
        await session.add_items(said("I like coffee."))
        other = await session.keep("people")
        await session.add_items(said("I like coffee."))
        twice = await session.keep("people")
        return first.id, same.id, other.id, twice.id

    first, same, other, twice = asyncio.run(story())

    assert first == same
    assert len({first, other, twice}) == 3
    raw = "".join(path.read_text() for path in home.glob("topics/people/*/raw.md"))
    assert [raw.count(text) for text in ("Rome", "tea", "coffee")] == [1, 1, 2]


def test_the_runner_of_the_agents_sdk_accepts_it(mem: Memory) -> None:
    from agents import Agent, Runner, Usage, set_tracing_disabled
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Echo(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **more: Any) -> ModelResponse:
            text = ResponseOutputText(annotations=[], text=f"heard {len(input)} items", type="output_text")
            said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **more: Any) -> Any:
            raise NotImplementedError

    async def story() -> Any:
        session = OtolithSession("run", mem)
        agent = Agent(name="echo", model=Echo())
        first = await Runner.run(agent, "one", session=session)
        second = await Runner.run(agent, "two", session=session)
        return first.final_output, second.final_output

    assert asyncio.run(story()) == ("heard 1 items", "heard 3 items")
