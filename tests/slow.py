"""The tests that a plain `pytest` leaves out because they take seconds; `pytest -m slow` and `.ci/run` run them.

A function is listed with those of its cases that are quick enough to stay, by how their ids begin.
"""

from collections.abc import Mapping, Sequence

SLOW: Mapping[str, Sequence[str]] = {
    "benchmarks/test_benchmarks.py::test_a_short_run_has_every_row_and_writes_figures_pages_and_a_picture": (),
    "docs/test_blocks.py::test_sessions_print_what_the_page_says": (
        "docs/coming-from/README", "docs/daily-use", "docs/first-steps", "docs/hosts/README", "docs/recall",
    ),
    "docs/test_troubleshooting.py::test_no_row_is_of_a_message_that_is_gone": (),
    "faults/test_faults.py::test_no_fault_breaks_a_promise": ("damage", "kills"),
    "faults/test_foreign_settings.py::test_a_home_that_cannot_be_read_is_not_needed": ("unreadable",),
    "faults/test_foreign_settings.py::test_what_git_is_told_to_ignore_is_recorded_all_the_same": (".gitignore",),
    "faults/test_hostile_text.py::test_no_header_stops_runs_or_grows": ("Tools",),
    "faults/test_hostile_workspace.py::test_no_trap_springs_whatever_looks_at_it": (),
    "faults/test_hostile_workspace.py::test_nothing_in_the_place_of_a_file_is_believed_or_waited_for": ("link",),
    "faults/test_identity.py::test_no_name_or_alias_leads_to_the_identity_or_the_settings": ("Python", "Tools"),
    "faults/test_promises.py::test_a_promise_that_no_test_holds_is_named": (),
    "faults/test_way_out.py::test_no_name_reaches_outside": ("15-Tools", "15-CommandLine"),
    "git/test_bounds.py::test_a_tree_without_end_is_refused_in_words": (),
    "git/test_bounds.py::test_of_thousands_of_proposals_a_thousand_are_read_and_the_rest_is_said": (),
    "git/test_delta.py::test_git_copies_any_length_from_anywhere": ("0-", "1-", "655"),
    "git/test_packing.py::test_person_collects_in_the_middle": ("rename", "unlink-gc"),
    "git/test_purge_crashes.py::test_a_kill_at_any_moment_leaves_a_whole_repository": (),
    "git/test_upkeep.py::test_what_a_gc_still_takes_stays_in_the_log": (),
    "hosts/test_hooks.py::test_hook_ends_in_time_whatever_holds_the_interpreter": ("Python", "C"),
    "mcp/test_bad_input.py::test_a_client_that_leaves_in_the_middle_of_a_call_leaves_nothing_half_written": (),
    "mcp/test_limits.py::test_a_connection_without_a_whole_head_is_ended": ("POST",),
    "mcp/test_mcp.py::test_a_persons_edits_are_told_and_recorded": ("stdio-auto",),
    "mcp/test_mcp.py::test_where_nothing_can_be_watched_the_server_says_so_once_and_goes_on": ("max_inotify_watches",),
    "operations/test_export.py::test_what_was_exported_is_imported_as_the_same_facts": ("json",),
    "operations/test_proposals.py::test_a_decision_that_dies_at_any_call_is_made_or_not": (),
    "operations/test_proposals.py::test_a_proposal_that_dies_at_any_call_is_there_or_not": (),
    "operations/test_seen.py::test_nothing_that_is_hidden_comes_out_of_any_operation": (
        "camel-group", "crab", "harness", "legion-heartbeat",
    ),
    "operations/test_seen.py::test_what_is_looked_for_is_there_where_nothing_is_hidden": (),
    "operations/test_tiers.py::test_a_write_of_an_agent_that_waits_in_part_is_whole_or_not_there_at_any_crash": (),
    "operations/test_tiers.py::test_half_a_proposal_is_applied_at_no_crash": (),
    "operations/test_tiers.py::test_what_a_host_wrote_is_put_back_whole_or_later_at_any_crash": (),
    "operations/test_ways_round.py::test_no_agent_gets_around_a_rule": ("entries-", "everything-MCP", "soul"),
    "remotes/test_folder.py::test_a_push_that_fails_at_any_step_leaves_the_remote_whole": ("once-1]",),
    "remotes/test_folder.py::test_fetches_run_beside_writes_and_compactions": (),
    "search/test_search.py::test_a_large_random_corpus_scores_as_bm25s_has_it": ("0",),
    "stories/test_enduring.py::test_a_process_does_not_grow_with_each_operation": (),
    "stories/test_enduring.py::test_of_large_entries_no_more_than_some_megabytes_are_kept": (),
    "stories/test_watch.py::test_the_command_says_once_that_nothing_can_be_watched_and_records_edits_all_the_same": (
        "max_inotify_instances",
    ),
    "stories/test_watch.py::test_what_a_tool_of_a_host_wrote_waits_for_a_hook_that_is_slow_to_sign_it": (
        "by the server-False",
    ),
    "sync/test_beside.py::test_a_kill_at_any_step_loses_no_file": (),
    "sync/test_model.py::test_a_script_comes_to_the_same_end_each_time": (),
    "sync/test_model.py::test_a_short_script_in_which_a_person_uses_git_beside_loses_no_text": ("1",),
    "sync/test_model.py::test_a_short_script_loses_no_text_that_nobody_removed": ("0", "3"),
    "sync/test_model.py::test_a_short_script_with_purges_leaves_what_was_purged_nowhere": ("2",),
    "sync/test_model.py::test_the_model_finds_a_join_that_drops_what_should_wait_and_makes_the_script_small": (),
    "sync/test_purged.py::test_a_death_at_any_step_loses_nothing_and_leaves_nothing": (),
    "sync/test_purged.py::test_a_record_of_a_stranger_takes_nothing": ("nothing", "binary", "circle", "no record"),
    "text/test_linear_time.py::test_every_expression_takes_time_in_proportion_to_its_text": (),
    "web/test_pages.py::test_a_page_takes_less_than_a_tenth_of_a_second_among_ten_thousand_facts": (),
    "write/test_clocks.py::test_a_crash_is_recovered_from_whatever_the_clock_says_then": ("4-clocks0",),
    "write/test_failed_writes.py::test_what_is_on_the_branch_was_never_called_failed": (),
    "write/test_writer.py::test_a_commit_of_any_number_of_files_is_read_again": (),
}  # fmt: skip


def is_slow(nodeid: str) -> bool:
    """Return whether a plain run leaves out this test; `nodeid` is its path below the repository, with its case."""
    function, _, case = nodeid.removeprefix("tests/").partition("[")
    quick = SLOW.get(function)
    return quick is not None and not (quick and case.startswith(tuple(quick)))
