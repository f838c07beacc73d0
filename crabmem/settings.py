"""The settings of a workspace: what `crabmem.toml` may say, and what holds when it says nothing."""

import difflib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal, get_args, get_type_hints

import msgspec

from .bounds import RECALL_LIMIT
from .edit import BOM
from .errors import InvalidSettings

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Language = Literal[
    "none", "arabic", "armenian", "basque", "catalan", "czech", "danish", "dutch", "english", "esperanto", "estonian",
    "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian",
    "nepali", "norwegian", "persian", "polish", "porter", "portuguese", "romanian", "russian", "serbian", "sesotho",
    "spanish", "swedish", "tamil", "turkish", "yiddish",
]  # fmt: skip


class AutoRecall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How `before_turn` recalls: facts and characters a turn at most, and of how many words at the message's
    beginning (0: of all of it, up to 64 that tell most).

    `threshold` is the share of what the message says that a fact must have, or memory is silent.
    """

    limit: AtLeastOne = 3
    words: Annotated[int, msgspec.Meta(ge=0)] = 0
    characters: AtLeastOne = 4_000
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.22


class Vectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether recall also goes by meaning, and who knows it: nobody, until a `model` or a `url` is named.

    `model`: a folder, a model that lies in the cache of Hugging Face, or what the service at `url` calls it. `url`:
    of a service with OpenAI's `/embeddings`. `provider` "auto" asks the model on this machine, else that service.
    `key`: the name of the environment variable with the service's key. `weight` of meaning; the rest has the words.
    `timeout`: seconds that a recall waits for the service.
    """

    provider: Literal["auto", "off", "model2vec", "http"] = "auto"
    model: str = ""
    url: str = ""
    key: str = ""
    weight: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.6
    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = 5.0

    @property
    def are_wanted(self) -> bool:
        """Whether anything is named that could make vectors."""
        return self.provider != "off" and bool(self.model or self.url)

    def asks_like(self, other: "Vectors") -> bool:
        """Whether both ask the same for vectors, weighing and waiting apart."""
        return (self.provider, self.model, self.url) == (other.provider, other.model, other.url)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `crabmem.toml`.

    `recall_limit`: hits of a recall that names no limit. `language`: whose endings are removed from
    words of its script, so that "walked" finds "walks". `recall_budget`: characters that the `recall` tool
    answers with at most. `recency`: how much the score of a fact gains whose file name begins with today's date,
    as a share; half as much for one of 30 days ago. `soul_editable`: whether agents may write
    `Crab.md`. `person`: who outside edits are recorded as, "Name" or "Name <mail>".
    `lock_timeout`: seconds to wait for another writer. `durability`: whether a write waits until the
    disk has it ("full"), or may be lost with the power, but not with the process ("fast"). `secrets`:
    what becomes of a write that holds a credential. `layout`: which files are what; "flat" has overview and facts
    in one folder, as hosts make it that `crabmem adopt` puts under history.
    """

    recall_limit: AtLeastOne = RECALL_LIMIT
    language: Language = "english"
    recall_budget: AtLeastOne = 20_000
    recency: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    soul_editable: bool = False
    person: str = "person"
    lock_timeout: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 10.0
    durability: Literal["full", "fast"] = "full"
    secrets: Literal["refuse", "warn", "off"] = "refuse"
    layout: Literal["ordinary", "flat"] = "ordinary"
    auto_recall: AutoRecall = AutoRecall()
    vectors: Vectors = Vectors()


def parsed(text: str, file: str) -> Settings:
    """The settings in `text`; `file` is named in errors.

    Raises:
        InvalidSettings: not TOML, an unknown key, or a value of the wrong kind.
    """
    try:
        return msgspec.toml.decode(text.removeprefix(BOM), type=Settings)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{file}: {_reason(str(error))}") from None
    except RecursionError:
        raise InvalidSettings(f"{file} is not TOML that we read: it is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InvalidSettings(f"{file} is not TOML: {error}") from None


def layout_in(text: str) -> str:
    """The layout that `text` names, also where the rest of it cannot be read: else no file would be what it is."""
    try:
        return parsed(text, "").layout
    except InvalidSettings:
        found = _LAYOUT.search(text)
        return found[1] if found else Settings().layout


def as_dict(settings: Settings) -> dict[str, object]:
    """The settings as plain values, the order as documented."""
    built: dict[str, object] = msgspec.to_builtins(settings)
    return built


def as_toml(settings: Settings) -> str:
    """The settings as `crabmem.toml` would say them."""
    plain = msgspec.to_builtins(settings)
    tables = {key: value for key, value in plain.items() if isinstance(value, dict)}
    lines = [_lines({key: value for key, value in plain.items() if key not in tables})]
    return "\n".join([*lines, *(f"[{name}]\n{_lines(table)}" for name, table in tables.items())])


def _lines(table: dict[str, object]) -> str:
    # JSON's texts, numbers and booleans are TOML's too.
    texts = {key: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") for key, value in table.items()}
    return "".join(f"{key} = {text}\n" for key, text in texts.items())


def _reason(message: str) -> str:
    """msgspec's message in words of this file, with the nearest known key or value."""
    unknown = message.partition("unknown field `")[2].partition("`")[0]
    if message.startswith("Invalid enum value"):
        given = message.split("'")[1]
        return f"{message.replace('`$.', '`')}; {_instead(given, _values(message))}"
    if not unknown:
        return message.replace("`$.", "`").replace("Object", "the file")
    inside = next((name for name in _TABLES if f"$.{name}" in message), "")
    known = (_TABLES[inside] if inside else Settings).__struct_fields__
    return f"unknown setting `{inside + '.' if inside else ''}{unknown}`; {_instead(unknown, known)}"


def _values(message: str) -> tuple[str, ...]:
    """What may be said at the place that `message` names."""
    *table, key = message.rpartition("`$.")[2].rstrip("`").split(".")
    return get_args(get_type_hints(_TABLES[table[0]] if table else Settings)[key])


def _instead(unknown: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(unknown, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"


_LAYOUT = re.compile(r"""^layout[ \t]*=[ \t]*["'](ordinary|flat)["']""", re.MULTILINE)
_TABLES: dict[str, type[msgspec.Struct]] = {
    name: kind for name, kind in get_type_hints(Settings).items() if isinstance(kind, type(msgspec.Struct))
}
