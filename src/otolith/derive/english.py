"""English, as the table that the fact rules read.

Only words and patterns; the rules are in `facts.py` and the modules it reads with. A verb is its base and, where it is
irregular, its past and participle; the other forms are spelled out by rule. Patterns are bounded and free of nested
repetition, so that no text can make them slow. Adding a word here needs no other change.
"""

from __future__ import annotations

import re

from otolith.derive.language import Language, Tense, TimeWord
from otolith.model.dialog import SINGLE_VALUED


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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


def _conjugate() -> tuple[dict[str, tuple[tuple[str, Tense], ...]], dict[str, str]]:
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


_FORMS, _THIRDS = _conjugate()
_NUMBER = r"(?P<n>an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|couple(?: of)?|several|\d{1,3})"
_UNIT = r"(?P<unit>day|week|weekend|month|year)"
_WEEKDAY = (r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday"
            r"|mon|tues|tue|wed|thurs|thur|thu|fri|sat|sun)")
_MONTH = (r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december"
          r"|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)")
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_END = r"(?!['’]s)\b"


def _time(pattern: str, **meaning: object) -> TimeWord:
    return TimeWord(pattern=re.compile(rf"(?<![\w-])(?:{pattern}){_END}", re.IGNORECASE), **meaning)  # type: ignore[arg-type]


_TIMES = (
    _time(rf"(?:on )?(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (?P<year>(?:19|20)\d\d))?", unit="date"),
    _time(rf"(?:on )?{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<year>(?:19|20)\d\d))?", unit="date"),
    _time(r"(?:on |by )?(?P<iso>(?:19|20)\d\d-\d\d-\d\d)", unit="date"),
    _time(rf"(?:back )?in {_MONTH}(?:,?(?: of)? (?P<year>(?:19|20)\d\d))?", unit="date"),
    _time(rf"since (?:{_MONTH} )?(?P<year>(?:19|20)\d\d)", unit="date", kept=True),
    _time(r"(?:back )?in (?P<year>(?:19|20)\d\d)", unit="date"),
    _time(rf"(?:just |about |around )?{_NUMBER} {_UNIT}s? ago", shift=-1),
    _time(rf"in (?:about )?{_NUMBER} {_UNIT}s?(?: from now)?", shift=1),
    _time(r"the day before yesterday", unit="day", shift=-2),
    _time(r"(?:just )?yesterday(?: (?:morning|afternoon|evening|night))?|last night", unit="day", shift=-1),
    _time(r"the day after tomorrow", unit="day", shift=2),
    _time(r"tomorrow(?: (?:morning|afternoon|evening|night))?", unit="day", shift=1),
    _time(r"today|tonight|this (?:morning|afternoon|evening)|earlier today", unit="day"),
    _time(rf"(?:just )?(?:this past|last|this last) {_UNIT}(?! of\b)", shift=-1),
    _time(rf"(?:this )?(?:coming|next|upcoming) {_UNIT}", shift=1),
    _time(rf"(?:earlier |later )?this {_UNIT}", shift=0),
    _time(rf"(?:just )?(?:last|this past) {_WEEKDAY}", shift=-1),
    _time(rf"(?:(?:on|by) )?(?:next|this coming|this) {_WEEKDAY}", shift=1),
    _time(rf"by (?:this )?{_WEEKDAY}", shift=1, kept=True), _time(rf"on {_WEEKDAY}(?!s)", unit="weekday", kept=True),
    _time(rf"last {_SEASON}", shift=-1), _time(rf"next {_SEASON}", shift=1), _time(rf"this {_SEASON}", shift=0),
    _time(r"(?:just )?recently|lately|the other day|not long ago|a while (?:ago|back)", unit="recent"),
    _time(r"soon|in the (?:near )?future|one day|some ?day|later on", unit="soon"),
    _time(r"from now on|right now|now|currently|at the moment|at present|these days|nowadays", unit="now"),
)

