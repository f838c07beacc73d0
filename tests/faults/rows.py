"""`python -m tests.faults.rows`: every fault and attack that was thought of, and what stands against it.

A proof is a suite of this folder (`@kills`), the name of a test anywhere, or words where there is none.
"""

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

from . import SUITES

TESTS = Path(__file__).parent.parent


@dataclass(frozen=True)
class Row:
    """One fault or attack. `answer` is given where no test stands against it, or says what a test cannot."""

    fault: str
    proofs: tuple[str, ...]
    answer: str = ""


def _row(fault: str, *proofs: str, answer: str = "") -> Row:
    return Row(fault, proofs, answer)


_NAMES = "test_two_names_never_share_a_file_and_one_name_never_has_two"
_DAMAGE = "test_damaged_repository_stops_no_recall_and_loses_nothing_on_disk"
_BAD = "test_bad_file_is_named_and_hides_no_other"
_SETTINGS = "test_no_setting_of_the_person_touches_an_agents_write"

ROWS = (
    # Crash, power, disk
    _row("killed while the new text is written beside the entry", "@crashes", "@kills"),
    _row("killed between the exchange of the file and its commit", "@crashes", "@kills"),
    _row("killed while holding index.lock", "@crashes", "test_lock_of_a_persons_git_is_respected"),
    _row("killed while holding the lock of a branch", "@crashes", _DAMAGE),
    _row("killed while an object is written", "@crashes", "@kills"),
    _row("killed while the history is compacted", "@crashes", "@kills", "test_what_a_crash_left_is_cleared_up"),
    _row("power cut while the history is compacted", "@power"),
    _row("no space left while the history is compacted", "@crashes", "@disk"),
    _row("a pack of ours that is cut short or altered", "test_broken_pack_is_not_copied_and_stays_for_the_doctor"),
    _row("told to end in the middle of a write", "@crashes", "test_command_stops_cleanly_on_ctrl_c"),
    _row("power cut with objects that were not synced", "@power"),
    _row("an object of the same id that is empty", "@power", _DAMAGE),
    _row("a branch that is empty or NUL after a power cut", "@power", _DAMAGE),
    _row("no space left while the entry is written", "@crashes", "@disk"),
    _row("no space left while Git's index is written", "@crashes", "@disk"),
    _row("no space left while objects or references are written", "@crashes", "@disk"),
    _row("no inode left", "@disk"),
    _row("an error of the disk when syncing", "@crashes"),
    _row("a folder that cannot be written to", "@crashes", "@disk"),
    _row(
        "a clock that goes back, or is far in the future",
        "test_a_commit_tells_when_it_was_made_and_is_put_in_order_by_a_time_that_never_falls",
        "@disk",
    ),
    _row(
        "an edit of the same size with its time set back", "test_edit_of_the_same_size_with_its_time_set_back_is_seen"
    ),
    _row("a writer that is stopped while it holds the lock", "@disk"),
    _row("a process the system kills", "@kills"),
    _row("a bad file met at every start", _BAD),
    _row("killed while recovering from a kill", "@crashes", "@kills"),
    # Several at once, and a person's Git
    _row("eight writers, different entries", "@storm"),
    _row("eight writers, the same entry", "@storm"),
    _row("threads of one process", "test_threads_share_one_memory", "test_threads_of_one_memory_take_turns"),
    _row("a fork in the middle of things", "test_child_of_a_process_whose_threads_were_busy_is_not_stuck"),
    _row("the lock file deleted under way", "@disk", "test_deleted_lock_file_does_not_let_two_in"),
    _row("git commit", "@persons_git"),
    _row("git commit -am with an index that is behind", "@persons_git"),
    _row("git status all the time", "@persons_git"),
    _row("git checkout -B, another branch", "@persons_git"),
    _row("a detached HEAD, a bisect", "@persons_git"),
    _row("git reset --hard", "@persons_git"),
    _row("git stash -u", "@persons_git"),
    _row("git clean -fd", "@persons_git"),
    _row("git commit --amend", "@persons_git"),
    _row("git gc", "@persons_git"),
    _row("git gc --prune=now", "@persons_git"),
    _row(
        "git prune --expire=now", "@persons_git", "test_text_that_a_prune_took_is_put_back_from_the_disk_and_reported"
    ),
    _row("an automatic gc in the middle of a write", answer="dulwich's is never called, and gc.auto is 0 for Git's"),
    _row("git repack while somebody reads", "@persons_git"),
    _row(
        "git gc, repack or prune while the history is compacted", "@persons_git", "test_person_collects_in_the_middle"
    ),
    _row(
        "git rebase of our commits", "@persons_git", "test_writes_during_a_rebase_are_kept_and_join_the_branch_after_it"
    ),
    _row("a pull that ends in a conflict", "test_half_a_text_is_no_entry_and_the_reason_is_said", "@persons_git"),
    _row(".git deleted", _DAMAGE),
    _row("a repository around the workspace", "test_a_repository_around_the_workspace_is_never_touched"),
    _row(".git that is a file or a link", _DAMAGE, "test_a_git_folder_that_is_a_link_is_refused_and_left_alone"),
    _row("GIT_DIR and its like in the environment", "test_an_environment_that_points_elsewhere_moves_no_write"),
    _row(
        "a repository of another user",
        "test_a_repository_of_another_user_is_read_and_written_without_running_anything",
        answer="doctor warns; who may write a folder counts as its person",
    ),
    _row("hooks", _SETTINGS, "test_no_setting_of_the_repository_touches_an_agents_write"),
    _row("a signing program", _SETTINGS),
    _row("autocrlf, filters", _SETTINGS),
    _row("excludesFile, .gitignore", _SETTINGS, "test_what_git_is_told_to_ignore_is_recorded_all_the_same"),
    _row("files of a program that syncs", _BAD, answer="use git push and pull; a synced .git is not supported"),
    # Several machines
    _row(
        "killed while a remote is fetched from, while both histories are joined, or while it is pushed to",
        "@sync_crashes",
    ),
    _row("killed while the lock of a remote's branch is held", "@sync_crashes", "@sync_pushers"),
    _row("no space left, or an error of the disk, here or at the remote, at any step of a sync", "@sync_crashes"),
    _row("power cut in a sync, of the machine or of the remote's disk too", "@sync_power"),
    _row("many machines that push at once, beside writers", "@sync_pushers"),
    _row("a remote that is full, or may only be read", "@sync_remotes"),
    _row("a remote that is slow, silent or cut off at any request", "@sync_remotes"),
    _row("a remote that lost objects, or has broken ones", "@sync_remotes"),
    _row("a remote that advertises what it lacks, or says that it took what it did not", "@sync_remotes"),
    _row("a branch that was forced back, emptied, replaced or renamed", "@sync_remotes"),
    _row("a hook or a rule that rejects a push", "@sync_remotes", "test_a_hook_that_rejects_a_push_is_quoted"),
    _row("a shallow remote", "@sync_remotes", "test_a_shallow_remote_gives_nothing"),
    _row("trees from a remote that lead out of the folder, or into `.git`", "@sync_remotes"),
    _row("a pack that is a bomb", "test_a_thin_pack_that_stands_on_too_much_is_refused", "@sync_remotes"),
    _row("an unknown host key", "test_a_host_that_is_not_known_is_not_taken_unasked", "@sync_remotes"),
    _row(
        "credentials that are wrong, or expire", "test_a_helper_with_the_wrong_password_is_told_so_and_not_asked_again"
    ),
    _row(
        "a credential helper that hangs, prompts or prints rubbish",
        "test_a_helper_that_hangs_or_prints_rubbish_is_none",
    ),
    _row(
        "machines that change one memory at random",
        "test_a_short_script_loses_no_text_that_nobody_removed",
        "test_a_short_script_with_purges_leaves_what_was_purged_nowhere",
    ),
    # Editors and the watcher
    _row("editors that rename over the file", "@editors", "@storm"),
    _row("editors that move the file away first", "@editors"),
    _row("editors that truncate and write", "@editors", "@storm"),
    _row("an agent that overwrites while a person saves", "@editors"),
    _row(
        "an editor with an old text that saves later",
        "@editors",
        "test_slow_editor_keeps_its_words_however_late_it_saves",
    ),
    _row("swap, backup and temporary files", "test_swap_and_temporary_files_of_editors_are_no_edits", _BAD),
    _row(
        "a watcher that misses events",
        "test_edit_of_the_same_size_with_its_time_set_back_is_seen",
        answer="a recall looks itself",
    ),
    _row("marks of a merge in a file", "test_half_a_text_is_no_entry_and_the_reason_is_said", _BAD),
    _row(
        "all entries deleted by accident",
        "test_facts_lost_on_disk_stop_no_write_and_are_not_recorded",
        "test_facts_lost_on_disk_are_one_command_from_being_back",
        "test_an_operation_that_would_cost_too_much_stops_until_it_is_confirmed",
    ),
    _row(
        "an overview that shrinks to nothing", answer="the answer is the diff, if_version guards it, undo takes it back"
    ),
    _row("a person renames a file or an entry", "test_renamed_file_is_recorded_as_renamed"),
    # Content and names
    _row("frontmatter nested ten thousand deep", _BAD, "test_no_header_stops_runs_or_grows"),
    _row("bombs of aliases and merge keys", _BAD, "test_no_header_stops_runs_or_grows"),
    _row("tags that name Python objects", _BAD, "test_no_header_stops_runs_or_grows"),
    _row(
        "values that YAML takes for dates, numbers, booleans",
        "test_a_header_of_any_kind_is_read_at_once_and_the_text_is_found",
    ),
    _row("frontmatter that is no YAML", _BAD, "test_a_header_of_any_kind_is_read_at_once_and_the_text_is_found"),
    _row("errors of libraries that are none of YAML's", "@fuzz"),
    _row("reading and writing again changes a person's frontmatter", "@fuzz"),
    _row("byte order marks, CRLF, no frontmatter, one never closed", _BAD),
    _row("text that is not UTF-8, pictures, NUL", _BAD),
    _row("an entry of 50 MB", _BAD, "test_what_history_cannot_keep_is_not_replaced_and_stops_nothing_else"),
    _row(
        "pipes, sockets, devices named like entries",
        _BAD,
        "test_what_is_no_file_is_neither_followed_nor_read_nor_replaced",
    ),
    _row("a folder named like an entry", _BAD),
    _row("two names with one slug", _NAMES),
    _row("names without a letter", _NAMES),
    _row("names that differ in their normal form", _NAMES),
    _row("names that differ in case", _NAMES, "test_names_that_only_form_or_case_tells_apart_on_disk_are_both_kept"),
    _row("names of Windows devices, streams, dots at the end", _NAMES, "test_slug_of_any_name_is_safe_on_every_system"),
    _row("names of more than 255 bytes", _NAMES, "test_slug_of_any_name_is_safe_on_every_system"),
    _row("names of our own files", "test_no_name_or_alias_leads_to_the_identity_or_the_settings"),
    _row(
        "line breaks, NUL and `<` in what goes into a commit",
        "test_no_name_agent_or_session_forges_the_words_of_a_commit",
    ),
    _row("escapes for a terminal", "test_no_verb_sends_an_escape_to_a_terminal"),
    _row("a cache that was tampered with", "@fuzz", answer="the index of recall is not yet kept on disk"),
    # Attacks
    _row("paths in the arguments of tools", "test_no_name_reaches_outside", "test_real_commands_refuse_what_leads_out"),
    _row(
        "containment by prefix",
        "test_no_name_reaches_outside",
        answer="folders are entered by handle, no text is compared",
    ),
    _row("an entry that is a link to a secret", "test_what_is_no_file_is_neither_followed_nor_read_nor_replaced"),
    _row("writing through a link", "test_a_link_in_place_of_our_files_and_folders_is_not_followed"),
    _row("a folder swapped for a link under way", "test_swapping_a_folder_for_a_link_never_lets_a_write_or_read_out"),
    _row("a second name of a file elsewhere", "test_a_file_outside_with_a_second_name_among_the_entries_never_changes"),
    _row(
        "Crab.md changed by other programs of an agent",
        "test_a_persons_edit_of_the_identity_counts_at_once_and_is_in_the_log",
        answer="who can write the folder counts as its person: it takes effect and is in the log",
    ),
    _row("the identity under another name", "test_no_call_of_a_tool_changes_the_identity_or_the_settings"),
    _row("facts that talk a model into something", answer="labelled as data, with their origin; no filter is promised"),
    _row(
        "text that closes its block",
        "test_no_twenty_texts_made_of_pieces_close_their_block",
        "test_no_fact_can_pass_for_two",
    ),
    _row("text nobody sees", "test_what_nobody_sees_reaches_no_model_and_no_person"),
    _row(
        "frontmatter that claims an author",
        "test_a_header_that_claims_to_be_the_persons_changes_nothing_about_who_wrote",
    ),
    _row("an entry stuffed with every word", answer="not built: BM25 counts a word less the longer the entry"),
    _row(
        "ten thousand facts in an hour",
        answer="no quota: bounds hold for each call, and a rollback takes all of it back",
    ),
    _row("a credential in a fact", "test_secret_is_refused_masked_and_nowhere_on_the_disk"),
    _row("a forgotten secret in the history", "test_secret_in_a_file_and_one_that_only_history_holds_are_warned_about"),
    _row("other users of the machine", "test_workspace_that_others_can_read_is_made_private_by_a_fix"),
    _row("settings of Git planted in the repository", "test_no_setting_of_the_repository_touches_an_agents_write"),
    _row(
        "a hostile repository that was cloned",
        _DAMAGE,
        answer="nothing is fetched but by `crabmem sync`, which checks each object",
    ),
    _row("an open port", answer="there is none"),
    _row("one agent that reads another's memory", "test_no_name_of_a_workspace_leads_out_of_agents"),
    _row("what recall returns taken for instructions", "test_no_text_closes_the_block_it_is_in"),
    _row(
        "a dependency with a hole",
        answer="versions have upper bounds; none of dulwich's clone or checkout code is used",
    ),
)


def known_tests() -> set[str]:
    """The names of all test functions."""
    files = (ast.parse(file.read_text("utf-8")) for file in TESTS.rglob("test_*.py"))
    return {node.name for tree in files for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def missing(row: Row, tests: set[str]) -> list[str]:
    """The proofs of `row` that do not exist."""
    return [proof for proof in row.proofs if not (proof in tests or (proof[0] == "@" and proof[1:] in SUITES))]


def main() -> int:
    """Print the rows; 1 when a proof is missing."""
    tests, failed = known_tests(), 0
    for number, row in enumerate(ROWS, 1):
        gone = missing(row, tests)
        failed += bool(gone)
        print(f"{number:3}  {row.fault}\n     {'; '.join(part for part in (*row.proofs, row.answer) if part)}")
        if gone:
            print(f"     MISSING: {', '.join(gone)}")
    proved = sum(bool(row.proofs) for row in ROWS)
    print(f"{len(ROWS)} rows: {proved} with tests, {len(ROWS) - proved} answered in words")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
