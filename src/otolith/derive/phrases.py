"""Changes as people word them: what the grammar of plain statements does not see.

Orders ("use B, not A"), corrections ("sorry, I meant …"), words taken back ("forget what I said about …"), endings without an
object ("the job was removed", "my last day at …"), owners, settings in lines of configuration. Each row of a language's table is a
pattern and the statements it stands for; the words it matched are the fact's. What is asked, supposed, doubted, planned or
somebody else's word is passed over. Patterns are bounded, so that time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from otolith.derive.english import Language
from otolith.derive.grammar import Speech
from otolith.derive.sentences import QUOTED, Sentence
from otolith.model.attributes import ENGLISH as ATTRIBUTES

LONGEST = 12  # words of an object
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_END = (rf"(?=\s*(?:[,;:!?()…{QUOTED}—–]|\.?\s*$|\.\s|\s-\s|\s(?:and|but|so|because|since|instead|now|already|last|this|next|after|before|from now|going forward|as of"
        r"|these days|any ?more|for good|please|which|who|where|when|while|until|though|although|then|again|yesterday|today|tonight|as well|too|here"
        rf"|in (?:{_MONTHS}|\d{{4}}|the end)|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|at the (?:end|start|beginning|moment)|over the|if|from (?:her|him|them|me|us|the|[A-Z])"
        r"|pager|starting|effective|with effect|not|rather|in place|as (?:I|we|it|he|she|they))\b))")
_V = r"(?P<v>[^\s,;:!?()¶][^,;:!?()¶]{0,70}?)" + _END
_ME = r"(?:I|we|We)(?:['’](?:ve|m|re|ll))?(?: have| am| are| had)?"
_ADV = r"(?: (?:just|now|finally|recently|already|officially|also|actually|really|all|both|since|then|fully|completely|just now|only|definitely|long|therefore))*"
_NAME = r"(?P<who>(?!(?:The|This|That|It|He|She|They|We|You|My|Our|There|Then|Now|And|But|So|If|When|As|For|In|On|At|Please|Also|Note|Since|After|Before|No|Yes|Not|What|Who|How|Why|Everyone|Nobody|Somebody|Always|Never|Just|Only|Again|Still|Maybe|Perhaps|Both|All|Each|Every|Some|Any|Here|Today|Tomorrow|Yesterday|Tickets|Backups|Releases|Secrets|Anyone|Someone|I|Heads|Heads-up|Update|Thanks|Good|Great|Sorry|Okay|OK|Ok|Well|Also|Now|From|With|While|Because|Though|Whoever|One|Two)\b)[A-Z][\w’'-]*[a-z](?: [A-Z][a-z][\w-]*)?)"
_THING = r"(?P<what>(?:the|our|this|my|The|Our|This|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,4}?)"
_START = r"(?:^|(?<=[,;:.!—–] )|(?<=\band )|(?<=\bso )|(?<=\bbut )|(?<=\bplease )|(?<=\bthen )|(?<=\bjust )|(?<=^ok )|(?<=^OK ))\s*"
_DO = _START + r"(?:(?:please|pls|from now on|going forward|in future|always|just|so|ok|okay|then|let['’]?s|let us|you should|you can|you may|we should|and|no|actually|right)[, ]+){0,3}"


class Phrase(NamedTuple):
    """A way to say something: a pattern and (subject, relation, object) for what it says, with its groups in braces."""

    pattern: re.Pattern[str]
    says: tuple[tuple[str, str, str], ...]
    type: str = "trait"
    ordered: bool = False  # an order: only a person's to an assistant


class Said(NamedTuple):
    """A statement that a phrase makes."""

    subject: str
    relation: str
    object: str
    type: str


def _row(pattern: str, *says: tuple[str, str, str], type: str = "trait", ordered: bool = False, flags: int = 0) -> Phrase:
    return Phrase(re.compile(pattern, flags), says, type, ordered)


_I = re.IGNORECASE
_HEADS = "|".join(sorted(ATTRIBUTES.heads | ATTRIBUTES.roles - {"favorite", "favourite", "name"}, key=lambda word: (-len(word), word)))
_OLD = r"(?P<old>[^\s,;:!?()¶][^,;:!?()¶]{0,50}?)" + _END
_USE = r"(?:use|go with|stick (?:to|with)|switch to|take|pick|prefer|install|run|do|call it|write|choose|try)"
ENGLISH_PHRASES = (
    # orders
    _row(_DO + _USE + r" (?P<v>[^,;:!?()¶]{1,60}?),? (?:and )?(?:not|instead of|rather than|in place of|over|never|no longer) (?:with |in |to )?" + _OLD,
         ("{i}", "asks to use", "{v}"), ("{i}", "asks not to use", "{old}"), type="preference", ordered=True, flags=_I),
    _row(_DO + r"use " + _V + r"(?=[^.;!?]{0,40}\b(?:from now on|here|instead|always|going forward|in this (?:repo|project)|everywhere|these days|any ?more|in future|please|by default|for (?:all|every|any)))", ("{i}", "asks to use", "{v}"), type="preference", ordered=True, flags=_I),
    _row(_DO + r"(?:switch|move|migrate|go over|change)(?: over)? to " + _V, ("{i}", "asks to use", "{v}"), type="preference", ordered=True, flags=_I),
    _row(_DO + r"(?:do not|don['’]t|never|stop|avoid|no longer|quit) (?:ever )?(?P<verb>us(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?|add(?:ing)?|writ(?:e|ing)|send(?:ing)?|put(?:ting)?|includ(?:e|ing)|call(?:ing)?|run(?:ning)?|deploy(?:ing)?|push(?:ing)?|commit(?:ting)?|book(?:ing)?|order(?:ing)?) " + _V,
         ("{i}", "asks not to {verb}", "{v}"), type="constraint", ordered=True, flags=_I),
    _row(_DO + r"no more (?P<v>[a-z][^,;:!?()¶]{1,40}?)" + _END, ("{i}", "asks not to use", "{v}"), type="constraint", ordered=True, flags=_I),
    _row(_DO + r"(?:set|raise|bump|lower|change|increase|reduce|cut|extend|drop) (?P<what>(?:the|our|my) [^,;:!?()¶]{2,50}?)(?: from [^,;]{1,30}?)? to " + _V,
         ("{what}", "is set to", "{v}"), ordered=True, flags=_I),
    _row(_DO + r"(?:keep|make) (?P<what>(?:your |the |all |my )?[a-z]{4,20}) (?P<v>short|brief|concise|long|detailed|terse|verbose|formal|informal|simple)\b",
         ("{i}", "asks for", "{v} {what}"), type="preference", ordered=True, flags=_I),
    _row(_DO + r"(?:swap|replace|exchange|substitute|trade) (?:out )?(?P<old>[^,;:!?()¶]{1,40}?) (?:for|with|by) " + _V,
         ("{i}", "replaced", "{old} with {v}"), ordered=True, flags=_I),
    _row(_DO + r"(?:run|write|name|format|indent|sort|tag|answer|reply|sign) (?P<what>[^,;:!?()¶]{2,40}?)(?= (?:before|after|with|in|on|by|as|for|at)\b|[,;.!]|$)(?P<rest>(?: (?:before|after|with|in|on|by|as|for|at) [^,;:!?()¶]{2,40}?)?)" + _END,
         ("{i}", "asks to {order}", "{what}{rest}"), type="constraint", ordered=True, flags=_I),
    _row(_START + r"(?:please )?call me (?P<v>[A-Z][\w-]*)", ("{i}", "is called", "{v}"), type="identity"),
    _row(r"\b(?:I|we|We) (?:like|prefer|want|love|enjoy) (?P<v>(?:short|long|brief|concise|detailed|terse|verbose)\b[^.;:!?()¶]{0,40}?(?:answers|replies|explanations|responses|messages|summaries))",
         ("{i}", "prefers", "{v}"), type="preference"),
    _row(_START + r"(?P<v>[^\s,;:!?()¶]+(?: [^\s,;:!?()¶]+)?),? please\b", ("{i}", "asks for", "{v}"), type="preference", ordered=True, flags=_I),
    _row(_START + r"(?P<v>[^\s,;:!?()¶]+(?: [^\s,;:!?()¶]+)?) (?:instead|from now on|it is)(?=\W*$|,)", ("{i}", "asks for", "{v}"), type="preference", ordered=True, flags=_I),
    _row(r"(?:changed (?:my|our) minds?|come (?:a)?round|second thoughts?|thought about it|new plan|new decision|new rule|update|decision)\b[^:,.—–-]{0,20}[:,.—–-]+ (?:it['’]s |we['’]ll go with |I['’]ll take |let['’]s (?:use|go with) |make it )?(?P<v>[A-Z`\w][\w`./+#-]*(?: [\w`./+#-]+){0,5}?)(?: please)?" + _END,
         ("{i}", "asks for", "{v}"), type="preference", flags=_I),
    # corrections that name the value alone
    _row(r"\b(?:I meant(?: to (?:say|write))?|I should have (?:said|written)|(?:should|ought to) (?:be|have been|read|say)|make (?:that|it)|let['’]s make (?:that|it)|better make it|that should (?:be|read)) (?P<v>(?!sure|clear|possible|easier|work|up|so\b|better)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + _END,
         ("{i}", "corrects to", "{v}"), flags=_I),
    _row(r"^\W*(?:no|nope|wrong|sorry|oops|correction|actually|wait|hm+|scratch that|not [\w:.-]+|my mistake|my bad|argh)\b[\s,.:;!—–-]*(?:wait[\s,.]*|sorry[\s,.]*|actually[\s,.]*)?(?:it['’]s|it is|it was|that['’]s|they['’]re|we['’]re (?:at|on)|it['’]ll be|it will be|rather)(?: actually| really| in fact| now)? "
         r"(?P<v>(?!not\b|fine|ok|okay|true|right|wrong|working|done|good|great|been|going|about|because|just|only|still|too|very|so\b|more|hard|easy|all\b|me\b|what|how|when|why|who|where|that\b|spelled)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + _END,
         ("{i}", "corrects to", "{v}"), flags=_I),
    _row(r"\b(?:it|this|that) (?:isn['’]t|is not|wasn['’]t|was not|ain['’]t) (?P<old>[^,;:!?()¶]{2,40}?)(?: after all)?,? (?:but |it['’]s |it is |it was |rather )" + _V,
         ("{i}", "corrects to", "{v}"), ("{i}", "says to forget", "{old}"), flags=_I),
    _row(r"^\W*(?:it['’]s|it is|they['’]re|that['’]s|it was) (?P<v>[^,;:!?()¶]{1,40}?),? not (?P<old>[^,;:!?()¶]{1,40}?)" + _END, ("{i}", "corrects to", "{v}, not {old}"), flags=_I),
    _row(r"\b(?:wrong|mistaken|mistake|mixed (?:\w+ ){0,3}up|confused|typo|misspelled|misspelt|change of plans?|plans? (?:have )?changed|correction)\b[^;.!?¶]{0,40}?[:,—–-]+ ?(?:and )?(?:it['’]s|it is|it was|that['’]s|it should be|we['’]re going to|make it) (?P<v>(?!not\b|been|about|because)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + _END,
         ("{i}", "corrects to", "{v}"), flags=_I),
    # taken back
    _row(_DO + r"(?:forget|ignore|disregard|scratch|skip|drop|delete|cancel|strike|never ?mind|overrule|dismiss)(?: about)? (?:all |everything )?(?:what|that|whatever|anything) I (?:have |had |['’]ve )?(?:said|told you|wrote|asked(?: for)?|mentioned|requested)(?: to you)?(?: (?:earlier|before|yesterday|last (?:week|time|month)|the other day))? (?:about|on|regarding|concerning|for) " + _V,
         ("{i}", "says to forget", "{v}"), type="constraint", flags=_I),
    _row(_DO + r"(?:forget|ignore|disregard|scratch|scrap|strike|undo|drop|delete|lift|cancel|overrule|never ?mind)(?: about)? (?:my|the|that|our|this) (?:(?:old|earlier|last|previous) )?(?:(?:rule|note|comment|request|wish|instruction|thing|bit|part|remark|idea|requirement|ban|decision|plan)s? (?:about|on|for|with|regarding|of|against|to|that) )?" + _V,
         ("{i}", "says to forget", "{v}"), type="constraint", flags=_I),
    _row(rf"\b{_ME}{_ADV} (?:take|took|taken|taking) (?:it |that )?back (?:what I (?:said|wrote|told you) (?:about|on) |my (?:words|comment|remark|rule|request) (?:about|on) |the (?:rule|thing|bit) about )?" + _V,
         ("{i}", "takes back", "{v}"), type="constraint", flags=_I),
    _row(r"\b(?P<what>(?:the|my|our|that) (?:(?:old|earlier|strict) )?(?:rule|ban|policy|restriction|requirement|freeze|limit|embargo|moratorium)(?: (?:about|on|against|for|of|that|to) [^,;:!?()¶]{2,50}?)?) (?:is|was|has been|got)(?: now)? (?:off|gone|lifted|dropped|over|history|void|cancelled|canceled|scrapped|removed|no longer valid|obsolete|dead)\b",
         ("{what}", "is off", ""), type="constraint", flags=_I),
    _row(_START + r"(?:you|they|people|we) (?:can|may|are allowed to|are free to|could) (?P<verb>use|write|add|push|deploy|call|send|commit|eat|have|put|include|merge|run) (?P<v>[^,;:!?()¶]{2,50}?)(?: again| now| any ?time| any day| after all| from now on)+",
         ("{i}", "says to forget", "the rule against {v}"), ("{i}", "allows", "{v}"), type="constraint", flags=_I),
    _row(_START + r"(?P<v>(?:[A-Za-z][\w-]* ){0,3}[A-Za-z][\w-]+)(?: in [\w ]{2,30}?)? (?:is|are) (?:fine|ok|okay|allowed|welcome|permitted|good)(?: with me| by me)? (?:again|now|after all|from now on)\b",
         ("{i}", "says to forget", "the rule against {v}"), ("{i}", "allows", "{v}"), type="constraint", flags=_I),
    # endings
    _row(rf"\b{_ME}{_ADV} (?:do not|don['’]t|no longer) (?P<verb>(?!want|need|know|think|care|mind|do|have)[a-z]+) (?:any ?more|any longer)" + _END, ("{i}", "no longer", "{verb}")),
    _row(_START + r"[Nn]o (?:more )?(?P<v>[a-z][^,;:!?()¶]{2,30}?) for (?:me|us) (?:these days|any ?more|now|any longer|from now on)", ("{i}", "is done with", "{v}")),
    _row(r"\b(?:say|said|saying) good-?bye to " + _V, ("{i}", "said goodbye to", "{v}"), type="event"),
    _row(r"\b(?:[Yy]ou|[Ww]e|I|[Oo]ne) (?:don['’]t|do not|no longer) (?:have to |need to |need |require )(?P<v>[^,;:!?()¶]{2,30}?) (?:for|in|to run) (?P<what>(?:the|our) [^,;:!?()¶]{2,30}?)" + _END, ("{what}", "no longer need", "{v}")),
    _row(_START + r"(?P<what>(?:[Tt]he |[Oo]ur )?[\w./-]+) is (?P<verb>out)(?: again| for good| now)?(?=\W|$)(?! of\b)", ("{what}", "was dropped", "")),
    _row(r"(?:^|(?<=[,;:.] ))(?P<what>/?[a-z]+\d[\w./-]*) (?:is|was|has been|got) (?:now )?(?P<verb>removed|deleted|retired|discontinued|shut down|switched off|turned off|dropped|killed|deprecated|gone|dead)\b", ("{what}", "was {verb}", "")),
    _row(r"\b(?:my|our) (?:very )?last (?:day|week|month|shift) (?:at|with|in|for) " + _V, ("{i}", "no longer works at", "{v}")),
    _row(r"\b(?:handed in|gave in|handed over) my (?:notice|resignation|badge|keys) (?:at|to) " + _V, ("{i}", "no longer works at", "{v}")),
    _row(rf"\b{_ME}{_ADV} (?:got |was |were |been )?(?:laid off|let go|fired|made redundant)(?: (?:from|by|at) (?P<v>[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*))", ("{i}", "no longer works at", "{v}")),
    _row(rf"\b{_ME}{_ADV} (?P<verb>stopped|quit|gave up|given up) (?P<doing>[a-z]+ing) " + _V, ("{i}", "stopped {doing}", "{v}")),
    _row(rf"(?:^|\b){_ME}{_ADV} (?:am|are|['’]m|['’]re)? ?(?:done|through|finished) with (?!it|this|that|the (?:first|second|last))" + _V, ("{i}", "is done with", "{v}")),
    _row(r"\b(?:(?P<who>[A-Z][a-z]+) and I|(?:we|We)) (?:have |['’]ve )?(?:broken? up|split up|separated|got(?:ten)? divorced|divorced)\b", ("{i}", "broke up with", "{who}"), type="event"),
    _row(rf"\b{_ME}{_ADV} (?:have )?(?P<verb>graduated|retired|divorced|resigned)\b(?! (?:from|the|an?)\b)", ("{i}", "{verb}", ""), type="event"),
    _row(r"\b(?P<what>(?:the|our|my|The|Our|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,4}?|[A-Z][\w-]*[a-z]|[A-Z][\w-]+ [\w-]+) (?:is|was|are|were|has been|have been|got|gets|will be)(?: now| finally| just| officially| all| both)? (?P<verb>removed|deleted|retired|discontinued|shut down|decommissioned|scrapped|cancelled|canceled|dropped|killed|abandoned|deprecated|disbanded|called off|sunset|switched off|turned off|withdrawn|revoked|lifted|phased out|stolen|ripped out|sold|overturned|archived|gone|dead|no more|history|dissolved|over)\b(?! (?:by|to|from|at|in favou?r)\b)",
         ("{what}", "was {verb}", "")),
    _row(r"\b(?P<what>(?:the|our|my|The|Our|My) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?|[A-Z][a-z]+) (?P<verb>died|passed away|fell through|expired|went away|disbanded|broke down for good|ended|folded|closed down|shut down|went bankrupt|dissolved|closed)\b(?! (?:the|a|an|our|my|at|its|in on|with a)\b)",
         ("{what}", "{verb}", ""), type="event"),
    _row(r"\b(?:[Tt]here['’]?s|[Tt]here is|[Tt]here are|[Ww]e have|[Ww]e['’]ve got|I have) (?:no|no more|not any) (?P<v>[a-z`][^,;:!?()¶]{2,40}?) (?:any ?more|any longer|now)\b", ("{i}", "no longer has", "{v}")),
    # replacements
    _row(r"\b(?P<old>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?) (?:was|were|has been|have been|got|is|is being|is now) (?:replaced|superseded|swapped out|succeeded|displaced) (?:by|with|for) " + _V,
         ("{i}", "replaced", "{old} with {v}")),
    _row(r"\b(?P<new>(?:[Tt]he |[Oo]ur |[Mm]y )?(?:[Nn]ew )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?) (?:replaces|replaced|supersedes|has replaced|will replace|takes the place of|took the place of|succeeds) (?P<old>[^,;:!?()¶]{2,40}?)" + _END,
         ("{i}", "replaced", "{old} with {new}")),
    _row(r"\b(?P<old>[\w`./+#-]+(?: [\w`./+#-]+)?) is out(?:,| and) (?P<v>[\w`./+#-]+(?: [\w`./+#-]+)?) is in\b", ("{i}", "replaced", "{old} with {v}"), flags=_I),
    _row(r"\b(?P<old>[\w`./+#-]+(?: [\w`./+#-]+)?) (?:gave way|makes? way|made way) (?:to|for) " + _V, ("{i}", "replaced", "{old} with {v}"), flags=_I),
    _row(r"\b(?:(?P<s>I|we|We)(?:['’]ve| have)?" + _ADV + r" )?(?:swapp?ed|traded(?: in)?|exchanged|changed|ditched|left|gave up|dropped) (?P<old>(?!support|plans)(?:my |our |the )?[^,;:!?()¶]{2,30}?) for (?P<v>(?:a |an |the )?[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + _END,
         ("{i}", "replaced", "{old} with {v}")),
    _row(r"\b(?P<what>(?:the|our|The|Our) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?) (?:will|shall|is going to) (?:now |in future )?be(?P<prep> in| at| on)? " + _V, ("{what}", "will be{prep}", "{v}")),
    _row(r"\b(?:now )?(?:it['’]s|it is) (?P<v>[\w`./+#:-]+(?: [\w`./+#:-]+)?) (?:now|these days|instead)(?=\W|$)", ("{i}", "corrects to", "{v}"), flags=_I),
    _row(rf"\b{_ME}{_ADV} (?P<verb>moved|migrated|ported|transferred|switched|put|relocated) (?P<what>(?:the|our|my|all|everything|all the) ?[^,;:!?()¶]{{0,40}}?) (?:over |back )?(?:to|into|onto|under) " + _V,
         ("{what}", "was moved to", "{v}")),
    _row(r"\b(?P<what>(?:[Aa]ll (?:the |our )?|[Tt]he |[Oo]ur |[Mm]y )?[\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?) (?:was|were|has been|have been|got|is|are)(?: all| now| just)? (?:moved|migrated|transferred|switched|ported|relocated)(?: over| back)? (?:to|into|onto|under) " + _V,
         ("{what}", "was moved to", "{v}")),
    _row(_START + r"(?:I |we )?(?:['’]ve |have )?(?:just )?(?P<verb>bumped|raised|lowered|increased|reduced|cut|scaled|upgraded|updated|changed|set|extended|shortened) (?P<what>(?:the |our |my )?[\w`./+#-]+(?: [\w`./+#-]+){0,3}?) (?:up |down |back |over )?(?:from [^,;]{1,20}? )?to (?P<v>[^\s,;:!?()¶]*\d[^,;:!?()¶]{0,30}?)" + _END,
         ("{what}", "was {verb} to", "{v}"), flags=_I),
    _row(r"\b(?:put|brought|pushed|took|raised|set) (?P<what>(?:the|our|my) [\w-]+(?: [\w-]+){0,2}?) (?:up|down|back) to " + _V, ("{what}", "went up to", "{v}")),
    _row(rf"\b(?P<what>(?:the |our |my |whose |The |Our |My )(?!favou?rite|preferred|fave|go-to|all-time)(?:[\w'’-]+ ){{0,3}}(?:{_HEADS})(?: (?:of|for|in|on) (?:the |our )?[\w./-]+(?: [\w./-]+){{0,2}}?)?) (?:is|are|is now|went up to|went down to|goes up to|rose to|was raised to|was lowered to|was set to|is set to|has been raised to|dropped to|will be|=) (?P<v>(?!(?:on|in|at|a|an|not|called|named|very|too|so|still|going|being|due|always|never|to|by|from|that|what|really|quite|the|my|our|up|down|off|out|over|also|only|just|more|less)\b)[^\s,;:!?()¶][^,;:!?()¶]{{0,40}}?)" + _END,
         ("{what}", "is", "{v}")),
    _row(r"\b[Tt]here are (?P<v>\d+|[a-z]+) (?P<unit>[a-z]+) (?:on|in) (?P<what>(?:the|our) [\w-]+(?: [\w-]+){0,2})", ("{what}", "has", "{v} {unit}")),
    _row(r"\b[Ww]e(?:['’]re| are)(?: now)? (?P<v>\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: (?:people|now))? (?:on|in) (?P<what>(?:the|our) [\w-]+(?: [\w-]+){0,2})", ("{what}", "has", "{v} people")),
    _row(r"(?:^|(?<=[.;:!] ))(?P<what>[A-Z][a-z]+s|[Tt]he [\w-]+(?: [\w-]+){0,2}?s) (?:now )?(?P<verb>live|go|are stored|are kept|run|are|land|sit|are sent|are hosted) (?P<prep>in|on|through|to|at|under|via|into) (?P<v>(?:the )?[A-Z/`.\w][^,;:!?()¶]{1,40}?)" + _END, ("{what}", "{verb} {prep}", "{v}")),
    _row(r"(?:^|(?<=[.;:!] )|(?<=\bso )|(?<=\band ))(?P<what>(?!(?:It|This|That|He|She|They|We|You|Who|What|Which|Everyone|Everybody|Nobody|Someone|One|There|Here|I)\b)[A-Z][a-z]+|authentication|logging|auth|deployment|monitoring|caching|search|billing) (?P<verb>uses|runs on|goes through|requires|needs|supports|goes via|is done with|is handled by) " + _V, ("{what}", "{verb}", "{v}")),
    _row(r"\b(?P<what>[Tt]he (?:[\w-]+ ){0,2}[\w-]+) is (?:now )?(?P<v>`?[A-Za-z]+(?:[_-]\w+)+`?)(?=\W|$)", ("{what}", "is", "{v}")),
    _row(r"\b[Ww]e do (?P<v>(?!not|n['’]t|have|need|it|that|this|the|so|all|know|want|think|like|use|our|a\b)[a-z][\w -]{3,30}?)" + _END, ("{i}", "does", "{v}")),
    # states of the speaker wherever they stand
    _row(r"\b(?:I|we|We)(?:['’]m| am|['’]re| are)(?: now)? on (?P<v>the [\w-]+(?: [\w-]+)? team)", ("{i}", "is on", "{v}"), type="identity"),
    _row(r"(?:^|(?<=\s))(?:(?P<rest>(?:[Oo]n|[Aa]t|[Ii]n|[Ff]or) (?:my|the|our) [\w ]{2,25}?),? )?(?:I|we|We) (?:now |currently )?(?P<verb>live|work|report|study|drive|use|commute) (?P<prep>in |at |for |to |with )?(?P<v>[A-Z][\w&.+#-]*(?: [A-Z\d][\w&.+#-]*){0,3})", ("{i}", "{verbs} {prep}", "{v}{rest}"), type="identity"),
    _row(r"\b(?:since|after|now that|as|because|until) (?:I|we)(?:['’]ve| have)? (?:finally )?(?P<verb>moved|relocated|settled)(?: back| over)? (?P<prep>to|in|into) (?P<v>[A-Z][\w-]*(?: [A-Z][\w-]*)*)", ("{i}", "{verb} {prep}", "{v}")),
    _row(rf"\b{_ME}{_ADV} (?:gone|went|come|came|switched|moved|crossed) (?:over|back|across) to (?P<v>[A-Z`][\w`.+#-]*(?: [A-Z][\w.+#-]*)*)", ("{i}", "switched to", "{v}")),
    _row(r"\b(?P<who>[A-Z][a-z]+) and I (?:got|are|were|have been) (?P<verb>married|engaged)\b", ("{i}", "is {verb} to", "{who}"), type="identity"),
    _row(r"\b(?P<who>[A-Z][a-z]+) (?:is|goes out|ships|launches|will launch|is sold|is released)(?: now)? (?:as|under the name) (?P<v>[A-Z][\w-]*)", ("{who}", "was renamed to", "{v}")),
    # owners
    _row(r"(?:^|(?<=[\s,;:(]))" + _NAME + r"(?: now| has| have| will| is| just| since| officially|['’]s)* (?P<verb>owns?|leads?|maintains?|manages?|handles?|took over|taken over|takes? over|taking over|looks? after|responsible for|in charge of|runs?|heads?|on call for|oversees?|the (?:new )?(?:owner|lead|maintainer|head) (?:of|for)) (?P<what>(?:the|our|all|its|`|[A-Z])[^,;:!?()¶]{1,50}?)" + _END,
         ("{who}", "{owns}", "{what}"), type="identity"),
    _row(r"(?:^|(?<=[\s,;:(]))" + _NAME + r"(?: now| is| has become| became|['’]s)* (?:responsible for|in charge of|on call for|taking care of) (?P<what>[a-z][^,;:!?()¶]{2,40}?)" + _END, ("{who}", "is responsible for", "{what}"), type="identity"),
    _row(r"\b(?P<what>(?:the|our|The|Our) [\w`./+#-]+(?:[ -][\w`./+#-]+){0,3}?) (?:now )?(?:belongs to|is owned by|is with|is now with|goes to|went to|was handed(?: over)? to|has been handed(?: over)? to|moved over to|is in the hands of|is handled by|is run by|is led by|is maintained by) " + _NAME,
         ("{what}", "is owned by", "{who}"), type="identity"),
    _row(r"\b(?:I|we|We|[A-Z][a-z]+)(?:['’]ve| have| has)?(?: now| just)? (?:handed|passed|gave|given|transferred)(?: over)? (?P<what>(?:the|our|my) [^,;:!?()¶]{2,40}?)(?: over| on)? to " + _NAME, ("{what}", "is owned by", "{who}"), type="identity"),
    _row(r"(?:^|(?<=[\s,;:(]))" + _NAME + r" (?:is|becomes|became|has become|will be|as) (?:now )?(?P<whose>our|the|my)(?: new)? (?P<role>(?:[a-z]+ ){0,2}(?:owner|lead|maintainer|manager|boss|head|captain|chair|dentist|doctor|landlord|accountant|coach|teacher|editor|contact|successor|reviewer|admin|ceo|cto|director|president|PM|product manager))\b(?! of)",
         ("{their} {role}", "is", "{who}"), type="identity"),
    _row(r"\b(?P<whose>[Oo]ur|[Tt]he|[Mm]y) new (?P<role>(?:[a-z]+ ){0,2}(?:owner|lead|maintainer|manager|boss|head|captain|chair|dentist|doctor|landlord|accountant|coach|teacher|editor|contact|reviewer|admin|ceo|cto|director|president)(?: of the [\w ]{2,30}?)?) is (?:called )?" + _NAME,
         ("{their} {role}", "is", "{who}"), type="identity"),
    # work and home
    _row(r"\b(?:my|our) (?:new job|first day|first week) (?:is )?(?:at|with|in|for) (?P<v>[A-Z][^,;:!?()¶]{1,40}?)" + _END, ("{i}", "works at", "{v}"), type="identity"),
    _row(rf"\b{_ME}{_ADV} (?:got|found|took|accepted|landed) (?:a|the) (?:new )?(?:job|position|role|post) (?:at|with) (?P<v>[A-Z][^,;:!?()¶]{{1,40}}?)" + _END, ("{i}", "started at", "{v}"), type="identity"),
    _row(r"\b(?:my|our|My|Our) (?:new )?(?:flat|place|home|house|apartment|address|office|studio) (?:is |['’]s )?(?:now )?in (?P<v>[A-Z][^,;:!?()¶]{1,40}?)" + _END, ("{i}", "lives in", "{v}"), type="identity"),
    # names
    _row(r"\b(?P<what>[Tt]he [\w-]+)(?: that| which)? (?:used to be|was|formerly)(?: called| named| known as)? (?P<old>[\w./`-]+),? (?:is|is now|is called)(?: now)?(?: called)? (?P<v>[\w./`-]+)(?: now)?(?=\W|$)", ("{what}", "is called", "{v}"), ("{old}", "was renamed to", "{v}")),
    _row(r"(?:^|\b)(?P<what>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w./`-]+(?: [\w./`-]+){0,3}?) (?:is|was|are|has been|have been|got) (?:now )?(?:renamed|rebranded|relabelled)(?: to| as| into)? " + _V, ("{what}", "was renamed to", "{v}")),
    _row(r"(?:^|\b)(?P<what>(?:[Tt]he |[Oo]ur |[Mm]y )?[\w./`-]+(?: [\w./`-]+){0,3}?) (?:is|are) (?:now (?:called|named|known as)|(?:called|named|known as) now) " + _V, ("{what}", "is called", "{v}")),
    _row(r"\b(?:call|calling) (?P<what>it|me|him|her|them|the [\w-]+) (?P<v>[A-Z][\w-]*)(?: (?:now|from now on|please))", ("{what}", "is called", "{v}"), ordered=True),
    _row(r"\bI (?:now )?go by " + _V, ("{i}", "is called", "{v}"), type="identity"),
    _row(r"(?P<what>[\w./()-]+) ?(?:->|→|=>) ?(?P<v>[\w./()-]+)(?=.*\brenam)", ("{what}", "was renamed to", "{v}")),
    _row(r"(?:^|(?<=\s))(?P<what>[\w.-]+/|`[^`]+`|[\w]+(?:[-_][\w]+)+) (?:now )?(?:belongs to|is owned by|is maintained by) (?P<v>[\w@/-]+)", ("{what}", "belongs to", "{v}")),
    # settings
    _row(r"^\W{0,3}(?P<what>(?!note|todo|ps|update|fyi|edit|example|re|question|subject|warning|hint|tip|ok|no|yes|correction|sorry|wait|https?|user|assistant|decision|plan|heads-up|summary)[A-Za-z][\w-]{2,24}): (?P<v>[A-Za-z][\w.+#/@-]{1,30})$", ("{what}", "is", "{v}"), flags=_I),
    _row(r"^\W{0,3}(?:export |set |let |const |var )?(?P<what>[A-Za-z][\w.-]{1,40})\s*(?:=|:=|:)\s*(?P<v>[\w./:@#%+-]*\d[\w./:@#%+-]*|true|false|on|off|yes|no|['\"`][^'\"`]{1,40}['\"`])\s*[,;]?$", ("{what}", "is", "{v}")),
    _row(r"(?:^|(?<!in)(?<!of)(?<!on)(?<!to)\s)(?P<what>`[\w.-]+`|[A-Za-z]+(?:[_.][A-Za-z\d]+)+|[A-Z]{2,}(?:_[A-Z\d]+)+) (?:is|=|should be|must be|is now|now is|goes to|went to|is set to) " + _V, ("{what}", "is", "{v}")),
    _row(r"\b(?P<what>[Tt]he [\w-]+(?: [\w-]+){0,3}?) (?:is|are)(?: now)? (?P<v>[#@/][\w./-]+|`[^`]{1,60}`)", ("{what}", "is", "{v}")),
)
PHRASES = {"en": ENGLISH_PHRASES}
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|may|could|would|if|unless|whether|suppose|imagine|wonder(?:ing)?|consider(?:ing|ed)?|think(?:ing)? (?:about|of)"
    r"|thought about|tempted|toying|plan(?:s|ned|ning)? (?:to|on)|want(?:s|ed)? to|hop(?:e|es|ing) to|going to|intend(?:s|ing)? to|about to|like to|love to|considered|almost"
    r"|nearly|rumou?rs?|apparently|allegedly|supposedly|in case|should (?:I|we)|will|won['’]t|not (?:sure|decided|yet)|someday|some day|one day|eventually|hasn['’]t|haven['’]t"
    r"|didn['’]t|never|before (?:I|we)|until (?:I|we)|once (?:I|we)|when(?:ever)? (?:I|we)|as soon as|in the (?:novel|book|film|movie|story|dream)|discuss(?:ing|ed)?|debat(?:e|ing)|propos(?:e|ed|ing)|suggest(?:ed|s|ing)?)\b", re.I)
_ELSEWHERE = re.compile(
    r"\b(?:he|she|they|someone|somebody|people|everyone|who|(?!I\b)[A-Z][a-z]+|docs?|readme|article|post|blog|book|manual|website|page|ticket|email|mail|letter|poster) (?:says?|said|thinks?|thought|claims?|claimed|wrote|writes"
    r"|believes?|believed|told|tells|assumes?|assumed|heard|swears?|insists?|reckons?|states?|stated|keeps? saying|puts? it)\b|\baccording to\b|\bquote\b|\bI (?:was told|heard|read) (?:that)?\b", re.I)
_ASSURED = frozenset(("will be{prep}",))


def phrases(sentence: Sentence, speech: Speech, lang: Language) -> Iterator[Said]:
    """What a sentence says by one of its language's phrases."""
    text = sentence.text
    if sentence.asked or lang.elsewhere.search(text):
        return
    for phrase in PHRASES.get(lang.code, ()):
        if phrase.ordered and not speech.instructing:
            continue
        for match in phrase.pattern.finditer(text):
            if _meant(text, match, phrase):
                yield from _said(phrase, match, speech)


