"""Which examples property tests take: the same ones in every run, new ones by a seed, or many.

pytest                                                         the fixed ones
pytest -m hypothesis --hypothesis-profile new --hypothesis-seed N      those of seed N
pytest -m hypothesis --hypothesis-profile long                 five times as many, new ones each time
"""

from hypothesis import HealthCheck, settings

_PART = 5  # of the examples that a test asks for, one in so many is made outside the long profile
_LEAST = 20


def register() -> None:
    """Register the profiles, and load that of a plain `pytest`; no run keeps examples for the next one."""
    always = settings(
        deadline=None, database=None, print_blob=True, max_examples=_LEAST, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.register_profile("fixed", always, derandomize=True)
    settings.register_profile("new", always)
    settings.register_profile("long", always, max_examples=_LEAST * _PART)
    settings.load_profile("fixed")


def examples(count: int) -> int:
    """Return how many of a test's `count` examples the loaded profile makes."""
    return count if settings.get_current_profile_name() == "long" else min(count, max(_LEAST, count // _PART))
