"""Gemini as a judge, through google-genai: a `Prompt` goes in, a `Reply` or the reason why there is none comes out.

The only module that imports google.genai, and only when something is asked. The SDK's own retries are off: it
ignores ``Retry-After``, retries other failures with another HTTP library installed, and has no timeout of its own.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from ..errors import ConfigError, JudgeError
from ..metrics.base import Prompt, Reply

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentConfig, GenerateContentResponse

__all__ = ["GeminiJudge"]

_FATAL: Final = frozenset({400, 401, 403, 404})
_RETRIED: Final = frozenset({408, 429})  # and 5xx
_LONGEST_BACKOFF: Final = 60.0
"""Seconds."""
_LONGEST_WAIT: Final = 180.0
"""Seconds: a server that asks for more (a quota per day) has no answer within this run."""
_SERVER_TIMEOUT: Final = 10.0
"""Seconds: the server refuses to be told a shorter timeout than this; ours may be shorter."""
_BLOCKED: Final = {
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION"),
    *("PUP_LIMITED_DISABLED", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
}
_REFUSED: Final = {
    *("OTHER", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"),
    *("UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"),
}
_RESERVED: Final = {
    *("system_instruction", "response_mime_type", "response_schema", "response_json_schema", "candidate_count"),
    *("http_options", "tools", "automatic_function_calling", "temperature", "seed", "max_output_tokens"),
}


class GeminiJudge:
    """A Gemini model as judge, on AI Studio or Vertex AI.

    Key, project and endpoint come from the environment as google-genai reads it (``GOOGLE_API_KEY`` or
    ``GEMINI_API_KEY``; ``GOOGLE_GENAI_USE_VERTEXAI`` with ``GOOGLE_CLOUD_PROJECT`` and ``GOOGLE_CLOUD_LOCATION``), and
    are looked up when the first question is asked: with a full `VerdictStore` no key is needed.

    A status of 400, 401, 403 or 404 stops the run (`JudgeError`), for every further question would fail the same way;
    a 400 after a good answer, or about a text that is too long, is an error of its question alone.

    `ask` opens a connection and closes it again; within ``async with judge:`` it stays open. It may be used from one
    event loop after another.

    Args:
        model: the model's name, e.g. ``"gemini-3.8-flash"``. Required: a default would one day be switched off.
        temperature: sampling temperature. Google advises to leave it unset for Gemini 3 and later.
        seed: sampling seed; repeat number ``i`` of a question is asked with ``seed + i``.
        max_output_tokens: limit of the answer, thinking included; raised fourfold once if it cuts an answer off.
        config: further fields of ``GenerateContentConfig``, e.g. ``{"thinking_config": {"thinking_level": "LOW"}}``.
        concurrency: requests at once.
        timeout: seconds for one attempt.
        attempts: how often a question is tried when the server is busy or unreachable.
        backoff: seconds; before attempt k+1 it waits a random time up to ``backoff * 2**(k-1)``, at most 60 s, and at
            least as long as the server asks (``Retry-After``, ``retryDelay``).
        deadline: seconds for the whole run, from the first question (or ``async with``).
        client_options: arguments for ``google.genai.Client``, e.g. ``{"vertexai": True}``.

    Raises:
        ConfigError: an argument is missing or out of range.

    >>> judge = GeminiJudge("gemini-3.8-flash", seed=7)
    >>> judge.name, judge.sampling
    ('gemini-3.8-flash', {'seed': 7})
    """

    def __init__(
        self,
        model: str,
        *,
        temperature: float | None = None,
        seed: int | None = None,
        max_output_tokens: int | None = None,
        config: Mapping[str, Any] | None = None,
        concurrency: int = 8,
        timeout: float = 60.0,
        attempts: int = 5,
        backoff: float = 1.0,
        deadline: float | None = None,
        client_options: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"GeminiJudge needs a model's name, not {model!r}; e.g. GeminiJudge('gemini-3.8-flash')")
        if not timeout > 0 or not backoff >= 0 or (deadline is not None and not deadline > 0):
            raise ConfigError(
                f"timeout={timeout!r}, backoff={backoff!r}, deadline={deadline!r}: wanted seconds above 0"
            )
        if concurrency < 1 or attempts < 1:
            raise ConfigError(f"concurrency={concurrency!r}, attempts={attempts!r}: wanted at least 1 of each")
        if reserved := _RESERVED.intersection(config or ()):
            raise ConfigError(f"config may not set {', '.join(sorted(reserved))}: arguments or the judge itself do")
        chosen = {"temperature": temperature, "seed": seed, "max_output_tokens": max_output_tokens, **(config or {})}
        self.sampling = {name: value for name, value in chosen.items() if value is not None}
        """What shapes the answers; a part of the key of every stored verdict."""
        self.name = model
        self.concurrency, self.timeout, self.attempts = concurrency, timeout, attempts
        self.backoff, self.deadline = backoff, deadline
        self._client_options = dict(client_options or {})
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}
        self._stopped = ""

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.sampling.items())
        return f"GeminiJudge({self.name!r}{settings})"

    async def __aenter__(self) -> GeminiJudge:
        if self._enter().users == 1:
            self._stopped = ""  # a new run: the key may have been mended since
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._leave()

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer one prompt; see `Judge.ask`.

        Raises:
            JudgeError: the judge cannot be asked at all; raised again, without a request, by every later call.
        """
        session = self._enter()
        try:
            async with session.slots:
                return await self._ask(session, prompt)
        finally:
            await self._leave()

    def _enter(self) -> _Session:
        """Return what belongs to the running event loop: connections cannot be used in another one."""
        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            end = math.inf if self.deadline is None else loop.time() + self.deadline
            self._sessions[loop] = _Session(asyncio.Semaphore(self.concurrency), end)
        session = self._sessions[loop]
        session.users += 1
        return session

    async def _leave(self) -> None:
        loop = asyncio.get_running_loop()
        session = self._sessions[loop]
        session.users -= 1
        if not session.users:
            del self._sessions[loop]
            if session.client is not None:
                await session.client.aio.aclose()
                session.client.close()

    async def _ask(self, session: _Session, prompt: Prompt) -> Reply:
        """Try until there is an answer, or a failure that trying again does not mend."""
        spent: Counter[str] = Counter()
        limit = self.sampling.get("max_output_tokens")
        mendable = {"empty"} if limit is None else {"empty", "truncated"}  # each once
        for attempt in count(1):
            reply, wait = await self._attempt(session, prompt, limit)
            spent.update(reply.usage or {})
            kind = (reply.error or "").partition(":")[0]
            if kind in mendable:
                mendable.remove(kind)
                wait = 0.0
                if kind == "truncated" and limit is not None:
                    limit *= 4
            if wait is None:
                break
            wait += random.uniform(0, min(_LONGEST_BACKOFF, self.backoff * 2 ** (attempt - 1)))  # noqa: S311  # no secret
            if problem := self._no_more(attempt, wait, session.left()):
                reply = replace(reply, error=f"{reply.error} ({problem})")
                break
            await asyncio.sleep(wait)
        return replace(reply, usage=dict(spent))

    def _no_more(self, attempt: int, wait: float, left: float) -> str:
        """Say why there is no further attempt, if there is none."""
        if attempt == self.attempts:
            return "1 attempt" if attempt == 1 else f"{attempt} attempts"
        if wait > left:
            return f"the {self.deadline:g} s of the run leave no time for another attempt"
        if wait > _LONGEST_WAIT:
            return f"the server asks to wait {wait:.0f} s"
        return ""

    async def _attempt(self, session: _Session, prompt: Prompt, limit: int | None) -> tuple[Reply, float | None]:
        """Ask once. Also returns how many seconds to wait before another attempt; ``None``: there is no use in one."""
        if self._stopped:
            raise JudgeError(self._stopped)
        client = self._client_of(session)
        seconds = min(self.timeout, session.left())
        if seconds <= 0:
            return Reply("", error=f"deadline: the {self.deadline:g} s of the run are over"), None
        try:
            config = self._config(prompt, limit)
        except Exception as error:  # the schema, say: the settings themselves were looked at with the client
            return Reply("", error=f"failed: no request can be made of the prompt: {error}"), None
        try:
            async with asyncio.timeout(seconds):
                response = await client.aio.models.generate_content(
                    model=self.name, contents=_sendable(prompt.content), config=config
                )
        except Exception as error:
            failure = _failure_of(error, seconds)
            own_fault = failure.status == 400 and (session.answered or "exceeds" in failure.reason)
            if failure.fatal and not own_fault:
                raise self._stop(failure.reason) from error
            return Reply("", {"model_calls": 1}, error=failure.reason), failure.wait
        reply = _reply_of(response)
        session.answered = session.answered or reply.error is None
        return reply, None

    def _client_of(self, session: _Session) -> Client:
        if session.client is None:
            try:
                self._config(Prompt("", "", ""), None)
                session.client = _connect(self._client_options, self.timeout)
            except Exception as error:
                raise self._stop(f"cannot be set up: {type(error).__name__}: {error}") from error
        return session.client

    def _config(self, prompt: Prompt, limit: int | None) -> GenerateContentConfig:
        from google.genai.types import GenerateContentConfig

        fields: dict[str, Any] = {**self.sampling, "automatic_function_calling": {"disable": True}}
        if prompt.system:
            fields["system_instruction"] = _sendable(prompt.system)
        if prompt.schema:
            fields["response_mime_type"] = "application/json"
            fields["response_json_schema"] = json.loads(prompt.schema)
        if limit is not None:
            fields["max_output_tokens"] = limit
        if "seed" in fields:
            fields["seed"] += prompt.sample  # or every repeat would be the same answer
        return GenerateContentConfig(**fields)

    def _stop(self, reason: str) -> JudgeError:
        self._stopped = f"{self.name}: {reason}"
        return JudgeError(self._stopped)


