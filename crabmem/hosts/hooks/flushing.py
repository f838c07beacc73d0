"""When an agent is asked to store what is worth keeping."""

from ...workspace.settings import Hooks


def is_due(messages: int, grown: int, rules: Hooks) -> bool:
    """Whether enough was said since something was stored: messages of the person, or bytes of the host's record."""
    return bool((rules.messages and messages >= rules.messages) or (rules.transcript and grown >= rules.transcript))
