"""Which models a hub made itself: by their metadata, and by their names."""

from pathlib import Path

import pytest

from normalhedge.tables.hubs import read_hub
from tests.tables.hubs.examples import make_hub


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


@pytest.mark.parametrize(
    ("name", "metadata", "reason"),
    [
        ("Team-model", "", ""),
        ("Team-model", "ensemble_of_hub_models: True", "an ensemble of the hub's models"),
        ("Team-model", "ensemble_of_hub_models: 'yes'  # ours", "an ensemble of the hub's models"),
        ("Team-model", "designated_model: false", "not for ensembles (designated_model: false)"),
        ("Team-model", "designated_model: true", ""),
        ("Team-model", '"designated_model": false,', "not for ensembles"),
        ("Team-model", "\ufeffdesignated_model: no", "not for ensembles"),
        ("respicast-hubEnsemble", "", "its name marks it as a model of the hub"),
        ("respicast-quantileBaseline", "", "its name marks it as a baseline"),
        ("Team-BASELINE_2", "", "its name marks it as a baseline"),
        ("Team-4_week_ensemble", "", ""),
        ("Sponsor-4_week_ensemble", "", "its name marks it as an ensemble, and its team has"),
        ("Sponsor-4_week_ensemble", "ensemble_of_hub_models: false", ""),
        ("Sponsor-model", "", ""),
        ("Team-4_week_ensemble", "ensemble_of_hub_models: false", ""),
        ("Team-Nsemble", "", ""),
        ("Team-hubble", "", ""),
        ("EuroHub-model", "", "EuroHub is the hub's own team"),
        ("Toy-model", "", "Toy is the hub's own team"),
        ("Team-model", 'team_abbr: "Toy"', "Toy is the hub's own team"),
    ],
)
def test_reasons(hub: Path, name: str, metadata: str, reason: str) -> None:
    (hub / "model-output" / name).mkdir()
    (hub / "model-output" / "Sponsor-weekBaseline").mkdir()
    if metadata:
        (hub / "model-metadata" / f"{name}.yml").write_text(f"{metadata}\n", encoding="utf-8")
    model = next(model for model in read_hub(hub).models if model.name == name)
    assert (reason in model.made_by_hub) if reason else model.made_by_hub == ""