ENGLISH = Language(
    code="en",
    first=_words("i we"), group=_words("we"), second=_words("you"),
    third=_words("he she it they this that these those there here who what one"),
    own={"i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "we": "they", "us": "them",
         "our": "their", "ours": "theirs", "ourselves": "themselves"},
    possessive_first=_words("my our"), object_first=_words("me us myself ourselves"),
    second_words={"you": "{}", "yourself": "themselves", "yours": "{}'s", "your": "{}'s"},
    possessive="{}'s",
    objects=_words("you it that this these those one there here what who"),
    nobody=_words("""everyone everybody someone somebody anyone anybody nobody noone none everything something
        anything nothing people life things thing time it's that's what's there's here's others some many most all
        both each any each no such every another either neither let's lets let way ways lots plenty thanks sounds
        looks seems glad happy guess hope sorry sure wish"""),
    forms=_FORMS, thirds=_THIRDS,
    suffixes=((re.compile(r"[a-z]{2}ing$"), "progressive"), (re.compile(r"[a-z]{2}[^e]ed$"), "past"),
              (re.compile(r"[a-z]{2}[^e]ed$"), "participle")),
    third_endings=((re.compile(r"(s|x|z|ch|sh|o)$"), r"\1es"), (re.compile(r"([^aeiou])y$"), r"\1ies"),
                   (re.compile(r"$"), "s")),
    auxiliaries={"am": "be", "is": "be", "are": "be", "was": "was", "were": "was", "been": "been", "have": "have",
                 "has": "have", "had": "had", "do": "do", "does": "do", "did": "do", "will": "will", "shall": "will",
                 "would": "would", "can": "can", "could": "might", "may": "might", "might": "might", "must": "must",
                 "should": "should", "ought": "should"},
    with_name={"am": "is", "are": "is", "were": "was", "have": "has", "do": "does"},
    infinitive="to",
    contractions={"gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("have", "to"), "can't": ("can", "not"),
                  "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("will", "not"), "i'm": ("I", "am"),
                  "im": ("I", "am"), "ive": ("I", "have"), "ain't": ("is", "not"), "dont": ("do", "not"),
                  "name's": ("name", "is"), "hafta": ("have", "to")},
    endings={"n't": ("not",), "'ve": ("have",), "'ll": ("will",), "'re": ("are",), "'m": ("am",), "'d": ("would",)},
    copula_endings={"'s": "is"},
    chains=_words("""want plan decide hope need have try love like start begin agree promise intend aim manage learn
        get expect prefer choose volunteer offer refuse commit use continue wish hate prepare tend go come head look"""),
    going="going", be="be", have="have", had="had", wishes=_words("love like prefer"),
    permits=_words("allowed permitted supported"),
    silent=_words("""think guess believe know mean say tell hear wonder bet agree understand suppose assume imagine
        doubt forget realize notice figure thank apologize congratulate mention ask swear reckon admit remember wish
        see explain sound look seem let hope relate remind mind matter suggest recommend deserve respond reply bear"""),
    spoken_with={"think": _words("about of"), "hope": _words("to for"), "believe": _words("in"),
                 "look": _words("for at after into to"),
                 "see": _words("a an my our some two three lots many the this these those so"), "agree": _words("to")},
    negations=_words("not no never neither nor nothing nobody none hardly barely rarely seldom without longer stopped"),
    lasting_negations=_words("never"),
    hedges=_words("""maybe perhaps probably possibly apparently supposedly presumably allegedly might could may
        potentially theoretically hopefully almost nearly somewhat seemingly seems seem guess doubt unsure"""),
    hypotheticals=_words("if unless suppose supposing imagine pretend hypothetically whether wish wished assuming otherwise e.g"),
    elsewhere=re.compile(
        r"\baccording to\b|\bin (?:the|a|this|that|my|our|his|her|their) (?:\w+ )?(?:story|tale|dream|novel|poem|script|role-?play"
        r"|(?:book|film|movie|play|game|show|series)(?=, (?:i|we)(?:['’]\w+| (?:am|are|live|work|own|have))\b))\b"
        r"|(?<!\bi )(?<!\bwe )\b(?:sa(?:id|ys?)|wrote|writes|reads?|told \w+|tells \w+|replied|answered|stated|goes|texted)\s?:"
        r"|^\W*once (?:i|we)\b(?: (?:live|work|am|are|have|own|study)\b|.*(?:\b(?:will|shall|can|gonna|going to)|['’]ll)\b)",
        re.IGNORECASE),
    retractions=re.compile(r"\b(?:just kidding|only joking|just joking|jk)\b|(?<!\S)/s\b", re.IGNORECASE),
    courtesies=re.compile(
        r"(?:is|was) (?:glad|sorry|sure|certain|here for|so (?:glad|sorry)|rooting for|with you|there for|all ears|curious"
        r"|happy for|thrilled for|stoked for|excited for (?:you|your)|blown away|wondering|guessing|telling|saying"
        r"|happy to (?:hear|help|see|have|be|know|share)|kidding|joking|afraid|back|done|in awe)\b"
        r"|(?:will|is going to|can|has to|got to|should) (?:be|let|see|talk|keep you|make sure|do|catch|chat|check|tell|say"
        r"|look|take your|remember|always|think|admit|imagine|ask|hear|wait|relate|understand|believe|give (?:it|that|you))\b"
        r"|cannot wait (?:to (?:hear|see|check|know|try|show|read|watch|chat|catch)\b|for (?:it|that|you)\b)"
        r"|(?:takes?|took) (?:a look|care)\b"
        r"|(?:has|had) (?:a (?:question|point|good one|great one|look|feeling|moment|hard time)|fun|no|one|an idea|any|what)\b"
        r"|(?:got|has got|has gotten) (?:it|this|you|your back|to (?:go|run|say|admit))\b"
        r"|(?:comes?|came) to (?:mind|think)\b"
        r"|(?:wants?|wanted) to (?:say|share|tell|let|ask|know|thank|hear|check|catch|show you|brag|make sure|fill|chat"
        r"|see (?:it|you|your|what))\b"
        r"|feels? (?:you|ya|like|the same|that|free)\b"
        r"|loves? (?:to (?:hear|see|know|chat|talk|help)|hearing)\b"
        r"|(?:looks?|is looking) forward to (?:hearing|seeing (?:you|it|your|what)|it|talking)\b"
        r"|would (?:love|like) to (?:hear|know|chat|talk|help|check|see (?:it|that|what|how|you|your|some|more))\b"
        r"|keeps? (?:it|up|going|on|pushing|you)\b", re.IGNORECASE),
    asks=_words("""what how why when where who which whose do does did is are was were have has had can could would
        will should any wanna shall anything"""),
    tags=_words("right eh huh ok okay yes no correct yeah don't isn't aren't doesn't didn't wasn't"),
    vague=_words("""thing things stuff something anything everything nothing lot lots way ways bit kind sort one
        ones time times much many more less most some all such same other others own idea point part able great good
        nice cool awesome amazing really very so too well here there back mind everyone people someone anyone world
        like best better new keep make get go do take give come put got made went love news fun half ton tons true
        luck chance"""),
    bare_states=_words("""vegan vegetarian married single divorced engaged pregnant retired unemployed self-employed
        freelance gay lesbian bisexual transgender trans queer nonbinary non-binary deaf blind diabetic asthmatic
        dyslexic autistic colorblind left-handed right-handed lactose-intolerant gluten-free celiac pescatarian
        catholic muslim jewish christian buddhist hindu atheist german french italian spanish swedish american
        british irish indian chinese japanese canadian dutch polish australian mexican brazilian deprecated broken
        down archived read-only frozen immutable mandatory required optional disabled enabled open-source
        proprietary stateless serverless closed-source obsolete forbidden banned unsupported""")
    | {"lactose intolerant", "gluten intolerant", "open source", "color blind", "left handed", "hard of hearing"},
    moods=_words("""good great fine okay ok well cool amazing awesome happy sad tired excited nervous busy ready
        done right wrong nice sure glad lucky free back here there new old big small beautiful stunning fun hard
        tough easy important crucial key special perfect best better worse awful hot cold late early true clear
        possible different same cute pretty lovely delicious tasty worth up down off out over close near alone
        together tough interesting incredible wonderful"""),
    fillers=_words("""yeah yes yep yup yea nope no nah wow oh ah aw aww hey hi hello well so and but also actually
        honestly btw ok okay hmm haha lol man plus anyway besides sure thanks thank absolutely totally definitely
        exactly indeed cool great awesome nice hm ugh oops alright right then like look see fyi too please basically
        frankly luckily fortunately unfortunately sadly obviously really overall or hence thus therefore congrats
        congratulations agreed true remember note seriously still however cuz cause because though although even now
        again first second third finally lastly"""),
    filler_phrases=re.compile(
        r"(?:by the way|in fact|to be honest|tbh|as a matter of fact|for your information|you know|on the bright side"
        r"|good (?:morning|evening|afternoon)|no (?:worries|problem)|of course|for (?:sure|real|me|now)|in addition"
        r"|long time no (?:see|talk)|on top of that|as of now|from now on|at work|at home|at first|as you know|that said"
        r"|(?:remember|note) that|(?:great|good|exciting|big|some) news|even though|just so you know|as always|as usual"
        r"|in the end|these days)\b[,:]?\s*", re.IGNORECASE),
    joints=_words("and like but so or yet plus then because since though although cuz cause 'cause while whereas as after before"),
    breaks=_words("but because which who although though whereas until while when where unless cuz 'cause whenever whom whose"),
    asides=_words("when while which who where until after before as since if unless whether whenever whom whose like whereas"),
    list_words=_words("and or &"),
    adverbs=_words("""just really also always never recently currently still already finally actually even totally
        definitely absolutely often usually sometimes once ever now then so too truly fully kinda sorta only again
        first both all constantly regularly generally typically mostly mainly soon lately almost officially super
        not pretty very quite kind-of well ever twice either last ever"""),
    adverb_ending="ly",
    intensifiers=_words("""kinda sorta somewhat even so really super very pretty totally quite too extremely
        incredibly just such definitely also still even"""),
    prepositions=_words("""in at to for on with from of about as into up out off over through around by near under
        down back away forward onto towards toward against between among during within across along behind beside
        beyond inside outside upon via past after before since until than like together"""),
    particles=_words("up out off over down back away forward along around together on in"),
    determiners=_words("""a an the my our your his her their its this that these those some any each every another
        no several many next last few both all two three four five six seven eight nine ten"""),
    articles=_words("a an the"), indefinite=_words("a an"),
    trailing=_words("""sure too though lol haha well also either anyway tho now then again so much today yes and or but
        as just ya know there here already ever yet still to of for with the a an my their because"""),
    sequels=_words("so"), hanging=_words("how what care thanks rid hold used track advantage part look close able"),
    complement=_words("that what how why if whether when where who"),
    stop_words=_words("""a an the and or but if then so as at by for from in into of off on onto out over to up with
        about after before between during through under again i me my mine myself we us our ours ourselves you your
        yours yourself he him his she her hers it its they them their theirs themselves this that these those there
        here who whom whose which what when where why how am is are was were be been being have has had having do
        does did doing will would shall should can could may might must ought not no nor too very just also only own
        same such than both each few more most other some any all because while until very really s t d ll m re ve
        don now one ones get got getting gets"""),
    kinds={**dict.fromkeys(_words("like love prefer enjoy hate dislike adore favor favour want"), "preference"),
           **dict.fromkeys(_words("promise plan decide agree commit intend aim pledge"), "commitment"),
           **dict.fromkeys(_words("require forbid"), "constraint")},
    lasting_kinds=_words("live work study own teach"),
    relation_kinds=tuple((re.compile(pattern), kind, span) for pattern, kind, span in (
        (r"is allergic to", "constraint", "long_term"),
        (r"(?:is|are) (?:not )?(?:allowed|permitted|required|forbidden|limited|restricted)\b.*", "constraint", "long_term"),
        (r"is (?:into|fond of|keen on|obsessed with|passionate about|crazy about|interested in)", "preference", None),
        (r"(?:is|was) (?:born|raised|married|engaged|named|called|based|employed)\b.*", "identity", "long_term"),
        (r"is from|comes? from|grew up\b.*", "identity", "long_term"),
        (r"(?:lives?|works?|studies|study|teaches|teach) (?:in|at|as|for|near)", "identity", "long_term"),
        (r"is (?:living|working|studying|teaching) (?:in|at|as|for|near)", "identity", "long_term"),
        (r"has|has got|has had|have had|have|owns?", "trait", None),
        (r"feels?|appreciates?|misses|miss|is feeling|values?", "trait", "current"),
        (r"cannot wait\b.*|is off to|(?:is|was) looking forward to.*", "event", "future"),
        (r"would (?:love|like|prefer) to.*", "preference", None),
        (r"(?:hopes|is hoping|is planning|is aiming) to.*", "commitment", "future"),
        (r"used to\b.*", "trait", "long_term"))),
    object_kinds=(
        (re.compile(r"a (?:bit|little|lot|mix)\b", re.IGNORECASE), "trait"),
        (re.compile(r"(?:an? )?(?:\w+ ){0,2}(?:fan|lover|enthusiast)\b", re.IGNORECASE), "preference"),
        (re.compile(r"(?:a )?must\b|mandatory|required|forbidden|banned|read-only|frozen", re.IGNORECASE), "constraint"),
    ),
    thing_verbs=_words("""run use return store support require live sit listen depend expect contain expire deploy
        accept expose handle read write send call include default point connect log serve validate generate speak
        host belong need take own cost start build fail crash break reject ship cache emit import export load parse
        retry target track throttle time migrate sync inherit map mount open persist process query receive limit
        enforce allow block provide replace consume depend pin publish subscribe trigger forbid ban prefer work move
        come close end begin launch"""),
    skills=_words("speak play read write code cook drive swim sing dance draw paint program ride ski type"),
    gifts={"bring": "brought", "give": "given", "keep": "kept", "make": "made", "help": "helped", "inspire": "inspired",
           "motivate": "motivated", "teach": "taught", "calm": "calmed", "relax": "relaxed", "push": "pushed",
           "encourage": "encouraged", "recharge": "recharged", "cheer": "cheered"},
    found_relation="finds {}", towards=_words("for to"), eager=_words("wait"), cannot="cannot",
    feelings=_words("""excited nervous grateful thankful proud stoked pumped thrilled determined keen eager blessed
        happy glad"""),
    unfelt=_words("happy glad sad sorry mad kind nice mean good thankful proud grateful new up on off over easy hard"),
    announced=_words("""look hope plan enjoy think work head try miss love like start learn get practice finish
        follow prepare write train study build"""),
    given_by="is {} {} by", role_relation="has as {}", is_word="is",
    duties=_words("need have"), places=_words("from in at on into after by near under behind inside via"),
    limits=_words("eat drink use run deploy have tolerate store exceed ship depend change break commit merge upgrade drive digest"),
    favourite=re.compile(r"(?:all-time )?(?:favorite|favourite|fave|preferred|go-to)\b", re.IGNORECASE),
    favourite_relation="favorite {}", name_word="name", name_relation="is named",
    plural=re.compile(r"[^s'’]s$|(?:people|children|kids|men|women)$"),
    pointing=_words("this that these those"),
    unclear=_words("""it this that these those them him her there here one so he she they each both neither either
        which his its their theirs hers"""),
    standing={"always": "asks to always", "never": "asks to never"},
    forbids={"must": "must not", "should": "should not", "can": "cannot", "might": "may not", "will": "must not"},
    single_valued=SINGLE_VALUED,
    asunder=_words("as with for since because and together"),
    times=_TIMES,
    time_hint=re.compile(r"\d|ago\b|\bback\b|day|week|month|year|night|morning|afternoon|evening|tomorrow|spring|summer|autumn"
                         r"|\bfall\b|winter|recently|lately|\bsoon|future|later|now|currently|moment|present"
                         r"|\b(?:mon|tues?|wed|thu|thurs?|fri|sat|sun)\b|" + _MONTH.replace("?P<month>", "?:"), re.IGNORECASE),
    numbers={"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
             "ten": 10, "eleven": 11, "twelve": 12},
    months={name: number for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), 1) for name in names.split()},
    weekdays={name: number for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat",
         "sunday sun")) for name in names.split()},
    units={"day": "day", "week": "week", "weekend": "weekend", "month": "month", "year": "year"},
)
