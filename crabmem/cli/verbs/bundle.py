"""The verb `bundle`: makes what hosts install from."""

from importlib import metadata
from pathlib import Path

import click

from ... import __version__
from ...disk import fs
from ...errors import AlreadyThere, Unwritable
from ..app import verb
from ..completing import complete_files
from ..options import NonEmptyPath, json_option
from ..output import plain, show, tell

_PACKAGE = Path(__file__).parent.parent.parent
KINDS = (
    "claude-plugin", "codex-plugin", "copilot-plugin", "gemini-extension", "marketplace", "openclaw-plugin", "skill",
    "mcpb", "server-json",
)  # fmt: skip


@verb(after="learn")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("place", metavar="FOLDER|FILE", type=NonEmptyPath(), shell_complete=complete_files)
@click.option("--name", metavar="NAMESPACE/NAME", help="With server-json: what the MCP registry is to call it.")
@json_option
def bundle(kind: str, place: str, name: str | None, json_wanted: bool) -> None:
    """Make what hosts install from: a plugin, an extension, a bundle for Claude Desktop, an entry of the MCP registry.

    \b
    crabmem bundle claude-plugin FOLDER       then: claude --plugin-dir FOLDER
    crabmem bundle codex-plugin FOLDER        then: codex plugin marketplace add FOLDER
                                              and:  codex plugin add crabmem@crabmem
    crabmem bundle copilot-plugin FOLDER      then: copilot --plugin-dir FOLDER
    crabmem bundle gemini-extension FOLDER    then: gemini extensions install FOLDER
    crabmem bundle marketplace FOLDER         all of these in a repository, which hosts then install from by its name
    crabmem bundle openclaw-plugin FOLDER     then: openclaw plugins install FOLDER
    crabmem bundle skill FOLDER               a SKILL.md that says when to remember, for any agent that reads skills
    crabmem bundle mcpb crabmem.mcpb          then open the file in Claude Desktop
    crabmem bundle server-json server.json --name io.github.OWNER/crabmem
                                              then: mcp-publisher publish

    On your own machine `crabmem install HOST` is simpler. A plugin and an extension call the crabmem on PATH.
    """
    from ...hosts import bundles

    if name is None and kind == "server-json":
        raise click.UsageError(
            "server-json needs a name for the MCP registry in a namespace of yours: --name io.github.OWNER/crabmem "
            "with your name at GitHub, or your domain turned round, as --name com.example/crabmem"
        )
    if name is not None and kind != "server-json":
        raise click.UsageError("--name is for server-json alone")
    target, to_do = Path(place).expanduser(), ""
    if kind in bundles.FOLDERS:
        made = _write(target, bundles.FOLDERS[kind](__version__))
    elif kind == "mcpb":
        made = _write(target.parent, {target.name: _desktop_bundle()})
    else:
        made = _write(target.parent, {target.name: bundles.registry_entry(str(name), __version__)})
        to_do = (
            f"the registry takes it once crabmem {__version__} is on PyPI and its README there says "
            f"`mcp-name: {name}`, which shows that the package is yours"
        )
    show(
        json_wanted,
        {"kind": kind, "files": made, **({"to_do": to_do} if to_do else {})},
        lambda: plain("\n".join(made)),
    )
    if to_do:
        tell(f"now: {to_do}")


def _write(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Write new files below `folder`, and return their paths.

    Raises:
        AlreadyThere: one of them is there already; then none is written.
        Unwritable: the disk refused.
    """
    taken = next((path for path in files if (folder / path).exists()), None)
    if taken:
        raise AlreadyThere(f"{folder / taken} is there already; choose another place")
    try:
        for path, data in files.items():
            fs.make_folder((folder / path).parent)
            fs.create(folder / path, data, fs.SHARED_FILE)
    except OSError as error:
        raise Unwritable(f"{folder} cannot be written: {fs.reason(error)}") from None
    return [str(folder / path) for path in files]


def _desktop_bundle() -> bytes:
    from ...hosts import bundles

    about = metadata.metadata("crabmem")
    requirements = metadata.requires("crabmem") or []
    return bundles.desktop_bundle(_package(), requirements, about["Requires-Python"], __version__)


def _package() -> dict[str, bytes]:
    """Return the files of crabmem, by the paths that they have when it is installed."""
    prompts = next(folder for folder in (_PACKAGE / "prompts", _PACKAGE.parent / "prompts") if folder.is_dir())
    homes = (("crabmem", _PACKAGE, "*.py"), ("crabmem", _PACKAGE, "*.toml"), ("crabmem/prompts", prompts, "*.md"))
    return {
        f"{home}/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for home, folder, names in homes
        for file in folder.rglob(names)
    }
