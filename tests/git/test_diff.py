"""How much two texts have in common: by sentences, however their lines end."""

from crabmem.git.diff import similarity


def test_a_text_is_like_itself_and_not_like_another() -> None:
    assert similarity(b"one\ntwo\n", b"one\ntwo\n") == 1
    assert similarity(b"one\ntwo\n", b"six\nten\n") == 0
    assert similarity(b"", b"") == 0


def test_a_paragraph_in_which_a_word_was_changed_is_like_what_it_was() -> None:
    text = b"We deploy on Fridays. The key is in the vault, under ops. Ask Ada, who wrote the script."
    assert similarity(text, text.replace(b"Fridays", b"Mondays")) > 0.5
    assert similarity(text, text.replace(b"\n", b"\r\n")) == 1
