"""The programs that run agents, and how crabmem becomes a part of them: by their own configs, and back again."""

from .files import Change, gone, has_ours, installation, make, removal, stands
from .host import WHOSE, Config, Host, Order, Surroundings, Whose
from .known import HOSTS, NAMES, host_of
from .wishes import Wish

__all__ = [
    "HOSTS",
    "NAMES",
    "WHOSE",
    "Change",
    "Config",
    "Host",
    "Order",
    "Surroundings",
    "Whose",
    "Wish",
    "gone",
    "has_ours",
    "host_of",
    "installation",
    "make",
    "removal",
    "stands",
]
