"""A server on the loopback interface that answers as Gemini does, or fails as it does: each request is one of `CASES`.

Which one is said by the first word of the judged material (``contents``); a function may decide instead.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = '{"rubric_id": "polite", "verdict": "yes", "reason": "It greets."}'


@dataclass(frozen=True)
class Answer:
    """What the server sends: a body (JSON unless it is text), or what goes wrong."""

    body: object = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False


@dataclass(frozen=True)
class Request:
    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float

    @property
    def text(self) -> str:
        return str(self.body["contents"][0]["parts"][0]["text"])


def parts(*made: Mapping[str, object], finish: str = "STOP", **more: object) -> Answer:
    candidate: dict[str, object] = {"finishReason": finish, "index": 0}
    if made:
        candidate["content"] = {"role": "model", "parts": list(made)}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": 115}
    return Answer(
        {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-test-001", **more},
    )


def text(words: str, finish: str = "STOP") -> Answer:
    return parts({"text": words}, finish=finish)


def error(
    code: int, status: str, message: str = "no", headers: Mapping[str, str] | None = None, delay: str = ""
) -> Answer:
    told: dict[str, object] = {"code": code, "status": status, "message": message}
    if delay:
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return Answer({"error": told}, code, headers or {})


CASES: Mapping[str, Answer] = {
    "good": text(GOOD),
    "fenced": text(f"```json\n{GOOD}\n```"),
    "prose": text("I would say yes."),
    "nan": text('{"score": NaN}'),
    "two-parts": parts({"text": GOOD[:20]}, {"text": GOOD[20:]}),
    "thought": parts({"text": "Let me see.", "thought": True}, {"text": GOOD}),
    "extra-fields": parts({"text": GOOD}, somethingNew={"a": 1}),
    "no-usage": Answer({"candidates": [{"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}]}),
    "cached": Answer(
        {
            "candidates": [{"content": {"parts": [{"text": GOOD}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2},
        }
    ),
    "safety": parts(finish="SAFETY"),
    "recitation": parts({"text": "Half of a"}, finish="RECITATION"),
    "blocked": Answer(
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}}
    ),
    "no-candidates": Answer({"candidates": []}),
    "empty-object": Answer({}),
    "empty-body": Answer(""),
    "blank": text(" \n"),
    "half": text('{"verdict": "y', finish="MAX_TOKENS"),
    "only-thinking": parts(finish="MAX_TOKENS"),
    "other": parts(finish="OTHER"),
    "malformed": text("call(", finish="MALFORMED_FUNCTION_CALL"),
    "new-finish": text(GOOD, finish="BRAND_NEW"),
    "new-finish-empty": parts(finish="BRAND_NEW"),
    "function": parts({"functionCall": {"name": "f", "args": {}}}),
    "400": error(400, "INVALID_ARGUMENT", "API key not valid."),
    "400-long": error(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed."),
    "401": error(401, "UNAUTHENTICATED"),
    "403": error(403, "PERMISSION_DENIED"),
    "404": error(404, "NOT_FOUND", "no such model"),
    "413": error(413, "FAILED_PRECONDITION", "too large"),
    "429": error(429, "RESOURCE_EXHAUSTED"),
    "429-list": Answer([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}}], 429),
    "429-after": error(429, "RESOURCE_EXHAUSTED", headers={"Retry-After": "0.3"}),
    "429-info": error(429, "RESOURCE_EXHAUSTED", delay="0.3s"),
    "429-date": error(429, "RESOURCE_EXHAUSTED", headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "429-nonsense": error(429, "RESOURCE_EXHAUSTED", headers={"Retry-After": "soon"}, delay="later"),
    "429-day": error(429, "RESOURCE_EXHAUSTED", headers={"Retry-After": "86400"}),
    "500": error(500, "INTERNAL"),
    "503": error(503, "UNAVAILABLE", "overloaded"),
    "503-html": Answer("<html>\n<h1>Service\n unavailable</h1></html>", 503),
    "200-html": Answer("<html>Please log in</html>"),
    "stall": Answer(delay=5.0),
    "reset": Answer(reset=True),
}


class GeminiServer:
    """Listens from ``with`` on. `requests` has what came in; `answer` decides what goes out."""

    def __init__(self, answer: Callable[[Request], Answer] | None = None) -> None:
        self.answer = answer or (lambda request: CASES[request.text.split()[0]])
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> GeminiServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one segment an answer; else the acknowledgement of the headers is waited for

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    request = Request(len(server.requests), self.path, dict(self.headers), body, time.monotonic())
                    server.requests.append(request)
                    server._now += 1
                    server.most_at_once = max(server.most_at_once, server._now)
                try:
                    answer = server.answer(request)
                    if answer.delay:
                        server._closing.wait(answer.delay)
                finally:
                    with server._lock:
                        server._now -= 1
                if answer.reset:
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True
                    return
                content = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
                kind = "text/html" if content.startswith(b"<") else "application/json"
                self.send_response(answer.status)
                for name, value in {"Content-Type": kind, **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 256  # the default of 5 loses connections
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                pass  # a client that went away is part of the game

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def client_options(self) -> dict[str, object]:
        return {"api_key": "none", "http_options": {"base_url": self.url}}
