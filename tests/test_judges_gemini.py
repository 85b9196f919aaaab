"""`GeminiJudge` over the real google-genai client and a server on the loopback interface."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from adk_scoring.errors import ConfigError, JudgeError
from adk_scoring.judges import GeminiJudge, Judge, ask_all, judge_from
from adk_scoring.metrics.base import Prompt, Reply

from .gemini_server import CASES, GOOD, Answer, GeminiServer, Request, error, parts, text

# google-genai uses aiohttp if it is installed, in a way that aiohttp warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

T = TypeVar("T")
SCHEMA = '{"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}'


def clear_environment(patch: pytest.MonkeyPatch) -> None:
    """A developer's shell may hold keys, projects and proxies."""
    for name in (
        *("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
        *("GOOGLE_GENAI_API_VERSION", "GOOGLE_APPLICATION_CREDENTIALS"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
    ):
        patch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_environment(monkeypatch)


def prompt(content: str, **more: Any) -> Prompt:
    return Prompt(content, "Is it polite?", content, **more)


def judge(server: GeminiServer, **more: Any) -> GeminiJudge:
    given: dict[str, Any] = {"attempts": 2, "backoff": 0.01, "timeout": 10.0, **more}
    return GeminiJudge("gemini-test", client_options=server.client_options, **given)


def in_running_loop(work: Coroutine[object, object, T]) -> T:
    """Run it as a notebook has to: its loop is running already, so the work gets a loop and a thread of its own."""

    async def notebook() -> T:
        return await asyncio.to_thread(asyncio.run, work)

    return asyncio.run(notebook())


# Every row of what the service may send: (text, what the error begins with, requests made).
BLOCKED, EMPTY, DOWN = "blocked: the answer was blocked: ", "empty: the answer has no ", "unavailable: "
ROWS: dict[str, tuple[str, str | None, int]] = {
    "good": (GOOD, None, 1),
    "fenced": (f"```json\n{GOOD}\n```", None, 1),
    "prose": ("I would say yes.", None, 1),
    "nan": ('{"score": NaN}', None, 1),
    "two-parts": (GOOD, None, 1),
    "thought": (GOOD, None, 1),
    "extra-fields": (GOOD, None, 1),
    "no-usage": (GOOD, None, 1),
    "cached": (GOOD, None, 1),
    "safety": ("", BLOCKED + "SAFETY", 1),
    "recitation": ("Half of a", BLOCKED + "RECITATION", 1),
    "blocked": ("", "blocked: the prompt was blocked: PROHIBITED_CONTENT", 1),
    "no-candidates": ("", EMPTY + "candidates", 2),
    "empty-object": ("", EMPTY + "candidates", 2),
    "empty-body": ("", EMPTY + "candidates", 2),
    "blank": (" \n", EMPTY + "text", 2),
    "half": ('{"verdict": "y', "truncated: the answer was cut off after 14 characters: MAX_TOKENS", 1),
    "only-thinking": ("", "truncated: the answer was cut off after 0 characters: MAX_TOKENS", 1),
    "other": ("", "refused: the model ended without an answer: OTHER", 1),
    "malformed": ("call(", "refused: the model ended without an answer: MALFORMED_FUNCTION_CALL", 1),
    "function": ("", "refused: the model called a function instead of answering", 1),
    "413": ("", "rejected: HTTP 413 FAILED_PRECONDITION: too large", 1),
    "400-long": ("", "rejected: HTTP 400 INVALID_ARGUMENT: The input token count exceeds", 1),
    "429": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (2 attempts)", 2),
    "429-list": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: quota (2 attempts)", 2),
    "429-after": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (2 attempts)", 2),
    "429-info": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (2 attempts)", 2),
    "429-date": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (2 attempts)", 2),
    "429-nonsense": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (2 attempts)", 2),
    "429-day": ("", DOWN + "HTTP 429 RESOURCE_EXHAUSTED: no (the server asks to wait 86400 s)", 1),
    "500": ("", DOWN + "HTTP 500 INTERNAL: no (2 attempts)", 2),
    "503": ("", DOWN + "HTTP 503 UNAVAILABLE: overloaded (2 attempts)", 2),
    "503-html": ("", DOWN + "HTTP 503 Service Unavailable: <html> <h1>Service unavailable</h1></html> (2 attempts)", 2),
    "200-html": ("", "empty: the server's answer is not Gemini's: ", 2),
    "stall": ("", DOWN + "no answer within 0.3 s (2 attempts)", 2),
    "reset": ("", DOWN, 2),
}
APART = {"new-finish", "new-finish-empty", "400", "401", "403", "404"}
"""Cases with a test of their own: the SDK warns of the first two, the others stop a run."""


async def ask_rows(server: GeminiServer) -> dict[str, Reply]:
    patient, hasty = judge(server, concurrency=len(ROWS)), judge(server, timeout=0.3)
    async with patient, hasty:
        asked = [(hasty if name == "stall" else patient).ask(prompt(name)) for name in ROWS]
        return dict(zip(ROWS, await asyncio.gather(*asked), strict=True))


@pytest.fixture(scope="module", params=["outside a running loop", "inside a running loop"])
def answered(request: pytest.FixtureRequest) -> tuple[dict[str, Reply], list[Request]]:
    with pytest.MonkeyPatch.context() as patch, GeminiServer() as server:
        clear_environment(patch)
        run: Any = asyncio.run if request.param.startswith("outside") else in_running_loop
        return run(ask_rows(server)), server.requests


def test_every_case_of_the_server_is_asked() -> None:
    assert set(ROWS) | APART == set(CASES)


@pytest.mark.parametrize("name", ROWS)
def test_each_case_has_its_text_reason_and_number_of_requests(
    answered: tuple[dict[str, Reply], list[Request]], name: str
) -> None:
    replies, requests = answered
    wanted_text, wanted_error, wanted_requests = ROWS[name]
    reply = replies[name]
    assert reply.text == wanted_text
    if wanted_error is None:
        assert reply.error is None
    else:
        assert (reply.error or "").startswith(wanted_error)
    assert sum(request.text == name for request in requests) == wanted_requests
    assert reply.usage is not None
    assert reply.usage["model_calls"] == wanted_requests


def test_what_a_reply_knows_of_itself(answered: tuple[dict[str, Reply], list[Request]]) -> None:
    replies, _ = answered
    assert replies["good"] == Reply(
        GOOD,
        {"model_calls": 1, "input_tokens": 100, "output_tokens": 15, "reasoning_tokens": 5},
        "gemini-test-001",
        "STOP",
    )
    assert replies["cached"].usage == {"model_calls": 1, "input_tokens": 9, "cached_tokens": 4, "output_tokens": 2}
    assert replies["no-usage"].usage == {"model_calls": 1}
    # A blocked or cut off answer is billed, and so is each of two empty ones.
    assert replies["blocked"].usage == {"model_calls": 1, "input_tokens": 7}
    assert replies["half"].finish_reason == "MAX_TOKENS"
    assert replies["blank"].usage == {
        "model_calls": 2,
        "input_tokens": 200,
        "output_tokens": 30,
        "reasoning_tokens": 10,
    }


@pytest.mark.parametrize("name", ["429-after", "429-info"])
def test_the_wait_that_the_server_asks_for_is_kept(answered: tuple[dict[str, Reply], list[Request]], name: str) -> None:
    first, second = [request.at for request in answered[1] if request.text == name]
    assert second - first >= 0.3


def test_a_finish_reason_of_tomorrow() -> None:
    with GeminiServer() as server:
        work = ask_all([prompt("new-finish"), prompt("new-finish-empty")], judge(server))
        with pytest.warns(UserWarning, match="BRAND_NEW"):  # the SDK's
            good, empty = asyncio.run(work)
    assert (good.text, good.error, good.finish_reason) == (GOOD, None, "BRAND_NEW")
    assert empty.error == "refused: the model ended without an answer: BRAND_NEW"


def test_the_request_on_the_wire() -> None:
    with GeminiServer() as server:
        asked = judge(server, temperature=0.5, seed=7, max_output_tokens=2048, config={"top_p": 0.9})
        content = 'good "} \ud800 \U0001f600'
        reply = asyncio.run(asked.ask(prompt(content, schema=SCHEMA, sample=2)))
    assert reply.error is None
    [request] = server.requests
    assert request.path.endswith("/models/gemini-test:generateContent")
    assert request.text == 'good "} \ufffd \U0001f600'  # no request can carry half a character
    assert request.body["contents"][0]["role"] == "user"
    assert request.body["systemInstruction"]["parts"] == [{"text": "Is it polite?"}]
    assert request.body["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "seed": 9,
        "maxOutputTokens": 2048,
        "responseMimeType": "application/json",
        "responseJsonSchema": json.loads(SCHEMA),
    }
    assert "tools" not in request.body
    assert asked.sampling == {"temperature": 0.5, "seed": 7, "max_output_tokens": 2048, "top_p": 0.9}


def test_free_text_without_settings_sends_nothing_that_was_not_asked_for() -> None:
    with GeminiServer() as server:
        asyncio.run(judge(server).ask(Prompt("", "", "good")))
    assert not server.requests[0].body.get("generationConfig")
    assert "systemInstruction" not in server.requests[0].body


def test_a_cut_off_answer_gets_more_room_once() -> None:
    def answer(request: Request) -> Answer:
        enough = request.body["generationConfig"]["maxOutputTokens"] >= (400 if request.text == "good" else 9999)
        return text(GOOD) if enough else CASES["half"]

    with GeminiServer(answer) as server:
        good, never = asyncio.run(
            ask_all([prompt("good"), prompt("never")], judge(server, max_output_tokens=100, attempts=5))
        )
    assert good.error is None
    assert good.usage == {"model_calls": 2, "input_tokens": 200, "output_tokens": 30, "reasoning_tokens": 10}
    assert (never.error or "").startswith("truncated: ")
    limits = [r.body["generationConfig"]["maxOutputTokens"] for r in server.requests if r.text == "never"]
    assert limits == [100, 400]


def test_it_recovers_when_the_server_does() -> None:
    troubles = ["503", "reset", "429-list", "empty-body", "good"]
    with GeminiServer(lambda request: CASES[troubles[request.number]]) as server:
        reply = asyncio.run(judge(server, attempts=5).ask(prompt("question")))
    assert (reply.text, reply.error) == (GOOD, None)
    assert reply.usage is not None
    assert reply.usage["model_calls"] == 5


def test_one_attempt_is_one_request() -> None:
    with GeminiServer() as server:
        replies = asyncio.run(ask_all([prompt("503"), prompt("reset"), prompt("blank")], judge(server, attempts=1)))
    assert len(server.requests) == 3
    assert (replies[0].error or "").endswith("(1 attempt)")


@pytest.mark.parametrize("status", ["400", "401", "403", "404"])
def test_a_status_that_every_question_would_get_stops_the_run(status: str) -> None:
    with GeminiServer() as server:
        asked = judge(server, concurrency=1)
        replies = asyncio.run(ask_all([prompt(f"{status} {i}") for i in range(20)], asked))
    assert len(server.requests) == 1
    assert len({reply.error for reply in replies}) == 1
    assert (replies[-1].error or "").startswith(f"stopped: gemini-test: rejected: HTTP {status} ")


def test_at_most_the_requests_in_flight_follow_a_fatal_status() -> None:
    with GeminiServer(lambda request: error(401, "UNAUTHENTICATED")) as server:
        replies = asyncio.run(ask_all([prompt(f"q {i}") for i in range(100)], judge(server, concurrency=8)))
    assert len(server.requests) <= 8
    assert all((reply.error or "").startswith("stopped: ") for reply in replies)


def test_asked_directly_it_raises_and_asks_no_more_until_a_new_run() -> None:
    broken = True
    with GeminiServer(lambda request: error(403, "PERMISSION_DENIED") if broken else text(GOOD)) as server:
        asked = judge(server)
        for _ in range(3):
            with pytest.raises(JudgeError, match="gemini-test: rejected: HTTP 403 PERMISSION_DENIED"):
                asyncio.run(asked.ask(prompt("good")))
        assert len(server.requests) == 1
        broken = False
        [reply] = asyncio.run(ask_all([prompt("good")], asked))
    assert reply.text == GOOD


def test_a_bad_request_after_a_good_answer_is_about_its_question_alone() -> None:
    with GeminiServer() as server:
        asked = judge(server, concurrency=1)
        replies = asyncio.run(ask_all([prompt("good"), prompt("400"), prompt("good again")], asked))
    assert [reply.error for reply in replies] == [None, "rejected: HTTP 400 INVALID_ARGUMENT: API key not valid.", None]


def test_without_a_key_nothing_is_sent_and_the_reason_is_told() -> None:
    asked = GeminiJudge("gemini-test")
    replies = asyncio.run(ask_all([prompt("a"), prompt("b")], asked))
    assert all((reply.error or "").startswith("stopped: gemini-test: cannot be set up: ") for reply in replies)
    assert "key" in (replies[0].error or "").lower()


def test_an_unknown_setting_is_told_before_anything_is_sent() -> None:
    with GeminiServer() as server:
        [reply] = asyncio.run(ask_all([prompt("good")], judge(server, config={"warmth": 1})))
    assert "warmth" in (reply.error or "")
    assert server.requests == []


def test_the_environment_chooses_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    with GeminiServer() as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "from-the-environment")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.url)
        asked = GeminiJudge("gemini-test")
        asyncio.run(asked.ask(prompt("good")))
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        asyncio.run(asked.ask(prompt("good")))
    studio, vertex = server.requests
    assert studio.headers["x-goog-api-key"] == "from-the-environment"
    assert "/publishers/google/models/gemini-test:generateContent" in vertex.path
    assert "publishers" not in studio.path


