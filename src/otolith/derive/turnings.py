"""Ends and hand-overs as people word them in passing: half sentences without a subject.

Rows as in `wordings.py`. "Sold the Golf", "Lapland is off", "for the budget ask Vera". What they name
is closed only where it was said before, so that they may be broad.
"""

from __future__ import annotations

from otolith.derive.corrections import CORRECTIONS
from otolith.derive.wordings import ANY_CASE, END, ENGLISH_PHRASES, NAME, START, V, row

_CALL = (
    r"(?:(?:ok|okay|done|so|well|ugh|yay|phew|finally|update|news|fyi|btw|good news|sad news|also|just"
    r"|today|yesterday|and|then|right|we|i|we['’]ve|i['’]ve|have|had|since)\b[\s,:!]*){0,4}"
)
_ENDED = (
    r"sold|cancelled|canceled|quit|dropped|ditched|dumped|binned|scrapped|removed|deleted|uninstalled"
    r"|abandoned|killed|axed|retired|disabled|deprecated|ended|gave up|got rid of|threw (?:out|away)"
    r"|gave away|donated|unsubscribed from|resigned from|stepped down (?:as|from)|switched off|turned off"
    r"|shut down|called off|phased out|moved (?:off|away from|on from)|migrated (?:off|away from)"
    r"|pulled out of|dropped out of|ripped out|parted with|broke up with|returned|finished|left|closed"
    r"|stopped using|stopped taking|stopped going to|deregistered|decommissioned|revoked|tore down|gave back"
)
_NO_THING = (
    r"(?!(?:it|this|that|them|these|those|him|her|me|us|last|yesterday|today|by|in|on|at|because"
    r"|due|after|when|again|with|early|late|there|here|off|out|up|down|for|to|as|what|how|why)\b)"
)
_ANYTHING = (
    r"(?P<what>(?!(?i:it|this|that|he|she|they|we|i|you|there|here|everything|everyone|everybody"
    r"|what|who|which|one|nothing|nobody|something|someone|if|when|until|once|before|after|unless"
    r"|while|because|and|but|so|or|not|no|as|since|all|both|how|why|where|half|some|most)\b)"
    r"[\w`./+#&'’-]+(?: (?!is\b|are\b|was\b|were\b|has\b|have\b|will\b|not\b|and\b|or\b|that\b"
    r"|which\b"
    r"|who\b|if\b)[\w`./+#&'’-]+){0,4}?)"
)
TURNINGS = (
    # endings
    row(
        START + _CALL + rf"(?P<verb>{_ENDED}) " + _NO_THING + V,
        ("{i}", "{verb}", "{v}"),
        type="event",
        flags=ANY_CASE,
    ),
    row(
        rf"\b(?:replaced|substituted|swapped out|dumped|ditched|axed|left|traded|swapped)"
        r" (?P<old>(?!support|plans)[^\s,;:!?()¶][^,;:!?()¶]{1,40}?) (?:with|by|for)"
        rf" {_NO_THING}" + V,
        ("{i}", "replaced", "{old} with {v}"),
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:is|are|was|were|has been|have been|got|gets)(?: now| finally| just|"
        r" officially"
        r"| all| both| also| long| completely)? (?P<verb>gone|dead|history|sold|removed|deleted|scrapped"
        r"|cancelled"
        r"|canceled|dropped|discontinued|decommissioned|disbanded|dissolved|no more|binned|axed|ripped"
        r" out|switched off|turned off|taken down|torn down|shut"
        r" down|abandoned|retired|sunset)\b(?! (?:by|to|from|at|in favou?r)\b)",
        ("{what}", "is", "{verb}"),
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:is|are)(?: now| all| definitely| officially)? (?:off(?: the table)?"
        r"|called off"
        r"|cancelled|canceled|dead|not happening|postponed indefinitely|on ice|off the cards)"
        r"(?=\s*(?:[,;:!.—–]|$)|\s(?:again|for good|now|because|since|as|this|for)\b)",
        ("{what}", "is called off", ""),
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:isn['’]t happening|aren['’]t happening|won['’]t happen|will not happen"
        r"|is not going to happen|isn['’]t going to happen|fell through|came to nothing|is not going ahead"
        r"|isn['’]t going ahead|didn['’]t work out|is no longer happening|has fallen through)",
        ("{what}", "is called off", ""),
        flags=ANY_CASE,
    ),
    row(
        r"\b(?:we|I|We|i)(?:['’]ve| have)?(?: now| just| sadly)* (?:called off|cancelled|canceled"
        r"|scrapped|axed)"
        r" (?:the |our |my )(?P<what>[\w' -]{3,40}?)" + END,
        ("the {what}", "is called off", ""),
        type="event",
    ),
    row(
        START + r"no more (?P<v>(?!for\b|than\b)[\w`'’&-]+(?: [\w`'’&-]+){0,2}?)(?=\s*(?:[,;:.!—–]|$)|\s"
        r"(?:for|these"
        r"|from|at|now|in)\b)",
        ("{one}", "is done with", "{v}"),
        flags=ANY_CASE,
    ),
    row(
        r"\b(?:I|[Ww]e|i)(?:['’]m|['’]re| am| are)(?: now| finally| also)? (?:out of|off|done with"
        r"|through with|finished"
        r" with) (?P<v>(?!it\b|to\b|for\b|work\b|this\b|that\b|on\b|sick\b|today\b|next\b|school\b|here\b|the"
        r" (?:first|second|last)\b)[^\s,;:!?()¶][^,;:!?()¶]{1,40}?)" + END,
        ("{i}", "is done with", "{v}"),
    ),
    row(
        START
        + _CALL
        + r"(?:done with|finished with|through with|no longer (?:using|on|at|with|in)) "
        + _NO_THING
        + V,
        ("{i}", "is done with", "{v}"),
        flags=ANY_CASE,
    ),
    row(
        r"\blet (?P<v>(?:my|our|the) [\w' -]{2,40}?) (?:run out|lapse|expire|go)\b",
        ("{i}", "cancelled", "{v}"),
        type="event",
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:has |have )?(?:expired|lapsed|run out|ran out|closed down|shut down"
        r"|folded|fell"
        r" through|broke for good|died|passed away)(?=\s*(?:[,;:.!—–]|$)|\s(?:in|last|on|this|at"
        r"|yesterday|after)\b)",
        ("{what}", "was removed", ""),
        flags=ANY_CASE,
    ),
    row(
        START + r"support for (?P<what>[^,;:!?()¶]{2,40}?) (?:is|was|has been|got)(?: now| finally)? "
        r"(?:dropped|removed|gone"
        r"|over|discontinued|axed)\b",
        ("{i}", "dropped support for", "{what}"),
        flags=ANY_CASE,
    ),
    row(
        r"\b(?:gave|given|handed in|giving) (?:our |my |the )?notice (?:for|on|to) " + V,
        ("{i}", "cancelled", "{v}"),
        flags=ANY_CASE,
    ),
    row(
        r"(?:^|(?<=[\s,;:(]))" + NAME + r" (?:doesn['’]t|does not|no longer) (?P<verb>lives?|works?"
        r"|comes?|plays?|trains?|studies|study)"
        r" (?:here|there|with (?:me|us|them)|for (?:me|us|them))(?: any ?more| any longer)?\b",
        ("{who}", "no longer", "{verb}"),
    ),
    # plans that are done
    row(
        START + _CALL + r"(?P<verb>bought|installed|booked|finished|completed|built|ordered|adopted"
        r"|submitted|signed|paid|renewed"
        r"|fixed|painted|planted|launched|released|shipped|published|passed|sent|handed in|turned in"
        r"|called|visited|ran|wrote|merged"
        r"|deployed|picked up|cleaned) " + _NO_THING + V,
        ("{i}", "{verb}", "{v}"),
        type="event",
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:is|are)(?: now| all| finally)? (?P<verb>in|installed|booked|done"
        r"|finished|live|ready"
        r"|delivered|here|built|bought|ordered|sorted|shipped|released|signed|submitted|paid|planted"
        r"|painted|fixed)"
        r"(?=\s*(?:[,;:!.—–]|$)|\s(?:and|since|now)\b)",
        ("{what}", "is {verb}", ""),
        type="event",
        flags=ANY_CASE,
    ),
    row(
        START + _ANYTHING + r" (?:has |have |was |were |has been |got |is )?(?:slipped|moved|pushed"
        r"|postponed|delayed|rescheduled"
        r"|brought forward|shifted|put off)(?: back| forward| out)? (?:to|until|till) " + V,
        ("{what}", "was moved to", "{v}"),
        flags=ANY_CASE,
    ),
    # who has charge of what
    row(
        START + r"(?:please )?(?:ask|talk to|contact|ping|call|write to|go to|reach out to|speak to"
        r"|check with) "
        + NAME
        + r" (?:about|for|regarding|with|on) (?:anything (?:to do with|about) |everything about |questions"
        r" about )?"
        r"(?P<what>(?:the |our |my )?[^,;:!?()¶]{2,40}?)" + END,
        ("the contact for {what}", "is", "{who}"),
        type="identity",
    ),
    row(
        r"\b[Aa]sk (?!me\b|us\b|him\b|her\b|them\b)" + NAME + r" about (?:anything (?:to do with|about) )?"
        r"(?P<what>(?:the |our |my )?[^,;:!?()¶]{2,40}?)" + END,
        ("the contact for {what}", "is", "{who}"),
        type="identity",
    ),
    row(
        r"\b[Ff]or (?P<what>(?:anything about |questions about )?(?:the |our |my )?[^,;:!?()¶]{2,40}?),?"
        r" (?:please |now )?"
        r"(?:ask|talk to|contact|ping|call|write to|go to|speak to|check with|it['’]s) " + NAME,
        ("the contact for {what}", "is", "{who}"),
        type="identity",
    ),
    row(
        START + _ANYTHING + r" (?:is|are)(?: now| all)? (?:maintained|owned|run|led|handled|managed"
        r"|looked after|done"
        r"|covered|taken care of|supervised|chaired|organised|organized|moderated) by " + NAME,
        ("{what}", "is owned by", "{who}"),
        type="identity",
    ),
    row(
        START + _ANYTHING + r" (?:is|are)(?: now)? (?:in )?" + NAME + r"['’]s? (?:job|responsibility"
        r"|task|business|hands|call"
        r"|domain|thing)\b",
        ("{what}", "is owned by", "{who}"),
        type="identity",
    ),
    row(
        r"\b(?:I|[Ww]e|[A-Z][a-z]+)(?:['’]ve| have| has)?(?: now| just)? (?:handed|passed|gave|given"
        r"|transferred|delegated)"
        r"(?: over| on)? (?P<what>(?:the |our |my )?[a-z][^,;:!?()¶]{2,40}?)(?: over| on)? to " + NAME,
        ("{what}", "is owned by", "{who}"),
        type="identity",
    ),
    row(
        NAME + r" (?:does|is doing|took on|will do|has|covers|does all)(?: now)? (?P<what>the"
        r" [a-z][^,;:!?()¶]{2,30}?)(?: now)?" + END,
        ("{who}", "is responsible for", "{what}"),
        type="identity",
    ),
    # states without an article
    row(
        r"(?:^|(?<=[.;:!,] )|(?<=\band )|(?<=\bso ))(?P<what>(?:[a-z][\w-]+ ){0,2}[a-z][\w-]+s) (?:now"
        r" )?(?P<verb>live|go out|go|are"
        r" stored|are kept|are sent|are hosted|are written|are built|are done|land) (?P<prep>in|on"
        r"|through|to|at|under|via|into|with) "
        r"(?P<v>[A-Z/`.#\d][^,;:!?()¶]{1,40}?)" + END,
        ("{what}", "{verb} {prep}", "{v}"),
    ),
)
PHRASES = {"en": (*ENGLISH_PHRASES, *TURNINGS, *CORRECTIONS)}
