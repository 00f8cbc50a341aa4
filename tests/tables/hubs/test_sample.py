"""A real hub, as it is; the figures stand beside the data, which are not part of this project."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from normalhedge.tables.hubs import blend_hub, read_hub
from normalhedge.tables.hubs._games import mean_score
from normalhedge.tables.hubs._outcomes import TargetData
from normalhedge.tables.hubs._submissions import read_submissions
from tests.tables.hubs.examples import rows

SAMPLE = Path(__file__).parents[4] / "shared" / "data" / "hub-sample"

pytestmark = pytest.mark.skipif(
    not SAMPLE.is_dir(), reason="the sample is not part of this project"
)


def test_mean_scores_of_the_models() -> None:
    hub = read_hub(SAMPLE)
    task = hub.tasks["wk inc flu hosp"]
    notes: list[str] = []
    last = date(2024, 12, 31)
    table = read_submissions(hub.models, [task], last, None, notes, targets=list(hub.tasks))[
        task.target
    ]
    every = list(hub.tasks.values())
    outcomes, _ = TargetData(SAMPLE).outcomes(task, every, "quantile", last, last)
    frame = table.to_pandas()
    frame = frame[(frame.output_type == "quantile") & (frame.horizon != "-1")]
    ids = task.outputs["quantile"].ids
    index = ["model_id", "reference_date", "horizon", "location", "target_end_date"]
    wide = frame.pivot(index=index, columns="output_type_id", values="value")[ids].reset_index()
    keys = zip(wide.location, wide.target_end_date, strict=True)
    wide["truth"] = [outcomes[key] for key in keys]
    assert len(wide) == 432
    assert not notes
    found = {
        name: round(mean_score("quantile", own[ids].to_numpy(), own.truth.to_numpy(), ids), 3)
        for name, own in wide.groupby("model_id")
    }
    assert found == {
        "FluSight-baseline": 1279.402,
        "FluSight-ensemble": 1020.313,
        "UMass-flusion": 628.175,
        "MOBS-GLEAM_FLUH": 793.152,
        "CMU-TimeSeries": 1505.757,
        "NIH-Flu_ARIMA": 3248.803,
    }
    assert wide.groupby("model_id").size().to_dict()["NIH-Flu_ARIMA"] == 48


@pytest.mark.parametrize("cap", [None, 0.3])
def test_it_is_blended_as_it_is(cap: float | None) -> None:
    found = blend_hub(SAMPLE, "wk inc flu hosp", "2024-01-06", max_weight=cap)
    teams = {"CMU-TimeSeries", "MOBS-GLEAM_FLUH", "NIH-Flu_ARIMA", "UMass-flusion"}
    assert set(found.weights["model_id"]) == teams
    one = rows(found.submission, horizon=2, location="06")
    assert len(one) == 23
    assert np.all(np.diff([row["value"] for row in one]) >= 0.0)
    top = rows(found.submission, horizon=0, location="US", output_type_id="0.99")
    assert top[0]["value"] < 200_000  # one team says 4.3 million