def test_credentials_that_do_not_work_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from google.auth.credentials import Credentials
    from google.auth.exceptions import RefreshError, TransportError

    class Expired(Credentials):
        def __init__(self, problem: Exception) -> None:
            super().__init__()  # type: ignore[no-untyped-call,unused-ignore]
            self.problem = problem

        def refresh(self, request: object) -> None:
            raise self.problem

    def replies_with(problem: Exception, server: GeminiServer) -> list[Reply]:
        options = {"vertexai": True, "project": "p", "location": "l", "credentials": Expired(problem)}
        options |= {"http_options": {"base_url": server.url}}
        asked = GeminiJudge("gemini-test", client_options=options, backoff=0, attempts=2, concurrency=1)
        return asyncio.run(ask_all([prompt("good"), prompt("good 2")], asked))

    with GeminiServer() as server:
        expired = replies_with(RefreshError("expired"), server)  # type: ignore[no-untyped-call,unused-ignore]
        offline = replies_with(TransportError("offline"), server)  # type: ignore[no-untyped-call,unused-ignore]
    assert {reply.error for reply in expired} == {
        "stopped: gemini-test: the credentials do not work: RefreshError: expired"
    }
    assert [reply.error for reply in offline] == ["unavailable: TransportError: offline (2 attempts)"] * 2
    assert server.requests == []


