"""How people say to agents what lasts, and how they say what does not: English, as tables of patterns.

A cue is a way to say a rule, a correction, a preference, a decision, a convention of a project, a command
          or a
to-do, and how sure it is. The other tables say what a sentence may open with, and what makes it a
          question, a
story, somebody else's words or a thing of the moment. What is done with them stands in `judge.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from otolith.derive.patterns import TablePattern
from otolith.model.words import word_set


def phrase(text: str) -> TablePattern:
    """A pattern of words; white space in it only parts its lines."""
    return TablePattern(text, re.IGNORECASE | re.VERBOSE)


CODE = re.compile(  # what is written as programs write it: a name, a path, a flag, a version
    r"`[^`\n]+`|(?<![\w./])(?:\.{1,2}/)+[\w.@-]+(?:/[\w.@-]+)*"
    r"|(?<![\w/])(?:@|\.{0,2}/)?[\w-]+(?:/[\w.@-]+)+|\b\w+\.(?!\d)[a-z][a-z\d]{0,4}\b(?!\.)"
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z\d]+(?:[A-Z]\w*)+|\b\w+_\w+\b|(?<!\S)--?[a-z][\w-]*|\b\w+\(\)"
    r"|\bv?\d+\.\d[\w.]*|\b\d+(?:\.\d+)?(?i:ms|[kmgt]i?b?|s|x|px|%)?\b|\b[A-Z][A-Z\d]{1,}s?\b"
    r"|\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|(?<!\w)'[^'\n]{2,40}'(?!\w)")
SHOUTED = word_set("""NO NOT NEVER ALWAYS ONLY MUST DON'T DONT STOP YES ALL ANY ANYTHING EVERYTHING WHOLE I
    YOU THE AND OR IS ARE DO IT PLEASE WHY WHAT THIS THAT CARE OK MADE DECISIONS SHOULD BEFORE EVER JUST NOW
    TODO FYI BTW WTF LOL OMG ASAP EVERY SAME REALLY VERY""")
EMPTY = word_set("""thing things stuff way ways something anything everything one ones good great nice
          fine ok
    bad better best sure right lot bit kind sort maybe seems seem looks look like think want need let make
          get
    go going do did done does use used using yeah yes work works working change changes issue problem code
          file
    files man dude please thanks just really actually again time still first next much many""")

LEAD = phrase(r"""^(?:[\s>*•–—-]*(?:\(?\d{1,2}[.)]\s+|(?:ok(?:ay)?|k+|m+k+|m+|hm+|uh+|u+m+|so|well
          |ye(?:s|ah|p)|yup|ya|y|sure|right|alright|cool|great|nice|good|perfect|awesome|excellent|thanks
          |thank\syou|thx|please|pls|also|and|but|then|now|hey|hi|hello|dude|man|bro|buddy|mate|guys|look
          |listen|whoa|wow|oh|ah|ugh|sorry|fyi|btw|by\sthe\sway|in\saddition|additionally|finally|again
          |honestly|basically|just|wait|one\s(?:(?:small|more|last|other)\s)?thing(?=[:,])|i\sremember(?=[:,])
          |for\s\#\d+|(?:um|uh),?\sno)(?![\w'-])[\s,.:;!…–—]*))+""")
ASKED = phrase(r"^(?:remember|note|keep\sin\smind|bear\sin\smind)\b[\s,:]*(?:that\s)?")  # … and what to keep
REFUSAL = phrase(r"""^(?:(?:no+|nope|nah)(?:[\s,.!…:;–—-]*(?:no+|nope|man|dude))*(?=[,.!…:;–—]|\s(?:it
          |the|we|i|you|that|this|use|don't|do\snot|keep|just|not|my|our|he|she|they)\b)|(?:that|this
          |it)(?:'s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct|true|what\si\s(?:said|meant
          |asked(?:\sfor)?|wanted)))|wrong|incorrect|not\squite)[\s,.!…:;–—-]*""")
TAG = phrase(r"""[,.…\s]+(?:yeah|yes|no|right|ok(?:ay)?|correct|agree[d]?|eh|huh|isn't\sit
          |(?:do\syou\s)?see(?:\sit|\sthat)?|you\sknow|don't\syou\sthink)\s*\?+$""")
ASKS = phrase(r"""^(?:what|why|how|who|whose|where|when(?=\s(?:will|do|does|did|is|are|was|were|can
          |should|would)\b)|which|whats|hows|do\syou|does|did|is|are|was
          |were|am\si|can|could|would|will|should\s(?:i|we|it|this|that)|shall|have\syou|has|any\s(?:idea
          |thoughts|chance)|thoughts|i\swonder|i'm\s(?:wondering|curious)|question:|explain|describe
          |tell\sme|(?:do|don't)\swe)\b""")
HEDGED = phrase(r"""\b(?:maybe|perhaps|probably|possibly|i\sguess|i\ssuppose|i\sthink|i\sbelieve
          |not\ssure|might|seems?|i\swonder|presumably|kind\sof|sort\sof|could)\b""")
OTHERS = phrase(  # somebody else's words
    r"""^(?:he|she|they|(?:my|our|the)\s(?:\w+\s)?(?:boss|friend|colleague|manager|client|customer|team
          |teammate|lead))
          \s(?:\w+\s)?(?:says?|said|wrote|writes|suggests?|suggested|claims?|mentions?|mentioned|told
          |recommends?|asks?)\b
          |\b(?:reviewers?|copilot|the\s(?:pr|docs?|documentation|readme|article|description
          |comment|error|log|output|reviewer|issue|ticket|message)(?:\s\w+)?|someone|somebody|people
          |according)\s(?:says?|said|wrote|writes|suggests?|suggested|claims?|mentions?|mentioned|told
          |recommends?|asks?|to)\b|^consider\s\w+ing\b""")  # "consider using …": a review's words
PASSING = phrase(  # true for this moment or this task only
    r"""^(?:commit|push|deploy|run|rerun|restart|merge|rebase|stage|ship|continue|proceed|try|retry
          |open|close)
          (?=\s(?:it|this|that|the|them|and|to|now|again|pls|please|all|everything)\b|[,.!]|$)
          (?!.*\b(?:always|never|every|each|before|after|with|via|using|through|from\snow|only)\b)
          |\b(?:touch|change|modify|edit|break|affect)\s(?:\w+\s){0,3}(?:other|else|rest|existing)\b
          |\bunchanged\b|^(?:for\sexample|e\.g\.|for\sinstance)|\b(?:yet|for\snow|right\snow,?\s(?:let|do
          |just)|at\sthis\s(?:point|moment|stage)
          |this\stime
          |on\s(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|for\sthe\smoment|on\sline\s\d+
          |lines?\s\d+|first,?\sthen|one\ssec|in\sa\s(?:sec|minute|moment)
          |today|tonight|later\stoday|as\s(?:we|you|i)\sspeak)\b""")
HAPPENED = phrase(  # what happened or is seen, no rule
    r"""\bshould\s(?:now\s|already\s)?(?:work|fix|pass)\b(?!\s(?:on|in|with|for|without)\b)|^(?:i'm|i\sam
          |i've|i\shave|i\sjust|i|we\sjust|we're|it|it's|this|that|here's|here\sis|there's
          |there\sis|still)\s(?:just\s|still\s|also\s|now\s|already\s|only\s)*(?:getting|got|get|see
          |seeing|saw|ran|run|running|tried|trying|noticed|found|checked|pushed|committed|merged|deleted
          |restarted|rebooted|says|said|shows|showing|works|working|fails?|failed|failing|happens?
          |happened|looks|look|done|lost|confused|wondering|crashed|broke|broken|hangs|stuck|what
          |the\s(?:output|error|log)|understand|know|remember|going\sto|will|am|was)\b|^(?:good|nice
          |great|well)\s(?:job|work|catch|point|idea|call|done)\b|^(?:looks|sounds|works
          |seems)\s\w+[.!]*$""")
NOW = phrase(  # a state of the moment
    r"""\b(?:fail(?:s|ed|ing|ures?)?|broke[n]?|break(?:s|ing)|crash(?:es|ed|ing)?|hang(?:s|ing)?|stuck
          |missing
          |wrong|weird|slow|error(?:s|ing)?|not\sworking|doesn't\swork|isn't\sworking|still|green|red
          |(?:un)?related|confusing|done|complete[d]?|finished|ready|running|happening|showing|getting
          |looking|gone|empty)\b""")
# … told as what follows
ELSE = phrase(r"\b(?:otherwise|or\selse|unless|if\s(?:you|we|it)|when\s(?:you|we))\b")
_PROJECT = r"""(?:this|it)\sis\s(?:an?|our|the)\s(?:[\w/.-]+\s){0,3}(?:repo|repository|project|package
          |library
    |lib|monorepo|service|app|api|module|crate|plugin|cli|tool|website|site|game|firmware|prototype)\b"""
POINTING = phrase(rf"""^(?!{_PROJECT}|this\s(?:repo|repository|project|codebase|app|team|company|api
          |package|service)\b)(?:(?:anything|everything|everyone|all|any|the)\s(?:else|others?
          |rest)|otherwise
          |same|it|this|that|these|those|them|they|he|she|so|here|there|one|ones|both|neither|which)\b""")

_BARE = r"""(?:issue|problem|bug|error|fix|change|doc|document|comment|check|function|method|plan|id|name
    |schema|dependency|binary|output|result|value|field|column|list|item|thing|rest
    |former|latter|format|script)s?"""
BARE = phrase(  # speaks of something that only the sentences before it name
    rf"""\bthe\s(?:(?:new|old|other|same|first|second|last|recommended|existing|right|wrong
          |current)\s)*{_BARE}
          (?!\s(?:of|in|for|from|on|that|which|to|named|called|with|between|by|should|must
          |[\w-]*\d)\b|\w|[-_./'])
        | ^[^,;:]*?\b(?:about|of|for|with|to|do|in|on|from|want|need|have|use|keep|put|make|if|leave|call
          |after|before|like|than)\s(?:it|that|this|them|these|those|it's)(?![\w'])
          (?=\s*(?:[.,;!)]|$)|\s(?:as|at|in|on|for|to|but|and|or|so|when|from|with|because|is|was|isn't)\b)
        | ^[^,;:]*?\bif\sit's\b""")

_WAY = r"""(?:use|reuse|keep|have|prefer|avoid|stick\s(?:to|with)|treat|leave|limit|follow|rely\son
          |default\sto
    |go\swith|go\sfor|respect|assume|call|name|respond|answer|reply|stay|base|expose|put|store
          |switch\s(?:to|over)
    |drop|ditch|skip|disable|enable|require|support|allow|restrict|remember|mirror|match)"""
_GO = r"""(?:keep\s(?:going|it\sup|working|on|at\sit|looking)|have\s(?:a|another)\s(?:look|go|think)
          |have\sfun
    |leave\sit|drop\sit|skip\s(?:it|this|that)|use\sit|follow\sup|call\sit\sa\sday|put\sit\sback
          |match\sit)\b"""
_STEP = r"(?:^|[,;:.…–—-]\s|\b(?:and|but|so|then|also|just|please|though)\s)"


class Cue(NamedTuple):
    says: str
    sure: float
    pattern: TablePattern
    personal: bool = False
    needs: str = ""  # "code": only where something is named exactly


def _cue(says: str, sure: float, text: str, *, personal: bool = False, needs: str = "") -> Cue:
    return Cue(says, sure, phrase(text), personal, needs)


CUES = (  # the first that fits counts
    _cue("rule", 0.9, r"""^(?:remember|note|keep\sin\smind|bear\sin\smind|be\saware|mind\syou
          |don't\sforget)
        (?:,|:|\sthat|\sthis:?)\s | \bi\sremind\syou\b | ^(?:reminder|rule|note|important|nb
          |for\sthe\srecord)\s?[:,]"""),
    _cue("todo", 0.75, r"""^(?:to-?do|fixme)\b | \b(?:remember|don't\sforget|do\snot\sforget)\sto\b
        | \b(?:we|i|you)\s(?:still\s|also\s|then\s)*(?:need|have|want|ought)\sto\b.*\b(?:later|eventually
          |afterwards
          |next\s(?:week|time|sprint|release)|at\ssome\spoint|some\sday|before\s(?:the\s)?(?:release
          |launch))\b
        | \b(?:later|eventually|at\ssome\spoint|afterwards|next\s(?:week|sprint|time)|in\sa\sfollow-?up)\b
          .*\b(?:we|i)(?:\s|')(?:should|need|must|want|will|ll|have\sto)
        | \bwe\sshould\sfirst\b"""),
    _cue("rule", 0.9, rf"""\b(?:from\snow\son|in\s(?:the\s)?future|going\sforward
          |as\sa\s(?:general\s)?rule
          |every\stime|each\stime|at\sall\stimes|under\sno\scircumstances|without\s(?:asking|exception))\b
        | {_STEP}(?:always|never)\s(?!mind\b)[a-z]+ | \byou\s(?:must|should|need\sto
          |have\sto)?\s?(?:always|never)\b
        | \b(?:don't|do\snot|dont)\sever\b | \bnot\s(?:allowed|permitted|acceptable)\b
          | \bforbidden\b"""),
    _cue("rule", 0.8, r"""\b(?:ask|check\swith|consult|wait\sfor)\sme\b.*\b(?:before|first|don't|do\snot
          |instead|decide
          |any\s(?:change|decision))
        | \b(?:before|without)\b.*\b(?:ask|asking|my\s(?:approval|ok|permission|go))\b
        | \b(?:i|we|user|human)\s(?:alone\s|will\s)?(?:make|made|makes|take|decide)\s(?:the\s|all\s
          |these\s)*decisions?\b
        | \bfor\sme\sto\s(?:review|check|approve|test|look|verify)\b
        | \b(?:stop|stopping|pause|pausing|wait)\s(?:at|after|before)\s(?:each|every)\b
        | \b(?:step\sby\sstep|one\s(?:\w+\s)?at\sa\stime)\b"""),
    _cue("preference", 0.85, r"""\b(?:i|we)(?:\s(?:really|much|strongly|generally|usually|do|personally
          |also|just|only))*
          \s(?:prefer|hate|dislike|can't\sstand|love)\s
        | \bi(?:'d|\swould)\s(?:much\s|really\s)?(?:rather|prefer)\b | \bi\s(?:don't|do\snot)\s(?:like
          |enjoy)\b
        | \bi(?:'m|\sam)\s(?:not\s)?(?:a\s)?(?:big\s|huge\s)?fan\sof\b | \bmy\s(?:\w+\s)?(?:preference
          |favou?rite)\b
        | \bi\s(?:always|never|usually)\s\w+ | \bi\slike\s(?!it\b|that\b|this\b|how\b|what\b|the\sidea
          |your)
        | \bi\s(?:must|should)\s(?:not|never)\s | \bi\s(?:mustn't|can't|cannot)\s(?:eat|use|read|see|work
          |run)\b""",
         personal=True),
    _cue("preference", 0.8, r"""^i(?:'m|\sam)\s(?:an?\s|from\s|based\sin\s|new\sto\s|allergic\s
          |colou?r-?blind|left-handed
          |dyslexic|(?:mostly|usually)\son\s|on\s(?:linux|mac(?:os)?|windows|arch|ubuntu)
          |the\s(?:maintainer|owner|author|lead))
        | \bmy\s(?:name|time\s?zone|os|editor|shell|native\slanguage|role|team|company|pronouns?)\s(?:is
          |are)\b | ^i\s(?:work|live)\s(?:at|as|for|in|on|from|with)\s
          | ^call\sme\s""", personal=True),
    _cue("correction", 0.8, r"""\bi\s(?:said|suggested|asked\s(?:for|you)|meant|told\syou|specified
          |wanted|never\sasked)\b
        | \byou\s(?:keep|are\signoring|misunderst\w+|mis-?read)\b
        | \b(?:it|this|that)(?:'s|\sis)\snot\san?\s(?:bug|mistake|typo|problem|regression)\b
        | \b(?:this|that|it)(?:'s|\sis)\s(?:no\sgood|not\s(?:ok(?:ay)?|good|acceptable|right
          |true|how|enough)
          |wrong|bad|unacceptable|incorrect)\b.*\b(?:as|because|since|cause|:)\s"""),
    _cue("rule", 0.8, r"""\b(?:the|our|my)\s(?:whole\s|main\s|entire\s)?(?:point|goal|purpose|intent
          |requirement|contract|invariant)
          \s(?:of\s.{1,40}\s|here\s)?(?:is|are)\s | \b(?:responsibility|job)\sof\b | \b(?:callee|caller
          |client|server)'s\s
          (?:job|responsibility) | \bby\sdesign\b | \b(?:is|are)\s(?:intentional|deliberate)\b"""),
    _cue("decision", 0.8, r"""\b(?:we|i)\s(?:really\s|actually\s|just\s)*(?:don't|do\snot|dont|not
          |no\slonger)
          \s(?:really\s|actually\s|even\s)?(?:want|need|care|use|support|rely|allow|have\sto|do)\b
        | \b(?:don't|do\snot|dont)\s(?:think|believe|see\swhy)\s(?:that\s)?(?:we|i|it)\s
        | \b(?:the\s)?users?\s(?:doesn't|don't|does\snot|do\snot|shouldn't)\s(?:care|want|need|see|have)\b
        | \bwe\s(?:don't|do\snot|dont|never|no\slonger)\s(?!know|think|see|understand|remember|get
          |have\s(?:time|access)
          |really\sknow)[a-z]+\s
        | \b(?:we|i)\s(?:only|just)\s(?:want|need|use|support|have\sto)\b
        | \b(?:we|i)\s(?:decided|agreed|settled|chose|opted)\b | \bwe\s(?:rely\son|want\sto\skeep)\b"""),
    _cue("decision", 0.8, rf"""\blet's\s(?:just\s|also\s|then\s|please\s|still\s|instead\s)*
          (?!{_GO})(?:not|only|make\s(?!a\scommit|sure\b)(?:it|the|this|that|them|all|every|\w+\s(?:the
          |a)\b)|{_WAY})\b
        | \blet's\s(?:just\s|also\s)*(?:be|make)\ssure\b
        | {_STEP}(?:we'll|we\swill|we(?:'re|\sare)\s(?:going\sto|gonna))\s(?:just\s|only\s|not\s
          |always\s)*(?!{_GO}){_WAY}\b"""),
    _cue("decision", 0.7, r"""\blet's\s.*\b(?:in|into|to|under
          |at)\s(?:the\s)?\S*[\w-]+[./][\w./-]+""", needs="code"),
    _cue("decision", 0.75, r"""\b(?:option|plan|approach|variant|alternative|choice|suggestion|proposal)\s
          (?:\#?\d+|[a-z])\b(?:\s(?:it\sis|is|seems|sounds|looks|works|please|then|makes)|[.,!]|$)
        | ^(?:go|going)\s(?:with|for)\s | ^(?:pick|choose|take)\s(?:option|the|\#)
        | ^(?!(?:it|this|that|all|everything|they|you|i|what)(?:'s|\b))[^,?]{2,60}?\s(?:is|are)\s
          (?:just\s|totally\s|perfectly\s|also\s)*(?:fine|ok(?:ay)?|acceptable|good\senough|preferred
          |preferable)\b
        | \b(?:it|that)(?:'s|\sis)\s(?:also\s|perfectly\s|totally\s)*(?:ok(?:ay)?|fine)\s(?:that|to|if
          |for|when)\b"""),
    _cue("rule", 0.75, rf"""{_STEP}(?:don't|do\snot|dont|no\sneed\sto|stop|quit|avoid|refrain\sfrom)\s
          (?!worry|bother|know|think|understand|see|have\s(?:time|access)|remember|get\s(?:it|why)|mind
          |like|want|need|care
            |do\s(?:it|that|this|anything)|proceed|commit|push|start|change\sanything|touch\sanything
          |be\b|give\sup|forget
            |here|now|please)[a-z]+"""),
    _cue("rule", 0.7, r"""^no\s(?!idea|problem|worries|need|way|thanks|rush|clue|one|more\squestions|luck
          |such|longer|i\b
          |it\b|that\b|this\b|the\b|we\b|you\b|they\b)[\w`"-]+ | ^(?:only|just)\s\d*\s?[\w`"-]+\s
          (?:\w+\s)?(?:gets?|is|are|has|have|can|may|should|must|goes)
        | ^(?:anything|everything|everyone|anyone|every|each|any|all|nothing|nobody|no\sone)\s
          (?!set\b|good\b|done\b|right\b|tests?\s(?:are\s)?pass)(?:[^?]{1,60}\s)?(?:is|are|gets?|goes
          |must|should|counts?|has|have
          |needs?|will|belongs?|increment|means?)\b | \bevery\sother\b"""),
    _cue("rule", 0.75, rf"""^if\s.{{3,90}}?(?:,|\sthen\b)\s?(?:then\s)?(?:please\s|just\s|always\s|it\s
          |you\s|we\s|the\s\w+\s)*
          (?:should|must|needs?\sto|has\sto|always|never|don't|do\snot|increment|return|throw|raise|stop
          |ask|tell|skip|{_WAY})\b"""),
    _cue("rule", 0.7, r"""(?<!\bwhat\s)(?<!\bwhy\s)(?<!\bhow\s)\b(?!(?:i|you|we|i'll|you'll|we'll|to|not
          |as|all|just|also|still|only|really|then|now|first|certainly|probably)\s)[\w`'"’)-]+\s
          (?:really\s|still\s|also\s|then\s|probably\s|definitely\s|all\s|both\s)*
          (?:should(?:n't)?|must(?:n't)?|shall|needs?\sto|has\sto|have\sto|ought\sto|may\sonly|can\sonly
          |may\snot|is\sto\sbe|are\sto\sbe)
          \s(?!i\b|we\b|you\b|it\b|this\b|that\b|there\b|they\b|do\sit|have\s(?:been|worked)
          |be\s(?:fine|ok|good|enough|done|working|fixed|able|possible|needed))[a-z`]+"""),
    _cue("rule", 0.7, r"""\b(?:we|you)\s(?:should|must|shall|need\sto|have\sto|may|can)\s(?:not|never
          |only|always|no\slonger)\b
        | \b(?:we|you)\s(?:shouldn't|mustn't|can't|cannot)\s(?!be\ssure|tell|see|find)[a-z]+
        | ^(?:should|must)\s(?:just\s|only\s|always\s|never\s|not\s)*[a-z]+\s"""),
    _cue("decision", 0.6, r"""\bwe\s(?:really\s|probably\s|also\s)?(?:should
          |must)\s[a-z]+""", needs="code"),
    _cue("convention", 0.8, rf"""\bwe\s(?:always\s|usually\s|generally\s|only\s|already\s
          |currently\s)*(?:use|deploy|store|support|write
          |build|ship|host|follow|target|pin|run\s(?:on|in|with)|name|generate|version|release)\s
        | \bwe(?:'re|\sare)\s(?:stuck\s|still\s|all\s)?on\s[\w.]+\s
        | \b(?:is|are|lives?|sits?|stands?|located|found|stored|kept)\s(?:at|in|under|inside)\s
          (?:the\s)?(?:`|\.{{0,2}}/|~/|\w+/)[\w./@`~-]+
        | \bstill\sin\s(?:dev|development|beta|alpha)\b | \b(?:pre-?release|not\s(?:in\sproduction
          |released|live)\syet)\b
        | \b{_PROJECT}"""),
    _cue("command", 0.75, r"""\b(?:run|use|start|build|test|tests|deploy|lint|install|launch|execute
          |check)\b.*\b(?:with|via|using|through|by
          (?:\srunning)?)\s`?(?:npm|pnpm|yarn|bun|npx|make|just|task|cargo|go|pytest|python3?|uv|uvx|pip
          |poetry|tox|nox|docker
          |docker-compose|kubectl|helm|git|gh|gradle|\./gradlew|mvn|dotnet|rake|bundle|rails|mix|sbt
          |bazel|nix|terraform|ansible
          |cmake|ninja|node|deno|php|composer|ruby|swift|xcodebuild|\./[\w./-]+|bash|sh)\b
        | `[^`]+\s[^`]+`\s(?:is|runs|starts|builds|does|gives|works|will)\b
        | \bthe\s(?:right\s|correct\s)?command\s(?:is|for)\b"""),
    _cue("rule", 0.75, r"""\b(?:does\snot|doesn't|do\snot|don't|never)\sgets?
          \s(?!it\b|that\b|why\b|what\b)\w+ed\b
        | \b(?:is|are)\s(?:not|never)\s(?:allowed|accepted|permitted|merged|supported)\b"""),
    _cue("rule", 0.7, r"""^(?:all|every|each)\s(?:\w+\s){1,4}(?:runs?|uses?|lives?|comes?|goes|returns?
          |starts?|ends?)\s"""),
    _cue("decision", 0.7, r"""\byou\s(?:can|may)\s(?:safely\s|just\s)*(?:ignore|skip|assume
          |rely\son)\s(?!it\b|that\b|this\b)"""),
    _cue("preference", 0.8, r"""^(?:write|answer|reply|respond|speak|explain|comment
          |document)\b.*\bin\s(?:english|french|german
          |spanish|italian|portuguese|dutch|polish|russian|ukrainian|chinese|japanese|korean|turkish
          |swedish)\b"""),
    _cue("convention", 0.65, r"""^(?!(?:i|you|it|this|that|there|he|she
          |we)(?:'\w+)?\s)(?:[\w`"'./@()-]+\s){1,6}?(?:takes?|lasts?|costs?
          |expires?|allows?|limits?)\s(?:about\s|around\s|up\sto\s|at\smost\s|only\s|after\s)*\$?\d"""),
    _cue("decision", 0.75, r"""\bwe\s(?:won't|will\snot|(?:are\snot|aren't)\sgoing\sto)\s(?!be\b|know
          |have\stime)[a-z]+"""),
    _cue("rule", 0.7, r"""\b(?:i|we)\swant\s.*\b(?:as\s(?:the\s|a\s)?default|by\sdefault|everywhere
          |in\s(?:all|every)|on\severy)\b
        | ,\s(?:and\s)?no\s(?!problem|worries|rush|thanks|need|idea|matter|one|i\b|it\b|we\b|you\b)[\w-]+
        | \b(?:before|after)\s(?:every|each|any)\s[a-z]+"""),
    _cue("convention", 0.75, r"""^(?:this|the|our)\s(?:repo|repository|project|codebase|app|team|company
          |api|backend|frontend|monorepo|package
          |service|server|client|database|db|website)\s(?:has|uses|contains|runs|needs|targets|supports
          |follows|lives|expects|is\s(?:written
          |built|hosted|deployed|based))\s
        | ^(?!(?:i|you|it|this|that|there|he|she|we|they)(?:'\w+)?\s)(?:[\w`'-]+\s){1,4}?(?:follows?\b
          |stays?\sin|(?:is|are)
          \s`?(?:[\w.-]+/)+[\w.-]+)\s?"""),
    _cue("rule", 0.7, r"""\b(?:and|but)\snothing\s(?:else|more)\b
        | \bonly\s(?:if|when|after|for|on|with|via|through)\s\w+
        | ^(?!(?:it|this|that|he|she|what|which)\b)(?:[\w`'"./@*-]+\s){1,6}?(?:go(?:es)?
          |belongs?)\s(?:through|to|into|in|under|via
          |first|last)\b"""),
    _cue("correction", 0.7, r"""^(?:(?!(?:is|are|was|were|does|did|do|will|would|should|can|could|has
          |have|why|or|if)\s)
          [\w./@`-]+,?\s){1,6}not\s[\w./@`-]+[.!]*$
        | ^not\s(?!sure|yet|now|bad|really|quite|working|a\b|the\b|what|that|this|so|only|too|much
          |all)[a-z]+\s\w+
        | ,\s(?:and\s)?not\s(?:the\s|a\s|an\s|in\s|on\s|to\s|for\s|by\s)?[\w`"-]+
          | \binstead\sof\b
        | \brather\sthan\b | \bnot\s[\w`"-]+,?\sbut\s | \bactually\s(?:it|the|we|that)\b"""),
    _cue("decision", 0.7, rf"""{_STEP}(?!{_GO}){_WAY}\s(?!it\b|that\b|this\b|in\smind|me\b|them\b|up\b
          |down\b|to\b)[\w`"'(@./-]+"""),
    _cue("decision", 0.7, r"""^do\s(?:all\s|your\s|the\s|our\s)*[\w-]+\s(?:with|in|via|using
          |through)\s\w+"""),
    _cue("rule", 0.7, rf"""{_STEP}(?:follow|respect|use|obey|stick\sto)\s(?:them|it|this|that|those
          |these)\b"""),
    _cue("rule", 0.7, r"""\b(?:make\ssure|be\ssure|ensure)\b.*\b(?:always|never|not|only|before|after
          |every|each|all|any|both)\b"""),
    _cue("rule", 0.65, r"""\b(?:i|we)\swant\s(?:the\s|all\s|every\s|each\s|our\s|this\s|it\s
          |you\s)?(?:[\w`-]+\s){0,5}to\s(?:be|have|always
          |never|only|not|stay|look|use|return|show|support|go|come)\b"""),
    _cue("convention", 0.6, r"""\b(?:went|grew|dropped|rose|fell|shrank|increased|decreased|is\sup
          |is\sdown)\sfrom\s\S*\d\S*\s.*to\s
          \S*\d""", needs="code"),
    _cue("convention", 0.65, r"""^(?!(?:i|you|he|she|they|we|let|what|there|here|it|this|that|these
          |those)(?:'\w+)?\s)(?:[\w`"'./@()-]+\s){1,7}?
          (?:uses|needs|expects|returns|supports|contains|requires|depends\son|holds|belongs\sto|runs\son
          |handles|owns|generates|reads
          |writes|exposes|emits|accepts|inherits|extends|implements|replaces|listens)\s""", needs="code"),
    _cue("convention", 0.65, r"""^(?!(?:i|you|he|she|they|we|let|what|there|here|it|this|that|these
          |those)(?:'\w+)?\s)(?:[\w`"'./@()-]+\s){1,8}?
          (?:is|are|isn't|aren't|has|have|uses?|comes?|means?|takes?|needs?|expects?|returns?|supports?
          |contains?|requires?|depends?|holds?
          |belongs?|runs?|handles?|owns?|inherits?|generates?|reads?|writes?|lives?|doesn't|don't|never
          |only|always|cannot|can't)\s
          .*(?:\bonly\b|\bnever\b|\balways\b|\bno\b|\bnot\b|n't\b|,?\sso\s|\bbecause\b|\bsince\b|\bused\b
          |\bmeant\b|\bexposed\b|\bprivate\b
          |\bpublic\b|\bdeprecated\b|\brequired\b|\boptional\b|\bdefault\b|\bsame\b|\bagnostic\b|\bbased\b
          |\bper\b
          |\bin\b|\bfrom\b|\bby\b|\bfor\b
          |\bas\b|\bwith\b)""", needs="code"),
    _cue("convention", 0.65, r"""^(?!(?:i|you|he|she|they|we|let|what|there|here|it|this|that|these
          |those)(?:'\w+)?\s)(?:[\w`"'./@()-]+\s){1,6}?
          (?:is|are)\s(?:always\s|only\s|never\s|not\s)?(?:append[-\s]only|read[-\s]only|immutable|unique
          |case[-\s](?:in)?sensitive|private
          |public|generated|sorted|idempotent|nullable|required|optional|deprecated|meant\s(?:to|for)
          |only\s(?:for|used)|used\s(?:for|by|in|to)
          |exposed|shared|owned|called|named|stored|one-based|zero-based|utc)\b"""),
)
REQUEST = _cue("decision", 0.6, r"""^(?:can|could|would|will)\s(?:we|you)[\s.…]+(?:please\s|just\s
          |maybe\s|not\s)*[a-z]+\s.*
    (?:\binstead\b|\brather\sthan\b|\bNOT\b|\bonly\b|\balways\b|\bnever\b|\bwithout\b
          |\bfrom\snow\son\b|\bwhen(?:ever)?\s(?:you|we|i)\b|\bevery\s|\beach\stime\b)""")
OBJECTION = _cue("correction", 0.5, r"""^(?:won't|wouldn't|doesn't|isn't|aren't|don't|shouldn't|didn't)\s
    (?:this|that|it|the|we|you|they)\b""")
OPTION = phrase(r"""\b(?:option|plan|approach|variant|alternative|choice|suggestion|proposal
          |number)\s\#?(\d+|[a-z])\b""")
CHOICE = phrase(r"""^(?:(?:let's|we'll|we\swill|we(?:'re|\sare)\s(?:going\sto|gonna))\s(?:just\s|also\s
          |then\s)*)?(?:use|reuse|prefer|avoid|stick|follow|rely|default|go\s(?:with|for)
    |respect|assume|treat|limit|restrict|require|support|respond|answer|reply|base|mirror|remember|name
          |call|stay|take|pick
    |choose|pin|target)\b""")
ORDERED = phrase(r"""^(?:let's\b|we'll\b|we\swill\b|we(?:'re|\sare)\s(?:going\sto|gonna)\b|(?:please\s
          |just\s|then\s)*(?:put|have|make
    |keep|add|remove|leave|drop|switch|skip|disable|enable|expose|store|match|change|move|rename|allow
          |update)\b)""")
HOLDS = phrase(  # signs that an order holds for longer than the change it asks for
    r"""\b(?:because|since|so\sthat|as\sit|never|always|only|every|each|all|any|not|n't|no|longer
          |instead|rather|must|should
      |everywhere|default|possible|under|below|most|max|least|whenever|unless|until|otherwise|want
          |from\snow)\b|n't\b""")
LABEL = phrase(r"^[a-z][\w-]{1,13}:\s(?=\S+\s)")  # "tests: …", "naming: …"
# terse, and plainly English
FRAGMENT = phrase(r"^(?:no|never|always|only|use|keep|don't|do\snot|not|avoid|prefer)\s")
OBEYING = phrase(r"""\b(?:follow|respect|obey)\s(?:them|it|those|these)\b""")
