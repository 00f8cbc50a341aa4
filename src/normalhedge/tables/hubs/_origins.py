"""Who made a model of a hub: the hub itself, or a team."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

_FIELD = re.compile(
    r"[\"']?(team_abbr|model_abbr|ensemble_of_hub_models|designated_model)[\"']?\s*:"
    r"\s*[\"']?([^\"'#,]*)"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

COMMON = {"hub", "forecast", "us", "flu", "covid", "the", "of", "example"}
"""Words in the names of hubs that teams have in theirs, too."""

YES, NO = {"true", "yes"}, {"false", "no"}
"""The truth values of YAML, in small letters."""


def teams_with_baseline(models: Iterable[str]) -> set[str]:
    """Return the teams that have a baseline by its name: hubs have one, beside their ensemble."""
    return {model.partition("-")[0] for model in models if "baseline" in _words_in(model)}


def _words_in(model: str) -> set[str]:
    """Return the words in the name of a model after its team, in small letters."""
    return {word.lower() for word in _WORD.findall(model.partition("-")[2])}


def reason_of_hub(root: Path, model: str, words: set[str], teams: set[str]) -> str:
    """Return why a model is no expert of a blend: the hub made it; empty if a team did.

    ``words`` are words in the name of the hub, ``teams`` have a baseline.
    """
    metadata = _metadata(root / "model-metadata", model)
    prefix = model.partition("-")[0]
    team = metadata.get("team_abbr") or prefix
    of_hub = metadata.get("ensemble_of_hub_models", "").lower()
    in_name = _words_in(model)
    reasons = {
        "its metadata mark it as an ensemble of the hub's models": of_hub in YES,
        "its metadata mark it as not for ensembles (designated_model: false)": (
            metadata.get("designated_model", "").lower() in NO
        ),
        f"{team} is the hub's own team": team.lower() in words or "hub" in team.lower(),
        "its name marks it as a model of the hub": "hub" in in_name,
        "its name marks it as a baseline": "baseline" in in_name,
        "its name marks it as an ensemble, and its team has the baseline, too": (
            "ensemble" in in_name and prefix in teams and of_hub not in NO
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _metadata(folder: Path, model: str) -> dict[str, str]:
    """Return some fields of the metadata of a model, which are lines of YAML."""
    for ending in (".yml", ".yaml"):
        path = folder / f"{model}{ending}"
        try:
            lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        except (OSError, ValueError):
            continue
        fields = filter(None, map(_FIELD.match, lines))
        return {parts[1]: parts[2].strip() for parts in fields}
    return {}


def words_of_hub(path: Path) -> set[str]:
    """Return the words in the names of the hub and of its repository, in small letters."""
    try:
        admin = json.loads(path.read_text(encoding="utf-8-sig"))
        names = [admin.get("name", ""), (admin.get("repository") or {}).get("name", "")]
    except (OSError, ValueError, AttributeError, RecursionError):
        return set()
    return {word.lower() for name in names for word in re.split(r"[^\w]+|_", str(name))} - COMMON
