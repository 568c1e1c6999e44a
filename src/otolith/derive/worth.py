"""Whether what a person says to an agent holds beyond the task at hand, and who was not there understands it.

A rule of a project is for the next session, too; "put it after the header" is only for this one and stands in
the work that did it. A sentence that leans on what only those know who were there tells nobody else anything.
Pure: a sentence in, a yes or a no out.
"""

from __future__ import annotations

import re

from otolith.derive import cues
from otolith.derive.judge import Verdict, names, opening, tells
from otolith.derive.requests import ORDER
from otolith.model.words import is_question

CLEAR = 2  # telling words before a pronoun that show what it means
FEWEST = 3  # telling words of a sentence that stands alone
GENERAL = cues.phrase(  # it holds for more than one case
    r"""\b(?:always|never|ever|every(?:thing|one|body|where)?|each|any(?:thing|one|body|where)?|all|nobody
      |no\sone|none|nothing|from\snow\son|going\sforward|by\sdefault|as\s(?:the\s|a\s)?default|whenever
      |in\sgeneral|in\s(?:the\s)?future|unless|until|by\shand|on\spurpose|by\sdesign|policy|per\s\w+
      |without\s(?:asking|a\sreview)|before\s(?:you|we|every|each|any)|remind\syou
      |in\s(?:this|our|the)\s(?:repo|repository|project|codebase|company|team|app)|must(?:n't)?|ask\sme
      |when\s(?:we|you|i)\s\w+|(?:at\s)?(?:most|max|least)|no\smore\sthan|(?:under|below|up\sto)\s\d+
      |where\spossible|only\s(?:if|when|after|for|in|on|via|through|the|if|with))\b
      | \bwe(?:\s(?:also|only|usually|still|already|always))*
        \s(?:don't|do\snot|dont|never|won't|will\snot|use|ship|host|support|keep|write|deploy|agreed|rely
        |store|build|have\s(?:only|no|a|an|many|\d)|are\son|convert|can't|cannot|go\swith)\b
      | \bwe're\son\b | \bour\s\w+ | ^(?:if|when)\s""")
_HABIT = cues.phrase(r"""\b(?:we|our)\s(?:\w+\s)?
    (?:use|ship|host|support|deploy|store|build|write|run|keep|agreed)\b""")
STRONG = cues.phrase(  # it says itself that it is a rule
    r"""\b(?:always|never|ever|every|each|from\snow\son|going\sforward|whenever|by\sdefault|in\sgeneral
      |when\s(?:you|we|i)\s\w+|nothing\selse)\b""")
REASON = cues.phrase(
    r"""\b(?:because|since|so\sthat|so\s(?:we|it|the|that|don't|no|wrap|never|anything)|otherwise
    |or\s(?:it|else|they)
      |as\s(?:it|they|we|there)|cause|due\sto|that's\swhy|which\s(?:would|is|breaks|means))\b
      | [,;–—-]\s(?:it|that|this|they|we|there|the\s\w+|\w+)\s
        (?:breaks?|would|will|wouldn't|won't|needs?|costs?|is|are|isn't|has|have|can't|cannot|don't
        |doesn't|do\snot
        |does\snot|strips?|goes|takes?|refuses?|leaks?|already)\b""")
CONTRAST = cues.phrase(r"""\b(?:instead\sof|rather\sthan|not|n't|never|no\slonger|over)\b|n't\b""")
_PLAN = cues.phrase(  # what is to be done now, or next
    r"""^(?:then\s|first\s|now\s|next\s)*(?:we'll\b|we\swill\b|we(?:'re|\sare)\s(?:going\sto|gonna)\b|i'll\b
      |we\s(?:should|need\sto|have\sto|must|can)\s(?:first|now|also|probably|then|next|start)\b
      |(?:make|be)\ssure\s(?!to\salways|you\salways|you\snever))
      | \b(?:also|and\sthen|then)\s(?:check|update|add|make\ssure|fix|run|remove|look)\b
      | ^(?:since|as|if)\swe\s(?:have|are)\b.*\bwe\sshould\b | \bfirst\s(?:create|add|do|make|write|fix)\b""")
_APPROVED = cues.phrase(r"""\b(?:is|are|'s)\s(?:also\s|just\s|totally\s|perfectly\s)*
    (?:fine|ok(?:ay)?|good|acceptable)\b""")
_GUESSED = cues.phrase(r"""\b(?:presumably|don't\s(?:think|see\swhy)
    |i\s(?:think|guess|suppose|believe|wonder)|maybe|perhaps|probably
      |not\ssure|kind\sof|could\sbe)\b|^(?:that\s|it\s|this\s)?(?:seems|looks\slike)\b""")
_FORBIDDEN = cues.phrase(r"^(?:don't|do\snot|dont|never|no|stop|avoid|quit)\s(?!think|see|know|mind|idea)")
_SUBJECTLESS = cues.phrase(r"""^(?:should|must|needs?|has|have|is|are|was|were|can|will|would|does)\b
    (?!\s(?:you|we|i|the)\b)""")
