"""Text that is shaped like a credential: formats with a mark of their own, and values whose name says what they are.

The formats are those the issuers document, in the words of the rules of gitleaks. Nothing is guessed by entropy: a
guess would now and then refuse an ordinary memory. All expressions take time in proportion to the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from ..errors import HoldsSecret
from .values import value

_SHOWN = 4
_MIN_DIFFERENT = 6  # characters of a value that differ; with fewer it is a placeholder
_MAX_NAMED = 20  # in a message
_MAX_COMPARED = 200  # more are neither sought within earlier texts nor masked one by one: too slow
_PLACEHOLDER = re.compile(
    r"example|placeholder|your[-_]|xxxx|\.\.\.|change[-_]?me|redacted|[<>{}]|\$[({]|\$[A-Z_]{3}|\*\*", re.IGNORECASE
)
_NO_PASSWORD = re.compile(
    r"://(?:anonymous|ftp):|:(?:pass(?:word|wd)?|pwd|pw|secret|token|user|key|guest|public|share|test|demo|\d{1,5})@",
    re.IGNORECASE,
)
# Invisible characters, which may stand inside a credential and hide it from expressions.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)
_BREAK = re.compile(r"(?:\r\n|[\n\r\x85\u2028\u2029])[ \t>]*+")
_REST_OF_KEY = r"[A-Za-z0-9+/=\s\\]*+(?:-----END [A-Z ]{0,40}-----)?"
# Stands in the place of a credential that was found; no expression matches it.
_TAKEN = "\0"

#: Name, a text that every match contains (looked for first, as that is fast), expression. Repetitions are bounded, or
#: begin where no other match could: else a long text would take time with its square.
_FORMATS = (
    ("AWS access key", "AKIA", r"AKIA[A-Z2-7]{16}"),
    ("AWS temporary access key", "ASIA", r"ASIA[A-Z2-7]{16}"),
    ("AWS Bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    ("GitHub token", "ghp_", r"ghp_[0-9A-Za-z]{36}"),
    ("GitHub OAuth token", "gho_", r"gho_[0-9A-Za-z]{36}"),
    ("GitHub app token", "ghu_", r"ghu_[0-9A-Za-z]{36}"),
    ("GitHub app token", "ghs_", r"ghs_[0-9A-Za-z]{36}"),
    ("GitHub refresh token", "ghr_", r"ghr_[0-9A-Za-z]{36,}"),
    ("GitHub token", "github_pat_", r"github_pat_\w{82}"),
    ("GitLab token", "gl", r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt|ffct)-[0-9A-Za-z_\-]{20,}"),
    ("Bitbucket token", "AT", r"AT(?:BB|CTT3xFf)[A-Za-z0-9_\-=]{24,}"),
    ("Atlassian token", "ATATT3", r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    ("Slack token", "xox", r"xox[abeoprs]-[0-9A-Za-z-]{10,}"),
    ("Slack app token", "xapp-", r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+"),
    ("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,}"),
    ("Stripe key", "_live_", r"(?:sk|rk)_live_[0-9A-Za-z]{10,99}"),
    ("Stripe test key", "_test_", r"(?:sk|rk)_test_[0-9A-Za-z]{16,99}"),
    ("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{32,}={0,2}"),
    ("OpenAI key", "T3BlbkFJ", r"sk-(?:(?:proj|svcacct|admin)-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", "sk-proj-", r"sk-proj-[A-Za-z0-9_-]{40,}"),
    ("Anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,}\d{2}-[A-Za-z0-9_-]{80,}"),
    ("API key", "sk-", r"sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{32,64}(?![A-Za-z0-9_-])"),
    ("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("LangSmith key", "ls__", r"ls__[0-9a-f]{32}"),
    ("Mapbox token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    ("AWS session token", "IQoJb3JpZ2lu", r"IQoJb3JpZ2lu[A-Za-z0-9+/=]{80,}"),
    ("AWS session token", "FwoGZXIvYXdz", r"FwoGZXIvYXdz[A-Za-z0-9+/=]{80,}"),
    ("OpenRouter key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    ("Google API key", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    ("Google OAuth secret", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{28}"),
    ("Google OAuth token", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,}"),
    ("Hugging Face token", "hf_", r"hf_[A-Za-z]{34}"),
    ("Hugging Face token", "api_org_", r"api_org_[A-Za-z]{34}"),
    ("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{52}"),
    ("xAI key", "xai-", r"xai-[A-Za-z0-9]{80}"),
    ("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{48}"),
    ("Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    ("Tavily key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("Docker token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,32}"),
    ("Artifactory key", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    ("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("Mailgun key", "key-", r"key-[0-9a-f]{32}"),
    ("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("Brevo key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("Twilio key", "SK", r"SK[0-9a-f]{32}"),
    ("Telegram bot token", ":A", r"\d{8,10}:A[A-Za-z0-9_-]{34}"),
    ("Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}"),
    ("Discord bot token", ".", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    ("DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("Fly.io token", "FlyV1 ", r"FlyV1 fm\d_[A-Za-z0-9+/=,_-]{100,}"),
    ("Heroku key", "HRKU-", r"HRKU-AA[0-9A-Za-z_-]{58}"),
    ("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36}"),
    ("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("Supabase token", "sbp_", r"sbp_[0-9a-f]{40}"),
    ("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    ("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", "sq0", r"sq0(?:atp|csp)-[0-9A-Za-z_-]{22,43}"),
    ("Square token", "EAAA", r"EAAA[A-Za-z0-9+=-]{60}"),
    ("Linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    ("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}"),
    ("Notion token", "secret_", r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Figma token", "figd_", r"figd_[A-Za-z0-9_-]{40}"),
    ("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Sentry token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{43,}"),
    ("New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    ("Grafana token", "gl", r"gl(?:sa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|c_[A-Za-z0-9+/]{32,}={0,2})"),
    ("PostHog key", "phx_", r"phx_[A-Za-z0-9_]{43,}"),
    ("Tailscale key", "tskey-", r"tskey-(?:auth|api|client|webhook)-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
    ("Pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    ("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    ("Vault token", "hv", r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    ("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}"),
    ("1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{250,}={0,3}"),
    ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("Azure storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("Azure access key", "SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{43}="),
    ("Azure signature", "sig=", r"sig=[A-Za-z0-9%+/]{40,}(?:=|%3[Dd])?"),
    ("Azure client secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("JSON Web Token", "eyJ", r"ey[A-Za-z0-9]{17,}\.ey[A-Za-z0-9/_-]{17,}\.[A-Za-z0-9/_-]{10,}={0,2}"),
    (
        "private key", "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,8}"
        r"(?:[A-Za-z-]{1,30}: [^\n\\]{1,100}(?:\s|\\[nr]){1,4}){0,4}[A-Za-z0-9+/=]{24,}",
    ),
    (
        "password in an address", "://",
        r"(?i:[a-z][a-z0-9+.-]{1,20})://[^\s:/@?#=&\"']{0,100}:[^\s:/@\"']{3,100}@[A-Za-z0-9\[]",
    ),
    (
        "Authorization header", "uthorization",
        r"(?i:(?:proxy-)?authorization[\"'\]]{0,2}[ \t]{0,8}[:=][ \t]{0,8}[\"'(]?(?:bearer|basic|token)[ \t]{1,8})"
        r"(?=[A-Za-z._~+/=-]{0,300}[0-9])[A-Za-z0-9._~+/=-]{12,}",
    ),
)  # fmt: skip
# These marks say so much that a letter may stand before them.
_UNMISTAKABLE = frozenset(
    ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "sk-ant-", "sk-proj-", "npm_", "PRIVATE KEY")
)
# Formats that look like a digest, and count only in a text that names the issuer.
_ISSUERS = {"Mailchimp key": "mailchimp", "Twilio key": "twilio"}
# Formats, by the text they contain, that are not sought across lines: lines that are joined would match by chance.
_OF_A_LINE = ("://", "uthorization", ".", "-us", ":A", "sig=")

# A name with one of these words in it, the separator, and a value.
_NAMED = re.compile(
    r"(?P<word>(?:secret|passw(?:or)?d|passphrase|pwd|token|key)[A-Za-z0-9_.-]{0,40}+)"
    r"[\"'\]\\]{0,3}[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}[\"'`\\]{0,3}(?P<value>[^\s\"'`,;<>&\\\0]{8,400})",
    re.IGNORECASE,
)
_NAMED_BY = ("secret", "passw", "passphrase", "pwd", "token", "key")
# The same said in a sentence: what follows "is" at once, and has a digit.
_SAID = re.compile(
    r"\b(?P<word>passw(?:or)?d|passphrase|passwort|kennwort|contraseña)\b(?P<about>[^.:;,!?\n\0]{0,40}?)"
    r"\b(?:is|ist|lautet|es)\b:?[ \t]{1,4}[\"'`*]{0,2}(?P<value>[^\s\"'`*,;<>&\\\0]{8,80})",
    re.IGNORECASE,
)
_SAID_BY = ("passw", "passphrase", "kennwort", "contraseña")
# "12-character" is what a password has to be, not the password.
_MEASURE = re.compile(r"\d+-[a-z]+\Z")
_FRONT = 80
_NO_NAME = re.compile(r"[^A-Za-z0-9_. -]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SAY_SECRET = frozenset(("SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "TOKEN", "APIKEY"))
_SAY_PASSWORD = frozenset(("PASSWORD", "PASSWD", "PASSPHRASE", "PWD"))
# Before KEY, these say that it is a secret one; a public key is none, nor is that of a keyboard.
_SECRET_KEYS = frozenset(("API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "ENCRYPTION", "SIGNING", "MASTER", "SERVICE"))
# With these, a name is of something else: where a secret lies, how long it may be, where a list goes on.
_SAY_OTHERWISE = frozenset((
    "FILE", "FILES", "PATH", "DIR", "NAME", "ID", "IDS", "LIMIT", "COUNT", "LENGTH", "LEN", "SIZE", "MAX",
    "MIN", "TTL", "AGE", "EXPIRY", "EXPIRES", "EXPIRATION", "TIMEOUT", "URL", "URI", "ENDPOINT", "HOST", "TYPE",
    "POLICY", "RULE", "HINT", "FIELD", "PROMPT", "MANAGER", "VERSION", "ROTATION", "REGION", "STORE", "ARN",
    "REF", "ENV", "VAR", "HASH", "SALT", "PAGE", "NEXT", "PAGINATION", "CONTINUATION", "CURSOR", "CSRF", "SYNC",
    "CANCELLATION", "PUBLIC", "PUBLISHABLE",
))  # fmt: skip
# A value that is none: a place, code, a date, a version.
_SAID_ELSEWHERE = re.compile(
    r"[./~%@]|[A-Za-z]:\\|[A-Za-z][A-Za-z0-9+.-]*:/|arn:|env:|\d{4}-\d\d-\d\d|v?\d+(?:\.\d+)+\Z"
    r"|[A-Za-z_][\w.]*[(\[]|[a-z_]\w{0,20}(?:\.[a-z_]\w{0,20})+\Z"
)
# Ed25519PrivateKey, ec.EllipticCurvePrivateKey.
_TYPE = re.compile(r"(?:\w{1,30}\.)?(?:[A-Z][a-z0-9]{1,20}){2,}+\Z")
_INSTEAD = re.compile(r"vault|1password|bitwarden|keychain|keepass|lastpass|replace|insert|dummy|hidden", re.IGNORECASE)
_SHORTEST_PATH = 30


@value
class Credential:
    """Something shaped like a credential: `kind` names its issuer and use, `text` is all of it."""

    kind: str
    text: str
    has_mark: bool = True

    @property
    def masked(self) -> str:
        """What may be said of it: its kind and, of what has a mark of its own, so much that one finds it."""
        return f"{self.kind} ({self.text[:_SHOWN] if self.has_mark else ''}…)"


def credentials_in(text: str) -> list[Credential]:
    """What in `text` is shaped like a credential, each once; placeholders of documentation are not.

    Invisible characters and line breaks inside a credential do not hide it.
    """
    found = dict[str, Credential]()
    rest = _without(_seen(text), found, lines=True)
    folded = rest.casefold()
    for item in (*_values_by_name(rest, folded), *_passwords_in_sentences(rest, folded)):
        found.setdefault(item.text, item)
    _without(_on_one_line(rest), found, lines=False)
    return list(found.values())


def redacted(text: str) -> str:
    """`text` with the kind of each credential in its place, as in "[GitHub token]".

    The whole text is left out if a credential in it is broken over lines, and so has no one place to mask, or if it has
    more than `_MAX_COMPARED`, which would take too long.
    """
    found = credentials_in(text)
    if len(found) > _MAX_COMPARED:
        return f"[left out: {len(found):,} credentials]"
    shown = _seen(text) if found else text
    for item in sorted(found, key=lambda item: -len(item.text)):
        if item.kind == "private key":  # of which `item` has the first line
            shown = re.sub(re.escape(item.text) + _REST_OF_KEY, f"[{item.kind}]", shown)
        elif item.text not in shown and item.text in _on_one_line(_seen(text)):
            return f"[left out: {item.kind}]"
        shown = shown.replace(item.text, f"[{item.kind}]")
    return shown


class Screen:
    """Refuses texts with new credentials, if the setting `rule` is "refuse".

    Each text is searched once, as that takes long: give texts to the constructor before taking a lock, and `refuse_new`
    needs no search while it is held.
    """

    def __init__(self, rule: str, *texts: str) -> None:
        """Search `texts` now."""
        self._rule = rule
        self._seen: dict[str, list[Credential]] = {}
        for text in texts:
            self._found(text)

    def refuse_new(self, text: str, *before: str | None) -> None:
        """Refuse a text with a credential that was in none of the texts `before`.

        Raises:
            HoldsSecret: the message masks what was seen and says how to allow it.
        """
        if found := _new(self._found(text), *before):
            raise HoldsSecret(
                f"not saved: it contains what looks like a secret: {', '.join(_masked(found))}. Say where that is kept "
                'instead. (A person who means it edits the file, or sets secrets = "warn" in crabmem.toml)'
            )

    def doubts(self, text: str) -> bool:
        """Return whether `refuse_new` would refuse the text if all of it were new; False for other rules."""
        return bool(self._found(text))

    def _found(self, text: str) -> list[Credential]:
        if self._rule != "refuse":
            return []
        if text not in self._seen:
            self._seen[text] = credentials_in(text)
        return self._seen[text]


def warnings(text: str, before: str | None, rule: str) -> tuple[str, ...]:
    """Return a warning for each credential that is new in a text which was saved all the same; none for rule "off"."""
    found = [] if rule == "off" else _new(credentials_in(text), before)
    return tuple(f"it holds what looks like a secret: {words}" for words in _masked(found))


def _new(found: list[Credential], *before: str | None) -> list[Credential]:
    """The credentials of `found` that are in none of the texts `before`."""
    texts = [text for text in before if text and found]
    if len(found) > _MAX_COMPARED:
        stood = {item.text for text in texts for item in credentials_in(text)}
        return [item for item in found if item.text not in stood]
    views = [view for text in texts for view in (_seen(text), _on_one_line(_seen(text)))]
    return [item for item in found if not any(item.text in view for view in views)]


def _masked(found: list[Credential]) -> list[str]:
    """Return the credentials masked, `_MAX_NAMED` at most, and how many more there are."""
    more = [f"and {len(found) - _MAX_NAMED} more"] if len(found) > _MAX_NAMED else []
    return [*(item.masked for item in found[:_MAX_NAMED]), *more]


def _seen(text: str) -> str:
    return text if text.isascii() else _UNSEEN.sub("", text)


def _on_one_line(text: str) -> str:
    """`text` as one line, without what stands for a break at the end of lines, and quotes at their beginning."""
    *lines, last = _BREAK.split(text)
    return "".join([*(line.removesuffix("\\").rstrip(" \t") for line in lines), last])


def _without(text: str, found: dict[str, Credential], lines: bool) -> str:
    """Return `text` without credentials of known formats, and add these to `found`.

    `lines` is False for a text that was joined to one line: then formats of one line (`_OF_A_LINE`) are not sought.
    """
    lower = text.lower()
    for kind, mark, pattern in _FORMATS:
        if mark in text and (lines or mark not in _OF_A_LINE) and _ISSUERS.get(kind, "") in lower:
            items, rest, end = list[Credential](), list[str](), 0
            for match in _expression(mark, pattern).finditer(text):
                item = Credential(kind, match.group())
                if not _is_placeholder(item):
                    items.append(item)
                    rest += [text[end : match.start()], _TAKEN]
                    end = match.end()
            found |= {item.text: item for item in items}
            text = "".join([*rest, text[end:]])
    return text


@cache
def _expression(mark: str, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern if mark in _UNMISTAKABLE else rf"(?<![A-Za-z0-9])(?:{pattern})")


def _is_placeholder(item: Credential) -> bool:
    """Whether a match is no credential: it says so, has few different characters, or only looks like its format."""
    if item.kind == "private key":
        return False
    if item.kind == "Discord bot token" and not _is_number(item.text.partition(".")[0]):
        return True
    if item.kind == "password in an address" and _NO_PASSWORD.search(item.text):
        return True
    return len(set(item.text[-20:])) < _MIN_DIFFERENT or bool(_PLACEHOLDER.search(item.text))


def _is_number(code: str) -> bool:
    """Whether `code` is Base64 of decimal digits, as the token of a Discord bot begins with the bot's number."""
    try:
        return base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


def _values_by_name(text: str, folded: str) -> Iterator[Credential]:
    """Yield values with a name that calls them secret, as in `DB_PASSWORD=…`; the name may have up to four words."""
    for match in _NAMED.finditer(text) if _has_one(folded, _NAMED_BY) else ():
        front = _NO_NAME.split(text[max(0, match.start() - _FRONT) : match.start()])[-1]
        name = " ".join(f"{front}{match['word']}".split()[-4:])
        value = match["value"].rstrip(".:!?)]}")
        parts = [part.upper() for part in _PARTS.findall(name)]
        if _says_secret(parts) and _is_secret(value, not _SAY_PASSWORD.isdisjoint(parts)):
            yield Credential(f"value of {name.split(' ')[-1]}", value, has_mark=False)


def _passwords_in_sentences(text: str, folded: str) -> Iterator[Credential]:
    """Yield passwords that a sentence gives, as in "the password of the router is …"; without a digit it is a word."""
    for match in _SAID.finditer(text) if _has_one(folded, _SAID_BY) else ():
        value = match["value"].rstrip(".:!?)]}")
        about = {part.upper() for part in _PARTS.findall(match["about"])}
        is_drawn = any(map(str.isdigit, value)) and not _MEASURE.match(value) and _is_secret(value, is_password=True)
        if is_drawn and _SAY_OTHERWISE.isdisjoint(about):
            yield Credential(f"value of {match['word'].lower()}", value, has_mark=False)


