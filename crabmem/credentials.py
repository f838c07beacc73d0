"""Text that is shaped like a credential: formats that carry a mark of their own, nothing guessed by entropy.

The formats are those the issuers document, in the words of the rules of gitleaks. A guess would now
and then refuse an ordinary memory; a mark does not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import HoldsSecret

_SHOWN = 4
_FEW = 6
_PLACEHOLDER = re.compile(r"example|placeholder|your[-_]|xxxx|\.\.\.|[<>{}$*]", re.IGNORECASE)
_WORDS_FOR_PASSWORD = re.compile(r":(?:pass(?:word|wd)?|pwd|pw|secret|token|user|changeme|key)@", re.IGNORECASE)

#: What it is called, a text it cannot be without, and the whole of it.
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
    ("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{32,}={0,2}"),
    ("OpenAI key", "T3BlbkFJ", r"sk-(?:(?:proj|svcacct|admin)-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", "sk-proj-", r"sk-proj-[A-Za-z0-9_-]{40,}"),
    ("Anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,}\d{2}-[A-Za-z0-9_-]{80,}"),
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
    ("Notion token", "ntn_", r"ntn_\d{11}[A-Za-z0-9]{35}"),
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
    ("Vault token", "hvs.", r"hvs\.[A-Za-z0-9_-]{90,120}"),
    ("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}"),
    ("1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{250,}={0,3}"),
    ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("Azure storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("Azure client secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("JSON Web Token", "eyJ", r"ey[A-Za-z0-9]{17,}\.ey[A-Za-z0-9/_-]{17,}\.[A-Za-z0-9/_-]{10,}={0,2}"),
    ("private key", "PRIVATE KEY", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=:,.-]{40}"),
    ("password in an address", "://", r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}:[^\s:/@]{3,100}@[A-Za-z0-9\[]"),
)  # fmt: skip


@dataclass(frozen=True)
class Credential:
    """Something shaped like a credential: `kind` names its issuer and use, `text` is all of it."""

    kind: str
    text: str

    @property
    def masked(self) -> str:
        """What may be said of it: its kind, and so much of it that one finds it."""
        return f"{self.kind} ({self.text[:_SHOWN]}…)"

    def is_new(self, *before: str | None) -> bool:
        """Whether it is in none of these texts."""
        return not any(self.text in text for text in before if text)


def credentials_in(text: str) -> list[Credential]:
    """What in `text` is shaped like a credential, each once; placeholders of documentation are not."""
    found = {item.text: item for item in _matches(text) if not _is_placeholder(item)}
    return list(found.values())


class Screen:
    """Refuses texts with new credentials, if the setting `rule` is "refuse". It looks into each text once: whoever
    holds a lock lets it look before, and is told at once.
    """

    def __init__(self, rule: str, *texts: str) -> None:
        """`texts` are looked into at once."""
        self._rule = rule
        self._seen: dict[str, list[Credential]] = {}
        for text in texts:
            self._found(text)

    def refuse_new(self, text: str, *before: str | None) -> None:
        """Refuse a text with a credential that was in none of the texts `before`.

        Raises:
            HoldsSecret: the message masks what was seen and says how to allow it.
        """
        if found := [item for item in self._found(text) if item.is_new(*before)]:
            raise HoldsSecret(
                f"the text holds what looks like a secret: {', '.join(item.masked for item in found)}; nothing was "
                "written. Say where it is kept instead; a person may write it into the file, "
                'or set secrets = "warn" in crabmem.toml'
            )

    def doubts(self, text: str) -> bool:
        """Whether a text has credentials that are refused where they are new."""
        return bool(self._found(text))

    def _found(self, text: str) -> list[Credential]:
        if self._rule != "refuse":
            return []
        if text not in self._seen:
            self._seen[text] = credentials_in(text)
        return self._seen[text]


def warnings(text: str, before: str | None, rule: str) -> tuple[str, ...]:
    """What to say of a text that is there all the same; nothing when `rule` is "off"."""
    found = [] if rule == "off" else [item for item in credentials_in(text) if item.is_new(before)]
    return tuple(f"it holds what looks like a secret: {item.masked}" for item in found)


def _matches(text: str) -> Iterator[Credential]:
    for kind, mark, pattern in _FORMATS:
        if mark in text:
            for match in re.finditer(rf"(?<![A-Za-z0-9])(?:{pattern})", text):
                yield Credential(kind, match.group())


def _is_placeholder(item: Credential) -> bool:
    if item.kind == "private key":
        return False
    few = len(set(item.text[-20:])) < _FEW
    return few or bool(_PLACEHOLDER.search(item.text) or _WORDS_FOR_PASSWORD.search(item.text))
