"""The verb about settings: what they are, and what this user lets them reach outside of the workspace."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click

from ...disk.allowed import Allowed, Reach
from ...errors import Disabled
from ...session.locate import known_settings_at, reach_of, settings_at
from ...text.values import replace
from ...workspace.layout import SETTINGS
from ...workspace.settings import Vectors
from ...workspace.settings_file import as_dict, as_toml
from ..app import verb
from ..options import global_options, json_option, yes_option
from ..output import confirm, plain, show, tell_always, warn


@verb(after="tidy", cls=click.Group, invoke_without_command=True)
@json_option
@click.pass_context
def config_verbs(ctx: click.Context, json_wanted: bool) -> None:
    """Print the settings, or allow what they name outside of memory.

    They are changed by editing crabmem.toml in the workspace, which need only say what differs. It may come from
    somebody else, by clone, pull or archive: so what is named under [vectors], in also, extra_paths and transcripts,
    and a profile that is a file outside of the workspace, counts only after `crabmem config allow` on this machine,
    whoever wrote it there.

    \b
    crabmem config
    crabmem config allow
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(show_, json_wanted=json_wanted)


@config_verbs.command("show", hidden=True)
@json_option
def show_(json_wanted: bool) -> None:
    """Print the settings in force, with what each means, as a crabmem.toml; and whether what they name is allowed.

    \b
    crabmem config show > all-settings.toml
    """
    root = global_options().root.absolute()
    (rules, problem), known = known_settings_at(root), Allowed(os.environ).reach(root)
    warn([problem] if problem else [])
    asked = reach_of(root, rules)
    allowed = {
        "vectors": asked.vectors and asked.vectors == known.vectors,
        "profile": asked.profile == known.profile if asked.profile else None,
        "extra_paths": set(asked.extra_paths) <= set(known.extra_paths) if asked.extra_paths else None,
        "transcripts": set(asked.transcripts) <= set(known.transcripts) if asked.transcripts else None,
        "also": set(asked.also) <= set(known.also) if asked.also else None,
        "purges": known.purges or None,
    }
    words = {True: "allowed on this machine", False: "not allowed on this machine yet: `crabmem config allow`"}
    notes = "".join(f"# {name}: {words[is_so]}\n" for name, is_so in allowed.items() if is_so is not None)
    data = {**as_dict(rules), "allowed": allowed}
    show(json_wanted, data, lambda: f"# {root / SETTINGS}\n{notes}" + plain(as_toml(rules)))


@config_verbs.command()
@click.option("--purges", is_flag=True, help="Also let `crabmem sync` take here what other machines purged, unasked.")
@yes_option
@json_option
def allow(purges: bool, yes: bool, json_wanted: bool) -> None:
    """Let the settings reach what they name outside of the workspace, after a look at what that is.

    Kept for you on this machine, for this folder and for these values: when crabmem.toml names another service, model,
    key or profile, and in a copy of the folder, it needs another yes. So does an agent's own workspace.

    --purges is for a machine without a person: what another machine purged goes there with the next sync, without a
    question. One that takes from crabmem.toml or the identity, or a change that this machine did not push, waits all
    the same.

    \b
    crabmem config allow
    crabmem --dir ~/notes config allow --yes
    crabmem --dir /srv/memory config allow --purges --yes
    """
    if global_options().agent or global_options().propose:
        raise Disabled("a person allows what settings reach, and no agent; leave out --agent (and CRABMEM_AGENT)")
    root = global_options().root.absolute()
    rules, allowed = settings_at(root), Allowed(os.environ)
    asked = reach_of(root, rules)
    lines = [*_vectors_lines(rules.vectors, root)] if asked.vectors else []
    if asked.profile:
        lines.append(
            f"read the profile {asked.profile}, which says what goes into the prompt, and which tools there are"
        )
    lines += _folder_lines(asked, is_sent=bool(asked.vectors and rules.vectors.url))
    known = allowed.reach(root)
    asked = replace(asked, purges=purges or known.purges)
    lines += ["take here what other machines purge, without a question"] if asked.purges else []
    lines = [" ".join(line.split()) for line in lines]  # no word of the settings can pass for a line of ours
    if asked == Reach():
        words = f"{SETTINGS} names nothing outside of the workspace"
    elif asked == replace(known, parent="", remote=""):
        words = "allowed already"
    else:
        asks = f"{root / SETTINGS} asks for this:" if replace(asked, purges=False) != Reach() else f"for {root}:"
        tell_always("\n".join([asks, *(f"- {line}" for line in lines)]))
        if not yes:
            confirm("Allow it on this machine?", "allowed")
        allowed.allow(root, replace(asked, parent=known.parent, remote=known.remote))
        words = "allowed on this machine; `crabmem config disallow` takes it back"
    show(json_wanted, {"path": str(root), "allowed": lines}, lambda: words)


@config_verbs.command()
@json_option
def disallow(json_wanted: bool) -> None:
    """Take back what you allowed the settings of this workspace.

    \b
    crabmem config disallow
    """
    if global_options().propose:
        raise Disabled("a session that only proposes decides on nothing; leave out --propose (and CRABMEM_PROPOSE)")
    root, allowed = global_options().root.absolute(), Allowed(os.environ)
    was_allowed = allowed.reach(root) != Reach()
    if was_allowed:
        allowed.allow(root, Reach())
    words = "taken back" if was_allowed else "nothing was allowed"
    show(json_wanted, {"path": str(root), "was_allowed": was_allowed}, lambda: words)


def _folder_lines(asked: Reach, is_sent: bool) -> Iterator[str]:
    """Yield what is done with each folder elsewhere, a line each; `is_sent`: a service makes vectors of its texts."""
    more = "; they are sent to that service, too" if is_sent else ""
    for folder in asked.extra_paths:
        yield f"show agents the texts in {folder} and below it that answer a question{more}"
    for folder in asked.transcripts:
        yield f"show agents what was said in sessions, by the transcripts in {folder} and below it{more}"
    for folder in asked.also:
        yield f"show agents the memory in {folder}, and let them write there where they are asked to"


def _vectors_lines(rules: Vectors, root: Path) -> Iterator[str]:
    """Yield what is sent to a service for vectors, and which model is loaded, a line each."""
    from ...embeddings.http import checked_url
    from ...embeddings.local import folder_of

    if rules.url and rules.provider != "model2vec":
        host = urlsplit(checked_url(rules.url)).hostname
        key = f"with the value of the environment variable {rules.key}" if rules.key else "without a key"
        yield f"send every fact, old and new, and every question to {host} ({rules.url}), {key}"
    if rules.model and rules.provider != "http":
        if folder := folder_of(rules.model, root):
            yield f"load the model in the folder {folder}"
        elif "/" in rules.model:
            yield f"load the model {rules.model}, which `crabmem doctor --reindex` fetches from Hugging Face"
