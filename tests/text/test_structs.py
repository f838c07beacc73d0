"""Classes of values that several threads use for the first time at once."""

import subprocess
import sys

_MANY = """
import sys, threading, msgspec
from crabmem.text.structs import converted

sys.setswitchinterval(1e-6)
for number in range(200):
    inner = msgspec.defstruct("Inner", [("count", int, 0), ("words", "list[str]", [])])
    outer = msgspec.defstruct("Outer", [("first", inner, None), ("rest", list[inner], [])])
    said, found = {"first": {"count": 1, "words": ["a"]}, "rest": [{"count": 2}]}, []
    begin = threading.Barrier(4)

    def ask():
        begin.wait()
        found.append(converted(said, outer))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [outer(inner(1, ["a"]), [inner(2)])] * 4
print("all")
"""


def test_threads_that_need_a_class_first_at_the_same_time_all_get_a_value() -> None:
    done = subprocess.run([sys.executable, "-c", _MANY], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr
