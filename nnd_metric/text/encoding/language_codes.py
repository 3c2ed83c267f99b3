"""From the language tags of data (BCP-47) to the codes by which models are given a language.

Models spell a language in several ways: `deu_Latn` (NLLB), `de_DE` (mBART), `de` (M2M100), `deu`,
`pt_BR` or `cmn_Hans` (Marian). A code is read as a tag is: a language, and perhaps a script or a
region. The best code for a tag is the one of the same language whose script fits the tag and whose
region is its own, else none; two that fit equally are ambiguous.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_TWO_LETTERS: Final = """
aa aar ab abk ae ave af afr ak aka am amh an arg ar ara as asm av ava ay aym az aze ba bak be bel
bg bul bh bih bi bis bm bam bn ben bo bod br bre bs bos ca cat ce che ch cha co cos cr cre cs ces
cu chu cv chv cy cym da dan de deu dv div dz dzo ee ewe el ell en eng eo epo es spa et est eu eus
fa fas ff ful fi fin fj fij fo fao fr fra fy fry ga gle gd gla gl glg gn grn gu guj gv glv ha hau
he heb hi hin ho hmo hr hrv ht hat hu hun hy hye hz her ia ina id ind ie ile ig ibo ii iii ik ipk
io ido is isl it ita iu iku iw heb ja jpn ji yid jv jav jw jav ka kat kg kon ki kik kj kua kk kaz
kl kal km khm kn kan ko kor kr kau ks kas ku kur kv kom kw cor ky kir la lat lb ltz lg lug li lim
ln lin lo lao lt lit lu lub lv lav mg mlg mh mah mi mri mk mkd ml mal mn mon mo ron mr mar ms msa
mt mlt my mya na nau nb nob nd nde ne nep ng ndo nl nld nn nno no nor nr nbl nv nav ny nya oc oci
oj oji om orm or ori os oss pa pan pi pli pl pol ps pus pt por qu que rm roh rn run ro ron ru rus
rw kin sa san sc srd sd snd se sme sg sag sh hbs si sin sk slk sl slv sm smo sn sna so som sq sqi
sr srp ss ssw st sot su sun sv swe sw swa ta tam te tel tg tgk th tha ti tir tk tuk tl tgl tn tsn
to ton tr tur ts tso tt tat tw twi ty tah ug uig uk ukr ur urd uz uzb ve ven vi vie vo vol wa wln
wo wol xh xho yi yid yo yor za zha zh zho zu zul
"""
_THREE_OF: Final[dict[str, str]] = dict(re.findall(r"\b(\w\w)\s(\w{3})\b", _TWO_LETTERS))
"""ISO 639-1 → ISO 639-3, as far as models use them; retired codes (iw, ji, jw, mo, sh) as well."""

_SAME: Final = {"cmn": "zho", "fil": "tgl", "ger": "deu", "fre": "fra", "chi": "zho"}
"""Codes of what models do not distinguish: Mandarin and Chinese, Filipino and Tagalog; and the
bibliographic codes of ISO 639-2 that are met."""

_STANDARD: Final = {
    "ara": ("arb",),
    "aym": ("ayr",),
    "aze": ("azj",),
    "est": ("ekk",),
    "fas": ("pes",),
    "ful": ("fuv",),
    "hbs": ("bos", "hrv", "srp"),
    "kau": ("knc",),
    "kur": ("ckb", "kmr"),
    "lav": ("lvs",),
    "mlg": ("plt",),
    "mon": ("khk",),
    "msa": ("zsm",),
    "nep": ("npi",),
    "nor": ("nno", "nob"),
    "ori": ("ory",),
    "orm": ("gaz",),
    "pus": ("pbt",),
    "que": ("quy",),
    "sqi": ("als",),
    "swa": ("swh",),
    "uzb": ("uzn",),
    "yid": ("ydd",),
}
"""Macrolanguage → the languages that its code stands for in practice. More than one: ambiguous."""

_MACRO_OF: Final = {member: macro for macro, some in _STANDARD.items() for member in some}

_LIKELY_SCRIPT: Final = {
    "zho": "Hans",
    "zho-TW": "Hant",
    "zho-HK": "Hant",
    "zho-MO": "Hant",
    "ace": "Latn",
    "bjn": "Latn",
    "knc": "Latn",
    "pan": "Guru",
}
"""Language, perhaps with a region → its script where nothing is said (likely subtags of CLDR).

