"""Where crabmem keeps what a person said on this machine."""

from pathlib import Path

from crabmem.disk.user_state import state_folder


def test_it_is_below_the_state_folder_of_the_user() -> None:
    assert state_folder({"XDG_STATE_HOME": "/var/state", "HOME": "/home/ann"}) == Path("/var/state/crabmem")
    assert state_folder({"HOME": "/home/ann"}) == Path("/home/ann/.local/state/crabmem")


def test_a_relative_folder_is_nobodys() -> None:
    """Else a folder that somebody merely stands in could say what its user trusts."""
    assert state_folder({"XDG_STATE_HOME": "state", "HOME": "/home/ann"}) == Path("/home/ann/.local/state/crabmem")
    assert state_folder({"HOME": "."}) is None
    assert state_folder({}) is None
