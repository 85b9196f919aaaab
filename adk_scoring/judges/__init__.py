"""Judges: prompts in, replies out. Everything that asks a model, keeps what it said, or counts what it cost.

A metric says what to ask (`Metric.prompts`) and reads what comes back (`Metric.score`); this package asks. A question
that was not answered is a `Reply` whose `error` begins with one word for the kind of failure:

===============  =====================================================================================
``blocked``      a filter of the model's provider stopped the prompt or the answer
``truncated``    the answer was cut off by the limit of output tokens
``empty``        the answer has no text
``refused``      the model ended for another reason than being done
``rejected``     the server did not accept this one question
``unavailable``  no answer after all attempts: rate limit, server error, timeout, no connection
``failed``       the judge raised an exception
``parse_error``  the answer came, and came again, and the metric cannot read it; `Reply.text` has it
``stopped``      the judge cannot be asked at all (key, permission, model name): nothing more was asked
``deadline``     the time for the whole run was over
``replay``       the verdict store is to be replayed, and does not have this verdict
===============  =====================================================================================
"""

from __future__ import annotations

from .asking import Progress, ask_all, judge_cases
from .gemini import GeminiJudge
from .judge import Judge, judge_from
from .panel import Panel
from .store import VerdictStore

__all__ = ["GeminiJudge", "Judge", "Panel", "Progress", "VerdictStore", "ask_all", "judge_cases", "judge_from"]
