"""The programs that run agents, and how crabmem becomes a part of them: by their own configs, and back again."""

from .files import Change, has_ours, installation, make, removal
from .host import Config, Host, Order, Surroundings
from .known import HOSTS, NAMES, host_of

__all__ = [
    "HOSTS",
    "NAMES",
    "Change",
    "Config",
    "Host",
    "Order",
    "Surroundings",
    "has_ours",
    "host_of",
    "installation",
    "make",
    "removal",
]
