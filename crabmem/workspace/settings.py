"""The settings of a workspace: what `crabmem.toml` may say, and what holds when it says nothing."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from ..errors import InvalidSettings, Unreadable
from ..text.limits import MAX_CHARACTERS as MAX_CHARACTERS
from ..text.limits import MAX_LIMIT as MAX_LIMIT
from ..text.limits import MAX_QUERY as MAX_QUERY
from ..text.limits import RECALL_LIMIT
from ..text.slug import name_key
from ..text.values import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from msgspec import Meta

Language: TypeAlias = str
Folders: TypeAlias = tuple[str, ...]


#: Characters of a name, a path or an address.
MAX_NAME = 1_000
#: Variables that hold the key of a service with OpenAI's /embeddings, and the hosts (with all below them) that such a
#: key is for. It is sent to no other, whatever the settings say.
KEYS: dict[str, tuple[str, ...]] = {
    "OPENAI_API_KEY": ("api.openai.com",),
    "AZURE_OPENAI_API_KEY": ("openai.azure.com", "services.ai.azure.com"),
    "VOYAGE_API_KEY": ("api.voyageai.com",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "GOOGLE_API_KEY": ("generativelanguage.googleapis.com",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "COHERE_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "CO_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "JINA_API_KEY": ("api.jina.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "DEEPINFRA_API_KEY": ("api.deepinfra.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "DASHSCOPE_API_KEY": ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
}
# Characters of a value that an error shows.
_SHOWN = 80
#: What the setting `review.wait` may name, beside `TAGGED` and a tag.
WAITS = ("soul", "overview", "entries", "everything")
TAGGED = "entries tagged "
# A key for any other service, or for a gateway. The token of our own server is none.
_OWN_KEYS = "CRABMEM_"
_NO_KEYS = ("CRABMEM_TOKEN",)
#: Whose endings recall sees through.
LANGUAGES = (
    "none", "arabic", "armenian", "basque", "catalan", "czech", "danish", "dutch", "english", "esperanto", "estonian",
    "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian",
    "nepali", "norwegian", "persian", "polish", "porter", "portuguese", "romanian", "russian", "serbian", "sesotho",
    "spanish", "swedish", "tamil", "turkish", "yiddish",
)  # fmt: skip


@value
class AutoRecall:
    """For hosts that ask before each turn."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="facts a turn")] = 3
    words: Annotated[
        int,
        Meta(ge=0, le=MAX_QUERY, description="how many words of the message are searched for; 0: the 64 most telling"),
    ] = 0
    characters: Annotated[int, Meta(ge=1, le=MAX_CHARACTERS, description="injected at most")] = 4_000
    threshold: Annotated[
        float, Meta(ge=0, le=1, description="share of the message that a fact must match; below it memory is silent")
    ] = 0.24


@value
class Hooks:
    """After how much talk an agent that stored nothing is asked, once, to store; and what you are told unasked."""

    messages: Annotated[int, Meta(ge=0, description="how many messages of the person; 0: never because of them")] = 8
    transcript: Annotated[int, Meta(ge=0, description="bytes of the host's record, as long work has few messages")] = (
        400_000
    )
    tidy: Annotated[
        bool, Meta(description="are you told once a week, as a session begins, how much `crabmem tidy` lists?")
    ] = False


