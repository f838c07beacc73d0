"""`crabmem completion`: the script with which a shell completes."""

import click
from click.shell_completion import get_completion_class

from ..app import cli, verb


@verb(after="bisect")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script: source it from your shell's start-up file.

    \b
    eval "$(crabmem completion bash)"     as a line of ~/.bashrc
    eval "$(crabmem completion zsh)"      as a line of ~/.zshrc
    crabmem completion fish > ~/.config/fish/completions/crabmem.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(cli, {}, "crabmem", "_CRABMEM_COMPLETE").source())
