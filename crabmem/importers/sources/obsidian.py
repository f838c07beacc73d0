"""An Obsidian vault: a note has the name of its file, and tags may be in its text."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from ...errors import CrabmemError
from ...text import frontmatter as header
from ...text.entry import Fact
from ...text.links import redirect
from ...text.markdown import without_fenced
from ...text.slug import name_key
from ...text.values import replace
from ..base import Found, Look, Skipped, Source, Tree, is_markdown
from ..texts import fact_of, in_its_folder, keys_of, stem, with_labels, without_ending

_OWN = {".obsidian": "it is Obsidian's own", ".trash": "it is Obsidian's trash"}
_TEMPLATES = ("templates", "template", "_templates", "_template")
_CODE = re.compile(r"`[^`\n]*`")
# Tags by Obsidian's rules: after white space or a few signs, and not of digits alone.
_TAG = re.compile(r"(?<![^\s(,;])#(?P<tag>[\w/-]*[^\W\d][\w/-]*)")


def _is_it(tree: Tree) -> bool:
    return ".obsidian" in tree.hidden


def _facts(tree: Tree) -> Iterator[Found]:
    yield from (Found(name, Skipped(reason)) for name, reason in _OWN.items() if name in tree.hidden)
    templates, names = _templates(tree), _names(tree)
    for path, error in tree.files.items():
        if error:
            yield Found(path, error)
        elif not is_markdown(path):
            yield Found(path, Skipped("it is no note; attachments stay where they are"))
        elif _is_template(path, templates):
            yield Found(path, Skipped("it is a template"))
        else:
            yield in_its_folder(tree.take(path, partial(_note, names=names)))


def _templates(tree: Tree) -> str:
    """Return the folder of templates by the settings of the vault, in the form of `name_key`; "" for none."""
    try:
        found = json.loads(tree.read(".obsidian/templates.json"))["folder"]
    except (CrabmemError, ValueError, KeyError, TypeError):
        return ""
    return name_key(found.strip("/")) if isinstance(found, str) else ""


def _is_template(path: str, templates: str) -> bool:
    folders = name_key(path).split("/")[:-1]
    is_in_folder = bool(templates) and name_key(path).startswith(f"{templates}/")
    return is_in_folder or any(folder in _TEMPLATES for folder in folders)


def _names(tree: Tree) -> dict[str, str]:
    """Return the names of notes, by their paths: those of their files; those with folders if several are the same."""
    notes = [path for path in tree.files if is_markdown(path)]
    times = Counter(name_key(stem(path)) for path in notes)
    return {path: stem(path) if times[name_key(stem(path))] == 1 else without_ending(path) for path in notes}


def _note(path: str, data: bytes, names: Mapping[str, str]) -> Fact | Skipped:
    """Return the fact of a note, with the tags in its text, and links by the `names` of notes; skip a drawing."""
    if "excalidraw-plugin" in keys_of(data):
        return Skipped("it is a drawing")
    fact = with_labels(fact_of(path, data, names[path]), _tags(data))
    led = partial(redirect, new=partial(_without_folders, names=names))
    return replace(fact, content=led(fact.content), description=led(fact.description))


def _tags(data: bytes) -> list[str]:
    """Return the tags in a text, without those in code."""
    text = header.parts_of(data.decode("utf-8")).content
    return [match["tag"].strip("/") for match in _TAG.finditer(_CODE.sub("", without_fenced(text)))]


def _without_folders(target: str, names: Mapping[str, str]) -> str | None:
    """Return the name of the note that a link names by its path, which memory does not know; None to keep the link."""
    path = f"{target.removesuffix('.md').lstrip('/')}.md"
    return names[path] if path in names and names[path] != target else None


SOURCE = Source("obsidian", "an Obsidian vault", _is_it, _facts, Look.MARK)
