"""Models made on the spot: a dozen words, each group of them means the same. Nothing is fetched, no key is needed."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
GROUPS = (
    ("vet", "doctor", "physician"),
    ("dog", "puppy", "luna"),
    ("wifi", "network", "internet"),
    ("key", "password", "secret"),
    ("boiler", "heating"),
)


def vectors(texts: Sequence[str], groups: Sequence[Sequence[str]] = GROUPS) -> Array:
    """By what a text speaks of; zeros for a text of other words."""
    rows = np.zeros((len(texts), len(groups)), np.float32)
    for row, text in zip(rows, texts, strict=True):
        words = "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()
        row[:] = [sum(word in group for word in words) for group in groups]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Array = rows / np.where(lengths > 0, lengths, 1)
    return unit


class Own:
    """Anybody's own embedder, which counts what it is asked."""

    def __init__(self, groups: Sequence[Sequence[str]] = GROUPS) -> None:
        self.identity = f"own {groups}"
        self.groups = groups
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], /) -> Array:
        self.asked += texts
        return vectors(texts, self.groups)


def saved_model(folder: Path, groups: Sequence[Sequence[str]] = GROUPS) -> Path:
    """A model of model2vec in `folder` that makes those vectors."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    words = [word for group in groups for word in group]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(["[UNK]", *words])}, "[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    table = np.concatenate([np.zeros((1, len(groups)), np.float32), vectors(words, groups)])
    StaticModel(table, tokenizer, normalize=True).save_pretrained(folder)
    return folder


Reply = tuple[int, bytes]


def good(texts: Sequence[str]) -> Reply:
    """What a service answers, in an order of its own."""
    rows = [{"index": at, "embedding": row.tolist()} for at, row in enumerate(vectors(texts))]
    return 200, json.dumps({"object": "list", "data": rows[::-1]}).encode()


class Service:
    """A service on this machine: what it was asked, and what it answers next."""

    def __init__(self) -> None:
        self.url = ""
        self.reply: Callable[[Sequence[str]], Reply] = good
        self.before = list[Reply]()
        self.more: Mapping[str, str] = {}
        self.pause = 0.0
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []


@contextmanager
def service() -> Iterator[Service]:
    """A running service with OpenAI's `/embeddings`."""
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(asked)
            told.headers.append(dict(self.headers))
            told.paths.append(self.path)
            status, body = told.before.pop(0) if told.before else told.reply(asked["input"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in told.more.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for at in range(0, len(body), max(1, len(body) // 20)):
                    stop.wait(told.pause)
                    self.wfile.write(body[at : at + max(1, len(body) // 20)])
            except OSError:
                pass  # who asked has left

        def do_GET(self) -> None:
            told.paths.append(f"GET {self.path}")
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    stop = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield told
        finally:
            stop.set()
            server.shutdown()
            thread.join()
