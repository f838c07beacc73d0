"""Which workspace a folder is, and which agents have one in it. Its settings say how it is laid out, or whose way of
working it follows.

A profile that is a file outside of the folder whose settings name it is read only when this user allowed that.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..disk import fs, state
from ..errors import CrabmemError, Inapplicable, InvalidArguments, InvalidSettings, Unreadable
from ..text.values import replace
from ..text.words import counted
from ..workspace import settings
from ..workspace.layout import AGENTS, DEFAULT, LAYOUTS, ORDINARY, PROJECT, SETTINGS
from ..workspace.workspace import Workspace, folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..disk.allowed import Allowed, Reach
    from ..disk.project import Project
    from ..recall.elsewhere import Place
    from ..recall.sections import Search
    from ..workspace.layout import Layout
    from ..workspace.settings import Settings


def place_meant(
    folder: str | None,
    project: str | None,
    workspace: str | None,
    environment: Mapping[str, str],
    home: str,
    here: str | None = None,
) -> str:
    """The folder of the workspace that options and environment name: `folder_of`, with the project of a folder.

    `project` is any folder in a project, not its name: `project_meant` finds that. `here` is where a relative one
    begins. `workspace` is the name of an agent.

    Raises:
        InvalidArguments: there is no folder `project`, or no folder can have the name of the agent.
    """
    found = project_meant(project, environment, here)
    return folder_of(folder, workspace, environment, home, found.name if found else "")


def project_meant(project: str | None, environment: Mapping[str, str], here: str | None = None) -> Project | None:
    """The project around the folder `project`, or with None around $CRABMEM_PROJECT; None if there is no project.

    A relative path begins at `here`, by default the working directory.

    Raises:
        InvalidArguments: the folder does not exist.
    """
    wanted = environment.get("CRABMEM_PROJECT") if project is None else project
    if not wanted:
        return None
    from ..disk.project import project_of  # late: few ask for a memory of each project

    whole = os.path.join(here or "", os.path.expanduser(wanted))
    if not os.path.isdir(whole):
        raise InvalidArguments(f"there is no folder {wanted} that a project could be in")
    return project_of(whole)


def workspace_at(root: Path | str, profile: str | None, allowed: Allowed) -> Workspace:
    """The workspace in the folder `root`, with the layout of `profile`; with None, of the profile in its settings.

    A profile without a layout leaves that to the settings. A file outside of `root` that the settings name as profile
    must be `allowed`. The settings need not be valid otherwise.

    Raises:
        Inapplicable: the settings name a profile that does not exist; the message begins with their path.
        InvalidSettings: the profile cannot be read, or is not allowed.
    """
    named, layout = settings.layout_in(_readable_settings(root))
    usual = PROJECT if layout == ORDINARY.name and _is_of_project(root) else LAYOUTS[layout]
    if profile is not None:
        name = _absolute_profile("", profile)
        return Workspace(root, _layout(root, name) or usual, name)
    name = profile_at(root, named, allowed)
    try:
        return Workspace(root, _layout(root, name) or usual, name)
    except InvalidArguments as error:
        around = root if named else Workspace(root).around or root
        raise Inapplicable(f"{os.path.join(around, SETTINGS)}: {error.problem}") from None


def profile_at(root: Path | str, named: str, allowed: Allowed) -> str:
    """The profile of the workspace in `root`, whose own settings name the profile `named` ("" for none).

    Return a name, an absolute path for a file, "" for the default. An agent's own workspace that names none takes the
    profile of the workspace around it.

    Raises:
        InvalidSettings: the profile is a file outside of the workspace that this user has not allowed.
    """
    around = Workspace(root).around
    if not named and around is not None:
        return profile_at(around, settings.layout_in(_readable_settings(around))[0], allowed)
    profile = _absolute_profile(root, named)
    file = outside(root, profile)
    if file and allowed.reach(root).profile != file:
        from ..text.commands import program_at

        raise InvalidSettings(
            f"{os.path.join(root, SETTINGS)} names a profile outside of the workspace, {file}, which nobody here has "
            f"allowed; `{program_at(str(root), allowed.environment)} config allow` does"
        )
    return profile


def settings_at(root: Path) -> Settings:
    """What the settings of the folder `root` say; the profile that they name is not looked at.

    Raises:
        InvalidSettings: a value is invalid, or a key unknown.
        Unreadable: the file cannot be read, or is not UTF-8.
    """
    return settings.parse_settings(settings_file(root) or b"", str(root / SETTINGS))


def known_settings_at(root: Path | str) -> tuple[Settings, str]:
    """`settings_at` without an error for unknown keys: these are described in the second value, "" for none.

    Raises: as `settings_at` otherwise.
    """
    return settings.read_settings(settings_file(root) or b"", os.path.join(root, SETTINGS))


def settings_file(root: Path | str) -> bytes | None:
    """The bytes of the settings in the folder `root`; None where it has none.

    Raises:
        Unreadable: the file is there and cannot be read.
    """
    file = os.path.join(root, SETTINGS)
    try:
        return fs.read(file)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {fs.reason(error)}") from None


def reach_of(root: Path | str, rules: Settings) -> Reach:
    """What the settings of the workspace in `root` would reach outside of it."""
    from ..disk.allowed import Reach

    vectors = rules.vectors.named if rules.vectors.are_wanted else None
    return Reach(
        vectors,
        outside(root, _absolute_profile(root, rules.profile)),
        extra_paths=_folders_outside(root, rules.extra_paths),
        transcripts=_folders_outside(root, rules.transcripts),
        also=_folders_outside(root, rules.also),
    )


def allowed_beside(root: Path | str, rules: Settings, allowed: Allowed) -> tuple[tuple[str, ...], int]:
    """The folders in the setting `also` that this user allowed, and the number of those not allowed."""
    asked, known = _folders_outside(root, rules.also), allowed.reach(root).also
    kept = tuple(folder for folder in asked if folder in known)
    return kept, len(asked) - len(kept)


def places_at(root: Path, rules: Settings, search: Search, allowed: Allowed) -> tuple[list[Place], str]:
    """The folders outside of the workspace that are searched, and a message about those not allowed, "" for none.

    Folders come from the settings; the `search` of the profile may select some of them. This user must have allowed
    each.

    Raises:
        InvalidSettings: the profile names a folder that the settings do not list.
    """
    from ..recall.elsewhere import Place

    asked, known = reach_of(root, rules), allowed.reach(root)
    wanted = asked.extra_paths
    if search.extra_paths:
        wanted = _folders_outside(root, search.extra_paths)
        for folder in wanted:
            if not _lies_in(folder, asked.extra_paths):
                raise InvalidSettings(
                    f"the profile searches {folder}, which is not in extra_paths of {os.path.join(root, SETTINGS)}; "
                    "list it there, or name a folder that is"
                )
    transcripts = asked.transcripts if search.transcripts else ()
    places = [Place(folder) for folder in wanted if _lies_in(folder, known.extra_paths)]
    places += [Place(folder, has_transcripts=True) for folder in transcripts if _lies_in(folder, known.transcripts)]
    if not (left := len(wanted) + len(transcripts) - len(places)):
        return places, ""
    from ..text.commands import program_at

    # What the settings say may be a stranger's words, so they are not repeated here, where a model may read them.
    which = counted(left, "folder")
    way_out = f"`{program_at(str(root), allowed.environment)} config allow` says which, and allows it"
    return places, f"{which} outside of the workspace not searched, which nobody here has allowed; {way_out}"


def _folders_outside(root: Path | str, named: tuple[str, ...]) -> tuple[str, ...]:
    """The real paths of the named folders outside of `root`. Folders inside are dropped: they are memory already."""
    folders, own = dict[str, None](), os.path.realpath(root)
    for folder in named:
        try:
            found = os.path.realpath(os.path.join(root, os.path.expanduser(folder)))
        except ValueError:  # no folder has such a name
            continue
        # A link may lead to a name that no file of ours can hold, or that would begin a line of its own.
        if found.isprintable() and not _lies_in(found, (own,)):
            folders[found] = None
    return tuple(folders)


def _lies_in(folder: str, others: tuple[str, ...]) -> bool:
    """Whether a folder is one of others, or lies in one, all by their real paths."""
    return any(folder == other or folder.startswith(f"{other.rstrip(os.sep)}{os.sep}") for other in others)


def outside(root: Path | str, profile: str) -> str:
    """The file of a profile where it lies outside of the folder `root`, links followed; "" for any other profile."""
    if not profile.endswith(".toml"):
        return ""
    try:
        file = os.path.realpath(profile)
    except ValueError:  # no file has such a name
        return profile
    return "" if Path(file).is_relative_to(os.path.realpath(root)) else file


def agent_folders(workspace: Workspace, within: str = AGENTS) -> list[Path]:
    """The folders of the named agents of a workspace, or with `within=PROJECTS` of its projects, by name.

    Links are not followed. In a project's repository `agents` may be the project's own folder, so only folders in which
    a memory was begun count there.
    """
    home = workspace.root / within
    if os.path.islink(home) or not os.path.isdir(home):
        return []
    seen = (each for each in home.iterdir() if each.name[0] != "." and not each.is_symlink())
    folders = sorted(each for each in seen if each.is_dir())
    return [each for each in folders if not workspace.layout.is_guest or fs.is_own_folder(Workspace(each).private)]


def neighbours(workspace: Workspace) -> list[str]:
    """The names of the agents that have a workspace beside this one; none where this is no agent's own."""
    beside = agent_folders(Workspace(workspace.around)) if workspace.around else []
    return [each.name for each in beside if each.name != workspace.root.name]