@dataclass
class _Session:
    """What a judge has in one event loop."""

    slots: asyncio.Semaphore
    end: float
    """When the run is over, in the loop's time."""
    client: Client | None = None
    users: int = 0
    answered: bool = False
    """Whether a good answer came: key, model and settings are right then."""

    def left(self) -> float:
        """Seconds that the run still has."""
        return self.end - asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a request gave no answer."""

    reason: str
    wait: float | None = None
    """Seconds to wait before trying again; ``None``: do not."""
    fatal: bool = False
    status: int | None = None


def _connect(options: Mapping[str, Any], timeout: float) -> Client:
    from google import genai
    from google.genai import types

    http = types.HttpOptions.model_validate(options.get("http_options") or {})
    milliseconds = math.ceil(max(timeout, _SERVER_TIMEOUT) * 1000)
    own = {"timeout": milliseconds, "retry_options": types.HttpRetryOptions(attempts=1)}
    return genai.Client(**{**options, "http_options": http.model_copy(update=own)})


def _failure_of(error: Exception, seconds: float) -> _Failure:
    """Tell the failures of a request apart, without importing the HTTP libraries that google-genai may be using."""
    from google.genai.errors import APIError

    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if isinstance(error, APIError):
        told = " ".join(f"HTTP {error.code} {error.status or ''}: {error.message or ''}".split())[:300]
        if error.code >= 500 or error.code in _RETRIED:
            return _Failure(f"unavailable: {told}", wait=_asked_wait(error), status=error.code)
        return _Failure(f"rejected: {told}", fatal=error.code in _FATAL, status=error.code)
    modules = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & {"TimeoutError", "TimeoutException"}:
        return _Failure(f"unavailable: no answer within {seconds:g} s", wait=0.0)
    if "GoogleAuthError" in names and "TransportError" not in names:
        return _Failure(f"the credentials do not work: {text}", fatal=True)
    if isinstance(error, OSError) or modules & {"httpx", "httpx2", "aiohttp"} or "TransportError" in names:
        return _Failure(f"unavailable: {text}", wait=0.0)
    if isinstance(error, ValueError):  # the SDK could not read the body: a proxy's page, or nothing of Gemini's
        return _Failure(f"empty: the server's answer is not Gemini's: {text}")
    return _Failure(f"failed: {text}")


def _asked_wait(error: APIError) -> float:
    """Return the seconds that the server asks to wait: the longer of ``Retry-After`` and ``retryDelay``."""
    waits = [0.0]
    headers = getattr(error.response, "headers", None) or {}
    after = headers.get("Retry-After") or headers.get("retry-after") or ""
    try:
        waits.append(float(after))
    except ValueError:
        with suppress(ValueError, TypeError):
            waits.append((parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    for delay in _values_of("retryDelay", error.details):
        with suppress(ValueError):
            waits.append(float(str(delay).removesuffix("s")))
    return max(wait for wait in waits if math.isfinite(wait))


def _values_of(key: str, document: object) -> Iterator[object]:
    """Yield what stands under a key anywhere in a JSON document."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            if name == key:
                yield value
            yield from _values_of(key, value)
    elif isinstance(document, list):
        for value in document:
            yield from _values_of(key, value)


