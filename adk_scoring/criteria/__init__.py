"""Which metrics are asked of every case, and which value is good enough.

In: a dict, a configuration file of ADK, or the data file whose configuration is to be found. Out: `Criteria`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from ..errors import ConfigError, ReadWarning
from ..matching import Match
from ..metrics import METRICS
from .agents_cli import criteria_of_agents_cli, is_agents_cli
from .config_file import read_config
from .criterion import Criterion, Verdict, criterion_of
from .presets import adeval_axes

__all__ = ["Criteria", "Criterion", "Verdict"]

ADK_DEFAULT: Final = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
"""What google-adk asks for where no configuration is found."""

CONFIG_NAMES: Final = ("test_config.json", "eval_config.json", "eval_config.yaml", "eval_config.yml")


@dataclass(frozen=True)
class Criteria:
    """The criteria of an evaluation, in order, each under its own label.

    Attributes:
        items: the criteria.
        source: where they came from, in words; a report shows it.

    >>> Criteria.of({"trajectory_in_order_match": 1.0, "names": {"metric": "trajectory_f1", "match": "ignore"}}).labels
    ('trajectory_in_order_match', 'names')
    """

    items: tuple[Criterion, ...]
    source: str = "given in code"
    ignored: tuple[str, ...] = field(default=())
    """What a configuration asked for and is not done, in words; a report shows it too."""

    def __post_init__(self) -> None:
        labels = [criterion.label for criterion in self.items]
        if twice := sorted({label for label in labels if labels.count(label) > 1}):
            raise ConfigError(f"the label {twice[0]!r} stands twice; give each criterion its own")
        # Equal rules become one object, because evidence keeps one alignment for each rule it is asked about.
        merged: dict[Match, Match] = {}
        items = []
        for criterion in self.items:
            metric = criterion.metric
            match = getattr(metric, "match", None)
            if isinstance(match, Match) and is_dataclass(metric) and any(f.name == "match" for f in fields(metric)):
                shared = merged.setdefault(match, match)
                if shared is not match:
                    metric = replace(metric, match=shared)
            items.append(replace(criterion, metric=metric))
        object.__setattr__(self, "items", tuple(items))

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, label: str) -> Criterion:
        """Return the criterion of that label."""
        for criterion in self.items:
            if criterion.label == label:
                return criterion
        raise KeyError(f"no criterion {label!r}; there are {', '.join(self.labels)}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in order."""
        return tuple(criterion.label for criterion in self.items)

    @classmethod
    def of(cls, source: CriteriaLike, *, where: str = "given in code") -> Criteria:
        """Make criteria of what a caller may give.

        Args:
            source: a mapping label -> threshold, or label -> object with ``metric`` (defaults to the label),
                ``threshold`` (null or missing: informational), ``per`` and the metric's own parameters; ``match``
                beside the labels stands for all that take one. Or `Criterion` objects, or `Criteria`.
            where: names the source in errors and in the report.

        Raises:
            ConfigError: a metric or parameter is unknown, or a value is not usable; it names the key and the
                nearest known name.
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            shared = source.get("match")
            items = tuple(
                criterion_of(str(label), spec, shared, f"{where}: {label}")
                for label, spec in source.items()
                if label != "match"
            )
            return cls(items, where)
        if isinstance(source, str | bytes) or not isinstance(source, Sequence):
            raise ConfigError(
                f"{where}: wanted a mapping label -> threshold, or Criterion objects, got {type(source).__name__}"
                + ("; read a file with Criteria.from_file(path)" if isinstance(source, str) else "")
            )
        for item in source:
            if not isinstance(item, Criterion):
                raise ConfigError(f"{where}: wanted Criterion objects, got {type(item).__name__}: {item!r:.60}")
        return cls(tuple(source), where)

    @classmethod
    def from_file(cls, path: str | Path) -> Criteria:
        """Read the criteria of a configuration file: of ADK, of agents-cli, or ours.

        Args:
            path: a JSON or YAML file (YAML needs the extra ``adk_scoring[yaml]``) with ``criteria`` (metric -> number,
                or object with ``threshold`` and parameters in either spelling), ``eval_metrics`` (a list of
                ``{metric_name, threshold}``), agents-cli's ``metrics_to_run``, or a plain mapping of labels. Program
                text in it is never run.

        Raises:
            ConfigError: the file cannot be read or a criterion is not usable; it names file, key and nearest name.
        """
        path = Path(path)
        return cls.from_config(read_config(path), where=str(path))

    @classmethod
    def from_config(cls, content: Any, *, where: str) -> Criteria:
        """Read the criteria of a parsed configuration; `from_file` says which forms there are."""
        if not isinstance(content, Mapping):
            raise ConfigError(f"{where}: wanted an object with 'criteria', found {type(content).__name__}")
        criteria = content.get("criteria")
        if criteria is None and is_agents_cli(content):
            specs, rest = criteria_of_agents_cli(content, METRICS, where)
            for words in rest:
                warnings.warn(f"{where}: {words}", ReadWarning, stacklevel=3)
            return replace(cls.of(specs, where=where), ignored=tuple(rest))
        if criteria is None and isinstance(content.get("eval_metrics"), list):
            criteria = {}
            for item in content["eval_metrics"]:
                if not isinstance(item, Mapping) or not isinstance(item.get("metric_name"), str):
                    raise ConfigError(f"{where}: eval_metrics: wanted objects with 'metric_name', found {item!r:.60}")
                if item["metric_name"] in criteria:
                    raise ConfigError(f"{where}: eval_metrics: {item['metric_name']!r} stands twice")
                criteria[item["metric_name"]] = {k: v for k, v in item.items() if k != "metric_name"}
        if criteria is None and any(
            label in METRICS or (isinstance(spec, Mapping) and "metric" in spec) for label, spec in content.items()
        ):
            criteria = content
        if not isinstance(criteria, Mapping):
            raise ConfigError(
                f"{where}: no criteria: found keys {', '.join(map(str, content)) or '(none)'}; "
                "wanted 'criteria': {metric: threshold}"
            )
        custom = content.get("custom_metrics")
        custom = custom if isinstance(custom, Mapping) else {}
        ignored = []
        kept = {}
        for label, spec in criteria.items():
            if label in custom:
                ignored.append(f"{label} is a custom metric in code; its code is not run")
                if label in METRICS:
                    ignored[-1] += "; the metric that has this name here is used"
            if label in _HOSTED and label not in custom:
                ignored.append(f"{label} {_HOSTED[label]}")
            elif label in METRICS or label not in custom:
                kept[label] = spec
        if criteria is not content and (unused := [str(key) for key in content if key not in _CONFIG_KEYS]):
            ignored.append(f"unknown keys, not used: {', '.join(unused)}")
        for words in ignored:
            warnings.warn(f"{where}: {words}", ReadWarning, stacklevel=3)
        return replace(cls.of(kept, where=where), ignored=tuple(ignored))

    @classmethod
    def adeval(
        cls,
        verify_args: bool = True,
        *,
        gate: Literal["subset", "set"] = "subset",
        judged: bool = False,
        tools: Any = None,
        ignore_tools: Sequence[str] = (),
    ) -> Criteria:
        """ADEval's axes side by side: ``pass`` has the threshold 1, all others are informational.

        ===================== ============================================ ==========================================
        label                 value, per turn                              known bias
        ===================== ============================================ ==========================================
        pass                  every expected call was made; none where     extra calls are free (``gate="set"``: not)
                              none is expected
        tool_call_rate        any call was made, where calls are expected  the wrong call counts as much
        name_accuracy         every expected tool was called               order, extra calls and arguments are free
        name_args_accuracy    every expected call was made                 order, extra calls, extra arguments free
        call_count            min / max of calls made and expected         looking first costs; wrong calls do not
        read_only_compliance  no write beyond the calls expected           an agent that does nothing complies
        abstention            no call, where none is expected              an agent that never calls is perfect
        extra_argument_rate   an argument nobody expects (lower is better) only of turns that are right otherwise
        presentation_quality  a judge: clear and well formed               the truth is not looked at
        answer_accuracy       a judge: the answer of the reference         needs a reference; form is not looked at
        ===================== ============================================ ==========================================

        A failed request is an error in every axis, and neither abstention nor a miss. An axis that no case has
        what it needs for has no value, and each case's reason says what is missing. ADEval's numbers differ where it
        folds case, lets one call stand for several expected ones, or counts a failed request as no call.

        Args:
            verify_args: whether ``pass`` compares arguments or names alone; no other axis depends on it.
            gate: what passes: ``"subset"`` every expected call was made (ADEval 051ef423), ``"set"`` and no other
                (as it is documented, and was up to 376eaeb8).
            judged: whether the two judged axes join; `evaluate` then needs a judge.
            tools: the tools with their hints, for ``read_only_compliance``, as `read_only_compliance` takes them;
                by default those of each case.
            ignore_tools: names or patterns of calls that do not count, e.g. `ADK_FRAMEWORK_TOOLS`.

        Raises:
            ConfigError: a value is not usable.

        >>> Criteria.adeval(verify_args=False)["pass"].metric.match
        Match(args='ignore', tools={}, ignore_tools=(), parallel=False)
        """
        axes = adeval_axes(verify_args=verify_args, gate=gate, judged=judged, tools=tools, ignore_tools=ignore_tools)
        return cls.of(axes, where="ADEval's axes")

    @classmethod
    def discover(cls, path: str | Path) -> Criteria:
        """Find the criteria that belong to a data file or folder, the way ADK and its starter pack do.

        Args:
            path: a data file, or a folder of them.

        Returns:
            The criteria of ``test_config.json`` or ``eval_config.json`` beside the data, or of ``eval_config.json``
            one folder up; ADK's default where there is none. `source` says which.

        Raises:
            ConfigError: the file found is not usable, or nothing can be searched.

        Warns:
            ReadWarning: a folder further down has a ``test_config.json`` of its own; it is not used.
        """
        path = Path(path)
        try:
            is_folder = path.is_dir()
            folder = path if is_folder else path.parent
            above = folder / ".." if folder.name in ("", "..") else folder.parent  # the parent of "." is "."
            places = (*(folder / name for name in CONFIG_NAMES), *(above / name for name in CONFIG_NAMES[1:]))
            found = next((place for place in places if place.is_file()), None)
            deeper = sorted(path.glob("*/**/test_config.json")) if is_folder else []
        except OSError as error:
            raise ConfigError(f"{path}: cannot be searched for criteria: {error.strerror or error}") from None
        if deeper:
            warnings.warn(
                f"{deeper[0]}: not used, all cases are scored by one set of criteria; score its folder by itself",
                ReadWarning,
                stacklevel=2,
            )
        if found is None:
            return cls.of(ADK_DEFAULT, where="ADK's default (no test_config.json or eval_config.json found)")
        return cls.from_file(found)


CriteriaLike = Criteria | Mapping[str, Any] | Sequence[Criterion]

_CONFIG_KEYS = ("criteria", "eval_metrics", "custom_metrics", "user_simulator_config", "live_model_config", "$schema")
_HOSTED = {
    "response_evaluation_score": "is scored by a hosted service; response_semantic_match asks a judge of yours",
    "per_turn_user_simulator_quality_v1": "judges ADK's simulated user, which is not part of a recorded run",
}
