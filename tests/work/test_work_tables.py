"""Seed 003's tables, column for column and index for index, asked with `sql`."""

from __future__ import annotations

import json

import pytest

from otolith.errors import Invalid

# name, type, not null, default, part of the primary key
AGENTS = [("id", "TEXT", 0, None, 1), ("type", "TEXT", 1, None, 0), ("parent_id", "TEXT", 0, None, 0),
          ("project_id", "TEXT", 1, None, 0), ("created_at", "INTEGER", 1, None, 0), ("metadata", "JSON", 0, None, 0)]
MEMORIES = [
    ("id", "TEXT", 0, None, 1), ("agent_id", "TEXT", 1, None, 0), ("project_id", "TEXT", 1, None, 0),
    ("session_id", "TEXT", 1, None, 0), ("created_at", "INTEGER", 1, None, 0), ("intent_goal", "TEXT", 1, None, 0),
    ("intent_type", "TEXT", 1, None, 0), ("outcome_success", "INTEGER", 1, None, 0), ("outcome_summary", "TEXT", 0, None, 0),
    ("intent", "JSON", 1, None, 0), ("perception", "JSON", 1, None, 0), ("reasoning", "JSON", 1, None, 0),
    ("actions", "JSON", 1, None, 0), ("outcome", "JSON", 1, None, 0), ("tags", "JSON", 0, "'[]'", 0),
    ("importance", "REAL", 0, "0.5", 0), ("access_count", "INTEGER", 0, "0", 0), ("last_accessed", "INTEGER", 0, None, 0),
    ("embedding", "BLOB", 0, None, 0)]
FILES = [("memory_id", "TEXT", 1, None, 1), ("file_path", "TEXT", 1, None, 2), ("operation", "TEXT", 1, None, 0)]
LINKS = [("source_id", "TEXT", 1, None, 1), ("target_id", "TEXT", 1, None, 2), ("link_type", "TEXT", 1, None, 3),
         ("created_at", "INTEGER", 1, None, 0)]
INDEXES = {"idx_memories_agent": ("memories", ["agent_id"]), "idx_memories_project": ("memories", ["project_id"]),
           "idx_memories_created": ("memories", ["created_at"]), "idx_memories_intent_type": ("memories", ["intent_type"]),
           "idx_memories_success": ("memories", ["outcome_success"]), "idx_memory_files_path": ("memory_files", ["file_path"]),
           "idx_memory_links_target": ("memory_links", ["target_id"])}


def rows(mem, query):
    return mem.sql(query)["rows"]


def one(mem, query):
    found = mem.sql(query)
    return dict(zip(found["columns"], found["rows"][0], strict=True))


@pytest.fixture
def work(mem, seed):
    return mem.record(**seed, tags=["auth"], agent="kim", project="shop", session="s-1")


@pytest.mark.clause("work-65", "work-68", "work-69", "work-70", "work-71", "work-72", "work-73", "work-74", "work-76")
@pytest.mark.parametrize(("table", "columns"), [("agents", AGENTS), ("memories", MEMORIES), ("memory_files", FILES),
                                                ("memory_links", LINKS)])
def test_a_table_has_the_seeds_columns_and_no_others(mem, table, columns):
    found = mem.home.index.db.execute(f"PRAGMA table_info({table})").fetchall()

    assert [row[1:] for row in found] == columns


@pytest.mark.clause("work-78", "work-79")
def test_the_seeds_tables_have_the_seeds_indexes_and_no_others(mem):
    found = {}
    for table in ("agents", "memories", "memory_files", "memory_links"):
        for row in mem.home.index.db.execute(f"PRAGMA index_list({table})").fetchall():
            if row[3] == "c":
                found[row[1]] = (table, [column[2] for column in mem.home.index.db.execute(f"PRAGMA index_info({row[1]})")])

    assert found == INDEXES


@pytest.mark.clause("work-66", "work-67", "work-68")
def test_the_seeds_references_and_checks_are_there(mem):
    def references(table):
        return {(row[3], row[2], row[4]) for row in mem.home.index.db.execute(f"PRAGMA foreign_key_list({table})")}

    assert references("agents") == {("parent_id", "agents", "id")}
    assert references("memories") == {("agent_id", "agents", "id")}
    assert references("memory_files") == {("memory_id", "memories", "id")}
    assert references("memory_links") == {("source_id", "memories", "id"), ("target_id", "memories", "id")}
    assert "CHECK (type IN ('main', 'subagent'))" in rows(mem, "SELECT sql FROM sqlite_master WHERE name = 'agents'")[0][0]


@pytest.mark.clause("work-68", "work-69", "work-70", "work-72")
def test_a_memorys_row_equals_its_file(mem, work, seed):
    row = one(mem, f"SELECT * FROM memories WHERE id = '{work.id}'")

    assert (row["agent_id"], row["project_id"], row["session_id"], row["created_at"]) == ("kim", "shop", "s-1", work.created_at)
    assert (row["intent_goal"], row["intent_type"]) == (seed["intent"]["goal"], "bug_fix")
    assert (row["outcome_success"], row["outcome_summary"]) == (1, seed["outcome"]["summary"])
    for layer in seed:
        assert json.loads(row[layer]) == seed[layer]
    assert json.loads(row["tags"]) == ["auth"]
    assert (row["importance"], row["access_count"], row["last_accessed"]) == (0.5, 0, None)


