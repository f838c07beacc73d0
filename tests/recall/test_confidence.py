"""How sure it is that a message is about an entry: courtesy tells nothing, names tell all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Fact, Memory
from crabmem.operations import context
from crabmem.recall.confidence import Topic, query_words
from crabmem.search import Document, Index, tokens
from crabmem.search.ordinary import levels, sentences

VET = ("Luna's vet", "who looks after the dog", "Dr. Moreno, every Friday.")
OPENED = [
    "Good morning, I need to call Luna's vet, who is it?",
    "Hi there! Sorry to bother you again, hope you had a lovely weekend. Could you tell me who Luna's vet is? Thanks!",
    "Guten Morgen! Kannst du mir kurz helfen? Who is Luna's vet?",
    "Hola, ¿me ayudas un momento, por favor? Who is Luna's vet?",
    "Bonjour, désolé de te déranger encore. Who is Luna's vet?",
]
SMALL_TALK = [
    "Sounds good, let's continue tomorrow.",
    "Good morning, how are you today?",
    "Great, thanks a lot, that was really helpful!",
    "Please rewrite this more politely.",
    "Translate the text above into French.",
    "Klingt gut, lass uns morgen weitermachen.",
    "Muchas gracias, seguimos mañana.",
    "D'accord, on continue demain alors.",
    "ありがとうございます。続きは明日にしましょう。",
    "好的,谢谢,我们明天继续。",
]
#: Two facts of a language, a question and a statement for each, and a fact full of ordinary words.
LANGUAGES = {
    "german": (
        [
            ("Tierarzt", "wer sich um den Hund kümmert", "Frau Dr. Quill in der Gerbergasse, mittwochs geschlossen."),
            ("Heizung", "Wartung der Gastherme im Keller", "Jeden Oktober durch Halvorsen; Druck bei 1,5 bar."),
            ("Sitzung", "wie wir morgens anfangen", "Guten Morgen sagen, dann geht es weiter wie gestern."),
        ],
        [
            ("Guten Morgen! Kannst du mir bitte kurz sagen, wer unser Tierarzt ist?", "Quill"),
            ("Wann wird die Gastherme gewartet, und von wem?", "Halvorsen"),
            ("Ich gehe heute mit dem Hund zum Tierarzt.", "Quill"),
        ],
        ["Guten Morgen, wie geht es dir?", "Alles klar, dann machen wir morgen weiter.", "Danke dir, bis dann!"],
    ),
    "spanish": (
        [
            ("Veterinaria", "quién cuida de la perra", "La doctora Quill, calle Curtidores; cierra los miércoles."),
            ("Caldera", "revisión de la caldera de gas", "Cada octubre, con Halvorsen; presión de 1,5 bar."),
            ("Reunión", "cómo empezamos el día", "Buenos días a todos y seguimos como ayer."),
        ],
        [
            ("Hola, buenos días, ¿me puedes decir quién es nuestra veterinaria, por favor?", "Quill"),
            ("¿Cuándo toca la revisión de la caldera?", "Halvorsen"),
            ("Mañana llevo a la perra a la veterinaria.", "Quill"),
        ],
        ["Buenos días, ¿qué tal estás?", "Vale, entonces seguimos mañana como ayer.", "Muchas gracias por todo."],
    ),
    "french": (
        [
            ("Vétérinaire", "qui s'occupe de la chienne", "Docteur Quill, rue des Tanneurs ; fermé le mercredi."),
            ("Chaudière", "entretien de la chaudière à gaz", "Chaque octobre, par Halvorsen ; pression de 1,5 bar."),
            ("Réunion", "comment on commence la journée", "Bonjour à tous, et on continue comme hier."),
        ],
        [
            ("Bonjour, désolé de te déranger : c'est qui, notre vétérinaire ?", "Quill"),
            ("Quand faut-il faire l'entretien de la chaudière ?", "Halvorsen"),
            ("J'emmène la chienne chez le vétérinaire ce soir.", "Quill"),
        ],
        ["Bonjour, comment ça va ?", "D'accord, on continue demain comme hier alors.", "Merci beaucoup pour tout !"],
    ),
    "japanese": (
        [
            ("動物病院", "犬の獣医、診察の時間", "皮革通りのクイル先生。水曜日は休診。"),
            ("ボイラー", "ガス給湯器の点検", "毎年十月にハルボルセン社が点検する。圧力は一・五バール。"),
            ("朝礼", "朝の挨拶", "おはようございますと言って、昨日の続きを始める。"),
        ],
        [
            ("おはようございます。すみませんが、犬の獣医は誰か教えてください。", "クイル"),
            ("給湯器の点検はいつですか?", "ハルボルセン"),
            ("明日、犬を獣医に連れて行きます。", "クイル"),
        ],
        ["おはようございます。お元気ですか?", "では、続きはまた明日にしましょう。", "ありがとうございました。"],
    ),
    "chinese": (
        [
            ("兽医", "谁给狗看病", "制革街的奎尔医生,星期三不开门。"),
            ("锅炉", "燃气锅炉的保养", "每年十月由哈尔沃森公司保养,压力一点五巴。"),
            ("晨会", "早上怎么开始", "先说早上好,然后继续昨天的事情。"),
        ],
        [
            ("早上好,不好意思打扰一下,请问我们的兽医是谁?", "奎尔"),
            ("锅炉什么时候保养?", "哈尔沃森"),
            ("我明天带狗去看兽医。", "奎尔"),
        ],
        ["早上好,你好吗?", "好的,那我们明天继续吧。", "谢谢你,辛苦了。"],
    ),
}  # fmt: skip


def indexed(*texts: str) -> Index:
    made = {f"{at}": Document(f"{at}", b"", tokens(text)) for at, text in enumerate(texts)}
    return Index().updated(made)


def sure(index: Index, message: str) -> float:
    topic = Topic(message, index, 0, "english")
    [shares] = topic.shares(["0"])
    return topic.confidence(shares)


@pytest.mark.parametrize("message", OPENED)
def test_whatever_courtesy_stands_around_a_question_it_is_heard(memory: Memory, message: str) -> None:
    memory.remember(*VET)
    assert "Moreno" in memory.before_turn(message)


@pytest.mark.parametrize("message", SMALL_TALK)
def test_ordinary_words_that_stand_in_a_fact_are_no_reason_to_speak(memory: Memory, message: str) -> None:
    memory.remember(*VET)
    memory.remember("Stand-up", "how we start the day", "Good morning! Sounds good, thanks; let's continue tomorrow.")
    memory.remember(
        "Deutsch", "wie wir aufhören", "Klingt gut, morgen weitermachen. Gracias, seguimos mañana. D'accord."
    )
    memory.remember("挨拶", "朝と夜", "ありがとうございます。また明日。好的,谢谢,明天继续。")
    assert memory.before_turn(message) == ""


@pytest.mark.parametrize(
    ("language", "setting"),
    [*((language, "english") for language in LANGUAGES), *((it, it) for it in ("german", "spanish", "french"))],
)
def test_it_hears_people_and_is_deaf_to_small_talk_in_their_language(
    memory: Memory, language: str, setting: str
) -> None:
    facts, asked, talk = LANGUAGES[language]
    for fact in facts:
        memory.remember(*fact)
    (memory.root / "crabmem.toml").write_text(f'language = "{setting}"\n')
    with Memory(memory.root) as again:
        assert [message for message, answer in asked if answer not in again.before_turn(message, again=True)] == []
        assert [message for message in talk if again.before_turn(message, again=True)] == []
    memory.adopt()


def test_a_fact_whose_whole_name_or_alias_stands_in_a_message_is_told_whatever_else_is_said(memory: Memory) -> None:
    memory.remember(*VET, aliases=["animal doctor"])
    memory.remember("Flaky test: checkout timeout", "not your change", "Rerun.", aliases=["test_checkout_times_out"])
    around = (
        "quarterly revenue fell, the board met in Zurich and Prague, auditors found irregular ledgers. {} Osaka, Lima."
    )
    for name in ("Luna's vet", "animal doctor", "LUNA'S VET", "`test_checkout_times_out`"):
        assert memory.before_turn(around.format(name), again=True), name
    assert not memory.before_turn(around.format("The vet"))


def test_what_is_named_is_told_before_what_only_has_more_of_the_message(memory: Memory) -> None:
    texts = ["the boiler in the cellar shows a fault", "cashews and pistachios are out", "the octopus atlas is overdue"]
    for number, text in enumerate([*texts, "bus fourteen leaves from the church"]):
        memory.remember(f"Matter {number}", text, text)
    memory.remember("Bin days", "which rubbish goes out when", "Tuesday, brown.")
    block = memory.before_turn(f"{', '.join(texts)}; and then there is the thing with the bin days.")
    assert block.index("Bin days") < block.index("Matter") and block.count("(from ") == 3


def test_a_name_of_ordinary_words_is_no_name_to_listen_for(memory: Memory) -> None:
    memory.remember("How are you", "a greeting that Emi likes", "She answers in rhymes.")
    memory.remember("Music", "which station the radio plays", "Only jazz.")
    memory.remember("Today", "what the calendar on the door is for", "Only for guests.")
    assert not memory.before_turn("Hi, how are you today? Put some music on, I am off.")


def test_confidence_is_a_share() -> None:
    index = indexed("the boiler stands in the cellar", "a dog", "a cat")
    for question in ("boiler", "boiler cellar", "boiler zebra quokka lamp", "cellar"):
        assert 0 < sure(index, question) < 1
    assert sure(index, "boiler") > sure(index, "boiler zebra quokka")
    assert sure(index, "zebra") == sure(index, "good morning") == sure(index, "") == 0


def test_who_asks_need_not_say_as_much_as_who_tells() -> None:
    index = indexed("the boiler stands in the cellar", "a dog", "a cat")
    asked = [sure(index, text) for text in ("the boiler?", "where is the boiler", "wo ist der boiler", "boiler？")]
    assert min(asked) > sure(index, "the boiler.") > 0


def test_a_question_among_other_sentences_is_heard_as_if_it_stood_alone() -> None:
    index = indexed("the boiler stands in the cellar", "a dog", "a cat")
    story = "Osaka, Lima and Quito were lovely. Our auditors flew to Zurich."
    alone = sure(index, "Where is the boiler?")
    assert sure(index, f"{story} Where is the boiler?") == sure(index, f"Where is the boiler?\n{story}") == alone
    assert sure(index, f"{story} There is the boiler.") < sure(index, "There is the boiler.")


def test_the_words_of_courtesy_change_nothing() -> None:
    index = indexed("the boiler stands in the cellar", "good morning to all", "thanks")
    bare = sure(index, "boiler pressure?")
    for message in OPENED[1:]:
        assert sure(index, message.replace("Who is Luna's vet?", "boiler pressure?").replace(
            "Could you tell me who Luna's vet is?", "boiler pressure?")) == pytest.approx(bare)  # fmt: skip


@given(
    st.lists(st.sampled_from(["boiler", "cellar", "zebra", "please", "Good", "dog", "17", "parse_line", "犬", "の"]))
)
def test_no_document_has_more_than_all_of_a_short_message(words: list[str]) -> None:
    index = indexed("boiler boiler cellar dog parse_line 犬 17", "a cat")
    assert 0 <= sure(index, " ".join(words[:6])) <= 1


@given(st.text(max_size=60), st.sampled_from(["english", "german", "hindi", "none"]))
def test_a_word_of_any_text_tells_something_between_nothing_and_all(text: str, language: str) -> None:
    assert all(0 <= level <= 1 for level in levels(sentences(text), language).values())


def test_words_of_scripts_with_marks_are_weighed_whole() -> None:
    for word in ("सूची", "बैठक", "ขอบคุณ", "café", "cafe\u0301", "Привет"):
        assert set(tokens(word)) <= levels(sentences(word), "english").keys(), word


def test_a_word_that_only_a_longer_one_holds_counts_as_that(memory: Memory) -> None:
    memory.remember("Karte", "wo sie liegt", "Die Krankenversicherungskarte ist im roten Ordner.")
    assert "Ordner" in memory.before_turn("Wo ist die Versicherungskarte im Ordner?")
    assert context.confidence(memory, "Wo ist die Versicherungskarte?") > 0


def test_a_word_of_every_passage_of_one_text_is_worth_little_and_never_less_than_nothing() -> None:
    passages = [tokens(f"the boiler and its valve number {number}") for number in range(8)]
    boiler = Document("boiler", b"", [word for words in passages for word in words], further=passages)
    topic = Topic("the boiler, valve number 3?", Index().updated({"boiler": boiler}), 0, "english")
    assert 0 < topic.worth["boiler"] < topic.worth["3"]


def test_of_a_long_message_the_rarest_known_words_are_asked() -> None:
    index = indexed("boiler cellar", *["house"] * 5)
    long = " ".join(f"word{number}" for number in range(100))
    assert query_words(f"house boiler {long}", index, "english") == tokens("boiler house")
    assert query_words("house boiler", index, "english") == tokens("house boiler")
    assert query_words(f"boiler {'x ' * 20_000} cellar", index, "english")[:2] == tokens("boiler x")
    assert Topic(f"house boiler {long}", index, 0, "english").words == tokens("boiler house")


def test_words_that_long_pages_say_in_each_passage_are_still_a_reason_to_speak(memory: Memory) -> None:
    line = "the gateway has a timeout of {0} seconds, which nobody changed since the winter"
    page = "\n".join(f"Item {number}: {line.format(number)}." for number in range(150))
    memory.remember_all([Fact(f"Page {number}", "a list of machines", page) for number in range(12)], "pages")
    assert memory.before_turn("Raise the gateway timeout")
    assert not memory.before_turn("Paint the garden fence")


def test_the_spellings_of_a_word_tell_no_more_than_one_word() -> None:
    index = indexed("by boat to Basel", "by boat to Zürich", "by boat to Geneva")
    assert sure(index, "Basel, Quito and Zürich?") == pytest.approx(sure(index, "Basel, Quito and Geneva?"))