def _has_one(folded: str, words: tuple[str, ...]) -> bool:
    """Whether a text has one of some words: an expression that is tried in every place takes ten times as long."""
    return any(word in folded for word in words)


def _says_secret(parts: list[str]) -> bool:
    """Whether the words of a name, in capitals, call its value secret: `API KEY` does, `TOKEN ID` does not."""
    if not _SAY_OTHERWISE.isdisjoint(parts):
        return False
    keys = (kind for kind, word in pairwise(parts) if word == "KEY")
    return not _SAY_SECRET.isdisjoint(parts) or not _SECRET_KEYS.isdisjoint(keys)


def _is_secret(value: str, is_password: bool) -> bool:
    """Whether a value is one that somebody made up or drew, and no word, place, code or placeholder."""
    if len(value) < 8 or len(set(value)) < _MIN_DIFFERENT or _SAID_ELSEWHERE.match(value):
        return False
    if _PLACEHOLDER.search(value) or _INSTEAD.search(value) or ("/" in value and len(value) < _SHORTEST_PATH):
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    is_odd = any(not char.isalnum() and char not in "-_./:" for char in value)
    if is_password:
        return has_letter and (has_digit or is_odd or "-" in value)
    words = [] if _TYPE.match(value) else re.split(r"[-_.:]", value)
    is_mixed = any(not word.isalpha() and not word.isdigit() and len(word) > 3 for word in words)
    return has_letter and has_digit and is_mixed
