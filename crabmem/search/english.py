"""English words that rules about endings do not cover: stop words, irregular forms, names of months.

Only English has lists. A word belongs here when it is sure: a name, a noun or a month that is spelt like it would
be lost, or found as something else. So `will` and `may` are words, and so are `I`, `me`, `my`, `we`, `us` and `our`,
which mark what a person says of themselves, and `no` and `not`, which change what is said; `left`, `led`, `rose`,
`lives` and `leaves` stay what they are. `s` to `ll` are what an apostrophe leaves of a word: `it's`, `I'll`.
"""

from __future__ import annotations

from typing import Final

_SILENT = """
a an and are as at be but by for if in into is it of on or such that the their then there these they this to was with
what when where who whom whose which how why
do does did doing done have has had having were am been being can could would should shall might must
you your yours yourself yourselves he him his himself she her hers herself its itself them theirs themselves those
s t d m re ve ll
"""

# The base form, then the others.
_FORMS = """
go goes went gone, arise arose arisen, beat beaten, become became, begin began begun, bend bent, bite bitten,
blow blew blown, break broke broken, breed bred, bring brought, build built, burn burnt, buy bought, catch caught,
choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt,
drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found,
flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven,
freeze froze frozen, get got gotten, give gave given, grow grew grown, hang hung, hear heard, hide hid hidden,
hold held, keep kept, kneel knelt, know knew known, leap leapt, learn learnt, lend lent, lose lost, make made,
mean meant, meet met, mistake mistook mistaken, overcome overcame, pay paid, prove proven, ride rode ridden,
ring rang rung, rise risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken,
shine shone, show shown, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, speak spoke spoken,
spend spent, spin spun, spring sprang sprung, stand stood, steal stole stolen, stick stuck, strike struck,
string strung, swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken, teach taught,
tear tore torn, tell told, think thought, throw threw thrown, understand understood, wake woke woken,
wear wore worn, weep wept, win won, withdraw withdrew withdrawn, write wrote written,
child children, grandchild grandchildren, man men, woman women, person people, foot feet, tooth teeth, mouse mice,
goose geese, knife knives, wife wives, wolf wolves, shelf shelves, half halves, loaf loaves, thief thieves,
criterion criteria, phenomenon phenomena, index indices, matrix matrices, vertex vertices, analysis analyses,
crisis crises, hypothesis hypotheses, thesis theses
"""

# As the stemmer leaves them, the whole name first.
_MONTHS = """
januari jan, februari feb, march mar, april apr, may, june jun, juli jul, august aug, septemb sep sept, octob oct,
novemb nov, decemb dec
"""

_NTH = ("st", "nd", "rd", "th")


#: English words that are in most texts and tell none from another; neither kept nor looked for.
SILENT: Final = frozenset(_SILENT.split())
#: The base form of English words that have it by no rule.
BASES: Final = {form: base for base, *forms in map(str.split, _FORMS.split(",")) for form in forms}
#: The numbers of the months, by all their English names without endings.
MONTHS: Final = {name: at for at, names in enumerate(_MONTHS.split(","), 1) for name in names.split()}


def base(word: str) -> str:
    """Return the base form of an irregular word (`went`: `go`) or an ordinal (`8th`: `8`), else `word` itself."""
    if word[-2:] in _NTH and word[:-2].isdigit():
        return word[:-2]
    return BASES.get(word, word)
