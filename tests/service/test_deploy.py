"""Files of ``deploy``: each metric and label that they name is one of the service."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.examples import ask
from tests.service.running import Asked

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES, BOARD = DEPLOY / "prometheus-alerts.yml", DEPLOY / "grafana.json"


def expressions(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix == ".yml":
        return re.findall(r"^ +expr: (.*)$", text, flags=re.MULTILINE)
    board = json.loads(text)
    queries = [v["query"]["query"] for v in board["templating"]["list"] if v["type"] == "query"]
    return queries + [target["expr"] for panel in board["panels"] for target in panel["targets"]]


@pytest.fixture
def told(client: Asked) -> dict[str, set[str]]:
    """The labels of each metric of a service that has done a bit of everything."""
    client.send_json("/v1/mixtures", {"name": "load", "interval": 0.9})
    for ticket in range(3):
        ask(client, "predict", {"forecasts": {"a": 1.0, "b": -1.0}})
        ask(client, "outcome", {"ticket": ticket, "outcome": 0.5})
    labels: dict[str, set[str]] = {"up": {"job"}}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


@pytest.mark.parametrize("path", [RULES, BOARD])
def test_each_metric_is_one_of_the_service(path: Path, told: dict[str, set[str]]) -> None:
    found = expressions(path)
    assert len(found) > 10
    for expression in found:
        names = re.findall(r"\b(?:normalhedge_\w+|up\b)", expression)
        assert names, expression
        labels: set[str] = set()
        for name in names:
            assert name in told, f"{path.name}: there is no metric {name}"
            labels |= told[name]
        used = set(re.findall(r"[{,]\s*(\w+)\s*=~?\"", expression))
        for group in re.findall(r"\b(?:by|on) ?\(([^)]*)\)", expression):
            used |= {word.strip() for word in group.split(",")}
        used |= set(re.findall(r"label_values\(\w+, (\w+)\)", expression))
        assert used <= labels | {"instance"}, f"{path.name}: {expression}"


def test_each_label_of_a_sentence_is_there(told: dict[str, set[str]]) -> None:
    for rule in RULES.read_text().split("- alert: ")[1:]:
        names = re.findall(r"\b(?:normalhedge_\w+|up\b)", rule.partition("for:")[0])
        labels = {"instance"}.union(*(told[name] for name in names if name in told))
        assert set(re.findall(r"\$labels\.(\w+)", rule)) <= labels
        assert re.search(r"severity: (critical|warning|info)", rule)
        assert "summary:" in rule


def test_the_board_has_no_panels_one_upon_another() -> None:
    taken: set[tuple[int, int]] = set()
    panels: list[dict[str, Any]] = json.loads(BOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_prometheus_takes_the_rules() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is absent: apt install prometheus")
    subprocess.run(["promtool", "check", "rules", str(RULES)], check=True)
