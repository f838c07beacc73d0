"""The verb about profiles: what there is, what one says, and whether one's own is right."""

import click

from ...prompt import profile as profiles
from ...text.words import counted
from ...tools.toolsets import toolset
from ..app import open_session, verb
from ..completing import complete_profiles
from ..options import global_options, json_option
from ..output import plain, show


@verb(after="completion", cls=click.Group, invoke_without_command=True)
@json_option
@click.pass_context
def profile_verbs(ctx: click.Context, json_wanted: bool) -> None:
    """Profiles: which files go into the prompt, how much of each, and which tools an agent gets.

    \b
    A profile is named in crabmem.toml (profile = "camel") or by --profile. For one of your own:
      crabmem profile show crab > mine.toml
      crabmem profile check mine.toml
      crabmem --profile mine.toml prompt
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, json_wanted=json_wanted)


@profile_verbs.command("list", hidden=True)
@json_option
def list_(json_wanted: bool) -> None:
    """List the profiles that crabmem brings.

    \b
    crabmem profile list
    """
    found = {name: profiles.built_in_profile(name).about for name in profiles.profile_names()}
    width = max(map(len, found))
    show(json_wanted, found, lambda: "\n".join(f"{name.ljust(width)}  {about}" for name, about in found.items()))


@profile_verbs.command("show")
@click.argument("name", required=False, shell_complete=complete_profiles)
@json_option
def show_(name: str | None, json_wanted: bool) -> None:
    """Print a profile as TOML, to begin one's own with; without NAME the one that is in force here.

    \b
    crabmem profile show camel > mine.toml
    """
    chosen = name or open_session(tells_place=False).engine.profile_name
    text = profiles.profile_toml(chosen)
    show(json_wanted, profiles.as_dict(profiles.parse_profile(text, chosen)), lambda: plain(text))


@profile_verbs.command()
@click.argument("file", required=False, shell_complete=complete_profiles)
@json_option
def check(file: str | None, json_wanted: bool) -> None:
    """Check a profile's TOML file: its keys and values, its tools, and its templates; without FILE the one in force.

    \b
    crabmem profile check mine.toml
    """
    chosen = file or global_options().profile or open_session(tells_place=False).engine.profile_name
    found = profiles.load_profile(chosen)
    for name in {*found.tools, *(tool for kind in profiles.KINDS for tool in found.tools_for(kind))}:
        toolset(name)
    words = f"{chosen} is right: {counted(len(found.part), 'part')}, tools {', '.join(found.tools) or 'none'}"
    show(json_wanted, {"profile": chosen, "parts": len(found.part), "tools": found.tools}, lambda: words)