@value
class Vectors:
    """Recall by meaning too; off until a model or a url is named, and allowed by `crabmem config allow`."""

    provider: Annotated[
        Literal["auto", "off", "model2vec", "http"], Meta(description="auto: the model on this machine, else the url")
    ] = "auto"
    model: Annotated[
        str, Meta(max_length=MAX_NAME, description="a folder, a name on Hugging Face, or what the service calls it")
    ] = ""
    url: Annotated[
        str,
        Meta(max_length=MAX_NAME, description="of a service with OpenAI's /embeddings: https://api.openai.com/v1"),
    ] = ""
    key: Annotated[
        str,
        Meta(max_length=MAX_NAME, description="the environment variable with its key: OPENAI_API_KEY, or CRABMEM_..."),
    ] = ""
    weight: Annotated[float, Meta(ge=0, le=1, description="of meaning; words have the rest")] = 0.6
    timeout: Annotated[float, Meta(gt=0, le=60, description="seconds that a recall waits for the service")] = 5.0

    def __post_init__(self) -> None:
        """Refuse a key that is not for this service.

        Raises:
            ValueError: the message says what to do.
        """
        if not self.key or (self.key.startswith(_OWN_KEYS) and self.key not in _NO_KEYS):
            return
        way_out = f"put the key of this service into a variable whose name begins with {_OWN_KEYS}"
        if self.key not in KEYS:
            raise ValueError(f"vectors.key is not {next(iter(KEYS))} or such a name that is known; {way_out}")
        if self.url and not _is_at(self.url, KEYS[self.key]):
            raise ValueError(f"vectors.key is {self.key}, which is for {' and '.join(KEYS[self.key])} alone; {way_out}")

    @property
    def are_wanted(self) -> bool:
        """Whether anything is named that could make vectors."""
        return self.provider != "off" and bool(self.model or self.url)

    @property
    def named(self) -> tuple[str, str, str, str]:
        """What decides where texts and a key go, and which files are loaded: provider, model, url and key."""
        return self.provider, self.model, self.url, self.key

    def asks_like(self, other: Vectors) -> bool:
        """Whether both ask the same for vectors, weighing and waiting apart."""
        return self.named[:3] == other.named[:3]


@value
class Sync:
    """When machines sync unasked, with the remote that a person named by `crabmem sync --to`."""

    auto: Annotated[
        Literal["off", "session"] | Annotated[int, Meta(ge=1, le=1_440)],
        Meta(
            description="session: as an agent's session begins and ends; a number: also while a server or `watch` "
            "runs, so many minutes apart"
        ),
    ] = "off"
    tool: Annotated[bool, Meta(description="are agents offered a tool that syncs, and decides nothing?")] = False


@value
class Review:
    """What agents write that waits until you decide, by `crabmem review`; nothing of it is recalled before."""

    wait: Annotated[
        tuple[str, ...],
        Meta(
            max_length=100,
            description='any of "soul", "overview", "entries", "entries tagged person" (or another tag), "everything"',
        ),
    ] = ()
    protect: Annotated[
        Literal["off", "human-lines", "all-lines"],
        Meta(
            description="lines that no agent changes or removes: those you wrote or approved, or all; the rest goes on"
        ),
    ] = "off"
    expire: Annotated[int, Meta(ge=0, le=36_500, description="days after which what waits is rejected; 0: never")] = 0

    def __post_init__(self) -> None:
        """Refuse a word that means nothing.

        Raises:
            ValueError: the message says which there are.
        """
        odd = next((word for word in self.wait if word not in WAITS and not tag_in(word)), None)
        if odd is not None:
            raise ValueError(f"review.wait knows {', '.join(WAITS)}, and {TAGGED}TAG, but not {odd[:_SHOWN]!r}")

    @property
    def is_on(self) -> bool:
        """Whether anything that an agent writes may have to wait."""
        return bool(self.wait) or self.protect != "off"

    def and_all_of(self, other: Review) -> Review:
        """What has wait whatever either of both has."""
        protect = next((each for each in ("all-lines", "human-lines") if each in (self.protect, other.protect)), "off")
        return replace(self, wait=tuple(dict.fromkeys((*self.wait, *other.wait))), protect=protect)

    @property
    def tags(self) -> frozenset[str]:
        """The tags whose entries wait, as they are compared."""
        return frozenset(filter(None, map(tag_in, self.wait)))