_MEASURED = cues.phrase(r"\b(?:went|grew|dropped|rose|fell|shrank|increased|decreased)\sfrom\b")
_GRUMBLED = cues.phrase(
    r"""^(?:i\s(?:(?:just|already|have|never)\s)*(?:said|told|suggested|asked|meant|made|wanted|specified)
      |you\s(?:have|keep|are|were|forgot|missed|ignored|didn't)
      |(?:the\s)?(?:whole\s)?point\s(?:was|is|of))\b""")
_POINTS = cues.phrase(
    r"""(?<!\w)(?:it|its|it's|this|that|that's|these|those|them|they|they're|either|both|same|such|former
    |latter
      |he|she|(?:the|this|that|which|other|another|new|old|right|wrong)\sones?|the\s(?:other|others|rest
      |first|second|third|last|above|following)(?:\sones?)?
      (?=\s*(?:[.,;!?]|$)|\s(?:should|is|are|must|has|needs?|one|ones)\b))(?![\w'-])
      (?!\s(?:repo|repository|project|codebase|app|team|company|package|service|monorepo|one\sof\sthe)\b)""")
_OUTSIDE = cues.phrase(  # a pronoun that stands for what somebody else said
    r"""\b(?:about|of|for|with|to|do|does|doing|did|in|on|from|want|need|like|handle|see|fix|change
    |remove|drop|keep
      |than|after|before)\s(?:this|that|these|those|the\ssame)(?=\s*(?:[.,;:!?)…]|$)|\s(?:as|at|in|on|for
      |to|but|and|or|so
      |when|from|with|because|is|was|isn't|again|anymore|too|here|there)\b)""")
_CLAUSE = cues.phrase(  # where a first thought ends
    r"(?<=\w\w)[,;]\s|\s[–—-]+\s|\s(?:because|since|so|otherwise|but|and)\s")
_ENDED = re.compile(r"[.?!]\s*$")
_THING = cues.phrase(  # what a pronoun after it may stand for
    r"""\b(?:the|an?|our|my|your|all|every|each|no|any|this|these|those|\d+)\s(?!time|way|thing|point
    |same|other|one\b)[\w-]{2,}
      | ^(?:[\w'-]+\s)?(?!this|its|always|does|was|is|has|yes|us|less)[a-z]{2,}s\b
      | \b(?!\w*thing)[a-z]+(?:ion|ment|ions|ments)\b""")
_JOINS = cues.phrase(  # "that" which only joins two sentences, "it" which stands for nothing
    r"""(?:\b(?:sure|so|say|says|said|mean|means|note|remember|aware|mind|agreed|decided|assume|ensure|fact
      |know|think|want|believe|now|given|such|remind\syou|ok(?:ay)?|fine|rule|is|was|\w+s)\s)that(?=\s\w)
      | \bit(?:'s|\sis)\s(?:not\s)?(?:a|an|ok(?:ay)?|fine|better|not)\b | \b(?:hate|love|like
      |prefer)\sit\swhen\b
      | \bthis\sis\s(?:an?|our|the)\b | \b(?:one|first|last)\s(?=\w+\s(?:per|for|at|each|a|in|of)\b|\w+$
      |line|slot|file)
      | \bthere(?:'s|\sis|\sare)\b
      | \b(?:at|the)\s(?:first|last|same)\b | \bone\s(?:of|per|at|more|topic|thing)\b""")


def lasts(whole: str, verdict: Verdict, answers: str = "", tagged: bool = False) -> bool:
    """Whether a remark holds for the next session, too, and says itself what it speaks of; `answers` is the
    line that it answers.
    """
    plain = opening(whole)[1]
    if verdict.option or not is_clear(whole, verdict, answers):
        return False
    if verdict.personal or verdict.says in ("command", "preference") or _FORBIDDEN.match(plain):
        return True
    unsure = any(sign.search(plain) for sign in (_PLAN, _GUESSED, _MEASURED))
    if tagged or unsure or is_question(whole):
        return STRONG.search(plain) is not None
    if _APPROVED.search(plain) or ORDER.match(plain):
        return any(sign.search(plain) for sign in (GENERAL, REASON)) or _chooses(plain)
    return True


def _chooses(plain: str) -> bool:
    """Whether an order picks one way and says which it is not: "use X, not Y"."""
    return cues.CHOICE.match(plain) is not None and (CONTRAST.search(plain) is not None or bool(names(plain)))


def is_clear(whole: str, verdict: Verdict, answers: str = "") -> bool:
    """Whether somebody understands a remark who was not there: nothing in it points out of it."""
    plain = opening(whole)[1]
    if _GRUMBLED.match(plain) and len(names(plain)) < CLEAR and ":" not in plain:
        return False
    unnamed = verdict.bare and not names(answers) and not tells(plain, FEWEST + 1)
    if not names(plain) and (unnamed or _SUBJECTLESS.match(plain)):
        return False
    if len(plain.split()) < CLEAR or not tells(plain, FEWEST - 1 - bool(_FORBIDDEN.match(plain))):
        return False
    rest = _CLAUSE.split(_JOINS.sub(lambda match: "_" * len(match[0]), plain), maxsplit=1)[0]
    outside = _OUTSIDE.search(rest)
    if outside and not names(rest[: outside.start()]):
        return False
    first = _POINTS.search(rest)
    before = rest[: first.start()] if first else ""
    named = names(plain if _ENDED.search(before) else before)
    return first is None or bool(named) or bool(_THING.search(before) or _HABIT.search(plain))
