#!/bin/sh
# Otolith from end to end in a new home: words in, facts and chapters out, questions answered. Needs no key and no network.
set -eu
OTOLITH_HOME=$(mktemp -d)/memory
export OTOLITH_HOME OTOLITH_PROJECT=demo
export XDG_CACHE_HOME="$OTOLITH_HOME/../cache" XDG_CONFIG_HOME="$OTOLITH_HOME/../config"
trap 'rm -rf "$(dirname "$OTOLITH_HOME")"' EXIT
if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); else bold='' dim='' plain=''; fi

title() { printf '\n%s── %s ──%s\n' "$bold" "$1" "$plain"; }
show() { printf '%s$ otolith' "$dim"; for word in "$@"; do case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '%s\n' "$plain"; otolith "$@"; }

title 'A home is a folder'
show init

title 'Notes, and a relation between two of them'
show note 'Redis drops idle connections' --type problem --tag redis --tag production \
  --text 'After five minutes without traffic the pool hands out dead sockets.'
show note 'Keepalive for the Redis pool' --type solution --tag redis --importance 0.9 \
  --text 'Set socket_keepalive=True and socket_timeout=300; the pool then notices dead sockets itself.'
show link 'Keepalive for the Redis pool' SOLVES 'Redis drops idle connections' --context 'keeps idle sockets open'
show related 'Redis drops idle connections'

title 'Verbatim text, cut into chunks that know their conversation'
show remember 'We decided to keep sessions in Redis and nothing else; Postgres stays the source of truth.' \
  --conversation planning --tag architecture

title 'A dialog becomes facts, a topic, and the front page'
show log - --topic startup <<'DIALOG'
### Ada · 2026-02-10T21:00:00Z

My name is Ada and I live in Lisbon. I prefer short answers. We must not deploy on Fridays.

### assistant · 2026-02-10T21:01:00Z

Noted. What is next?

### Ada · 2026-02-10T21:02:00Z

I will send the investor deck by Monday. We decided to launch in May 2026.
DIALOG
show facts

title 'Work in five layers: what was tried, and what came of it'
printf '%s' '{"intent": {"goal": "Fix random logouts", "task_type": "bug_fix"},
 "actions": [{"type": "file_edit", "details": {"file_path": "src/auth.ts", "diff_summary": "raised the token lifetime"}, "result": {"success": true}}],
 "outcome": {"success": false, "summary": "Longer tokens only hid the problem", "failure_reason": "refresh never runs",
             "failure_category": "incorrect_assumption", "learnings": ["Check the refresh path before the lifetime"]}}' | show record -
show check-file src/auth.ts

title 'Ask'
show recall 'why do connections die' --limit 2 --explain
show recall 'when do we launch' --limit 2

title 'The nightly round; the second one finds nothing to do'
show upkeep
show upkeep

title 'What an agent reads when a session begins'
show brief 'fixing logouts' --budget 600

title 'All of it is plain files'
(cd "$OTOLITH_HOME" && find . -type f ! -path './log/*' ! -name .lock | sort | sed 's|^\./||')
title 'Deleting the index loses nothing'
rm -rf "$XDG_CACHE_HOME/otolith"
show recall 'dead sockets' --limit 1
