"""`crabmem recall`: searches memory, for a person on a terminal or for a model that reads what a program prints."""

import sys
from collections.abc import Sequence

import click

from ...operations import reading
from ...operations import recall as operation
from ...recall.marking import on_terminal
from ...recall.ranking import passage_text, text_of
from ...results import FileHit, Hit, Match, json_of
from ...text.hashes import short
from ...text.quoting import BETWEEN, answer_text, entry_text
from ..app import verb
from ..input import words_of
from ..opening import open_session
from ..options import as_of_option, json_option, limit_option, tag_option, when_option
from ..output import day, exit_failed, in_colour, plain, show, tell, tell_unknown_tags


@verb(after="remember")
@click.argument("query", nargs=-1, required=True)
@limit_option("How many facts at most.  [default: recall_limit, 5]")
@tag_option
@when_option("--since", "Only facts changed since a commit, a date, or '2 weeks ago'.")
@when_option("--until", "Only facts not changed since then.")
@as_of_option
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N characters: of long facts the passage that matched.",
)
@click.option(
    "--with-sessions",
    "sessions",
    is_flag=True,
    help="Also past sessions, and texts in other folders: what `transcripts` and `extra_paths` in crabmem.toml list.",
)
@click.option("--everywhere", is_flag=True, help="Every memory that $CRABMEM_FLEET lets you see: see `crabmem fleet`.")
@click.option("--in", "within", metavar="PATTERN", help="With --everywhere: of memories called so, as 'team-a/*'.")
@click.option("--explain", is_flag=True, help="Say which words matched where, and what each added to the score.")
@click.option("--blame", is_flag=True, help="Say who wrote each fact when, and whether a person ever did.")
@json_option
def recall(
    query: tuple[str, ...],
    limit: int | None,
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    as_of: str | None,
    budget: int | None,
    sessions: bool,
    everywhere: bool,
    within: str | None,
    explain: bool,
    blame: bool,
    json_wanted: bool,
) -> None:
    """Search memory for what answers a question.

    The words of QUERY need no quotes; - is standard input. Exit status 1 when nothing is found.

    \b
    crabmem recall where is the deploy key
    crabmem recall 'deploy*'             any word that begins so
    crabmem recall '"the deploy key"'    these words in this order
    crabmem recall --with-sessions what did we decide last Tuesday about the parser

    \b
    What matches:
      words       whatever their case, accents (ü is u and ue), and in the workspace's `language` their endings:
                  went is go, children is child; Russian, Greek, Armenian, Arabic, Hindi, Tamil always
      numbers     600123456 finds +34 600 123 456
      programs    parse_invoice, parseInvoice, ops/deploy.sh: each part, and the whole however it
                  is joined; 3.11 finds 3.11.7; C++
      dates       9 June 2024, June 9th, 2024, 2024-06-09 and 09.06.2024 are one; June 2024 finds it
      no spaces   any part of a sentence in Chinese, Japanese, Korean, Thai, Lao, Khmer, Myanmar
      unknown     a word that no fact has: longer ones, Versicherung in Krankenversicherungskarte
    Not searched: the, what, did, you, …; but I, my, not, no, may are. Not matched: typing errors;
    nor, without [vectors] (see `crabmem config`), synonyms and other languages.
    """
    asked = words_of(query)
    if within and not everywhere:
        raise click.UsageError("--in goes with --everywhere")
    memory = open_session(tells_place=not everywhere)
    found = operation.recall(
        memory,
        asked,
        limit,
        tags,
        since=since,
        until=until,
        budget=budget,
        explain=explain,
        as_of=as_of,
        blame=blame,
        sessions=sessions,
        everywhere=everywhere,
        within=within or "",
    )
    language, is_empty = memory.settings.language, not (found.hits or found.sessions)
    if sys.stdout.isatty():
        hits = [_hit_for_person(hit, asked, language) + _explanation(hit, explain) + _provenance(hit) for hit in found]
        text = BETWEEN.join([*hits, *(_passage_for_person(hit, asked, language) for hit in found.sessions)])
    else:  # a program reads this, and often a model what it prints
        hits = [_hit_for_model(hit) + _explanation(hit, explain) for hit in found]
        text = "" if is_empty else answer_text([*hits, *map(passage_text, found.sessions)])
    show(json_wanted, json_of(found), lambda: text)
    if not found.hits and tags:
        tell_unknown_tags(reading.entries(memory, as_of), tags)
    if found.note and not json_wanted:
        tell(found.note)
    if is_empty and not json_wanted and (files := memory.searched_files):
        tell(f"recall finds facts; a tool for agents searches {', '.join(files)}: see `crabmem tools`")
    if is_empty:
        exit_failed()


def _hit_for_person(hit: Hit, asked: str, language: str) -> str:
    """Return a hit as a person sees it on a terminal: its text, its file, and the words that it was found by marked."""
    caveat = hit.caveat_with("`crabmem confirm NAME`")
    aside = f"({caveat})" if caveat else ""
    text = entry_text(hit.entry.name, f"{hit.entry.description} {aside}".strip(), hit.shown)
    return on_terminal(text, plain(hit.entry.path), asked, language, in_colour(sys.stdout))


def _passage_for_person(hit: FileHit, asked: str, language: str) -> str:
    return on_terminal(entry_text(hit.title, "", hit.snippet), plain(hit.path), asked, language, in_colour(sys.stdout))


def _hit_for_model(hit: Hit) -> str:
    """Return a hit as a model reads it, with its provenance above its own text."""
    heading, source, *rest = text_of(hit).split("\n", 2)
    return "\n".join([heading, source, *filter(None, [_provenance(hit).strip()]), *rest])


def _provenance(hit: Hit) -> str:
    """Return who wrote the fact when, and whether a person ever did, after a blank line; "" if that is not known."""
    known = hit.provenance
    if known is None:
        return ""
    told = [
        f"{what} {day(commit.time)} by {commit.who} in {short(commit.commit)}"
        for what, commit in (("learned", known.learned), ("last changed", known.changed))
        if commit
    ]
    told = told[: 2 if known.learned != known.changed else 1]
    told += [] if known.is_recorded else ["changed on disk since, not recorded yet" if told else "not recorded yet"]
    told += [f"{len(known.authors)} authors"] if len(known.authors) > 1 else []
    told += ["touched by a person" if known.is_confirmed else "never touched by a person"] if known.learned else []
    return "\n\n" + plain("; ".join(told))


def _explanation(hit: Hit, explain: bool) -> str:
    """Return what the score of a hit is made of, a line for each word, the largest part first; "" unless `explain`."""
    if not explain:
        return ""
    fields: dict[str, list[Match]] = {}
    for match in hit.matches:
        fields.setdefault(match.word, []).append(match)
    ordered = sorted(fields.items(), key=lambda item: -sum(match.added for match in item[1]))
    lines = [f"{sum(each.added for each in found):8.3f}  {word}: {_places(found)}" for word, found in ordered]
    where = f", for lines {hit.lines[0]} to {hit.lines[1]} of the content" if hit.lines else ""
    meant = "" if hit.by_meaning is None else f", {hit.by_meaning:.3f} of it for what it means"
    return "\n\n" + "\n".join([*lines, f"{hit.score:8.3f}  in all{where}{meant}"])


def _places(matches: Sequence[Match]) -> str:
    return ", ".join(f"{match.field} {match.added:.3f}" for match in matches)