def test_nobody_listens() -> None:
    with GeminiServer() as server:
        pass
    reply = asyncio.run(judge(server).ask(prompt("good")))
    assert (reply.error or "").startswith("unavailable: ")
    assert (reply.error or "").endswith("(2 attempts)")


def test_a_timeout_is_for_the_whole_attempt_and_the_server_is_told_a_timeout_it_accepts() -> None:
    with GeminiServer() as server:
        started = time.monotonic()
        reply = asyncio.run(judge(server, timeout=0.2, attempts=1).ask(prompt("stall")))
        assert time.monotonic() - started < 2
    assert reply.error == "unavailable: no answer within 0.2 s (1 attempt)"
    assert server.requests[0].headers["X-Server-Timeout"] == "10"


def test_the_deadline_of_a_run() -> None:
    with GeminiServer() as server:
        asked = judge(server, deadline=0.6, concurrency=2, attempts=5)
        started = time.monotonic()
        # Twenty good answers before, one that never comes, and twenty that are not asked any more.
        first = [prompt(f"good {i}") for i in range(20)]
        last = [prompt("stall 1"), prompt("stall 2"), *(prompt(f"good {i}") for i in range(20, 40))]
        replies = asyncio.run(ask_all([*first, *last], asked))
        assert time.monotonic() - started < 3
    assert all(reply.error is None for reply in replies[:20])
    assert all("the 0.6 s of the run leave no time" in (reply.error or "") for reply in replies[20:22])
    assert {reply.error for reply in replies[22:]} == {"deadline: the 0.6 s of the run are over"}
    assert len(server.requests) == 22


