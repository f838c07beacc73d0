"""No broken repository and no file among the entries stops recall or loses a byte; the next write heals or says how."""

import pytest

from .damage import BAD_FILES, DAMAGES, endured, survived


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_repository_stops_no_recall_and_loses_nothing_on_disk(name: str) -> None:
    survived(DAMAGES[name])


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_and_hides_no_other(name: str) -> None:
    endured(BAD_FILES[name])