def _absolute_profile(folder: Path | str, profile: str) -> str:
    """The name of a profile: "" for the usual one, an absolute path for one that is a file, named in `folder`."""
    if profile == DEFAULT:
        return ""
    return os.path.abspath(os.path.join(folder, os.path.expanduser(profile))) if profile.endswith(".toml") else profile


def _is_of_project(root: Path | str) -> bool:
    """Whether the folder is a project's repository, on whatever branch it stands now: one without settings, too."""
    git = os.path.join(root, ".git")
    if os.path.isdir(private := os.path.join(git, "crabmem")):
        return os.path.lexists(os.path.join(private, state.PROJECT))
    if not os.path.isdir(git):
        return False
    from ..git.history import History  # late: most repositories are ours already

    history = History(Workspace(root))
    try:
        return history.ownership.is_of_project()
    except (CrabmemError, OSError):  # whoever needs the repository says what is wrong with it
        return False
    finally:
        history.close()


def _layout(root: Path | str, profile: str) -> Layout | None:
    if not profile:
        return None
    from ..prompt.profile import layout_of, load_profile  # late: most workspaces name none

    layout = layout_of(profile, load_profile(profile))
    return layout and _as_spelled(root, layout)


def _as_spelled(root: Path | str, layout: Layout) -> Layout:
    """`layout` with the names that identity and overview have in `root`: an older `memory.md` is the `MEMORY.md`."""
    identity, overview = (_spelled(root, path) for path in (layout.identity, layout.overview))
    return replace(layout, identity=identity, overview=overview)


def _spelled(root: Path | str, path: str) -> str:
    """`path`, or where nothing is called exactly so, how the name is written there in another case."""
    folder, slash, name = path.rpartition("/")
    try:
        there = os.listdir(os.path.join(root, folder))
    except OSError:
        return path
    alike = sorted(other for other in there if other.casefold() == name.casefold())
    return path if name in alike else folder + slash + (alike or [name])[0]


def _readable_settings(root: Path | str) -> bytes:
    """The bytes of the settings of a folder; none where they cannot be read: who needs them says what is wrong."""
    try:
        return settings_file(root) or b""
    except Unreadable:
        return b""
