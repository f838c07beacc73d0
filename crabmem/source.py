"""What a question is put to: the entries of a moment, with the settings of then."""

from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from .catalog import Listing
from .pasts import Past
from .recalling import Fits, Question, Ranking, recalled
from .results import Recall
from .settings import Settings


class Source(NamedTuple):
    """Entries, and what they are searched with: the settings, the day it is, and what ranks by more than words."""

    shelf: Listing | Past
    rules: Settings
    today: Callable[[], date]
    ranking: Callable[[str], Ranking] | None = None

    def recall(
        self,
        query: str,
        limit: int | None = None,
        tags: tuple[str, ...] = (),
        budget: int | None = None,
        explain: bool = False,
        fits: Fits | None = None,
    ) -> Recall:
        """The answer to a question that was checked, of what `fits`; `limit` of None is that of the settings."""
        most, rules = limit or self.rules.recall_limit, self.rules
        question = Question(query, most, self.today, tags, rules.language, budget, explain, rules.recency)
        return recalled(self.shelf, question, fits, self.ranking and self.ranking(query))