def test_a_server_that_asks_to_wait_longer_than_the_run_has_is_not_waited_for() -> None:
    with GeminiServer(lambda request: error(429, "RESOURCE_EXHAUSTED", delay="30s")) as server:
        started = time.monotonic()
        reply = asyncio.run(judge(server, deadline=5).ask(prompt("good")))
        assert time.monotonic() - started < 3
    assert "(the 5 s of the run leave no time for another attempt)" in (reply.error or "")


def test_150_questions_at_once() -> None:
    with GeminiServer(lambda request: Answer(text(request.text).body, delay=0.3)) as server:
        asked = judge(server, concurrency=150, timeout=20)
        replies = asyncio.run(ask_all([prompt(f"good {i}") for i in range(150)], asked))
    assert [reply.text for reply in replies] == [f"good {i}" for i in range(150)]
    assert server.most_at_once > 50


def test_no_more_at_once_than_allowed() -> None:
    with GeminiServer(lambda request: Answer(text(GOOD).body, delay=0.02)) as server:
        asked = judge(server, concurrency=3)

        async def directly() -> list[Reply]:
            return await asyncio.gather(*(asked.ask(prompt(f"good {i}")) for i in range(20)))

        assert all(reply.error is None for reply in asyncio.run(directly()))
    assert server.most_at_once == 3


