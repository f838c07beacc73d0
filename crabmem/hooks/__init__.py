"""What hosts of agents tell a hook, and how each wants its answer: their JSON as values. Text in, values out.

Adding a host: a value in `hosts.HOSTS`.
"""

from .asking import Asked, asked
from .flushing import is_due
from .hosts import EVENTS, HOSTS, Host, named

__all__ = ["EVENTS", "HOSTS", "Asked", "Host", "asked", "is_due", "named"]
