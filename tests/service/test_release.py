"""Journals and event logs of release 0.2 go on: a stream and a server that were killed."""

import gzip
import shutil
from pathlib import Path

import pytest

from normalhedge import Mixture
from normalhedge.mixtures.streams._state_file import MixtureFile
from tests.service.running import Asked, served

FROZEN = Path(__file__).parents[1] / "frozen"


@pytest.mark.parametrize(("rule", "value"), [("auto", 2.0011251509870713), ("squint", 2.0)])
def test_a_journal_is_replayed(tmp_path: Path, rule: str, value: float) -> None:
    """Numbers are nearly as in 0.2.

    The unit of the insurance grows with the losses now, and late losses count for more.
    """
    for name in (f"stream_0_2_{rule}.json", f"stream_0_2_{rule}.json.journal"):
        shutil.copy(FROZEN / name, tmp_path / name)
    path = tmp_path / f"stream_0_2_{rule}.json"
    mixture = Mixture.load(path)
    assert (mixture.rounds, len(mixture.pending), len(mixture.ids)) == (60, 10, 10)
    assert mixture.names == ["spline", "ar", "naive", "gam", "ar2"]
    assert mixture.live.retired == {"naive"}
    seen = mixture.peek({"spline": 1.0, "ar": 2.0, "ar2": 3.0}).value
    assert seen == pytest.approx(value, abs=1e-3)
    found = MixtureFile(path).load()
    assert found is not None
    assert found.peek({"spline": 1.0, "ar": 2.0, "ar2": 3.0}).value == seen


def test_an_event_log_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(gzip.decompress((FROZEN / "served_0_2.db.gz").read_bytes()))
    forecasts = {"forecasts": {"gam": 1.0, "ar": 2.0, "naive": 3.0}}
    for _ in range(2):  # from the log, and from the snapshot of this version
        with served(tmp_path / "a.db") as url, Asked(url) as client:
            answers = {
                name: client.send_json(f"/v1/mixtures/{name}/peek", forecasts)
                for name in ("default", "rule", "intervals")
            }
            log = client.get("/v1/mixtures/default/log", params={"events": "true"}).text
        assert answers["default"]["prediction"] == pytest.approx(1.9701572, abs=1e-2)
        assert answers["intervals"]["prediction"] == pytest.approx(2.0086845, abs=1e-2)
        low, high = answers["intervals"]["interval"]["0.9"]
        assert (low, high) == pytest.approx((-0.0171958, 4.4985813), abs=3e-2)
        assert answers["rule"]["prediction"] in {1.0, 2.0, 3.0}
        assert len(log.splitlines()) == 54
