"""A loopback stand-in for the model APIs of Anthropic and OpenAI: it answers by a script and keeps what it was asked.

with serving(Call("recall", {"query": "vet"}), "Dr. Moreno.") as api: SDKs find it through `api.environment`.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    name: str
    arguments: Json | str

    @property
    def text(self) -> str:
        """The arguments as the model wrote them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


Reply = str | Call


@dataclass
class Api:
    """What is answered, and what was asked: `requests` are the bodies of the conversation, in their order."""

    url: str
    script: list[Reply]
    requests: list[Json] = field(default_factory=list)
    others: list[Json] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What SDKs read: where the API is, and a key."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "none",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }

    def reply(self, body: Json) -> Reply:
        """The next reply; hosts ask beside the conversation, without tools, for titles and the like."""
        if not body.get("tools") and not body.get("thread"):
            self.others.append(body)
            return "ok"
        self.requests.append(body)
        return self.script.pop(0) if self.script else "There is nothing more in the script."


@contextmanager
def serving(*script: Reply) -> Iterator[Api]:
    """An API that gives these replies one after the other."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.api = api = Api(f"http://127.0.0.1:{server.server_port}", list(script))  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = _ANSWERS.get(self.path.partition("?")[0])
        if answer is None:
            return self._send(404, "application/json", b'{"type": "error", "error": {"message": "not here"}}')
        api: Api = self.server.api  # type: ignore[attr-defined]
        reply = api.reply(body)
        whole = answer(reply, body.get("model", ""), len(api.requests))
        if not body.get("stream"):
            return self._send(200, "application/json", json.dumps(whole).encode())
        events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _anthropic_events(whole))
        self._send(200, "text/event-stream", events.encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _anthropic(reply: Reply, model: str, number: int) -> Json:
    is_call = isinstance(reply, Call)
    if isinstance(reply, Call):
        block: Json = {"type": "tool_use", "id": f"toolu_{number}", "name": reply.name, "input": json.loads(reply.text)}
    else:
        block = {"type": "text", "text": reply}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": "tool_use" if is_call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _anthropic_events(message: Json) -> Sequence[Json]:
    """The same, as it is streamed."""
    [block] = message["content"]
    if block["type"] == "text":
        start: Json = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return (
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


def _chat(reply: Reply, model: str, number: int) -> Json:
    message: Json = {"role": "assistant", "content": None if isinstance(reply, Call) else reply}
    if isinstance(reply, Call):
        function = {"name": reply.name, "arguments": reply.text}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    reason = "tool_calls" if isinstance(reply, Call) else "stop"
    return {
        "id": f"chatcmpl_{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
    }


def _responses(reply: Reply, model: str, number: int) -> Json:
    if isinstance(reply, Call):
        item: Json = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": reply.name}
        item |= {"arguments": reply.text, "status": "completed"}
    else:
        text = {"type": "output_text", "text": reply, "annotations": []}
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": model,
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
    }


_ANSWERS = {"/v1/messages": _anthropic, "/v1/chat/completions": _chat, "/v1/responses": _responses}
