"""A model on this machine, in the dialects of those that hosts speak to. It records what it is asked.

It calls the tools it was given, one after the other, each by the first offered name that ends with the tool's, and then
says `DONE`.
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


@dataclass(frozen=True)
class Call:
    """A tool as the host calls it, the namespace it is in, its arguments, and which call of the conversation it is."""

    name: str
    namespace: str | None
    arguments: dict[str, Any]
    number: int


@dataclass
class Model:
    """What was asked so far, and what is to be called in a conversation, one after the other.

    Each call is a tool's name, without what a host puts before it, and the arguments.
    """

    calls: list[tuple[str, dict[str, Any]]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def heard(self) -> str:
        """All that was asked, as text."""
        return "\n".join(json.dumps(request, ensure_ascii=False) for request in self.requests)

    def chosen(self, request: dict[str, Any]) -> Call | None:
        """The next tool to call; None when all were called, or it is not offered."""
        done = len(results(request))
        if done >= len(self.calls):
            return None
        name, arguments = self.calls[done]
        offered = list(_offered(request.get("tools"), name))
        # A host may have a tool of its own that is called alike.
        found = sorted(offered, key=lambda each: "crabmem" not in f"{each}")[:1]
        return Call(*found[0], arguments, done + 1) if found else None


def results(request: dict[str, Any]) -> list[str]:
    """What the model reads of each call of a tool in a conversation, in the order of the calls."""
    return [text for turn in _turns(request) for text in _results(turn)]


def definitions(request: dict[str, Any], server: str) -> list[dict[str, Any]]:
    """The tools of a server as the model is offered them: those that its name, or its namespace's, stands before."""
    return [tool for tool in _all_tools(request.get("tools")) if server in str(tool.get("name"))]


def _turns(request: dict[str, Any]) -> list[Any]:
    turns = request.get("messages") or request.get("input") or request.get("contents") or []
    return turns if isinstance(turns, list) else []


def _results(turn: Any) -> Iterator[str]:
    if not isinstance(turn, dict):
        return
    if turn.get("type") == "function_call_output":
        yield _text(turn.get("output"))
    elif turn.get("role") == "tool":
        yield _text(turn.get("content"))
    for part in (*_list(turn.get("content")), *_list(turn.get("parts"))):
        if part.get("type") == "tool_result":
            yield _text(part.get("content"))
        elif "functionResponse" in part:
            yield _text(part["functionResponse"].get("response"))


def _list(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """A result as text: itself, the texts of its parts, or its JSON."""
    if isinstance(value, str):
        return value
    parts = _list(value)
    if parts and all("text" in part for part in parts):
        return "\n".join(part["text"] for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _all_tools(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in _list(tools):
        yield from _all_tools(tool.get("functionDeclarations"))
        yield tool.get("function") or tool


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
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def _answer(model: Model, path: str, request: dict[str, Any]) -> tuple[str, str]:
    """The kind of an answer, and the answer."""
    call = model.chosen(request)
    if "count" in path:
        return "application/json", json.dumps({"input_tokens": 1, "totalTokens": 1})
    if "/messages" in path:
        return _anthropic(call, bool(request.get("stream")))
    if "/responses" in path:
        return "text/event-stream", _events(_responses(call))
    if "enerateContent" in path:
        whole = _gemini(call)
        is_stream = "stream" in path
        return ("text/event-stream", _data(whole)) if is_stream else ("application/json", json.dumps(whole))
    return "text/event-stream", "".join(map(_data, _chat(call))) + "data: [DONE]\n\n"


def _data(value: object) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _events(values: list[dict[str, Any]]) -> str:
    return "".join(f"event: {value['type']}\n{_data(value)}" for value in values)


def _anthropic(call: Call | None, is_stream: bool) -> tuple[str, str]:
    block: dict[str, Any] = {"type": "text", "text": DONE}
    delta: dict[str, Any] = {"type": "text_delta", "text": DONE}
    start: dict[str, Any] = {"type": "text", "text": ""}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{call.number}", "name": call.name, "input": call.arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
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


def _responses(call: Call | None) -> list[dict[str, Any]]:
    item: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": DONE}],
    }
    if call:
        item = {"type": "function_call", "id": f"fc_{call.number}", "call_id": f"call_{call.number}", "name": call.name}
        item |= {"arguments": json.dumps(call.arguments)} | ({"namespace": call.namespace} if call.namespace else {})
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]


def _gemini(call: Call | None) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": DONE}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _chat(call: Call | None) -> list[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": f"c{call.number}", "type": "function", "function": function}],
        }
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": _MODEL}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
    ]
