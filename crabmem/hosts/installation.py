"""crabmem in one host: what the host's configs hold of it, and which changes would install or remove it."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

from ..errors import CrabmemError
from .config_files import Change, config_text, errors_about, newest_backup, resolved_file
from .desired import Desired, holds_claim, holds_ours, put_all, remove_all, restore, without_defaults
from .host import NAME, Config
from .options import WHOSE, InstallOptions, Whose
from .parsed_config import ParsedConfig, parse
from .surroundings import Surroundings


class Installation:
    """crabmem in the configs of one host and one scope, the person's or a project's. Nothing here writes them.

    What depends on the configs reads them from the disk at each call, but for `is_there`, which is kept.

    Raises: wherever configs are read, but for `is_found` and `missing_programs`,
        BadConfig: a config cannot be read or changed safely; the message names the file.
        Unwritable: a config is read-only.
    """

    def __init__(self, options: InstallOptions, here: Surroundings, in_project: bool = False) -> None:
        self.host, self.options = options.host, replace(options, here=here)
        self._here = here
        self.configs = self.host.project if in_project else self.host.user

    @property
    def has_content(self) -> bool:
        """Whether there is anything to register."""
        return any(config.content(self.options) for config in self.configs)

    @property
    def takes_permission(self) -> bool:
        """Whether some config takes the permission to use the tools without asking."""
        return self._has_choice(allow=True, memory="beside")

    @property
    def can_switch_memory_off(self) -> bool:
        """Whether some config switches the host's own memory off."""
        return self._has_choice(allow=False, memory="only")

    @cached_property
    def is_there(self) -> bool:
        """Whether the configs hold anything that only an installation writes, be it only the hooks or the server."""
        return any(
            holds_ours(self._parsed(config), everything_desired(config, self.options)) for config in self.configs
        )

    @property
    def is_allowed(self) -> bool:
        """Whether the configs let the agent use the tools without asking."""
        return self._holds_choice(allow=True, memory="beside")

    @property
    def memory(self) -> Whose:
        """Whose memory the agent has by the configs; "only" also for a host whose memory no config switches off."""
        for memory in ("inside", "only"):
            if self._has_choice(allow=False, memory=memory) and self._holds_choice(allow=False, memory=memory):
                return memory
        return "beside" if self.can_switch_memory_off else "only"

    @property
    def has_our_memory_alone(self) -> bool:
        """Whether crabmem is installed and nothing of the host's own memory is left on."""
        return self.is_there and self._holds_choice(allow=False, memory="only")

    def changes(self, allow: bool, memory: Whose) -> list[Change]:
        """Return a change for each config, after which they hold what is asked for, and nothing of another choice made
        before, nor of the server or the hooks if only the other half is asked for. A change may change nothing
        (`Change.changes_anything`).
        """
        options = replace(self.options, allow=allow, memory=memory)
        return [self._change(config, options) for config in self.configs]

    def removal(self) -> list[Change]:
        """Return a change for each config, which takes out what the installation put in and leaves later edits."""
        return [self._removal(config) for config in self.configs]

    def obstacles(self, allow: bool) -> list[str]:
        """Return what the configs say that keeps the host from using what is installed, each with its file."""
        options = replace(self.options, allow=allow)
        return [
            f"{resolved_file(config, self._here)} says {'.'.join(map(str, each.path))}: {json.dumps(each.value)}"
            for config in self.configs
            for each in config.against(options)
            if each.is_in(self._parsed(config))
        ]

    def is_found(self) -> bool:
        """Whether `is_there`, for callers that change nothing: faster, and a config that cannot be read is skipped."""
        return any(holds_ours(parsed, everything_desired(config, self.options)) for config, parsed in self._naming_us())

    def missing_programs(self) -> list[str]:
        """Return the programs that the configs call as crabmem but that are gone. Configs that cannot be read are
        skipped.
        """
        found = set[str]()
        for config, parsed in self._naming_us():
            for desired in everything_desired(config, self.options):
                found.update(desired.programs(parsed))
        return sorted(program for program in found if shutil.which(program) is None)

    def _naming_us(self) -> Iterator[tuple[Config, ParsedConfig]]:
        """Yield the configs that contain our name and can be read, parsed; parsing the others, too, would be slow."""
        for config in self.configs:
            with suppress(CrabmemError, ValueError):
                file = resolved_file(config, self._here)
                with errors_about(file):
                    text = config_text(file) or ""
                    parsed = _parsed_fast(config, text) if NAME in text else None
                if parsed:
                    yield config, parsed

    def _has_choice(self, allow: bool, memory: Whose) -> bool:
        """Whether some config has anything to write for this choice."""
        options = replace(self.options, allow=allow, memory=memory)
        return any(config.choices(options) for config in self.configs)

    def _holds_choice(self, allow: bool, memory: Whose) -> bool:
        """Whether the configs hold all that this choice writes; also if it writes nothing."""
        options = replace(self.options, allow=allow, memory=memory)
        for config in self.configs:
            parsed = self._parsed(config)
            if not all(desired.is_in(parsed) for desired in config.choices(options)):
                return False
        return True

    def _parsed(self, config: Config) -> ParsedConfig:
        file = resolved_file(config, self._here)
        with errors_about(file):
            return parse(config.format, config_text(file) or "")

    def _change(self, config: Config, options: InstallOptions) -> Change:
        """Return the change of one config: without what other options wrote, with what `options` want."""
        wanted, every = desired_in(config, options), everything_desired(config, options)
        is_sure = self.is_there
        file = resolved_file(config, self._here)
        with errors_about(file):
            text = config_text(file)
            parsed = parse(config.format, text or "")
            change = Change(file, text, None, number=newest_backup(file))
        with errors_about(change.backup):
            kept = config_text(change.backup)
        with errors_about(file):
            other = replace(options, with_hooks=not options.with_hooks, with_server=not options.with_server)
            parts = [*_every_choice(config, options), *config.content(other)]
            old = [each for each in parts if each not in wanted] if is_sure else []
            before = _before(kept, config, every)
            changed = put_all(without_defaults(remove_all(parsed, old, before), old, before), wanted)
        after = None if changed.text == "" and text is None else changed.text
        if is_sure and kept is None and after != text and not changed.data:
            after = None  # we made this file for another choice, and nothing is left in it
        makes_backup = _needs_backup(text, after, kept, parsed, every, is_sure)
        # One that is there is from before an earlier installation, or somebody else's: it is never overwritten.
        number = change.number + (makes_backup and kept is not None)
        return replace(change, after=after, makes_backup=makes_backup, number=number)

    def _removal(self, config: Config) -> Change:
        """Return the change that takes crabmem out of one config. The file goes if nothing is left in it and it has
        no backup; the backup goes once the config is as before.
        """
        every = everything_desired(config, self.options)
        file = resolved_file(config, self._here)
        with errors_about(file):
            text = config_text(file)
        change = Change(file, text, text, number=newest_backup(file))
        if text is None:
            return change
        with errors_about(change.backup):
            before = _before(config_text(change.backup), config, every)
        with errors_about(file):
            left = restore(parse(config.format, text), every, before, self.is_there)
        after = text if left.text == text else left.text if left.data or before else None
        is_spent = self.is_there and before is not None and after == before.text
        return replace(change, after=after, drops_backup=is_spent)


