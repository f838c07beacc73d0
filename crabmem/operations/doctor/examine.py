"""What is wrong or odd about a workspace. Looks, and changes nothing.

A check is a function from a `Patient` to findings; adding one is adding it to `CHECKS` under its name.
"""

from collections.abc import Callable, Iterator

from ...disk import fs
from ...errors import CrabmemError, DamagedHistory, InvalidSettings
from ...results import Finding
from ...text.values import replace
from . import files, machine, past
from .patient import Patient, error

#: What is looked at, by the name the person sees.
CHECKS: dict[str, Callable[[Patient], Iterator[Finding]]] = {
    "settings": files.settings,
    "place": machine.surroundings,
    "permissions": machine.permissions,
    "free space": machine.space,
    "files": files.texts,
    "facts": files.entries,
    "links": files.links,
    "history": past.objects,
    "repository": past.repository,
    "branch": past.branch,
    "times": past.times,
    "identity": past.identity,
    "proposals": past.proposals,
    "sync": machine.sync,
    "pause": machine.pause,
    "locks and leftovers": past.leftovers,
    "cache": machine.cache,
    "vectors": machine.vectors,
    "places": machine.places,
    "memories beside": machine.memories_beside,
    "secrets": files.secrets,
}
_LEVELS = ("error", "warning", "info")


def examined(patient: Patient) -> list[Finding]:
    """The findings of all checks, errors first; what two checks find alike is said once."""
    found: dict[tuple[str, str], Finding] = {}
    for name in CHECKS:
        for finding in _checked(name, patient):
            found.setdefault((finding.path, finding.message), replace(finding, check=name))
    return sorted(found.values(), key=lambda finding: _LEVELS.index(finding.level))


def _checked(name: str, patient: Patient) -> Iterator[Finding]:
    """The findings of one check; an error in it is a finding, too, and ends only this check."""
    try:
        yield from CHECKS[name](patient)
    except InvalidSettings:
        return  # the check of the settings reports it
    except CrabmemError as failed:
        yield error(".git" if isinstance(failed, DamagedHistory) else "", str(failed))
    except OSError as failed:  # a folder that may not be entered must not end the other checks
        yield error("", f"{failed.filename} cannot be read: {fs.reason(failed)}")
