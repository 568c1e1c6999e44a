"""The index's tables. A new shape is a new SCHEMA in database.py and so a new file, filled from the files
anew.

`documents` is what sync compares with the tree, `records` and its satellites answer questions, `words` is
full text. The tables of seed 003 stand beside them under their own names, column for column, so that the
seed's SQL works. All others are strict: a value of another type cannot come in, and a check of the file finds
one that did.
"""

from __future__ import annotations

DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;

CREATE TABLE documents (
  path TEXT PRIMARY KEY, stamp BLOB NOT NULL, same ANY NOT NULL, settled INTEGER NOT NULL, hash TEXT,
  seen INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE problems (path TEXT NOT NULL, line INTEGER, code TEXT NOT NULL, message TEXT NOT NULL,
  remedy TEXT NOT NULL) STRICT;
CREATE INDEX problems_path ON problems(path);

CREATE TABLE records (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL,
  unit TEXT NOT NULL, created REAL NOT NULL, at REAL NOT NULL, updated REAL, importance REAL,
  confidence REAL, project TEXT, agent TEXT,
  session TEXT, conversation TEXT, topic TEXT, success INTEGER, trust TEXT NOT NULL, valid_from REAL,
  valid_until REAL,
  sunk INTEGER NOT NULL, pinned INTEGER NOT NULL, uses INTEGER NOT NULL, used REAL,
  principal TEXT, -- whose word it is, if another person's
  place INTEGER NOT NULL, -- among the chunks of one conversation that were made in the same second
  last INTEGER NOT NULL -- its passages are numbered from n to last; one that grew has gaps between
) STRICT;
CREATE INDEX records_unit ON records(unit);
CREATE INDEX records_kind ON records(kind, created, at);
CREATE INDEX records_conversation ON records(conversation, created, place) WHERE conversation IS NOT NULL;
CREATE INDEX records_topic ON records(topic) WHERE topic IS NOT NULL;
CREATE INDEX records_weighty ON records(n) WHERE pinned OR importance >= 0.9;
CREATE INDEX records_sunk ON records(n) WHERE sunk;

CREATE TABLE tags (tag TEXT NOT NULL, record INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (tag,
  record)) WITHOUT ROWID, STRICT;
CREATE INDEX tags_record ON tags(record, place);

CREATE TABLE names ( -- further: not its title
  name TEXT NOT NULL, record INTEGER NOT NULL, further INTEGER NOT NULL, PRIMARY KEY (name, record)
) WITHOUT ROWID, STRICT;
CREATE INDEX names_further ON names(record) WHERE further;

CREATE TABLE passages (
  n INTEGER PRIMARY KEY, record INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, turn TEXT,
  speaker TEXT,
  said REAL, head INTEGER NOT NULL, text TEXT NOT NULL -- head: title and tags are indexed with it
) STRICT;
CREATE INDEX passages_mute ON passages(n) WHERE text = '';
CREATE VIRTUAL TABLE words USING fts5(text, title, tags, content='',
  tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE speakers (word TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID, STRICT;

-- Vectors of passages: a set for each embedder, in blocks of rows by ascending passage number. A set holds
-- every passage up
-- to `last`; those in `gone` were dropped since. `pieces` has the vectors of a passage's word pieces.
CREATE TABLE vector_sets (
  n INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL,
  last INTEGER NOT NULL,
  UNIQUE (provider, model, dimension)
) STRICT;
CREATE TABLE vectors (
  held INTEGER NOT NULL, last INTEGER NOT NULL, size INTEGER NOT NULL, numbers BLOB NOT NULL,
  matrix BLOB NOT NULL,
  PRIMARY KEY (held, last)
) STRICT;
CREATE TABLE gone (n INTEGER PRIMARY KEY) STRICT;
CREATE TABLE pieces (n INTEGER PRIMARY KEY, vectors BLOB NOT NULL) STRICT;

CREATE TABLE links (
  a TEXT NOT NULL, word TEXT NOT NULL, b TEXT NOT NULL, said TEXT NOT NULL, inverted INTEGER NOT NULL,
  strength REAL, context TEXT, created REAL, edge TEXT, unit TEXT NOT NULL, trust TEXT
) STRICT;
CREATE INDEX links_a ON links(a);
CREATE INDEX links_b ON links(b);
CREATE INDEX links_unit ON links(unit);

CREATE TABLE archived (
  id TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, path TEXT PRIMARY KEY) STRICT;
CREATE INDEX archived_id ON archived(id);

-- What each rung of upkeep saw of each thing it works on.
CREATE TABLE seen (
  rung TEXT NOT NULL, key TEXT NOT NULL, stamp ANY, PRIMARY KEY (rung, key)) WITHOUT ROWID, STRICT;

CREATE TABLE usage (id TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL) WITHOUT ROWID, STRICT;

-- Seed 003, column for column.
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL CHECK (type IN ('main', 'subagent')),
  parent_id TEXT REFERENCES agents(id),
  project_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  metadata JSON
);
CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id),
  project_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  intent_goal TEXT NOT NULL,
  intent_type TEXT NOT NULL,
  outcome_success INTEGER NOT NULL,
  outcome_summary TEXT,
  intent JSON NOT NULL,
  perception JSON NOT NULL,
  reasoning JSON NOT NULL,
  actions JSON NOT NULL,
  outcome JSON NOT NULL,
  tags JSON DEFAULT '[]',
  importance REAL DEFAULT 0.5,
  access_count INTEGER DEFAULT 0,
  last_accessed INTEGER,
  embedding BLOB
);
CREATE TABLE memory_files (
  memory_id TEXT NOT NULL REFERENCES memories(id),
  file_path TEXT NOT NULL,
  operation TEXT NOT NULL,
  PRIMARY KEY (memory_id, file_path)
);
CREATE TABLE memory_links (
  source_id TEXT NOT NULL REFERENCES memories(id),
  target_id TEXT NOT NULL REFERENCES memories(id),
  link_type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (source_id, target_id, link_type)
);
CREATE TABLE chapters (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  title TEXT,
  summary TEXT NOT NULL, learnings JSON, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, tags JSON,
  topics JSON,
  origin TEXT NOT NULL CHECK (origin IN ('manual', 'auto'))
);
CREATE TABLE chapter_memories (chapter_id TEXT NOT NULL, memory_id TEXT NOT NULL, position INTEGER,
  PRIMARY KEY (chapter_id, memory_id));