def desired_in(config: Config, options: InstallOptions) -> list[Desired]:
    """Return all that `config` is to hold by `options`."""
    return [*config.content(options), *config.choices(options)]


def everything_desired(config: Config, options: InstallOptions) -> list[Desired]:
    """Return all that an installation may have put into `config`, whichever parts and choices it was asked for."""
    return [*config.content(replace(options, with_hooks=True, with_server=True)), *_every_choice(config, options)]


def _every_choice(config: Config, options: InstallOptions) -> list[Desired]:
    """Return all that any choice of permission and memory puts into `config`, each once."""
    found = list[Desired]()
    for allow, memory in product((True, False), WHOSE):
        choices = config.choices(replace(options, with_server=True, allow=allow, memory=memory))
        found += [desired for desired in choices if desired not in found]
    return found


def _needs_backup(
    text: str | None, after: str | None, kept: str | None, parsed: ParsedConfig, every: Sequence[Desired], is_sure: bool
) -> bool:
    """Whether `text` is to be kept as the backup that a later removal restores; never if it holds something of ours.

    `after` is the text to be written, `kept` that of the backup now, `parsed` is `text` parsed, `every` all that we may
    write, `is_sure` whether crabmem is in some config of the host already.

    While crabmem is in no config, a permission in `text` is the person's own. Then a backup is made even if nothing
    changes: it shows later whose the permission is. Once crabmem is in one, the permission is taken for ours: a backup
    with it would bring it back.
    """
    if text is None or holds_ours(parsed, every):
        return False
    is_claim = holds_claim(parsed, every)
    if is_sure:
        return after != text and kept is None and not is_claim
    return kept != text and (after != text or is_claim)


def _before(kept: str | None, config: Config, every: Sequence[Desired]) -> ParsedConfig | None:
    """Return the config from before the installation by `kept`, the text of its backup.

    None if there is no backup, it cannot be parsed, or it holds something of ours, and so is not from before.
    """
    try:
        found = None if kept is None else parse(config.format, kept)
    except CrabmemError:
        return None
    return None if found is None or holds_ours(found, every) else found


def _parsed_fast(config: Config, text: str) -> ParsedConfig:
    """Parse a config that will not be changed, with the fast parser of the standard library if that can read it.

    `parse` would take long: Claude Code keeps megabytes in its config.
    """
    with suppress(ValueError, RecursionError):
        data: Any = json.loads(text) if config.format in ("json", "jsonc") else None
        if isinstance(data, dict):
            return ParsedConfig(config.format, text, data)
    return parse(config.format, text)
