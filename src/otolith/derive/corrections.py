"""Corrections that name the value alone: "lands 16:40 not 18:40", "sorry, 43", "I was wrong, it's Turing".

Rows as in `wordings.py`; which statement such a value corrects is found among those said before.
"""

from __future__ import annotations

from otolith.derive.wordings import ANY_CASE, END, row

_CUE = (
    r"(?:no|nope|wrong|sorry|oops|correction|actually|wait|oh|hm+|scratch that|my mistake|my bad|argh|ah"
    r"|typo|edit|whoops|no wait|oh wait|ach|hang on|hold on|strike that|i mean|rather|pardon)"
)
_EXACT = (
    r"(?:[#@$€£`/]?\d[\w.,:/%+-]*(?: (?:[a-z]{1,9}|[A-Z][a-z]+)){0,2}|[A-Z`#@/][\w`./+#&’'-]*(?:"
    r" [A-Z\d][\w.+#’'-]*){0,2}|[a-z]+\d[\w-]*)"
)
CORRECTIONS = (
    # corrections that name the value alone
    row(
        rf"^\W*(?:{_CUE}[\s,.:;!—–-]+){{1,3}}(?:(?:it|that|they)(?:['’](?:s|re)| is| are| was)(?:"
        rf" actually)? )?"
        rf"(?P<v>{_EXACT})(?:,? (?:sorry|not [^,;.!?]{{1,30}}))?(?=\s*(?:[,;!—–]|\.?\s*$))",
        ("{i}", "corrects to", "{v}"),
    ),
    row(
        rf"^\W*(?:{_CUE}[\s,.:;!—–-]+){{0,3}}(?:(?:it|that|they|he|she)(?:['’](?:s|re)| is| are| was)?"
        rf"(?: actually)?"
        rf" )?(?:[a-z]+s (?:at |on |in )?)?(?P<v>{_EXACT}),? (?:not|instead of|rather than) (?:at |on "
        rf"|in )?(?P<old>{_EXACT})",
        ("{i}", "corrects to", "{v}, not {old}"),
    ),
    row(
        rf"\bnot (?P<old>{_EXACT})(?:,|,? but|;|:| —| –) ?(?:it['’]s |it is )?(?P<v>{_EXACT})"
        rf"(?=\s*(?:[,;!—–]|\.?\s*$))",
        ("{i}", "corrects to", "{v}, not {old}"),
    ),
    row(
        r"\b(?:wrong|mistaken|mistake|mixed (?:\w+ ){0,3}up|misread|misremembered|misspoke|confused"
        r"|typo|off by"
        r"|turns out|test results?|checked)\b[^;.!?¶]{0,60}?[:,;—–-]+ ?(?:and |but )?(?:(?:he|she"
        r"|finance|the \w+|[A-Z]\w+) "
        r"(?:says?|said) )?(?:it['’]s|it is|it was|that['’]s|it should be|make it) (?P<v>(?!not\b|been"
        r"|about|because|fine"
        r"|ok|me\b|just|only)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
        ("{i}", "corrects to", "{v}"),
        flags=ANY_CASE,
    ),
    row(
        r"\b(?:I['’]m|I am|we['’]re|we are) not (?P<state>[a-z]+ (?:to|in|at|on|with|for|from|of)) "
        r"(?P<old>[^,;:!?()¶]{2,40}?)"
        r"(?: at all| after all)?,? (?:but |it['’]s |it is )(?:\w+ (?:to|in|at|on|with|for|from|of) )?"
        r"(?P<v>[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
        ("{i}", "is {state}", "{v}"),
        ("{i}", "says to forget", "{old}"),
        flags=ANY_CASE,
    ),
    row(
        r"\b(?:won['’]t|isn['’]t|aren['’]t|is not|are not|will not) (?:be )?(?:in |on |at )?(?P<old>"
        r"(?!my\b|our\b)[^,;:!?()¶]{2,40}?)"
        r"(?: after all| any ?more)?[,;]+ (?:but )?(?:it|he|she|they)(?:['’](?:s|re|ll be)| is| are|"
        r" will be)(?: now| actually)?"
        r" (?:in |on |at )?(?P<v>(?!not\b|just|still|been|a\b|very|so\b)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)"
        + END,
        ("{i}", "corrects to", "{v}, not {old}"),
        flags=ANY_CASE,
    ),
    row(
        r"\bI (?:said|wrote|told you|thought|assumed)(?: that)? [^,;:!?()¶]{3,60},? but (?:it['’]s|it is"
        r"|actually|in fact)(?: actually)?"
        r" (?P<v>(?!not\b)[^\s,;:!?()¶][^,;:!?()¶]{0,40}?)" + END,
        ("{i}", "corrects to", "{v}"),
        flags=ANY_CASE,
    ),
    row(
        rf"\b(?:counted|checked|looked|measured|asked)(?: it| them)?(?: up| again| properly)?[:,;] "
        rf"(?:it['’]s |they['’]re |there are )?"
        rf"(?P<v>{_EXACT})(?=\s*(?:[,;!—–]|\.?\s*$))",
        ("{i}", "corrects to", "{v}"),
    ),
)