def test_one_judge_in_several_loops_one_after_another_and_at_once() -> None:
    with GeminiServer() as server:
        asked = judge(server)

        async def run() -> list[Reply]:
            return await ask_all([prompt(f"good {i}") for i in range(5)], asked)

        replies = [reply for _ in range(3) for reply in asyncio.run(run())]
        replies += in_running_loop(run())
        threads = [threading.Thread(target=lambda: replies.extend(asyncio.run(run()))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        replies.append(asyncio.run(asked.ask(prompt("good"))))
    gc.collect()  # what was left open would be reported now
    assert len(replies) == 3 * 5 + 5 + 3 * 5 + 1
    assert {(reply.text, reply.error) for reply in replies} == {(GOOD, None)}


def test_a_cancelled_question_leaves_nothing_behind() -> None:
    with GeminiServer() as server:
        asked = judge(server, timeout=30)

        async def give_up() -> str:
            task = asyncio.create_task(asked.ask(prompt("stall")))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await asked.ask(prompt("good"))).text

        assert asyncio.run(give_up()) == GOOD
    gc.collect()


def test_a_plain_function_with_the_sync_client() -> None:
    from google import genai
    from google.genai import types

    with GeminiServer() as server:
        options = types.HttpOptions(base_url=server.url, timeout=5000)
        with genai.Client(api_key="none", http_options=options) as client:

            def ask(question: Prompt) -> Reply:
                response = client.models.generate_content(model="gemini-test", contents=question.content)
                return Reply(response.text or "", model_version=response.model_version)

            asked = judge_from(ask, name="gemini-test")
            names = [name for name in ROWS if name not in ("stall", "empty-body", "nan")]
            replies = dict(zip(names, asyncio.run(ask_all([prompt(n) for n in names], asked)), strict=True))
    assert replies["good"] == Reply(GOOD, model_version="gemini-test-001")
    assert (replies["503"].error or "").startswith("failed: ServerError: 503 UNAVAILABLE")
    assert (replies["429"].error or "").startswith("failed: ClientError: 429 RESOURCE_EXHAUSTED")
    assert replies["safety"].error == "empty: the answer has no text"
    assert (replies["reset"].error or "").startswith("failed: ")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"model": ""}, "needs a model's name"),
        ({"model": None}, "needs a model's name"),
        ({"timeout": 0}, "timeout=0"),
        ({"deadline": -1}, "deadline=-1"),
        ({"backoff": -1}, "backoff=-1"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"attempts": 0}, "attempts=0"),
        ({"config": {"response_schema": {}}}, "config may not set response_schema"),
    ],
)
def test_arguments_out_of_range(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        GeminiJudge(**{"model": "gemini-test", **wrong})


def test_it_is_a_judge_and_shows_no_key() -> None:
    asked = GeminiJudge("gemini-test", temperature=1.0, client_options={"api_key": "secret"})
    assert isinstance(asked, Judge)
    assert repr(asked) == "GeminiJudge('gemini-test', temperature=1.0)"


def test_other_parts_than_text_are_passed_over() -> None:
    mixed = parts({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"text": GOOD})
    with GeminiServer(lambda request: mixed) as server:
        assert asyncio.run(judge(server).ask(prompt("good"))).text == GOOD


def test_google_genai_is_imported_only_when_something_is_asked() -> None:
    import subprocess

    code = (
        "import sys; from adk_scoring.judges import GeminiJudge; GeminiJudge('m'); print('google.genai' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_two_runs_in_one_loop_share_a_judge() -> None:
    with GeminiServer(lambda request: Answer(text(GOOD).body, delay=0.05)) as server:
        asked = judge(server, concurrency=4)

        async def both() -> list[Reply]:
            short, long = await asyncio.gather(
                ask_all([prompt("a")], asked), ask_all([prompt(f"b {i}") for i in range(12)], asked)
            )
            return short + long

        assert {reply.error for reply in asyncio.run(both())} == {None}
    gc.collect()


def test_a_prompt_that_no_request_can_be_made_of() -> None:
    with GeminiServer() as server:
        bad, good = asyncio.run(ask_all([prompt("good 1", schema="{"), prompt("good 2")], judge(server)))
    assert (bad.error or "").startswith("failed: no request can be made of the prompt: ")
    assert good.error is None
    assert len(server.requests) == 1


def test_what_nobody_thought_of_is_told_and_not_tried_again() -> None:
    from adk_scoring.judges.gemini import _failure_of

    failure = _failure_of(RuntimeError("odd\n thing"), 1.0)
    assert (failure.reason, failure.wait, failure.fatal) == ("failed: RuntimeError: odd thing", None, False)