def _reply_of(response: GenerateContentResponse) -> Reply:
    """Read a response, and say what it is if it is not an answer. The SDK raises for none of these."""
    candidates = response.candidates or []
    parts = (candidates[0].content.parts or []) if candidates and candidates[0].content else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    reason = candidates[0].finish_reason if candidates else None
    finish = None if reason is None else str(reason.value)
    block = response.prompt_feedback.block_reason if response.prompt_feedback else None
    error = None
    if block is not None:
        error = f"blocked: the prompt was blocked: {block.value}"
    elif finish in _BLOCKED:
        error = f"blocked: the answer was blocked: {finish}"
    elif finish == "MAX_TOKENS":
        error = f"truncated: the answer was cut off after {len(text)} characters: MAX_TOKENS; raise max_output_tokens"
    elif finish in _REFUSED or (not text.strip() and finish not in (None, "STOP", "FINISH_REASON_UNSPECIFIED")):
        error = f"refused: the model ended without an answer: {finish}"
    elif not text.strip() and any(part.function_call for part in parts):
        error = "refused: the model called a function instead of answering"
    elif not text.strip():
        error = "empty: the answer has no " + ("text" if candidates else "candidates")
    return Reply(text, _usage_of(response), response.model_version, finish, error)


def _usage_of(response: GenerateContentResponse) -> dict[str, int]:
    """Count tokens under the names of `Usage`; what the response does not say is left out."""
    usage = {"model_calls": 1}
    if (told := response.usage_metadata) is not None:
        for name, numbers in (
            ("input_tokens", (told.prompt_token_count, told.tool_use_prompt_token_count)),
            ("output_tokens", (told.candidates_token_count, told.thoughts_token_count)),
            ("cached_tokens", (told.cached_content_token_count,)),
            ("reasoning_tokens", (told.thoughts_token_count,)),
        ):
            known = [number for number in numbers if number is not None]
            if known:
                usage[name] = sum(known)
    return usage


def _sendable(text: str) -> str:
    """Replace lone surrogates, which no request can carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
