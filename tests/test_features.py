"""Every row of the table of features has a test, or says why not."""

from tests.features import Feature, Marker, covering, faults, features, markers, markers_in, table


def test_every_row_is_covered_or_says_why_not_and_every_marker_names_a_row_above_a_test() -> None:
    assert faults(features(), markers()) == []


def test_rows_are_numbered_without_a_gap_and_name_systems_there_are() -> None:
    known = {"crab", "camel", "claw", "legion", "harness"}
    assert [row.number for row in features()] == list(range(1, 106))
    assert all(row.systems and set(row.systems.split()) <= known for row in features())


def test_what_is_wrong_with_the_table_is_told() -> None:
    rows = [
        Feature(1, "a", "crab"),
        Feature(2, "b", "crab"),
        Feature(3, "c", "crab", "no"),
        Feature(4, "d", "crab", "no"),
    ]
    text = "# feature: 1, 9\n@mark\nasync def test_one() -> None: ...\n\n# feature: 3\n\ndef test_two() -> None: ...\n"
    marked = [*markers_in(text, "x.py"), Marker("y.py:1", (4,), "test_three"), *markers_in("# Features: 1\n", "z.py")]
    assert faults(rows, marked) == [
        "x.py:5 is not `# feature: N, M` above a test",
        "z.py:1 is not `# feature: N, M` above a test",
        "x.py:1 names row 9",
        "row 2 has no test and no reason",
        "row 4 has a test and a reason",
    ]


def test_the_table_names_each_test_of_a_row() -> None:
    rows = [Feature(1, "a", "crab camel"), Feature(2, "b", "crab", "no need")]
    text = "# feature: 1\ndef test_one() -> None: ...\n\n\n# feature: 1\ndef test_two() -> None: ...\n"
    printed = table(rows, covering(markers_in(text, "x.py"))).splitlines()[2:]
    assert printed == ["| 1 | a | crab camel | x.py::test_one<br>x.py::test_two |", "| 2 | b | crab | no need |"]