@value
class Settings:
    """The whole of `crabmem.toml`. A description is what `crabmem config` says of a setting."""

    recall_limit: Annotated[
        int, Meta(ge=1, le=MAX_LIMIT, description="facts that recall gives when no limit is named")
    ] = RECALL_LIMIT
    language: Annotated[Language, Meta(description="stems words for recall: any language of Snowball's, or none")] = (
        "english"
    )
    recall_budget: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_CHARACTERS,
            description="characters of an answer to an agent; longer facts are cut to what matched",
        ),
    ] = 20_000
    recency: Annotated[
        float, Meta(ge=0, le=1, description="how much more facts score whose file name begins with today's date")
    ] = 0.0
    soul_editable: Annotated[bool, Meta(description="may agents write the identity, Crab.md?")] = False
    soul: Annotated[
        Literal["refuse", "propose"],
        Meta(description="where they may not; propose: what they write waits for a person"),
    ] = "refuse"
    person: Annotated[
        str, Meta(max_length=MAX_NAME, description="who edits from outside are recorded as: Ann <ann@example.org>")
    ] = "person"
    lock_timeout: Annotated[float, Meta(gt=0, le=600, description="seconds to wait for another writer")] = 10.0
    durability: Annotated[
        Literal["full", "fast"],
        Meta(
            description="fast: a write waits for its file alone; after a power cut it may be recorded as the person's"
        ),
    ] = "full"
    secrets: Annotated[
        Literal["refuse", "warn", "off"], Meta(description="what becomes of a write that holds a credential")
    ] = "refuse"
    profile: Annotated[
        str,
        Meta(
            max_length=MAX_NAME,
            description="whose files, prompt and tools: see `crabmem profile`, or a file.toml; else crab",
        ),
    ] = ""
    tools: Annotated[bool, Meta(description="are agents offered tools? Without, the prompt still has the files")] = True
    pause: Annotated[
        Literal["auto", "all"],
        Meta(description="what `crabmem pause` stops: what memory does unasked, or the tools of agents, too"),
    ] = "auto"
    layout: Annotated[
        Literal["ordinary", "flat", "project"],
        Meta(description="flat: MEMORY.md and facts in one folder, as adopt DIR found it; project: see `init`"),
    ] = "ordinary"
    extra_paths: Annotated[
        Folders, Meta(max_length=20, description="folders elsewhere whose texts are searched, once you allowed it")
    ] = ()
    transcripts: Annotated[
        Folders,
        Meta(max_length=20, description="folders of sessions of Claude Code, Codex or OpenClaw, searched likewise"),
    ] = ()
    also: Annotated[
        Folders,
        Meta(max_length=20, description="folders of other memories that are seen beside this, once you allowed it"),
    ] = ()
    auto_recall: AutoRecall = AutoRecall()
    hooks: Hooks = Hooks()
    vectors: Vectors = Vectors()
    sync: Sync = Sync()
    review: Review = Review()


def parse_settings(data: bytes, file: str) -> Settings:
    """The settings in the bytes of a `crabmem.toml`, of which every key has to be known.

    Raises: as `read_settings`, and InvalidSettings for an unknown key.
    """
    rules, problem = read_settings(data, file)
    if problem:
        raise InvalidSettings(problem)
    return rules


def read_settings(data: bytes, file: str) -> tuple[Settings, str]:
    """Return the settings in the bytes of a `crabmem.toml`, and what is wrong with keys that it does not know, or "".

    The one way from a file to settings; `file` is named in errors. Who only reads memory goes on in spite of unknown
    keys: a typing error, or the key of a newer version, does not take memory away. It may have been meant to keep
    something from agents, so whoever writes for them raises what is wrong.

    Raises:
        InvalidSettings: not TOML, or a value of the wrong kind.
        Unreadable: not UTF-8.
    """
    if not data:
        return Settings(), ""
    from .settings_file import parsed  # late: most workspaces have no settings, and TOML takes long to load

    return parsed(data, file)


def layout_in(data: bytes) -> tuple[str, str]:
    """The names of profile and layout in the settings, even if the rest is invalid.

    Profile and layout decide which files are memory, so an error elsewhere must not change them.
    """
    try:
        found = read_settings(data, "")[0]
        return found.profile, found.layout
    except (InvalidSettings, Unreadable):
        from .settings_file import layout_of_broken

        return layout_of_broken(data)


def tag_in(word: str) -> str:
    """The tag that a word of `review.wait` names, as tags are compared; "" for none."""
    return name_key(word.removeprefix(TAGGED).lstrip("# ")) if word.startswith(TAGGED) else ""


def _is_at(url: str, hosts: tuple[str, ...]) -> bool:
    """Whether an address is at one of the hosts, or below it."""
    host = urlsplit(url).hostname or ""
    return any(host == each or host.endswith(f".{each}") for each in hosts)
