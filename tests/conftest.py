"""Settings of all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A machine under load is no reason for a test to fail. A gate gives one answer for one tree, so there the examples are
# the same each time; everywhere else they are new ones.
settings.register_profile("adk_scoring", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("adk_scoring")

# A shell starts what runs in its background with Ctrl-C ignored; the tests of Ctrl-C need what a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
