"""What the fact rules must know of a language, as one value, and that value for English.

The rules (`sentences`, `grammar`, `statement`, `facts`) hold no word of any language: they ask a Language.
Its fields are English unless set; a language whose clauses run subject, verb, object is a new value, not new
code. All words are lower case; an empty table means that the language has no such thing. A verb is its base
and, where it is irregular, its past and participle; the other forms follow by rule. Patterns are bounded and
free of nested repetition, so that no text can make them slow. This module knows no rule and no fact.
"""
# ruff: noqa: RUF009 - the defaults are immutable tables, made once

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from otolith.model import dates
from otolith.model.words import DENIALS, DOUBTING, STOP, SUPPOSING
from otolith.model.words import word_set as _words

Tense = Literal["base", "third", "past", "participle", "progressive"]
Words = frozenset[str]
FEW_WORDS = 5
Forms = Mapping[str, tuple[tuple[str, Tense], ...]]


def _table(entries: Mapping[str, Any]) -> Any:
    return field(default_factory=lambda: entries)


def _pairs(text: str) -> Any:
    """A table written as one text: `am/are=is have=has`."""
    rows = (row.split("=") for row in text.split())
    return _table({key: value for keys, value in rows for key in keys.split("/")})


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _rows(*rows: tuple[str, ...]) -> tuple[Any, ...]:
    """Rows whose first cell is a pattern."""
    return tuple((_pattern(pattern), *rest) for pattern, *rest in rows)


# base past participle; a regular verb is its base alone, and a participle like the past is left out
_IRREGULAR = """
be was been; become became become; begin began begun; bend bent; bet bet; bite bit bitten; blow blew blown;
break broke broken; bring brought; build built; buy bought; catch caught; choose chose chosen; come came come;
cost cost; cut cut; deal dealt; do did done; draw drew drawn; dream dreamed; drink drank drunk; drive drove
driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forget
forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went
gone; grow grew grown; hang hung; have had; hear heard; hide hid hidden; hit hit; hold held; hurt hurt; keep
kept; know knew known; lay laid; lead led; leave left; lend lent; let let; lie lay lain; lose lost; make made;
mean meant; meet met; pay paid; put put; quit quit; read read; ride rode ridden; ring rang rung; rise rose
risen; run ran run; say said; see saw seen; seek sought; sell sold; send sent; set set; shake shook shaken;
shoot shot; show showed shown; shut shut; sing sang sung; sit sat; sleep slept; speak spoke spoken; spend
spent; split split; spread spread; stand stood; steal stole stolen; stick stuck; strike struck; sweep swept;
swim swam swum; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; undergo underwent undergone; wake woke woken; wear wore worn; win won; write wrote
written; withdraw withdrew withdrawn; rewrite rewrote rewritten; rebuild rebuilt
"""
_REGULAR = """
accept achieve act add adopt advertise agree aim allow amplify analyze answer apply appreciate approve arrange
arrive ask assume attach attend audit avoid bake balance ban believe belong benefit block book borrow brew
cache call calm camp cancel care carry celebrate change chase chat check cheer clean cleanse clear climb close
coach collaborate collect combine commit communicate compete compile complete compose concern configure
connect consider contact contain contribute convert cook copy craft crash create cry dance decide declare
default define delete deliver depend deploy deprecate describe deserve design destroy develop die disable
discover discuss dislike document donate download drop earn educate email emit enable encourage encrypt end
enforce enjoy enroll enter establish expand expect experience experiment expire explain explore export expose
express extend face fail favor favour feature fetch figure film finalize finish fix focus follow force format
foster function gain garden generate graduate guess guide handle happen hate head help hike hire hope host hug
identify ignore imagine implement import improve include increase index inform inherit inspire install
instruct integrate intend interact interview introduce invest invite involve join journal jump keep kick knit
label land last laugh launch learn like limit link list listen live load log look love maintain manage map
mark marry match matter measure mentor merge mess migrate mind miss mix mock monitor motivate mount move name
need network notice offer open operate order organize outsource own pack paint park parse participate pass
perform persist pet phone pick pin pitch place plan plant play point polish post practice practise prefer
prepare present print process produce promise promote prove provide publish pull pursue push qualify query
raise reach realize receive recharge recommend record recover redesign reduce refactor reference reflect
refuse register reject relax release relocate remember remind remove rename renew renovate rent repair replace
reply report represent request require rescue research resign resolve rest restart restore retire retry return
reveal review revise reward roast rotate sail save schedule score search secure seem select serve share shift
ship shop shut sign sketch skip smile solve sort sound spawn sponsor stack start state stay stop store stream
strengthen stretch struggle study submit subscribe succeed suffer suggest supervise supply support suppose
surf surprise survive switch sync talk target taste tend test thank throttle tie tour track trade train
transfer transform transition translate travel treat trigger trust try turn uninstall unlock update upgrade
upload use validate vary verify visit volunteer vote wait walk want warn wash waste watch water welcome whip
whisk wish wonder work worry wrap yell weigh cycle commute renovate sponsor smoke jog rehearse tutor rely
grade swap sublet board expire quote sponsor
"""
_DOUBLING = _words("""
ban begin cancel chat commit cut drag drop forget format get hit hop jog knit let log map mop nap pet pin plan
plot prefer put quit run set ship shop shut sit skip split stop submit swim transfer travel trek win wrap
""")
_THIRD_ENDINGS = _rows((r"(s|x|z|ch|sh|o)$", r"\1es"), (r"([^aeiou])y$", r"\1ies"), (r"$", "s"))


