"""Vectors from a service that answers as OpenAI's `/embeddings` does: Voyage's, Gemini's, one on this machine."""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.message import Message
from functools import partial
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec
import numpy as np

from ..disk.background import in_time
from ..errors import EmbedderFailed
from ..text.structs import converted
from .embedder import Array

_BATCH_TEXTS = 64  # Gemini takes a hundred
_MAX_ANSWER_BYTES = 100_000_000
_READ_BYTES = 1 << 16
_FIRST_PAUSE = 0.25
_BUSY = 429
# A host and its port, so plain that nobody takes another part of it for the host: of `[::1]evil.example`, say, or of
# `evil.example%2f.example.org`, which urllib decodes.
_PLACE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")


class _Row(msgspec.Struct):
    embedding: list[float]
    index: int = -1


class _Answer(msgspec.Struct):
    data: list[_Row]


class _Stay(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the key in the headers would be sent to the new address."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


class Http:
    """The model that a service calls `model`. Only the texts and the key go there; the key is never shown.

    Raises:
        EmbedderFailed: the address is not one that texts and a key should go to.
    """

    def __init__(self, url: str, model: str, key: str = "", timeout: float = 5.0) -> None:
        """`timeout` is in seconds, for one request of at most `_BATCH_TEXTS` texts, its retries included."""
        base = checked_url(url).rstrip("/")
        self._url = base if urlsplit(base).query or base.endswith("/embeddings") else f"{base}/embeddings"
        self._where = self._url.partition("?")[0]
        self._model, self._timeout = model, timeout
        self._headers = {"Content-Type": "application/json", "User-Agent": "crabmem"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        # A proxy is for the world outside.
        proxies = [urllib.request.ProxyHandler({})] if _is_loopback(self._url) else []
        self._opener = urllib.request.build_opener(_Stay, *proxies)
        self.identity = f"http {self._where} {model}"

    def embed(self, texts: Sequence[str], /) -> Array:
        """Vectors for `texts`, requested in batches as large as services take."""
        rows = [self._some(texts[at : at + _BATCH_TEXTS]) for at in range(0, len(texts), _BATCH_TEXTS)]
        try:
            return np.concatenate(rows)
        except ValueError:
            raise EmbedderFailed(f"{self._where} gave vectors of several dimensions") from None

    def _some(self, texts: Sequence[str]) -> Array:
        answer = self._asked(json.dumps({"model": self._model, "input": list(texts)}).encode())
        try:
            found = converted(msgspec.json.decode(answer), _Answer).data
        except (msgspec.DecodeError, UnicodeError) as error:
            raise EmbedderFailed(f"{self._where} did not answer with vectors: {error}") from None
        if len(found) != len(texts):
            raise EmbedderFailed(f"{self._where} gave {len(found)} vectors for {len(texts)} texts")
        if any(row.index >= 0 for row in found):
            found = sorted(found, key=lambda row: row.index)
        try:
            return np.array([row.embedding for row in found], dtype=np.float32)
        except ValueError:
            raise EmbedderFailed(f"{self._where} gave vectors of several dimensions") from None

    def _asked(self, body: bytes) -> bytes:
        """Post `body` and return the answer; while the service is busy or broken, retry until the timeout.

        Raises:
            EmbedderFailed: the service refused, failed until the end, or could not be reached.
        """
        end, pause = time.monotonic() + self._timeout, _FIRST_PAUSE
        while True:
            try:
                return in_time(partial(self._answer, body, end), end)
            except urllib.error.HTTPError as error:
                error.close()
                wait = max(pause, _seconds(error.headers.get("Retry-After")))
                may_pass = error.code == _BUSY or error.code >= http.client.INTERNAL_SERVER_ERROR
                if not may_pass or time.monotonic() + wait >= end:
                    raise EmbedderFailed(f"{self._where} {_meaning(error.code)}") from None
                time.sleep(wait)
                pause *= 2
            except (OSError, http.client.HTTPException) as error:
                raise EmbedderFailed(f"{self._where} cannot be asked: {_reason(error)}") from None

    def _answer(self, body: bytes, end: float) -> bytes:
        """Read an answer piece by piece, so that one that is too long or too slow is given up."""
        request = urllib.request.Request(self._url, body, self._headers)
        pieces, size = list[bytes](), 0
        with self._opener.open(request, timeout=max(0.01, end - time.monotonic())) as response:
            while piece := response.read1(_READ_BYTES):
                pieces.append(piece)
                size += len(piece)
                if size > _MAX_ANSWER_BYTES or time.monotonic() > end:
                    raise TimeoutError("it says too much, or too slowly")
        return b"".join(pieces)


def checked_url(url: str) -> str:
    """`url`, when it is one to be trusted with texts and a key.

    Raises:
        EmbedderFailed: the URL is no address, holds a name or password (which the message leaves out), or would send
            texts to another machine without encryption.
    """
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0)
        named = named and bool(_PLACE.fullmatch(parts.netloc.rpartition("@")[2]))
    except ValueError:
        named = False
    if not named or not url.isascii() or any(sign <= " " or sign == "\x7f" for sign in url):
        raise EmbedderFailed("vectors.url is no address; it begins with https://")
    if parts.username is not None:
        raise EmbedderFailed("vectors.url holds a name or password; put the key into an environment variable")
    if parts.scheme != "https" and not _is_loopback(url):
        raise EmbedderFailed(f"{parts.scheme}://{parts.hostname} would send memory in the clear; use https://")
    return url


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(text: Any) -> float:
    return float(text) if text and str(text).isdecimal() else 0.0


def _meaning(code: int) -> str:
    if code in (401, 403):
        return f"refuses the key (status {code}); vectors.key names the environment variable that holds it"
    if code == 404:
        return "is not there, or knows no such model (status 404); see vectors.url and vectors.model"
    return f"answered with status {code}"


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):  # its text may be what the service said
        return f"what it says is no HTTP ({type(error).__name__})"
    cause = getattr(error, "reason", error)
    return "no answer in time" if isinstance(cause, TimeoutError) else str(cause).lower() or type(cause).__name__