CREATE TABLE wisdom (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  summary TEXT NOT NULL, insights JSON, patterns JSON, best_practices JSON, tags JSON,
  start_ts INTEGER NOT NULL,
  end_ts INTEGER NOT NULL
);
CREATE TABLE wisdom_chapters (wisdom_id TEXT NOT NULL, chapter_id TEXT NOT NULL, PRIMARY KEY (wisdom_id,
  chapter_id));
CREATE INDEX chapters_project ON chapters(project_id, start_ts);
CREATE INDEX chapter_memories_memory ON chapter_memories(memory_id);
CREATE INDEX wisdom_chapters_chapter ON wisdom_chapters(chapter_id);
CREATE INDEX idx_memories_agent ON memories(agent_id);
CREATE INDEX idx_memories_project ON memories(project_id);
CREATE INDEX idx_memories_created ON memories(created_at);
CREATE INDEX idx_memories_intent_type ON memories(intent_type);
CREATE INDEX idx_memories_success ON memories(outcome_success);
CREATE INDEX idx_memory_files_path ON memory_files(file_path);
CREATE INDEX idx_memory_links_target ON memory_links(target_id);

-- The work ladder besides its seed: works by the segments of their files from the end, works by what they
-- have in common.
CREATE TABLE file_works (
  tail TEXT NOT NULL, memory_id TEXT NOT NULL, operation TEXT NOT NULL, unit TEXT NOT NULL,
  PRIMARY KEY (tail, memory_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX file_works_memory ON file_works(memory_id);
CREATE TABLE threads (
  thread TEXT NOT NULL, created REAL NOT NULL, id TEXT NOT NULL, PRIMARY KEY (thread, created, id)
) WITHOUT ROWID, STRICT;
CREATE INDEX threads_id ON threads(id);

-- The dialog ladder: facts as each entry says them, and what people said about them. Fact records are
-- settled from both.
-- `raw` is the fact's id as said, `id` after corrections, `slot` what it competes for. Nearly always the
-- three are one, and
-- each index by ids is a page of its own to write for each mention; so one index is by slots, and two
-- hold the rest.
CREATE TABLE said (
  unit TEXT NOT NULL, mark TEXT NOT NULL, topic TEXT NOT NULL, project TEXT, raw TEXT NOT NULL,
  id TEXT NOT NULL,
  slot TEXT NOT NULL, confidence REAL NOT NULL, trust INTEGER NOT NULL,
  score ANY CHECK (typeof(score) IN ('integer', 'real', 'null')), fact TEXT NOT NULL
) STRICT;
CREATE INDEX said_unit ON said(unit);
CREATE INDEX said_slot ON said(slot, id, mark, confidence, trust, score);
CREATE INDEX said_id ON said(id) WHERE id <> slot;
CREATE INDEX said_raw ON said(raw) WHERE raw <> id;
CREATE INDEX said_topic ON said(topic, mark, slot);
CREATE TABLE reviewed (
  unit TEXT NOT NULL, topic TEXT NOT NULL, mark TEXT NOT NULL, fact TEXT NOT NULL,
  score ANY CHECK (typeof(score) IN ('integer', 'real', 'null')),
  target TEXT, changes TEXT,
  trust TEXT NOT NULL
) STRICT;
CREATE INDEX reviewed_unit ON reviewed(unit);
CREATE INDEX reviewed_topic ON reviewed(topic, mark);
CREATE INDEX reviewed_fact ON reviewed(fact, mark);
CREATE INDEX reviewed_target ON reviewed(target, mark) WHERE target IS NOT NULL;

-- What records claim to hold, each with the first later claim that closed it; a cell is where claims meet
-- that may close each other. `settled` is what a person answered.
CREATE TABLE claims (
  n INTEGER PRIMARY KEY, unit TEXT NOT NULL, record TEXT NOT NULL, turn TEXT, mark TEXT NOT NULL,
  scope TEXT NOT NULL, holder TEXT NOT NULL, subject TEXT NOT NULL, attribute TEXT NOT NULL,
  value TEXT NOT NULL, holds INTEGER NOT NULL, single INTEGER NOT NULL, environment TEXT NOT NULL,
  personal INTEGER NOT NULL, weak INTEGER NOT NULL, corrects INTEGER NOT NULL, thing INTEGER NOT NULL,
  trust INTEGER NOT NULL, main INTEGER NOT NULL, void INTEGER NOT NULL, sentence TEXT NOT NULL,
  replaces TEXT NOT NULL, closed_by INTEGER, contested_by INTEGER
) STRICT;
CREATE INDEX claims_unit ON claims(unit);
CREATE INDEX claims_record ON claims(record, mark);
CREATE INDEX claims_recent ON claims(scope, mark) WHERE holds AND main;
CREATE INDEX claims_over ON claims(record) WHERE closed_by IS NOT NULL;
CREATE INDEX claims_closed ON claims(closed_by) WHERE closed_by IS NOT NULL;
CREATE INDEX claims_contested ON claims(contested_by) WHERE contested_by IS NOT NULL;
CREATE TABLE claim_cells ( -- ends: it says that something is over
  cell TEXT NOT NULL, ends INTEGER NOT NULL, claim INTEGER NOT NULL, PRIMARY KEY (cell, ends, claim)
) WITHOUT ROWID, STRICT;
CREATE TABLE settled (
  at TEXT NOT NULL, mark TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, holds TEXT NOT NULL) STRICT;
"""