Languages that are written in two scripts without a clear favourite, such as Serbian, are absent.
"""

_DECORATION: Final = re.compile(r"^(?:__(.+)__|<2(.+)>|>>(.+)<<)$")
_NO_REGION: Final = "XX"


class _Parts(NamedTuple):
    """A tag or code in parts: ISO 639-3, and a script and a region if it states them."""

    language: str
    script: str | None
    region: str | None


def bare_code(token: str) -> str:
    """Return a code without what marks it as one: de of __de__, <2de> or >>de<<."""
    found = _DECORATION.match(token)
    return token if found is None else next(filter(None, found.groups()))


def match_codes(tag: str, codes: Iterable[str]) -> list[str]:
    """Return the codes that say a language best: none, one, or several if it is ambiguous.

    `tag` is a BCP-47 tag, or itself one of the codes.
    """
    codes = list(codes)
    for exact in (tag, bare_code(tag)):
        if same := [code for code in codes if exact in (code, bare_code(code))]:
            return same[:1]
    wanted = _parse(tag)
    if wanted is None:
        return []
    ranked = [(_rank(wanted, of_code), code) for code in codes if (of_code := _parse(code))]
    fitting = [(rank, code) for rank, code in ranked if rank is not None]
    best = min((rank for rank, _ in fitting), default=None)
    return [code for rank, code in fitting if rank == best]


def codes_of_language(tag: str, codes: Iterable[str]) -> list[str]:
    """Return the codes of a tag's language in whatever script and region."""
    language = bare_code(tag).replace("_", "-").partition("-")[0]
    wanted = _parse(language)
    parsed = ((code, _parse(code)) for code in codes) if wanted else ()
    return [
        code
        for code, of_code in parsed
        if wanted and of_code and _distance(wanted.language, of_code.language) is not None
    ]


def _parse(tag: str) -> _Parts | None:
    language, *others = bare_code(tag).replace("_", "-").split("-")
    if not re.fullmatch("[A-Za-z]{2,3}", language):
        return None
    language = language.lower()
    language = _THREE_OF.get(language, language)
    script = next((part.title() for part in others if re.fullmatch("[A-Za-z]{4}", part)), None)
    regions = (part.upper() for part in others if re.fullmatch("[A-Za-z]{2}|[0-9]{3}", part))
    region = next((part for part in regions if part != _NO_REGION), None)
    language = _SAME.get(language, language)
    if region is not None and script is None:
        script = _LIKELY_SCRIPT.get(f"{language}-{region}") or _LIKELY_SCRIPT.get(language)
    return _Parts(language, script, region)


def _rank(wanted: _Parts, code: _Parts) -> tuple[int, int, int] | None:
    """Return how far a code is from what is wanted, the smallest best; None if it does not fit."""
    language = _distance(wanted.language, code.language)
    script = wanted.script or _LIKELY_SCRIPT.get(code.language)
    if language is None or (script and code.script and script != code.script):
        return None
    same_script = code.script == script
    if code.region == wanted.region:
        region = 0
    else:
        region = 1 if code.region is None or wanted.region is None else 2
    return language, int(not same_script), region


def _distance(wanted: str, code: str) -> int | None:
    if wanted == code:
        return 0
    is_member = code in _STANDARD.get(wanted, ()) or _MACRO_OF.get(wanted) == code
    return 1 if is_member else None
