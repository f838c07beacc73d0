"""A model on this machine, in the dialects of those that hosts speak to. It records what it is asked.

It calls the first tool it is offered whose name ends with that of `call`, once in a conversation, and then says
`DONE`.
"""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All is done."
_MODEL = "stub"


@dataclass
class Model:
    """What was asked so far, and what is to be called. `tool` is a name without what a host puts before it."""

    tool: str
    arguments: dict[str, Any]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def heard(self) -> str:
        """All that was asked, as text."""
        return "\n".join(json.dumps(request, ensure_ascii=False) for request in self.requests)

    def chosen(self, request: dict[str, Any]) -> tuple[str, str | None] | None:
        """The tool to call, and the namespace it is in; None when it was called, or is not offered."""
        if self._was_called(request):
            return None
        return next(_offered(request.get("tools"), self.tool), None)

    def _was_called(self, request: dict[str, Any]) -> bool:
        turns = request.get("messages") or request.get("input") or request.get("contents")
        return bool(re.search(r'"(tool_result|function_call_output|functionResponse|tool_call_id)"', json.dumps(turns)))


def _offered(tools: Any, name: str, namespace: str | None = None) -> Iterator[tuple[str, str | None]]:
    """The tools whose name ends with `name`, wherever a dialect has them."""
    for tool in tools if isinstance(tools, list) else ():
        if tool.get("type") == "namespace":
            yield from _offered(tool.get("tools"), name, tool.get("name"))
        yield from _offered(tool.get("functionDeclarations"), name)
        full = tool.get("name") or tool.get("function", {}).get("name") or ""
        if re.fullmatch(rf"(.*[_-])?{name}", full):
            yield full, namespace


def serve(model: Model) -> ThreadingHTTPServer:
    """Start answering on a free port; `shutdown()` ends it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            model.paths.append(f"GET {self.path}")
            self._send("application/json", json.dumps({"data": [], "models": [], "object": "list"}))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            model.paths.append(f"POST {self.path}")
            model.requests.append(request)
            self._send(*_answer(model, self.path, request))

        def _send(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _answer(model: Model, path: str, request: dict[str, Any]) -> tuple[str, str]:
    """The kind of an answer, and the answer."""
    call = model.chosen(request)
    if "count" in path:
        return "application/json", json.dumps({"input_tokens": 1, "totalTokens": 1})
    if "/messages" in path:
        return _anthropic(model, call, bool(request.get("stream")))
    if "/responses" in path:
        return "text/event-stream", _events(_responses(model, call))
    if "enerateContent" in path:
        whole = _gemini(model, call)
        is_stream = "stream" in path
        return ("text/event-stream", _data(whole)) if is_stream else ("application/json", json.dumps(whole))
    return "text/event-stream", "".join(map(_data, _chat(model, call))) + "data: [DONE]\n\n"


def _data(value: object) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _events(values: list[dict[str, Any]]) -> str:
    return "".join(f"event: {value['type']}\n{_data(value)}" for value in values)


def _anthropic(model: Model, call: tuple[str, str | None] | None, is_stream: bool) -> tuple[str, str]:
    block: dict[str, Any] = {"type": "text", "text": DONE}
    delta: dict[str, Any] = {"type": "text_delta", "text": DONE}
    start: dict[str, Any] = {"type": "text", "text": ""}
    if call:
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": model.arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(model.arguments)}
        start = {**block, "input": {}}
    reason = "tool_use" if call else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": _MODEL, "usage": usage}
    if not is_stream:
        return "application/json", json.dumps({**message, "content": [block], "stop_reason": reason})
    values: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "text/event-stream", _events(values)


def _responses(model: Model, call: tuple[str, str | None] | None) -> list[dict[str, Any]]:
    item: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": DONE}],
    }
    if call:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call[0]}
        item |= {"arguments": json.dumps(model.arguments)} | ({"namespace": call[1]} if call[1] else {})
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]


def _gemini(model: Model, call: tuple[str, str | None] | None) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": call[0], "args": model.arguments}} if call else {"text": DONE}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _chat(model: Model, call: tuple[str, str | None] | None) -> list[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if call:
        function = {"name": call[0], "arguments": json.dumps(model.arguments)}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}],
        }
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": _MODEL}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
    ]