def _third(base: str) -> str:
    pattern, ending = next(row for row in _THIRD_ENDINGS if row[0].search(base))
    return str(pattern.sub(ending, base, count=1))


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if base in _DOUBLING else base + "ed"


def _progressive(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if base in _DOUBLING else base + "ing"


def _conjugate() -> tuple[Forms, dict[str, str]]:
    """Every form of the verbs above, and the third person of each."""
    table: dict[str, list[tuple[str, Tense]]] = {}
    thirds = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    for base, *rest in [row.split() for row in (*_IRREGULAR.split(";"), *_REGULAR.split())]:
        past, *participle = rest or [_past(base)]
        thirds.setdefault(base, _third(base))
        forms: list[tuple[str, Tense]] = [(base, "base"), (thirds[base], "third"), (past, "past"),
                                          (participle[0] if participle else past, "participle"),
                                          (_progressive(base), "progressive")]
        for form, tense in forms:
            table.setdefault(form, []).append((base, tense))
    table["got"].append(("get", "participle"))
    return {form: tuple(verbs) for form, verbs in table.items()}, thirds


_FORMS, _THIRDS = _conjugate()


@dataclass(frozen=True, kw_only=True)
class Language:
    """One language's words, by the part they play."""

    code: str = "en"
    # who speaks and who is spoken of
    first: Words = _words("i we")
    persons: Words = _words("he she")  # pronouns of one person, of one thing, of several
    things: Words = _words("it")
    several: Words = _words("they")
    group: Words = _words("we")  # those of them that mean the speaker with others
    second: Words = _words("you")
    # pronouns whose person the rules do not know
    third: Words = _words("he she it they this that these those there here who what one")
    # first-person words as they read once the subject is the speaker: my → their
    own: Mapping[str, str] = _pairs(
        "i/we=they me/us=them my/our=their mine/ours=theirs myself/ourselves=themselves")
    possessive_first: Words = _words("my our")
    object_first: Words = _words("me us myself ourselves")
    # you, in every case, as it reads with the name of the one spoken to
    second_words: Mapping[str, str] = _pairs("you={} yourself=themselves yours/your={}'s")
    possessive: str = "{}'s"
    # pronouns that may also stand as an object: you, it, that
    objects: Words = _words("you it that this these those one there here what who")
    # words that stand where a subject stands and name nothing
    nobody: Words = _words("""everyone everybody someone somebody anyone anybody nobody noone none everything
        something anything nothing people life things thing time it's that's what's there's here's others some
        many most all both each any each no such every another either neither let's lets let way ways lots
        plenty thanks sounds looks seems glad happy guess hope sorry sure wish""")
    # verbs
    forms: Forms = _table(_FORMS)  # every known form → its base and tense
    thirds: Mapping[str, str] = _table(_THIRDS)  # base → the form that follows a name
    # how unknown forms show their tense
    suffixes: tuple[tuple[re.Pattern[str], Tense], ...] = _rows(
        (r"[a-z]{2}ing$", "progressive"), (r"[a-z]{2}[^e]ed$", "past"), (r"[a-z]{2}[^e]ed$", "participle"))
    third_endings: tuple[tuple[re.Pattern[str], str], ...] = _THIRD_ENDINGS
    auxiliaries: Mapping[str, str] = _pairs("""am/is/are=be was/were=was been=been have/has=have had=had
        do/does/did=do will/shall=will would=would can=can could/may/might=might must=must
        should/ought=should""")  # helper → the part it plays
    # auxiliaries as they follow a name: am → is
    with_name: Mapping[str, str] = _pairs("am/are=is were=was have=has do=does")
    infinitive: str = "to"
    contractions: Mapping[str, tuple[str, ...]] = _table({
        "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("have", "to"), "hafta": ("have", "to"),
        "can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "ain't": ("is", "not"),
        "shan't": ("will", "not"), "dont": ("do", "not"), "i'm": ("I", "am"), "im": ("I", "am"),
        "ive": ("I", "have"), "name's": ("name", "is")})
    # contractions at a word's end
    endings: Mapping[str, str] = _pairs("n't=not 've=have 'll=will 're=are 'm=am 'd=would")
    copula_endings: Mapping[str, str] = _pairs("'s=is")  # endings that may also be a possessive
    chains: Words = _words("""want plan decide hope need have try love like start begin agree promise intend
        aim manage learn get expect prefer choose volunteer offer refuse commit use continue wish hate prepare
        tend go come head look""")  # verbs that take another by the infinitive: plan to
    going: str = "going"
    got: str = "got"
    past_be: tuple[str, str] = ("was", "were")
    be: str = "be"
    have: str = "have"
    had: str = "had"
    wishes: Words = _words("love like prefer")  # verbs that "would" makes a wish: would love to
    permits: Words = _words("allowed permitted supported")  # participles whose denial is a rule: not allowed
    # verb forms that are as often a plural noun: the tests need
    nouns_too: Words = _words("""
        tests builds runs releases checks logs records reports requests changes updates backups commits
        imports exports uploads downloads calls queries costs plans hooks docs works deploys jobs""")
    # what is no fact
    silent: Words = _words("""think guess believe know mean say tell hear wonder bet agree understand suppose
        assume imagine doubt forget realize notice figure thank apologize congratulate mention ask swear
        reckon admit remember wish see explain sound look seem let hope relate remind mind matter suggest
        recommend deserve respond reply bear""")  # verbs of thinking, saying and courtesy
    # the words after which a silent verb does state something: think of
    spoken_with: Mapping[str, Words] = _table({
        "think": _words("about of"), "hope": _words("to for"), "believe": _words("in"), "agree": _words("to"),
        "look": _words("for at after into to"),
        "see": _words("a an my our some two three lots many the this these those so")})
    negations: Words = DENIALS | _words("hardly barely rarely seldom longer")
    ended: str = "longer"  # "no longer", and "any more" as it is written out
    any_more: re.Pattern[str] = _pattern(
        r"\b(?:any ?more|any longer|no more)(?=\W*(?:$|[,;:.!?)]|\b(?:and|but|so|because|since|now|after|as"
        r"|which|these|at|in|on|with|when|while|for|thanks)\b))")
    # what somebody is not doing, said of a plan: "I'm not going to Greece"
    abandoned: Words = _words("""go come marry move buy take do work live stay join attend run use travel fly
        play         visit apply drive study teach sell host""")
    past_helpers: Words = _words("did had was were")
    wavering: Words = _words("""
        want know think need have get feel see mind care mean remember understand believe do go be make let
        even seem look sound matter hear worry expect agree recall say tell give take come really find
        wanna""")  # verbs whose denial says little
    no_longer: str = "no longer {}"
    does_not: str = "does not {}"
    not_word: str = "not"
    only: str = "only"
    lasting_negations: Words = _words("never")  # "never" with a habit is a rule one keeps
    hedges: Words = DOUBTING
    hypotheticals: Words = SUPPOSING | _words("pretend whether wish wished otherwise e.g")
    # what shows that a sentence holds in a story, by somebody's word, or not yet
    elsewhere: re.Pattern[str] = _pattern(
        r"\baccording to\b|\bin (?:the|a|this|that|my|our|his|her|their) (?:\w+ )?(?:story|tale|dream|novel"
        r"|poem|script|role-?play|(?:book|film|movie|play|game|show|series)(?=, (?:i|we)(?:['’]\w+| (?:am|are"
        r"|live|work|own|have))\b))\b|(?<!\bi )(?<!\bwe )\b(?:sa(?:id|ys?)|wrote|writes|reads?|told \w+"
        r"|tells \w+|replied|answered|stated|goes|texted)\s?:|^\W*once (?:i|we)\b(?: (?:live|work|am|are|have"
        r"|own|study)\b|.*(?:\b(?:will|shall|can|gonna|going to)|['’]ll)\b)")
    retractions: re.Pattern[str] = _pattern(r"\b(?:just kidding|only joking|just joking|jk)\b|(?<!\S)/s\b")
    courtesies: re.Pattern[str] = _pattern(
        r"(?:is|was) (?:glad|sorry|sure|certain|here for|so (?:glad|sorry)|rooting for|with you|there for"
        r"|all ears|curious|happy for|thrilled for|stoked for|excited for (?:you|your)|blown away|wondering"
        r"|guessing|telling|saying|happy to (?:hear|help|see|have|be|know|share)|kidding|joking|afraid|back"
        r"|done|in awe)\b|(?:will|is going to|can|has to|got to|should) (?:be|let|see|talk|keep you|make sure"
        r"|do|catch|chat|check|tell|say|look|take your|remember|always|think|admit|imagine|ask|hear|wait"
        r"|relate|understand|believe|give (?:it|that|you))\b|cannot wait (?:to (?:hear|see|check|know|try"
        r"|show|read|watch|chat|catch)\b|for (?:it|that|you)\b)|(?:takes?|took) (?:a look|care)\b|(?:has"
        r"|had) (?:a (?:question|point|good one|great one|look|feeling|moment|hard time)|fun|no|one|an idea"
        r"|any|what)\b|(?:got|has got|has gotten) (?:it|this|you|your back|to (?:go|run|say|admit))\b"
        r"|(?:comes?|came) to (?:mind|think)\b|(?:wants?|wanted) to (?:say|share|tell|let|ask|know|thank|hear"
        r"|check|catch|show you|brag|make sure|fill|chat|see (?:it|you|your|what))\b|feels? (?:you|ya|like"
        r"|the same|that|free)\b|loves? (?:to (?:hear|see|know|chat|talk|help)|hearing)\b|(?:looks?"
        r"|is looking) forward to (?:hearing|seeing (?:you|it|your|what)|it|talking)\b|would (?:love"
        r"|like) to (?:hear|know|chat|talk|help|check|see (?:it|that|what|how|you|your|some|more))\b"
        r"|keeps? (?:it|up|going|on|pushing|you)\b|(?:appreciates?|is (?:thankful|grateful) for) (?:the|all"
        r"|any|your|our|\w+'s)? ?(?:the |your |kind )*(?:support|help|concern|encouragement|kindness|words"
        r"|advice|offer|thoughts?|opportunit\w+|compliments?|invit\w+)\b|(?:is|are) keeping (?:my|our)"
        r" fingers|(?:will|is going to) (?:stay positive|keep (?:going|working|pushing|trying|fighting))\b"
        r"|is excited to (?:see|hear|know|find)\b|cannot wait for (?:the|some|more|your) (?:\w+ )?(?:pics?"
        r"|pictures?|photos?|updates?|results?)\b|works? for (?:me|us|you)\b|(?:went|goes|has been"
        r"|is going) to (?:an?|the|some|this|that) (?:\w+ )?"
        r"(?:event|place|spot|thing|one)s?\Z")  # against "<relation> <object>"
    asks: Words = _words("""what how why when where who which whose do does did is are was were have has had
        can could would will should any wanna shall anything""")  # words that open a question
    # words that turn a statement into one: right?
    tags: Words = _words("right eh huh ok okay yes no correct yeah don't isn't aren't doesn't didn't wasn't")
    # short words of neighbours, and those that mean something here and there
    foreign: Words = _words("""il lo gli che per non mai sempre sono è una uno di del della dei nel hanno miei
        mio der die das und nicht immer nie ist ein eine mit auf bitte wir ich el los las que para siempre
        nunca por y en le les des une pas dans toujours jamais est avec pour et je os não uma com você e och
        det är inte het een niet ik wij""")
    shared: Words = _words("i a in no me an on as do come e so die per con ha van")
    vague: Words = _words("""thing things stuff something anything everything nothing lot lots way ways bit
        kind sort one ones time times much many more less most some all such same other others own idea point
        part able great good nice cool awesome amazing really very so too well here there back mind everyone
        people someone anyone world like best better new keep make get go do take give come put got made went
        love news fun half ton tons true luck chance""")
    bare_states: Words = _words("""vegan vegetarian married single divorced engaged pregnant retired
        enabled disabled unemployed self-employed freelance gay lesbian bisexual transgender trans queer
        nonbinary non-binary
        deaf blind diabetic asthmatic dyslexic autistic colorblind left-handed right-handed lactose-intolerant
        gluten-free celiac pescatarian catholic muslim jewish christian buddhist hindu atheist german french
        italian spanish swedish american british irish indian chinese japanese canadian dutch polish
        australian mexican brazilian deprecated broken down archived read-only frozen immutable mandatory
        required optional disabled enabled open-source proprietary stateless serverless closed-source obsolete
        forbidden banned unsupported shy introverted extroverted outgoing stubborn bilingual ambidextrous
        short-sighted nearsighted""") | frozenset((
        "lactose intolerant", "gluten intolerant", "open source", "color blind", "left handed",
        "hard of hearing"))  # states worth keeping when they stand alone: vegan, married
    # states too slight to keep without what they are about
    moods: Words = _words("""good great fine okay ok well cool amazing awesome happy sad tired excited nervous
        busy ready done right wrong nice sure glad lucky free back here there new old big small beautiful
        stunning fun hard tough easy important crucial key special perfect best better worse awful hot cold
        late early true clear possible different same cute pretty lovely delicious tasty worth up down off out
        over close near alone together tough interesting incredible wonderful""")
    # how clauses hang together
    fillers: Words = _words("""yeah yes yep yup yea nope no nah wow oh ah aw aww hey hi hello well so and but
        also actually honestly btw ok okay hmm haha lol man plus anyway besides sure thanks thank absolutely
        totally definitely exactly indeed cool great awesome nice hm ugh oops alright right then like look see
        fyi too please basically frankly luckily fortunately unfortunately sadly obviously really overall or
        hence thus therefore congrats congratulations agreed true remember note seriously still however cuz
        cause because though although even now again first second third finally lastly""")
    filler_phrases: re.Pattern[str] = _pattern(
        r"(?:by the way|in fact|to be honest|tbh|as a matter of fact|for your information|you know"
        r"|on the bright side|good (?:morning|evening|afternoon)|no (?:worries|problem)|of course|for (?:sure"
        r"|real|me|now)|in addition|long time no (?:see|talk)|on top of that|as of now|from now on|at work"
        r"|at home|at first|as you know|that said|(?:remember|note) that|(?:great|good|exciting|big"
        r"|some) news|even though|just so you know|as always|as usual|in the end|these days)\b[,:]?\s*")
    joints: Words = _words("""and like but so or yet plus then because since though although cuz cause 'cause
        while whereas as after before""")  # and, but, so: a new clause may follow
    breaks: Words = _words("""but because which who although though whereas until while when where unless cuz
        'cause whenever whom whose""")  # words that always end a clause
    asides: Words = _words("""when while which who where until after before as since if unless whether
        whenever whom whose like whereas""")  # openers of clauses that only set the scene
    # what changes the subject in the middle of a sentence
    by_the_way: re.Pattern[str] = _pattern(
        r"(?:^|,?\s+)(?:by the way|btw|oh and|fyi|on another note|for the record|(?:and )?it turns out"
        r"(?: that)?"
        r"|turns out(?: that)?|(?:i|we)(?: just| also)? (?:noticed|found out|learned|learnt|discovered"
        r"|confirmed) that)\b[,:]?\s+")
    list_words: Words = _words("and or &")
    adverbs: Words = _words("""just really also always never recently currently still already finally actually
        even totally definitely absolutely often usually sometimes once ever now then so too truly fully kinda
        sorta only again first both all constantly regularly generally typically mostly mainly soon lately
        almost officially super not pretty very quite kind-of well ever twice either last ever""")
    adverb_ending: str = "ly"
    intensifiers: Words = _words("""kinda sorta somewhat even so really super very pretty totally quite too
        extremely incredibly just such definitely also still even""")
    prepositions: Words = _words("""in at to for on with from of about as into up out off over through around
        by near under down back away forward onto towards toward against between among during within across
        along behind beside beyond inside outside upon via past after before since until than like
        together""")
    particles: Words = _words("up out off over down back away forward along around together on in")
    determiners: Words = _words("""a an the my our your his her their its this that these those some any each
        every another no several many next last few both all two three four five six seven eight nine ten""")
    articles: Words = _words("a an the")
    indefinite: Words = _words("a an")
    trailing: Words = _words("""sure too though lol haha well also either anyway tho now then again so much
        today yes and or but as just ya know there here already ever yet still to of for with the a an my
        their because longer anymore""")
    sequels: Words = _words("so")  # words after which only the consequence follows: so
    # words that mean nothing once what follows is cut off: take care
    hanging: Words = _words("how what care thanks rid hold used track advantage part look close able")
    # words that open a clause as object: that, what, how
    complement: Words = _words("that what how why if whether when where who")
    stop_words: Words = STOP | _words("""because d don get gets getting got ll m myself one ones ours
        ourselves re s t theirs themselves until ve while yours yourself""")
    # what kind of fact
    # verb base → type, whatever the tense
    kinds: Mapping[str, str] = _pairs("""
        like/love/prefer/enjoy/hate/dislike/adore/favor/favour/want=preference
        promise/plan/decide/agree/commit/intend/aim/pledge=commitment require/forbid=constraint""")
    lasting_kinds: Words = _words("live work study own teach")  # verbs that say what somebody is: live, work
    relation_kinds: tuple[tuple[re.Pattern[str], str, str], ...] = _rows(
        (r"is allergic to", "constraint", "long_term"),
        (r"(?:is|are) (?:not )?(?:allowed|permitted|required|forbidden|limited|restricted)\b.*",
         "constraint", "long_term"),
        (r"is (?:into|fond of|keen on|obsessed with|passionate about|crazy about|interested in)",
         "preference", ""),
        (r"(?:is|was) (?:born|raised|married|engaged|named|called|based|employed)\b.*",
         "identity", "long_term"),
        (r"is from|comes? from|grew up\b.*", "identity", "long_term"),
        (r"(?:lives?|works?|studies|study|teaches|teach) (?:in|at|as|for|near)", "identity", "long_term"),
        (r"is (?:living|working|studying|teaching) (?:in|at|as|for|near)", "identity", "long_term"),
        (r"has|has got|has had|have had|have|owns?", "trait", ""),
        (r"feels?|appreciates?|misses|miss|is feeling|values?", "trait", "current"),
        (r"cannot wait\b.*|is off to|(?:is|was) looking forward to.*", "event", "future"),
        (r"would (?:love|like|prefer) to.*", "preference", ""),
        (r"(?:hopes|is hoping|is planning|is aiming) to.*", "commitment", "future"),
        (r"used to\b.*", "trait", "long_term"))  # relation → type, time span or nothing
    # object of the copula → type
    object_kinds: tuple[tuple[re.Pattern[str], str], ...] = _rows(
        (r"a (?:bit|little|lot|mix)\b", "trait"),
        (r"(?:an? )?(?:\w+ ){0,2}(?:fan|lover|enthusiast)\b", "preference"),
        (r"(?:a )?must\b|mandatory|required|forbidden|banned|read-only|frozen", "constraint"))
    # what things do: run, store, require
    thing_verbs: Words = _words("""run use return store support require live sit listen depend expect contain
        expire deploy accept expose handle read write send call include default point connect log serve
        validate generate speak host belong need take own cost start build fail crash break reject ship cache
        emit import export load parse retry target track throttle time migrate sync inherit map mount open
        persist process query receive limit enforce allow block provide replace consume depend pin publish
        subscribe trigger forbid ban prefer work move come close end begin launch""")
    skills: Words = _words("""speak play read write code cook drive swim sing dance draw paint program ride
        ski type""")  # verbs whose "can" is a trait
    # verbs by which things act on the speaker → participle: dancing keeps me going
    gifts: Mapping[str, str] = _pairs("""bring=brought give=given keep=kept make=made help=helped
        inspire=inspired motivate=motivated teach=taught calm=calmed relax=relaxed push=pushed
        encourage=encouraged recharge=recharged cheer=cheered""")
    given_by: str = "is {} {} by"
    found_relation: str = "finds {}"  # "tea is good for me": finds good
    towards: Words = _words("for to")
    feelings: Words = _words("""excited nervous grateful thankful proud stoked pumped thrilled determined keen
        eager blessed happy glad""")  # states that chat names without their subject: so excited to
    unfelt: Words = _words("""happy glad sad sorry mad kind nice mean good thankful proud grateful new up on
        off over easy hard""")  # words before "for me" that say nothing of what the speaker finds
    # verbs that chat uses without their subject: still enjoying
    announced: Words = _words("""look hope plan enjoy think work head try miss love like start learn get
        practice finish follow prepare write train study build""")
    eager: Words = _words("wait")  # verbs whose "cannot" is a promise: cannot wait
    cannot: str = "cannot"
    role_relation: str = "has as {}"
    is_word: str = "is"
    duties: Words = _words("need have")  # verbs that bind the one who says them: need to, have to
    # prepositions that may follow the copula: is from
    places: Words = _words("from in at on into after by near under behind inside via")
    limits: Words = _words("""
        stand eat drink use run deploy have tolerate store exceed ship depend change break
        commit merge upgrade drive digest""")  # verbs whose "cannot" is a constraint
    # "favorite <slot>" in a possessive subject
    favourite: re.Pattern[str] = _pattern(r"(?:all-time )?(?:favorite|favourite|fave|preferred|go-to)\b")
    favourite_relation: str = "favorite {}"
    name_word: str = "name"
    name_relation: str = "is named"
    plural: re.Pattern[str] = re.compile(r"[^s'’]s$|(?:people|children|kids|men|women)$")
    # this, that: unclear alone, but they may go before a noun
    pointing: Words = _words("this that these those")
    # pronouns that as an object point at something said elsewhere
    unclear: Words = _words("""it this that these those them him her there here one so he she they each both
        neither either which his its their theirs hers""")
    # openers of a standing instruction → relation
    standing: Mapping[str, str] = _table({"always": "asks to always", "never": "asks to never"})
    # role of the modal → relation when negated
    forbids: Mapping[str, str] = _table({
        "must": "must not", "should": "should not", "can": "cannot", "might": "may not", "will": "must not"})
    # relations whose object ends where another of them begins: works at Acme as a nurse
    single_valued: Words = frozenset((
        "lives in", "lives at", "works at", "works for", "works as", "is named", "is called", "is married to",
        "is engaged to", "is from", "was born in", "was born on", "is based in", "studies at", "reports to",
        "runs on", "listens on", "is hosted on", "is deployed on", "is deployed to", "defaults to",
        "is written in"))
    # prepositions at which the object of such a relation ends
    asunder: Words = _words("as with for since because and together")
    calendar: dates.Calendar = dates.ENGLISH

    def tenses(self, word: str) -> tuple[tuple[str, Tense], ...]:
        """The verbs this word may be a form of; unknown words show only what their ending says."""
        return self.forms.get(word) or tuple(
            (word, tense) for pattern, tense in self.suffixes if pattern.search(word))

    def bases(self, word: str, tense: Tense) -> list[str]:
        """The verbs of which a word is, or by its ending looks like, this form."""
        return [base for base, form in self.tenses(word) if form == tense]

    def is_form(self, word: str, tense: Tense) -> bool:
        """Whether a word is a known verb in this tense."""
        return any(form == tense for _, form in self.forms.get(word, ()))

    def shows(self, word: str, tense: Tense) -> bool:
        """Whether a word is, or by its ending looks like, a verb in this tense."""
        return bool(self.bases(word, tense))

    def is_spoken(self, words: Sequence[str]) -> bool:
        """Whether these words are of this language, as far as short words and verbs show; few may be of any.
        """
        telling = [word for word in words if word not in self.shared]
        own = sum(within(word, self.stop_words, self.auxiliaries, self.forms) for word in telling)
        return own > sum(word in self.foreign for word in telling) or (own == 0 and len(words) < FEW_WORDS
                                                                      and self.foreign.isdisjoint(words))

    def content_words(self, text: str) -> list[str]:
        """The words of a text that say what it is about."""
        words = (word.strip(".,;:!?()'\"`").casefold() for word in text.replace("’", "'").split())
        return [word for word in words if word and word not in self.stop_words]

    def after_name(self, base: str) -> str:
        """The form of a verb that follows a name: live → lives."""
        if base in self.thirds:
            return self.thirds[base]
        for pattern, ending in self.third_endings:
            if pattern.search(base):
                return pattern.sub(ending, base)
        return base

    def keeps_silent(self, base: str, after: str) -> bool:
        """Whether a verb only thinks, says or greets, given the word after it."""
        return base in self.silent and after not in self.spoken_with.get(base, ())

    def is_adverb(self, word: str) -> bool:
        return word in self.adverbs or (
            bool(self.adverb_ending) and len(word) > 4 and word.endswith(self.adverb_ending)
            and word not in self.stop_words and word not in self.forms)


def within(word: str, *tables: Container[str]) -> bool:
    """Whether a word is in one of the tables."""
    return any(word in table for table in tables)


def word_at(low: list[str], at: int) -> str:
    return low[at] if at < len(low) else ""


ENGLISH = Language()
