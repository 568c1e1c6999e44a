"""English verbs and their forms.

A base and, where it is irregular, its past and participle; the rest is spelled out by rule. `conjugate` gives the two
tables that a Language holds. Nothing here knows what a verb means.
"""

from __future__ import annotations

import re

from strata.derive.language import Tense

# base past participle; a bare base is regular
_IRREGULAR = """
be was been; become became become; begin began begun; bend bent bent; bet bet bet; bite bit bitten; blow blew blown;
break broke broken; bring brought brought; build built built; buy bought bought; catch caught caught;
choose chose chosen; come came come; cost cost cost; cut cut cut; deal dealt dealt; do did done; draw drew drawn;
dream dreamed dreamed; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed fed;
feel felt felt; fight fought fought; find found found; fly flew flown; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung hung; have had had;
hear heard heard; hide hid hidden; hit hit hit; hold held held; hurt hurt hurt; keep kept kept; know knew known;
lay laid laid; lead led led; leave left left; lend lent lent; let let let; lie lay lain; lose lost lost;
make made made; mean meant meant; meet met met; pay paid paid; put put put; quit quit quit; read read read;
ride rode ridden; ring rang rung; rise rose risen; run ran run; say said said; see saw seen; seek sought sought;
sell sold sold; send sent sent; set set set; shake shook shaken; shoot shot shot; show showed shown; shut shut shut;
sing sang sung; sit sat sat; sleep slept slept; speak spoke spoken; spend spent spent; split split split;
spread spread spread; stand stood stood; steal stole stolen; stick stuck stuck; strike struck struck; sweep swept swept;
swim swam swum; take took taken; teach taught taught; tear tore torn; tell told told; think thought thought;
throw threw thrown; understand understood understood; undergo underwent undergone; wake woke woken; wear wore worn;
win won won; write wrote written; withdraw withdrew withdrawn; rewrite rewrote rewritten; rebuild rebuilt rebuilt
"""
_REGULAR = """
accept achieve act add adopt advertise agree aim allow amplify analyze answer apply appreciate approve arrange arrive
ask assume attach attend audit avoid bake balance ban believe belong benefit block book borrow brew cache call calm
camp cancel care carry celebrate change chase chat check cheer clean cleanse clear climb close coach collaborate
collect combine commit communicate compete compile complete compose concern configure connect consider contact contain
contribute convert cook copy craft crash create cry dance decide declare default define delete deliver depend deploy
deprecate describe deserve design destroy develop die disable discover discuss dislike document donate download drop
earn educate email emit enable encourage encrypt end enforce enjoy enroll enter establish expand expect experience
experiment expire explain explore export expose express extend face fail favor favour feature fetch figure film
finalize finish fix focus follow force format foster function gain garden generate graduate guess guide handle happen
hate head help hike hire hope host hug identify ignore imagine implement import improve include increase index inform
inherit inspire install instruct integrate intend interact interview introduce invest invite involve join journal jump
keep kick knit label land last laugh launch learn like limit link list listen live load log look love maintain manage
map mark marry match matter measure mentor merge mess migrate mind miss mix mock monitor motivate mount move name need
network notice offer open operate order organize outsource own pack paint park parse participate pass perform persist
pet phone pick pin pitch place plan plant play point polish post practice practise prefer prepare present print
process produce promise promote prove provide publish pull pursue push qualify query raise reach realize receive
recharge recommend record recover redesign reduce refactor reference reflect refuse register reject relax release
relocate remember remind remove rename renew renovate rent repair replace reply report represent request require
rescue research resign resolve rest restart restore retire retry return reveal review revise reward roast rotate sail
save schedule score search secure seem select serve share shift ship shop shut sign sketch skip smile solve sort sound
spawn sponsor stack start state stay stop store stream strengthen stretch struggle study submit subscribe succeed
suffer suggest supervise supply support suppose surf surprise survive switch sync talk target taste tend test thank
throttle tie tour track trade train transfer transform transition translate travel treat trigger trust try turn
uninstall unlock update upgrade upload use validate vary verify visit volunteer vote wait walk want warn wash waste
watch water welcome whip whisk wish wonder work worry wrap yell
"""
_DOUBLING = """
ban begin cancel chat commit cut drag drop forget format get hit hop jog knit let log map mop nap pet pin plan plot prefer put
quit run set ship shop shut sit skip split stop submit swim transfer travel trek win wrap
"""


def _third(base: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if base in _DOUBLING.split() else base + "ed"


def _progressive(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if base in _DOUBLING.split() else base + "ing"


def conjugate() -> tuple[dict[str, tuple[tuple[str, Tense], ...]], dict[str, str]]:
    """Every form of the verbs above, and the third person of each."""
    table: dict[str, list[tuple[str, Tense]]] = {}
    thirds = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    rows = [row.split() for row in _IRREGULAR.split(";")] + [[base] for base in _REGULAR.split()]
    for base, *rest in rows:
        past, participle = rest if rest else (_past(base), _past(base))
        thirds.setdefault(base, _third(base))
        shown: list[tuple[str, Tense]] = [(base, "base"), (thirds[base], "third"), (past, "past"),
                                          (participle, "participle"), (_progressive(base), "progressive")]
        for form, tense in shown:
            table.setdefault(form, []).append((base, tense))
    table["got"].append(("get", "participle"))
    return {form: tuple(found) for form, found in table.items()}, thirds
