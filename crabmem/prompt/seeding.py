"""The files that a workspace begins with, from the seeds of its profile, and settings that name the profile. Pure."""

from collections.abc import Mapping

from ..text import toml_edit as tables
from ..text.edit import BOM
from ..text.jsonc import at
from ..text.templates import fill, template
from ..text.toml import check_extent
from ..workspace.layout import SETTINGS, Layout
from .profile import Profile, Seed


def seeds(profile: Profile, layout: Layout, is_own: bool, is_new: bool, about: Mapping[str, str]) -> dict[str, str]:
    """The text of each file that a workspace begins with, by path.

    `is_own`: the workspace is an agent's. `is_new`: it has no file yet. `about` has the values of {name} and
    {description} in a text.
    """
    chosen = (seed for seed in profile.seed if _is_for(seed, is_own) and (is_new or not seed.is_first))
    return {layout.named(seed.file): fill(_text(seed), about) for seed in chosen}


def mentions(profile: Profile, word: str) -> bool:
    """Whether a seed for agents has the placeholder `word`, as "description": else its value would be lost."""
    own = (seed for seed in profile.seed if _is_for(seed, is_own=True))
    return any(f"{{{word}}}" in _text(seed) for seed in own)


def with_setting(text: str, key: str, value: str) -> str:
    """Return the settings `text` with `key` set to `value`, every other byte as it was; a new key goes to the top.

    Raises:
        InvalidSettings: the text is larger than settings may be.
    """
    check_extent(text, SETTINGS)
    rest = text.removeprefix(BOM)
    mark = BOM if rest != text else ""
    if at(tables.parse(rest), (key,)) is not None:
        return mark + tables.put(rest, (key,), value)
    line = tables.put("", (key,), value)
    return mark + (line.replace("\n", "\r\n") if "\r\n" in rest else line) + rest


def _is_for(seed: Seed, is_own: bool) -> bool:
    return seed.of == "any" or seed.of == ("agent" if is_own else "parent")


def _text(seed: Seed) -> str:
    return template(seed.template) if seed.template else seed.words
