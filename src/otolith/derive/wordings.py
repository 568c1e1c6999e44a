"""How people word changes: English, as rows of patterns and of what they say.

A row is a pattern and the statements it stands for, with the pattern's groups in braces. `phrases.py` reads
by them. Patterns are bounded, so that time grows with the length of a text and with nothing else.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from otolith.derive.patterns import TablePattern
from otolith.derive.sentences import QUOTED
from otolith.model.attributes import ENGLISH as ATTRIBUTES

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
END = (
        rf"(?=\s*(?:[,;:!?()…{QUOTED}—–]|\.?\s*$|\.\s|\s-\s|\s(?:and|but|so|because|since|instead|now"
        rf"|already|last|this|next|after|before|from now|going forward|as of"
        r"|these days|any ?more|for good|please|which|who|where|when|while|until|though|although"
                r"|then|again|yesterday|today|tonight|as well|too|here"
        rf"|in (?:{_MONTHS}|\d{{4}}|the end)|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|on \d|at the"
                rf" (?:end|start|beginning|moment)|over the|if|from (?:her|him|them|me|us|the|[A-Z])"
        r"|pager|starting|effective|with effect|from here on|(?:(?:an?|a few|a couple of|some|two|three|four"
        r"|five|six|\d+) )?(?:days?|weeks?|months?|years?|hours?|minutes?) ago|not|rather|in place|was"
        r"|were|as (?:I|we|it|he|she|they))\b))")
V = r"(?P<v>[^\s,;:!?()¶][^,;:!?()¶]{0,70}?)" + END
ME = r"(?:I|we|We)(?:['’](?:ve|m|re|ll))?(?: have| am| are| had)?"
ADV = (r"(?: (?:just|now|finally|recently|already|officially|also|actually|really|all|both|since|then"
        r"|fully|completely|just now|only|definitely|long|therefore))*")
NAME = (r"(?P<who>(?!(?:The|This|That|It|He|She|They|We|You|My|Our|There|Then|Now|And|But|So|If|When|As"
        r"|For|In|On|At|Please|Also|Note|Since|After|Before|No|Yes|Not|What|Who|How|Why|Everyone|Nobody"
        r"|Somebody|Always|Never|Just|Only|Again|Still|Maybe|Perhaps|Both|All|Each|Every|Some|Any|Here"
        r"|Today|Tomorrow|Yesterday|Tickets|Backups|Releases|Secrets|Anyone|Someone|I|Heads|Heads-up"
        r"|Update|Thanks|Good|Great|Sorry|Okay|OK|Ok|Well|Also|Now|From|With|While|Because|Though|Whoever"
        r"|One|Two)\b)[A-Z][\w’'-]*[a-z](?: [A-Z][a-z][\w-]*)?)")
_THING = r"(?P<what>(?:the|our|this|my|The|Our|This|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,4}?)"
START = (r"(?:^|(?<=[,;:.!—–] )|(?<=\band )|(?<=\bso )|(?<=\bbut )|(?<=\bplease )|(?<=\bthen )|(?<=\bjust"
        r" )|(?<=^ok )|(?<=^OK ))\s*")
DO = START + (r"(?:(?:please|pls|from now on|going forward|in future|always|just|so|ok|okay|then|let['’]?s"
        r"|let us|you should|you can|you may|we should|and|no|actually|right)[, ]+){0,3}")


class Phrase(NamedTuple):
    """A way to say something: a pattern and (subject, relation, object) for what it says, with its groups in
    braces.
    """

    pattern: TablePattern
    says: tuple[tuple[str, str, str], ...]
    type: str = "trait"
    ordered: bool = False  # an order: only a person's to an assistant


def row(pattern: str, *says: tuple[str, str, str], type: str = "trait", ordered: bool = False,
         flags: int = 0) -> Phrase:
    return Phrase(TablePattern(pattern, flags), says, type, ordered)


ANY_CASE = re.IGNORECASE
_HEADS = "|".join(sorted(ATTRIBUTES.heads | ATTRIBUTES.roles - {"favorite", "favourite", "name"},
                         key=lambda word: (-len(word), word)))
_OLD = r"(?P<old>[^\s,;:!?()¶][^,;:!?()¶]{0,50}?)" + END
_USE = r"(?:use|go with|stick (?:to|with)|switch to|take|pick|prefer|install|run|do|call it|write|choose|try)"
ENGLISH_PHRASES = (
    # orders
    row(DO + _USE +
            r" (?P<v>[^,;:!?()¶]{1,60}?),? (?:and )?(?:not|instead of|rather than|in place of|over|never"
            r"|no longer) (?:with |in |to )?" + _OLD,
         ("{i}", "asks to use", "{v}"), ("{i}", "asks not to use", "{old}"), type="preference", ordered=True,
         flags=ANY_CASE),
    row(DO + r"use " + V +
            r"(?=[^.;!?]{0,40}\b(?:from now on|here|instead|always|going forward|in this (?:repo|project)"
            r"|everywhere|these days|any ?more|in future|please|by default|for (?:all|every|any)))",
         ("{i}", "asks to use", "{v}"), type="preference", ordered=True, flags=ANY_CASE),
    row(DO + r"(?:switch|move|migrate|go over|change)(?: over)? to " + V, ("{i}", "asks to use", "{v}"),
         type="preference", ordered=True, flags=ANY_CASE),
    row(DO +
            r"(?:do not|don['’]t|never|stop|avoid|no longer|quit) (?:ever )?(?P<verb>us(?:e|ing)"
            r"|suggest(?:ing)?|recommend(?:ing)?|add(?:ing)?|writ(?:e|ing)|send(?:ing)?|put(?:ting)?"
            r"|includ(?:e|ing)|call(?:ing)?|run(?:ning)?|deploy(?:ing)?|push(?:ing)?|commit(?:ting)?"
            r"|book(?:ing)?|order(?:ing)?) " + V,
         ("{i}", "asks not to {verb}", "{v}"), type="constraint", ordered=True, flags=ANY_CASE),
    row(DO + r"no more (?P<v>(?![^,;]* for (?:me|us))[a-z][^,;:!?()¶]{1,40}?)" + END,
         ("{i}", "asks not to use", "{v}"),
         type="constraint", ordered=True, flags=ANY_CASE),
    row(DO +
            r"(?:set|raise|bump|lower|change|increase|reduce|cut|extend|drop) (?P<what>(?:the|our|my)"
            r" [^,;:!?()¶]{2,50}?)(?: from [^,;]{1,30}?)? to " + V,
         ("{what}", "is set to", "{v}"), ordered=True, flags=ANY_CASE),
    row(DO +
            r"(?:keep|make) (?P<what>(?:your |the |all |my )?[a-z]{4,20}) (?P<v>short|brief|concise|long"
            r"|detailed|terse|verbose|formal|informal|simple)\b",
         ("{i}", "asks for", "{v} {what}"), type="preference", ordered=True, flags=ANY_CASE),
    row(DO +
            r"(?:swap|replace|exchange|substitute|trade) (?:out )?(?P<old>[^,;:!?()¶]{1,40}?) (?:for|with"
            r"|by) " + V,
         ("{i}", "replaced", "{old} with {v}"), ordered=True, flags=ANY_CASE),
    row(DO +
            r"(?:run|write|name|format|indent|sort|tag|answer|reply|sign) (?P<what>[^,;:!?()¶]{2,40}?)(?="
            r" (?:before|after|with|in|on|by|as|for|at)\b|[,;.!]|$)(?P<rest>(?: (?:before|after|with|in"
            r"|on|by|as|for|at) [^,;:!?()¶]{2,40}?)?)" + END,
         ("{i}", "asks to {order}", "{what}{rest}"), type="constraint", ordered=True, flags=ANY_CASE),
    row(START + r"(?:please )?call me (?P<v>[A-Z][\w-]*)", ("{i}", "is called", "{v}"), type="identity"),
    row(
            r"\b(?:I|we|We) (?:like|prefer|want|love|enjoy) (?P<v>(?:short|long|brief|concise|detailed"
            r"|terse|verbose)\b[^.;:!?()¶]{0,40}?(?:answers|replies|explanations|responses|messages"
            r"|summaries))",
         ("{i}", "prefers", "{v}"), type="preference"),
    row(START + r"(?P<v>[^\s,;:!?()¶]+(?: [^\s,;:!?()¶]+)?),? please\b", ("{i}", "asks for", "{v}"),
         type="preference", ordered=True, flags=ANY_CASE),
    row(START + r"(?P<v>[^\s,;:!?()¶]+(?: [^\s,;:!?()¶]+)?) (?:instead|from now on|it is)(?=\W*$|,)",
         ("{i}", "asks for", "{v}"), type="preference", ordered=True, flags=ANY_CASE),
    row(
            r"(?:changed (?:my|our) minds?|come (?:a)?round|second thoughts?|thought about it|new plan"
            r"|new decision|new rule|update|decision)\b[^:,.—–-]{0,20}[:,.—–-]+ (?:it['’]s |we['’]ll go"
            r" with |I['’]ll take |let['’]s (?:use|go with) |make it )?(?P<v>[A-Z`\w][\w`./+#-]*(?:"
            r" [\w`./+#-]+){0,5}?)(?: please)?" + END,
         ("{i}", "asks for", "{v}"), type="preference", flags=ANY_CASE),
    # corrections that name the value alone
    row(
            r"\b(?:I meant(?: to (?:say|write))?|I should have (?:said|written)|(?:should|ought to) (?:be"
            r"|have been|read|say)|make (?:that|it)|let['’]s make (?:that|it)|better make it|that should"
            r" (?:be|read)) (?P<v>(?!sure|clear|possible|easier|work|up|so\b"
            r"|better)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
         ("{i}", "corrects to", "{v}"), flags=ANY_CASE),
    row(
            r"^\W*(?:no|nope|wrong|sorry|oops|correction|actually|wait|hm+|scratch that|not [\w:.-]+|my"
            r" mistake|my bad|argh)\b[\s,.:;!—–-]*(?:wait[\s,.]*|sorry[\s,.]*|actually[\s,.]*)?(?:it['’]s"
            r"|it is|it was|that['’]s|they['’]re|we['’]re (?:at|on)|it['’]ll be|it will be|rather)(?:"
            r" actually| really| in fact| now)? "
         r"(?P<v>(?!not\b|fine|ok|okay|true|right|wrong|working|done|good|great|been|going|about"
                 r"|because|just|only|still|too|very|so\b|more|hard|easy|all\b|me\b|what|how|when|why|who"
                 r"|where|that\b|spelled)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
         ("{i}", "corrects to", "{v}"), flags=ANY_CASE),
    row(
            r"\b(?:it|this|that) (?:isn['’]t|is not|wasn['’]t|was not|ain['’]t)"
            r" (?P<old>[^,;:!?()¶]{2,40}?)(?: after all)?,? (?:but |it['’]s |it is |it was |rather )" + V,
         ("{i}", "corrects to", "{v}"), ("{i}", "says to forget", "{old}"), flags=ANY_CASE),
    row(
            r"^\W*(?:it['’]s|it is|they['’]re|that['’]s|it was) (?P<v>[^,;:!?()¶]{1,40}?),? not"
            r" (?P<old>[^,;:!?()¶]{1,40}?)" + END, ("{i}", "corrects to", "{v}, not {old}"), flags=ANY_CASE),
    row(
            r"\b(?:wrong|mistaken|mistake|mixed (?:\w+ ){0,3}up|confused|typo|misspelled|misspelt|change"
            r" of plans?|plans? (?:have )?changed|correction)\b[^;.!?¶]{0,40}?[:,—–-]+ ?(?:and"
            r" )?(?:it['’]s|it is|it was|that['’]s|it should be|we['’]re going to|make it) (?P<v>(?!not\b"
            r"|been|about|because)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
         ("{i}", "corrects to", "{v}"), flags=ANY_CASE),
    # taken back
    row(DO +
            r"(?:forget|ignore|disregard|scratch|skip|drop|delete|cancel|strike|never ?mind|overrule"
            r"|dismiss)(?: about)? (?:all |everything )?(?:what|that|whatever|anything) I (?:have |had "
            r"|['’]ve )?(?:said|told you|wrote|asked(?: for)?|mentioned|requested)(?: to you)?(?:"
            r" (?:earlier|before|yesterday|last (?:week|time|month)|the other day))? (?:about|on"
            r"|regarding|concerning|for) " + V,
         ("{i}", "says to forget", "{v}"), type="constraint", flags=ANY_CASE),
    row(DO +
            r"(?:forget|ignore|disregard|scratch|scrap|strike|undo|drop|delete|lift|cancel|overrule|never"
            r" ?mind)(?: about)? (?:my|the|that|our|this) (?:(?:old|earlier|last|previous) )?(?:(?:rule"
            r"|note|comment|request|wish|instruction|thing|bit|part|remark|idea|requirement|ban|decision"
            r"|plan)s? (?:about|on|for|with|regarding|of|against|to|that) )?" + V,
         ("{i}", "says to forget", "{v}"), type="constraint", flags=ANY_CASE),
    row(
            rf"\b{ME}{ADV} (?:take|took|taken|taking) (?:it |that )?back (?:what I (?:said|wrote|told"
            rf" you) (?:about|on) |my (?:words|comment|remark|rule|request) (?:about|on) |the (?:rule"
            rf"|thing|bit) about )?" + V,
         ("{i}", "takes back", "{v}"), type="constraint", flags=ANY_CASE),
    row(
            r"\b(?P<what>(?:the|my|our|that) (?:(?:old|earlier|strict) )?(?:rule|ban|policy|restriction"
            r"|requirement|freeze|limit|embargo|moratorium)(?: (?:about|on|against|for|of|that|to)"
            r" [^,;:!?()¶]{2,50}?)?) (?:is|was|has been|got)(?: now)? (?:off|gone|lifted|dropped|over"
            r"|history|void|cancelled|canceled|scrapped|removed|no longer valid|obsolete|dead)\b",
         ("{what}", "is off", ""), type="constraint", flags=ANY_CASE),
    row(START +
            r"(?:you|they|people|we) (?:can|may|are allowed to|are free to|could) (?P<verb>use|write|add"
            r"|push|deploy|call|send|commit|eat|have|put|include|merge|run) (?P<v>[^,;:!?()¶]{2,50}?)(?:"
            r" again| now| any ?time| any day| after all| from now on)+",
         ("{i}", "says to forget", "the rule against {v}"), ("{i}", "allows", "{v}"), type="constraint",
         flags=ANY_CASE),
    row(START +
            r"(?P<v>(?:[A-Za-z][\w-]* ){0,3}[A-Za-z][\w-]+)(?: in [\w ]{2,30}?)? (?:is|are) (?:fine|ok"
            r"|okay|allowed|welcome|permitted|good)(?: with me| by me)? (?:again|now|after all|from now"
            r" on)\b",
         ("{i}", "says to forget", "the rule against {v}"), ("{i}", "allows", "{v}"), type="constraint",
         flags=ANY_CASE),
    row(r"\b(?:[Yy]ou|[Ww]e|I) (?:don['’]t|do not|no longer) (?:have|need) to (?P<verb>[a-z]+) " + V,
         ("{i}", "says to forget", "{verb} {v}"), type="constraint"),
    # endings
    row(
            rf"\b{ME}{ADV} (?:do not|don['’]t|no longer) (?P<verb>(?!want|need|know|think|care|mind|do"
            rf"|have)[a-z]+) (?:any ?more|any longer)" + END, ("{i}", "no longer", "{verb}")),
    row(START +
            r"[Nn]o (?:more )?(?P<v>[a-z][^,;:!?()¶]{2,30}?) for (?:me|us)(?: (?:these days|any ?more|now"
            r"|any longer|from now on)|(?=\W*$))", ("{i}", "is done with", "{v}")),
    row(r"\b(?:say|said|saying) good-?bye to " + V, ("{i}", "said goodbye to", "{v}"), type="event"),
    row(
            r"\b(?:[Yy]ou|[Ww]e|I|[Oo]ne) (?:don['’]t|do not|no longer) (?:have to |need to |need "
            r"|require )(?P<v>[^,;:!?()¶]{2,30}?) (?:for|in|to run) (?P<what>(?:the|our)"
            r" [^,;:!?()¶]{2,30}?)" + END, ("{what}", "no longer need", "{v}")),
    row(START +
            r"(?P<what>(?:[Tt]he |[Oo]ur )?[\w./-]+) is (?P<verb>out)(?: again| for good| now)?(?=\W"
            r"|$)(?! of\b)", ("{what}", "was dropped", "")),
    row(
            r"(?:^|(?<=[,;:.] ))(?P<what>/?[a-z]+\d[\w./-]*) (?:is|was|has been|got) (?:now"
            r" )?(?P<verb>removed|deleted|retired|discontinued|shut down|switched off|turned off|dropped"
            r"|killed|deprecated|gone|dead)\b", ("{what}", "was {verb}", "")),
    row(r"\b(?:my|our) (?:very )?last (?:day|week|month|shift) (?:at|with|in|for) " + V,
         ("{i}", "no longer works at", "{v}")),
    row(r"\b(?:handed in|gave in|handed over) my (?:notice|resignation|badge|keys) (?:at|to) " + V,
         ("{i}", "no longer works at", "{v}")),
    row(
            rf"\b{ME}{ADV} (?:got |was |were |been )?(?:laid off|let go|fired|made redundant)(?:"
            rf" (?:from|by|at) (?P<v>[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*))",
        ("{i}", "no longer works at", "{v}")),
    row(rf"\b{ME}{ADV} (?P<verb>stopped|quit|gave up|given up) (?P<doing>[a-z]+ing) " + V,
         ("{i}", "stopped {doing}", "{v}")),
    row(
            rf"(?:^|\b){ME}{ADV} (?:am|are|['’]m|['’]re)? ?(?:done|through|finished) with (?!it|this"
            rf"|that|the (?:first|second|last))" + V, ("{i}", "is done with", "{v}")),
    row(
            r"\b(?:(?P<who>[A-Z][a-z]+) and I|(?:we|We)) (?:have |['’]ve )?(?:broken? up|split up"
            r"|separated|got(?:ten)? divorced|divorced)\b", ("{i}", "broke up with", "{who}"), type="event"),
    row(
            rf"\b{ME}{ADV} (?:have )?(?P<verb>graduated|retired|divorced|resigned)\b(?! (?:from|the"
            rf"|an?)\b)", ("{i}", "{verb}", ""), type="event"),
    row(
            r"\b(?P<what>(?:the|our|my|The|Our|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,4}?|[A-Z][\w-]*[a-z]"
            r"|[A-Z][\w-]+ [\w-]+) (?:is|was|are|were|has been|have been|got|gets|will be)(?: now|"
            r" finally| just| officially| all| both)? (?P<verb>removed|deleted|retired|discontinued|shut"
            r" down|decommissioned|scrapped|cancelled|canceled|dropped|killed|abandoned|deprecated"
            r"|disbanded|called off|sunset|switched off|turned off|withdrawn|revoked|lifted|phased out"
            r"|stolen|ripped out|sold|overturned|archived|gone|dead|no more|history|dissolved|over)\b(?!"
            r" (?:by|to|from|at|in favou?r)\b)",
         ("{what}", "was {verb}", "")),
    row(
            r"\b(?P<what>(?:the|our|my|The|Our|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?|[A-Z][a-z]+)"
            r" (?P<verb>died|passed away|fell through|expired|went away|disbanded|broke down for good"
            r"|ended|folded|closed down|shut down|went bankrupt|dissolved|closed)\b(?! (?:the|a|an|our|my"
            r"|at|its|in on|with a)\b)",
         ("{what}", "{verb}", ""), type="event"),
    row(
            r"\b(?:[Tt]here['’]?s|[Tt]here is|[Tt]here are|[Ww]e have|[Ww]e['’]ve got|I have) (?:no|no"
            r" more|not any) (?P<v>[a-z`][^,;:!?()¶]{2,40}?) (?:any ?more|any longer|now)\b",
        ("{i}", "no longer has", "{v}")),
    row(r"(?:^|(?<=\s))(?P<v>[A-Z`][\w`.+#-]*(?: [A-Z][\w.+#-]*)?) (?:instead of|rather than|in place of) "
         r"(?P<old>[A-Z`][\w`.+#-]*(?: [A-Z][\w.+#-]*)?)", ("{i}", "replaced", "{old} with {v}")),
    # replacements
    row(
            r"\b(?P<old>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?) (?:was|were|has"
            r" been|have been|got|is|is being|is now) (?:replaced|superseded|swapped out|succeeded"
            r"|displaced) (?:by|with|for) " + V,
         ("{i}", "replaced", "{old} with {v}")),
    row(
            r"\b(?P<new>(?:[Tt]he |[Oo]ur |[Mm]y )?(?:[Nn]ew )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?)"
            r" (?:replaces|replaced|supersedes|has replaced|will replace|takes the place of|took the"
            r" place of|succeeds) (?P<old>[^,;:!?()¶]{2,40}?)" + END,
         ("{i}", "replaced", "{old} with {new}")),
    row(
            r"\b(?P<old>[\w`./+#-]+(?: [\w`./+#-]+)?) is out(?:,| and) (?P<v>[\w`./+#-]+(?:"
            r" [\w`./+#-]+)?) is in\b", ("{i}", "replaced", "{old} with {v}"), flags=ANY_CASE),
    row(r"\b(?P<old>[\w`./+#-]+(?: [\w`./+#-]+)?) (?:gave way|makes? way|made way) (?:to|for) " + V,
         ("{i}", "replaced", "{old} with {v}"), flags=ANY_CASE),
    row(r"\b(?:(?P<s>I|we|We)(?:['’]ve| have)?" + ADV +
            r" )?(?:swapp?ed|traded(?: in)?|exchanged|changed|ditched|left|gave up|dropped)"
            r" (?P<old>(?!support|plans)(?:my |our |the )?[^,;:!?()¶]{2,30}?) for (?P<v>(?:a |an |the"
            r" )?[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
         ("{i}", "replaced", "{old} with {v}")),
    row(
            r"\b(?P<what>(?:the|our|The|Our) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?) (?:will|shall|is going"
            r" to) (?:now |in future )?be(?P<prep> in| at| on)? " + V, ("{what}", "will be{prep}", "{v}")),
    row(
            r"\b(?:now )?(?:it['’]s|it is) (?P<v>[\w`./+#:-]+(?: [\w`./+#:-]+)?) (?:now|these days"
            r"|instead)(?=\W|$)", ("{i}", "corrects to", "{v}"), flags=ANY_CASE),
    row(
            rf"\b{ME}{ADV} (?P<verb>moved|migrated|ported|transferred|switched|put|relocated)"
            rf" (?P<what>(?:the|our|my|all|everything|all the) ?[^,;:!?()¶]{{0,40}}?) (?:over |back"
            rf" )?(?:to|into|onto|under) " + V,
         ("{what}", "was moved to", "{v}")),
    row(
            r"\b(?P<what>(?:[Aa]ll (?:the |our )?|[Tt]he |[Oo]ur |[Mm]y )?[\w`./+#-]+(?:["
            r" -][\w`./+#-]+){0,3}?) (?:was|were|has been|have been|got|is|are)(?: all| now| just)?"
            r" (?:moved|migrated|transferred|switched|ported|relocated)(?: over| back)? (?:to|into|onto"
            r"|under) " + V,
         ("{what}", "was moved to", "{v}")),
    row(START +
            r"(?:I |we )?(?:['’]ve |have )?(?:just )?(?P<verb>bumped|raised|lowered|increased|reduced|cut"
            r"|scaled|upgraded|updated|changed|set|extended|shortened) (?P<what>(?:the |our |my"
            r" )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?) (?:up |down |back |over )?(?:from [^,;]{1,20}? )?to"
            r" (?P<v>[^\s,;:!?()¶]*\d[^,;:!?()¶]{0,30}?)" + END,
         ("{what}", "was {verb} to", "{v}"), flags=ANY_CASE),
    row(
            r"\b(?:put|brought|pushed|took|raised|set) (?P<what>(?:the|our|my) [\w-]+(?: [\w-]+){0,2}?)"
            r" (?:up|down|back) to " + V, ("{what}", "went up to", "{v}")),
    row(
            rf"\b(?P<what>(?:the |our |my |whose |The |Our |My )(?!favou?rite|preferred|fave|go-to"
            rf"|all-time)(?:[\w'’-]+ ){{0,3}}(?:{_HEADS})(?: (?:of|for|in|on) (?:the |our )?[\w./-]+(?:"
            rf" [\w./-]+){{0,2}}?)?) (?:is|are|is now|went up to|went down to|goes up to|rose to|was"
            rf" raised to|was lowered to|was set to|is set to|has been raised to|dropped to|will be|=)"
            rf" (?P<v>(?!(?:on|in|at|a|an|not|called|named|very|too|so|still|going|being|due|always|never"
            rf"|to|by|from|that|what|really|quite|the|my|our|up|down|off|out|over|also|only|just|more"
            rf"|less)\b)[^\s,;:!?()¶][^,;:!?()¶]{{0,40}}?)" + END,
         ("{what}", "is", "{v}")),
    row(
            r"\b[Tt]here are (?P<v>\d+|[a-z]+) (?P<unit>[a-z]+) (?:on|in) (?P<what>(?:the|our) [\w-]+(?:"
            r" [\w-]+){0,2})", ("{what}", "has", "{v} {unit}")),
    row(
            r"\b[Ww]e(?:['’]re| are)(?: now)? (?P<v>\d+|two|three|four|five|six|seven|eight|nine|ten"
            r"|eleven|twelve)(?: (?:people|now))? (?:on|in) (?P<what>(?:the|our) [\w-]+(?: [\w-]+){0,2})",
        ("{what}", "has", "{v} people")),
    row(
            r"(?:^|(?<=[.;:!] ))(?P<what>[A-Z][a-z]+s|[Tt]he [\w-]+(?: [\w-]+){0,2}?s) (?:now"
            r" )?(?P<verb>live|go out|go|are stored|are kept|run|are|land|sit|are sent"
            r"|are hosted) (?P<prep>in"
            r"|on|through|to|at|under|via|into) (?P<v>(?:the )?[A-Z/`.\w][^,;:!?()¶]{1,40}?)" + END,
        ("{what}", "{verb} {prep}", "{v}")),
    row(
            r"(?:^|(?<=[.;:!] )|(?<=\bso )|(?<=\band ))(?P<what>(?!(?:It|This|That|He|She|They|We|You|Who"
            r"|What|Which|Everyone|Everybody|Nobody|Someone|One|There|Here|I)\b)[A-Z][a-z]+"
            r"|authentication|logging|auth|deployment|monitoring|caching|search|billing) (?P<verb>uses"
            r"|runs on|goes through|requires|needs|supports|goes via|is done with|is handled by) " + V,
        ("{what}", "{verb}", "{v}")),
    row(
            r"\b(?P<what>[Tt]he (?:[\w-]+ ){0,2}[\w-]+) is (?:now )?(?P<v>`?[A-Za-z]+(?:[_-]\w+)+`?)(?=\W"
            r"|$)", ("{what}", "is", "{v}")),
    row(
            r"\b[Ww]e do (?P<v>(?!not|n['’]t|have|need|it|that|this|the|so|all|know|want|think|like|use"
            r"|our|a\b)[a-z][\w -]{3,30}?)" + END, ("{i}", "does", "{v}")),
    # states of the speaker wherever they stand
    row(r"(?:^|(?<=\s))(?:I|we|We)(?:['’]ve| have)? (?P<verb>joined|started at|moved to) "
         r"(?P<v>[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*)", ("{i}", "{verb}", "{v}"), type="event"),
    row(r"\b(?:I|we|We)(?:['’]m| am|['’]re| are)(?: now)? on (?P<v>the [\w-]+(?: [\w-]+)? team)",
         ("{i}", "is on", "{v}"), type="identity"),
    row(
            r"(?:^|(?<=\s))(?:(?P<rest>(?:[Oo]n|[Aa]t|[Ii]n|[Ff]or) (?:my|the|our) [\w ]{2,25}?),? )?(?:I"
            r"|we|We) (?:now |currently )?(?P<verb>live|work|report|study|drive|use|commute) (?P<prep>in "
            r"|at |for |to |with )?(?P<v>[A-Z][\w&.+#-]*(?: [A-Z\d][\w&.+#-]*){0,3})",
        ("{i}", "{verbs} {prep}", "{v}{rest}"), type="identity"),
    row(
            r"\b(?:[Ss]ince|[Aa]fter|[Nn]ow that|[Aa]s|[Bb]ecause) (?:I|we)(?:['’]ve| have)? (?:finally"
            r" )?(?P<verb>moved|relocated|settled)(?: back| over)? (?P<prep>to|in|into)"
            r" (?P<v>[A-Z][\w-]*(?: [A-Z][\w-]*)*)", ("{i}", "{verb} {prep}", "{v}")),
    row(
            rf"\b{ME}{ADV} (?:gone|went|come|came|switched|moved|crossed) (?:over|back|across) to"
            rf" (?P<v>[A-Z`][\w`.+#-]*(?: [A-Z][\w.+#-]*)*)", ("{i}", "switched to", "{v}")),
    row(r"\b(?P<who>[A-Z][a-z]+) and I (?:got|are|were|have been) (?P<verb>married|engaged)\b",
         ("{i}", "is {verb} to", "{who}"), type="identity"),
    row(
            r"\b(?P<who>[A-Z][a-z]+) (?:is|goes out|ships|launches|will launch|is sold|is released)(?:"
            r" now)? (?:as|under the name) (?P<v>[A-Z][\w-]*)", ("{who}", "was renamed to", "{v}")),
    # owners
    row(r"(?:^|(?<=[\s,;:(]))" + NAME +
            r"(?: now| has| have| will| is| just| since| officially|['’]s)* (?P<verb>owns?|leads?"
            r"|maintains?|manages?|handles?|took over|taken over|takes? over|taking over|looks? after"
            r"|responsible for|in charge of|runs?|heads?|on call for|oversees?|the (?:new )?(?:owner|lead"
            r"|maintainer|head) (?:of|for)) (?P<what>(?:the|our|all|its|`|[A-Z])[^,;:!?()¶]{1,50}?)" + END,
         ("{who}", "{owns}", "{what}"), type="identity"),
    row(r"(?:^|(?<=[\s,;:(]))" + NAME +
            r"(?: now| is| has become| became|['’]s)* (?:responsible for|in charge of|on call for|taking"
            r" care of) (?P<what>[a-z][^,;:!?()¶]{2,40}?)" + END, ("{who}", "is responsible for", "{what}"),
         type="identity"),
    row(
            r"\b(?P<what>(?:the|our|The|Our) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?) (?:now )?(?:belongs to"
            r"|is owned by|is with|is now with|goes to|went to|was handed(?: over)? to|has been handed(?:"
            r" over)? to|moved over to|is in the hands of|is handled by|is run by|is led by|is maintained"
            r" by) " + NAME,
         ("{what}", "is owned by", "{who}"), type="identity"),
    row(
            r"\b(?:I|we|We|[A-Z][a-z]+)(?:['’]ve| have| has)?(?: now| just)? (?:handed|passed|gave|given"
            r"|transferred)(?: over)? (?P<what>(?:the|our|my) [^,;:!?()¶]{2,40}?)(?: over| on)? to " + NAME,
        ("{what}", "is owned by", "{who}"), type="identity"),
    row(r"(?:^|(?<=[\s,;:(]))" + NAME +
            r" (?:is|becomes|became|has become|will be|as) (?:now )?(?P<whose>our|the|my)(?: new)?"
            r" (?P<role>(?:[a-z]+ ){0,2}(?:owner|lead|maintainer|manager|boss|head|captain|chair|dentist"
            r"|doctor|landlord|accountant|coach|teacher|editor|contact|successor|reviewer|admin|ceo|cto"
            r"|director|president|PM|product manager))\b(?! of)",
         ("{their} {role}", "is", "{who}"), type="identity"),
    row(
            r"\b(?P<whose>[Oo]ur|[Tt]he|[Mm]y) new (?P<role>(?:[a-z]+ ){0,2}(?:owner|lead|maintainer"
            r"|manager|boss|head|captain|chair|dentist|doctor|landlord|accountant|coach|teacher|editor"
            r"|contact|reviewer|admin|ceo|cto|director|president)(?: of the [\w ]{2,30}?)?) is (?:called"
            r" )?" + NAME,
         ("{their} {role}", "is", "{who}"), type="identity"),
    # work and home
    row(
            r"\b(?:my|our) (?:new job|first day|first week) (?:is )?(?:at|with|in|for)"
            r" (?P<v>[A-Z][^,;:!?()¶]{1,40}?)" + END, ("{i}", "works at", "{v}"), type="identity"),
    row(
            rf"\b{ME}{ADV} (?:got|found|took|accepted|landed) (?:a|the) (?:new )?(?:job|position|role"
            rf"|post) (?:at|with) (?P<v>[A-Z][^,;:!?()¶]{{1,40}}?)" + END, ("{i}", "started at", "{v}"),
        type="identity"),
    row(
            r"\b(?:my|our|My|Our) (?:new )?(?:flat|place|home|house|apartment|address|office|studio)"
            r" (?:is |['’]s )?(?:now )?in (?P<v>[A-Z][^,;:!?()¶]{1,40}?)" + END, ("{i}", "lives in", "{v}"),
        type="identity"),
    # names
    row(
            r"\b(?P<what>[Tt]he [\w-]+)(?: that| which)? (?:used to be|was|formerly)(?: called| named|"
            r" known as)? (?P<old>[\w./`-]+),? (?:is|is now|is called)(?: now)?(?: called)?"
            r" (?P<v>[\w./`-]+)(?: now)?(?=\W|$)", ("{what}", "is called", "{v}"),
        ("{old}", "was renamed to", "{v}")),
    row(
            r"(?:^|\b)(?P<what>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w./`-]+(?: [\w./`-]+){0,3}?) (?:is|was|are"
            r"|has been|have been|got) (?:now )?(?:renamed|rebranded|relabelled)(?: to| as| into)? " + V,
        ("{what}", "was renamed to", "{v}")),
    row(
            r"(?:^|\b)(?P<what>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w./`-]+(?: [\w./`-]+){0,3}?) (?:is|are)"
            r" (?:now (?:called|named|known as)|(?:called|named|known as) now) " + V,
        ("{what}", "is called", "{v}")),
    row(
            r"\b(?:call|calling) (?P<what>it|me|him|her|them|the [\w-]+) (?P<v>[A-Z][\w-]*)(?: (?:now"
            r"|from now on|please))", ("{what}", "is called", "{v}"), ordered=True),
    row(r"\bI (?:now )?go by " + V, ("{i}", "is called", "{v}"), type="identity"),
    row(r"(?P<what>[\w./()-]+) ?(?:->|→|=>) ?(?P<v>[\w./()-]+)(?=.*\brenam)",
         ("{what}", "was renamed to", "{v}")),
    row(
            r"(?:^|(?<=\s))(?P<what>[\w.-]+/|`[^`]+`|[\w]+(?:[-_][\w]+)+) (?:now )?(?:belongs to|is owned"
            r" by|is maintained by) (?P<v>[\w@/-]+)", ("{what}", "belongs to", "{v}")),
    # settings
    row(
            r"^\W{0,3}(?P<what>(?!note|todo|ps|update|fyi|edit|example|re|question|subject|warning|hint"
            r"|tip|ok|no|yes|correction|sorry|wait|https?|user|assistant|decision|plan|heads-up"
            r"|summary)[A-Za-z][\w-]{2,24}): (?P<v>[A-Za-z][\w.+#/@-]{1,30})$", ("{what}", "is", "{v}"),
        flags=ANY_CASE),
    row(
            r"^\W{0,3}(?:export |set |let |const |var )?(?P<what>[A-Za-z][\w.-]{1,40})\s*(?:=|:="
            r"|:)\s*(?P<v>[\w./:@#%+-]*\d[\w./:@#%+-]*|true|false|on|off|yes|no"
            r"|['\"`][^'\"`]{1,40}['\"`])\s*[,;]?$", ("{what}", "is", "{v}")),
    row(
            r"(?:^|(?<!in)(?<!of)(?<!on)(?<!to)\s)(?P<what>`[\w.-]+`|[A-Za-z]+(?:[_.][A-Za-z\d]+)+"
            r"|[A-Z]{2,}(?:_[A-Z\d]+)+) (?:is|=|should be|must be|is now|now is|goes to|went to|is set"
            r" to) " + V, ("{what}", "is", "{v}")),
    row(
            r"\b(?P<what>[Tt]he [\w-]+(?: [\w-]+){0,3}?) (?:is|are)(?: now)? (?P<v>[#@/][\w./-]+"
            r"|`[^`]{1,60}`)", ("{what}", "is", "{v}")),
)

