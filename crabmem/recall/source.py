"""What a question is put to: the entries of a moment, with the settings of then."""

from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from ..results import Recall
from ..search.recency import day_of, recency
from ..workspace.settings import Settings
from .catalog import Listing
from .ranking import PathFilter, Question, Ranking, recalled
from .snapshots import Past


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
        fits: PathFilter | None = None,
    ) -> Recall:
        """The answer to a question that was checked, of what `fits`; `limit` of None is that of the settings."""
        most, rules = limit or self.rules.recall_limit, self.rules
        factor = self._freshness if rules.recency else None
        question = Question(query, most, tags, rules.language, budget, explain, factor)
        return recalled(self.shelf, question, fits, self.ranking and self.ranking(query))

    def _freshness(self, path: str) -> float:
        day = day_of(path.rpartition("/")[2].removesuffix(".md"))
        return recency((self.today() - day).days, self.rules.recency) if day else 1.0
