"""One action at a time: a router learns which action to choose from the gains that it sees."""

from normalhedge.routing._evaluation import Value, evaluate
from normalhedge.routing._explaining import RouterExplanation, RouterSummary
from normalhedge.routing._files import (
    RouterSnapshot as RouterSnapshot,
    plain_settings as plain_settings,
    read_snapshot_text as read_snapshot_text,
    snapshot_text as snapshot_text,
)
from normalhedge.routing._router import Router
from normalhedge.routing._rules import (
    Exp3IX,
    Maillard,
    OnEstimates,
    OverRules,
    Restarts,
    Rule,
    TsallisINF,
    rule_named,
)
from normalhedge.routing._settings import RouterSettings
from normalhedge.routing._state_file import RouterFile as RouterFile
from normalhedge.routing._stream import RouterStream as RouterStream
from normalhedge.routing._values import Choice, Record

__all__ = [
    "Choice",
    "Exp3IX",
    "Maillard",
    "OnEstimates",
    "OverRules",
    "Record",
    "Restarts",
    "Router",
    "RouterExplanation",
    "RouterSettings",
    "RouterSummary",
    "Rule",
    "TsallisINF",
    "Value",
    "evaluate",
    "rule_named",
]
