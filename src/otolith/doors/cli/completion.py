"""Tab completion: scripts for three shells, and the hidden command they ask: `otolith complete -- WORDS…`.

The last word is the one being typed. Verbs, options and choices come from the table; ids, titles, tags and
topics from the index as it stands, with no sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from otolith.doors.cli.command import SCOPE, option_of, own_params
from otolith.verbs.table import FAMILIES, Param, Verb, choices_of, table, verb

if TYPE_CHECKING:
    from otolith.index.store import Index

MOST = 100
SHARED = {"--home": "the home", "--json": "answer as JSON", "--help": "show the options and examples",
          **{f"--{name}": f"the {name}" for name in SCOPE}}
VALUED = ("--home", *(f"--{name}" for name in SCOPE))
Offers = Iterable[tuple[str, str]]  # (word, what it is)

SCRIPTS = {
    "bash": r"""_otolith() {
    local IFS=$'\n' word="${COMP_WORDS[COMP_CWORD]}" line value
    COMPREPLY=()
    for line in $(otolith complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
        value="${line%%$'\t'*}"
        case "$word" in
            [\"\']*) COMPREPLY+=("$value") ;;
            *) COMPREPLY+=("$(printf %q "$value")") ;;
        esac
    done
}
complete -o default -F _otolith otolith""",
    "zsh": r"""#compdef otolith
_otolith() {
    local line
    local -a offers
    for line in ${(f)"$(otolith complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
        offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#offers )); then _describe otolith offers; else _files; fi
}
compdef _otolith otolith""",
    # asked once: where there are no offers, the rule does not hold and fish offers files
    "fish": r"""function __otolith_offers
    set -l words (commandline -opc) (commandline -ct)
    set -g __otolith_offered (otolith complete -- $words[2..-1] 2>/dev/null)
    string length -q -- $__otolith_offered
end
complete -c otolith -f -n __otolith_offers -a '(printf "%s\n" $__otolith_offered)'""",
}


def complete(words: Sequence[str], verb_at: Callable[[list[str]], int | None]) -> str:
    """What the last word could become: a line each, the word, a tab, and what it is."""
    *before, typed = [_unquoted(word) for word in words] or [""]
    offers = {word: what for word, what in _offers(before, typed, verb_at(before)) if _begins(word, typed)}
    return "\n".join(f"{word}\t{what}" for word, what in list(offers.items())[:MOST])


def _unquoted(word: str) -> str:
    """A word as the shell hands it over, without the quotes or backslashes it was typed with."""
    if word[:1] in ("'", '"'):
        return word.strip(word[0])
    return word.replace("\\", "")


def _begins(word: str, typed: str) -> bool:
    return word.casefold().startswith(typed.casefold())


def _offers(before: list[str], typed: str, at: int | None) -> Offers:
    if at is None:
        return _verbs() if not before or before[-1] not in VALUED else ()
    row = verb(before[at])
    if row is None or "cli" not in row.doors:
        return ()
    home = before[before.index("--home") + 1] if "--home" in before[:-1] else None
    given, valued = before[at + 1 :], _valued(row)
    if given and given[-1] in VALUED:
        return ()
    if given and given[-1] in valued:
        return _values(valued[given[-1]], typed, home)
    if typed.startswith("-"):
        return _options(row)
    places = [param for param in own_params(row) if not option_of(param).startswith("--")]
    done = _count_places(given, {*valued, *VALUED})
    if not places or (done >= len(places) and "…" not in places[-1].cli):
        return ()
    return _values(places[min(done, len(places) - 1)], typed, home)


def _verbs() -> Offers:
    rows = table()
    return [(name,
             rows[name].help) for names in FAMILIES.values() for name in names if "cli" in rows[name].doors]


def _valued(row: Verb) -> dict[str, Param]:
    """The options that want a value after them."""
    return {option_of(param): param for param in own_params(row) if option_of(param).startswith("--")
            and "|" not in option_of(param) and param.type != "flag"}


def _options(row: Verb) -> Offers:
    own = [(option, param.help) for param in own_params(row) for option in option_of(param).split("|")
           if option.startswith("--")]
    return [*own, *SHARED.items()]


def _count_places(given: Sequence[str], valued: set[str]) -> int:
    """How many of the words stand by place: neither options nor values of some."""
    return sum(not word.startswith("--") and (at == 0 or given[at - 1] not in valued) for at,
               word in enumerate(given))


def _values(param: Param, typed: str, home: str | None) -> Offers:
    if words := choices_of(param):
        return [(word, param.help) for word in words]
    question = {"id": _records, "tags": _tags}.get(param.type) or (_topics if param.name == "topic" else None)
    if question is None:
        return ()
    from otolith import config
    from otolith.errors import BrokenIndex
    from otolith.index.store import Index, index_path
    from otolith.opening import open_home

    tree = open_home(home)
    if tree.identity() == "none":
        return ()
    index = Index(index_path(config.home_cache(tree.name)), tree.identity)
    try:
        return list(question(index, typed)) if index.keep_place() else ()
    except BrokenIndex:  # the next verb heals it
        return ()
    finally:
        index.close()


def _records(index: Index, typed: str) -> Offers:
    for row in index.cards.starting(typed, MOST):
        if typed and row.id.startswith(typed):
            yield row.id, f"{row.kind}: {row.title}"
        else:
            yield row.title, f"{row.kind} {row.id}"


def _tags(index: Index, _typed: str) -> Offers:
    return ((tag, f"{count} records") for tag, count in index.cards.tag_counts())


def _topics(index: Index, _typed: str) -> Offers:
    from otolith.model.recall import Filter

    rows, _ = index.cards.listing(Filter(kind=("entry",)), None)
    return ((str(row.topic), "a topic") for row in rows)
