"""Loading what reaches remotes reaches none."""

import subprocess
import sys

_CODE = """
import sys
started = []
def hook(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn")):
        started.append(event)
sys.addaudithook(hook)
from crabmem.remotes import address, bundle, credentials, folder, programs, remote, served, ssh
assert "urllib3" not in sys.modules and "crabmem.memory" not in sys.modules
print([event for event in started if event != "socket.__new__"], flush=True)
"""


def test_no_socket_is_opened_and_no_process_started_by_loading_it() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_command_line_loads_none_of_it_by_itself() -> None:
    code = (
        "import sys, crabmem.cli.app\n"
        "print([name for name in sys.modules if name.startswith(('crabmem.sync', 'crabmem.remotes'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
