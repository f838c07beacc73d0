"""`crabmem uninstall`: takes crabmem out of a host's configs."""

import click

from ..app import verb
from ..options import dry_run_option, json_option, yes_option
from .install import check_host, complete_hosts, here_option


@verb(after="install")
@click.argument("name", metavar="HOST", callback=check_host, shell_complete=complete_hosts)
@here_option
@dry_run_option
@yes_option
@json_option
def uninstall(name: str, project: bool, dry_run: bool, yes: bool, json_wanted: bool) -> None:
    """Take crabmem out of a program's configs again.

    What you changed in them since stays; so does the memory.

    A config that nobody else changed is then what it was, byte for byte. Folders stay, be they empty.

    \b
    crabmem uninstall claude-code --dry-run
    """
    from .. import hosting

    hosting.uninstall(name, hosting.Request(project, dry_run, yes, json_wanted))