@pytest.mark.clause("work-70")
def test_layers_left_out_are_stored_as_empty(mem):
    mem.record(goal="g", task_type="other", success=False, summary="s")

    row = one(mem, "SELECT perception, reasoning, actions FROM memories")

    assert json.loads(row["perception"])["observations"] == []
    assert json.loads(row["reasoning"])["approach_chosen"] == ""
    assert json.loads(row["actions"]) == []


@pytest.mark.clause("work-65", "work-68")
def test_an_agent_that_only_worked_has_a_row_too(mem, work):
    assert one(mem, "SELECT * FROM agents WHERE id = 'kim'") == {
        "id": "kim", "type": "main", "parent_id": None, "project_id": "shop", "created_at": work.created_at, "metadata": None}


@pytest.mark.clause("work-74")
def test_the_strongest_thing_done_to_a_file_is_kept(mem):
    def act(kind, path):
        return {"type": f"file_{kind}", "details": {"file_path": path}}

    mem.record(goal="g", task_type="other", success=True, summary="s", relevant_files=[{"path": "seen.py"}, {"path": "a.py"}],
               actions=[act("read", "a.py"), act("edit", "a.py"), act("create", "b.py"), act("edit", "b.py"),
                        act("delete", "c.py"), act("create", "c.py"), act("read", "d.py")])

    assert rows(mem, "SELECT file_path, operation FROM memory_files ORDER BY file_path") == [
        ["a.py", "edit"], ["b.py", "create"], ["c.py", "delete"], ["d.py", "read"], ["seen.py", "read"]]


@pytest.mark.clause("work-75")
def test_works_are_looked_up_by_file_through_the_index(mem, work):
    plan = mem.home.index.db.execute("EXPLAIN QUERY PLAN SELECT m.id FROM memory_files f JOIN memories m ON m.id = f.memory_id "
                               "WHERE f.file_path = 'src/auth/interceptor.ts'").fetchall()

    assert any("idx_memory_files_path" in row[3] for row in plan)
    assert not any(row[3].startswith("SCAN") for row in plan)
    assert rows(mem, "SELECT memory_id FROM memory_files WHERE file_path = 'src/auth/interceptor.ts'") == [[work.id]]


@pytest.mark.clause("work-72", "work-88")
def test_access_counts_in_the_table_follow_use(mem, work, clock):
    clock.pass_time(hours=1)
    mem.get(work.id)
    mem.recall("jwt refresh")

    row = one(mem, "SELECT access_count, last_accessed FROM memories")

    assert row == {"access_count": 2, "last_accessed": int(clock())}


def test_access_counts_survive_an_edit_and_a_rebuild(mem, work):
    mem.get(work.id)
    mem.sql("SELECT 1")
    mem.edit(work.id, importance=0.9)
    assert rows(mem, "SELECT access_count FROM memories") == [[1]]

    mem.reindex()
    assert rows(mem, "SELECT access_count FROM memories") == [[1]]


@pytest.mark.clause("work-65", "work-68")
def test_the_tables_come_back_from_the_files_alone(mem, work):
    mem.agent("lee", parent="kim")
    mem.link(mem.record(goal="g", task_type="other", success=True, summary="s").id, "caused_by", work.id)
    listed = {"agents": AGENTS, "memories": MEMORIES[:-1], "memory_files": FILES, "memory_links": LINKS}

    def tables():
        return {table: sorted(rows(mem, f"SELECT {', '.join(column[0] for column in columns)} FROM {table}"), key=str)
                for table, columns in listed.items()}

    before = tables()
    mem.reindex()

    assert tables() == before


@pytest.mark.parametrize("query", ["DELETE FROM memories", "UPDATE memories SET importance = 1", "DROP TABLE memories",
                                   "INSERT INTO agents VALUES ('x','main',NULL,'p',1,NULL)", "PRAGMA writable_schema = 1",
                                   "ATTACH '/tmp/x.db' AS x", "SELECT 1; DELETE FROM memories", "VACUUM INTO '/tmp/x'",
                                   "CREATE TABLE x (y)", "SELECT load_extension('x')", "nonsense", ""])
@pytest.mark.usefixtures("work")
def test_sql_takes_one_select_and_nothing_else(mem, query):
    with pytest.raises(Invalid):
        mem.sql(query)

    assert rows(mem, "SELECT count(*) FROM memories") == [[1]]


def test_a_query_that_does_not_end_is_stopped(mem, monkeypatch):
    monkeypatch.setattr("otolith.verbs.records.SQL_SECONDS", 0.2)

    with pytest.raises(Invalid, match="seconds"):
        mem.sql("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n")


@pytest.mark.clause("work-73", "work-83")
@pytest.mark.usefixtures("work")
def test_upkeep_brings_a_works_embedding_into_the_table(mem):
    mem.upkeep()

    vector = one(mem, "SELECT embedding FROM memories")["embedding"]
    assert len(vector) > 0
    assert len(vector) % 4 == 0


@pytest.mark.clause("work-83")
def test_a_work_is_found_by_meaning_at_the_next_recall_and_at_once_when_the_embedder_is_loaded(mem):
    mem.record(goal="Repair the automobile engine", task_type="bug_fix", success=True, summary="It runs")
    assert mem.recall("fixing a car motor").hits[0].title == "Repair the automobile engine"

    mem.record(goal="Bake a loaf of bread", task_type="other", success=True, summary="Crusty")
    held, = mem.home.index.meaning.all_sets()
    assert mem.home.index.meaning.count_missing(held) == 0