_STANDING = re.compile(r"\b(?:every|each|always|never|all|any|from now on|everywhere|here|in this|style|by default)\b", re.I)


def _meant(text: str, match: re.Match[str], phrase: Phrase) -> bool:
    """Whether the words are the speaker's own and said for certain; an order to do something must be a standing one."""
    if any("{order}" in said[1] for said in phrase.says) and (not _STANDING.search(match.group()) or re.match(r"\W*(?:always|never)\b", match.group(), re.I)):
        return False
    start = max(text.rfind(mark, 0, match.start() + 1) for mark in (";", ": ", "(", "—", " but "))
    before, own = text[max(0, start, match.start() - 80): match.start()], match.group()
    own = re.sub(r"\bwill (?:now |in future )?be\b", "", own) if any(said[1] in _ASSURED for said in phrase.says) else own
    if _ELSEWHERE.search(before) or QUOTED in before or _HEDGED.search(before):
        return False
    return phrase.ordered or not _HEDGED.search(re.sub(r"\b(?:no longer|never ?mind|should (?:be|have been)|will replace)\b", "", own))


def _said(phrase: Phrase, match: re.Match[str], speech: Speech) -> Iterator[Said]:
    groups = {name: _clean(value) for name, value in match.groupdict().items() if value}
    if "who" in groups and groups["who"].casefold() in ("i", "we"):
        return
    owns = groups.get("verb", "")
    groups["owns"] = owns if owns.split(" ")[0] in ("owns", "leads", "maintains", "manages", "handles", "took", "runs", "heads", "oversees", "looks") else \
        {"taken over": "has taken over", "takes over": "has taken over", "take over": "has taken over", "taking over": "is taking over"}.get(
            owns, f"is {owns}" if " " in owns else f"{owns}s")
    groups["their"] = f"{speech.speaker}'s" if groups.get("whose", "").casefold() in ("our", "my") else "the"
    groups["i"] = speech.speaker
    groups["verbs"] = "studies" if owns == "study" else f"{owns}s"
    groups.setdefault("prep", "")
    groups["rest"] = f" {rest[:1].lower()}{rest[1:]}" if (rest := groups.get("rest", "").strip()) else ""
    groups["order"] = match.group().strip().casefold().split(" ")[0] if phrase.ordered else ""
    groups["what"] = re.sub(r"^whose ", "the ", groups.get("what", "")) or groups.get("what", "")
    if groups.get("what") in ("it", "them", "him", "her"):
        return
    for subject, relation, wording in phrase.says:
        if any(name not in groups for part in (subject, relation, wording) for name in re.findall(r"{(\w+)}", part)):
            continue
        made = [part.format(**groups) for part in (subject, relation, wording)]
        made[0] = re.sub(r"^(?:my|our)\b", f"{speech.speaker}'s", made[0], flags=re.I)
        made[0] = re.sub(r"^me$", speech.speaker, made[0])
        if made[1] == "is" and (passive := re.match(r"(\w+(?:ed|en|wn) (?:in|on|by|to|as|with|at|from|under)) (.+)", made[2])):
            made[1], made[2] = f"is {passive[1]}", passive[2]
        made[1], made[2] = made[1].strip(), re.sub(r"^(short|long|brief|concise|detailed|terse|verbose|formal|informal|simple) (?:your|the|all|my) ", r"\1 ", made[2])
        if made[0] and len(made[2].split()) <= LONGEST:
            yield Said(made[0], made[1], made[2], phrase.type)


def _clean(value: str) -> str:
    space = " " if value[:1] == " " else ""
    value = space + " ".join(value.split()).strip(" ,.;:'\"")
    return re.sub(r"^(?:the rule against )?(?:using |having )", "", value)
