"""There is one writer, also where a lock was deleted or a file has two names."""

import os
import time
from pathlib import Path

import pytest

from normalhedge.service._problems import StorageFailure
from normalhedge.service._storage import Batch, Event
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, ask, events, forecasts
from tests.service.running import Asked, process, served


def event(sequence: int) -> Event:
    return Event(sequence, 1, 0.0, "predict", None, None, "{}", "{}", 0, None)


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    first = storage_of(str(path))
    first.open()
    os.link(path, other)
    second = storage_of(str(other))
    with pytest.raises(ValueError, match=r"b\.db has 2 names \(hard links\): .* keep one name"):
        second.open()
    first.append(Batch([event(1)]))
    first.close()
    with pytest.raises(ValueError, match="has 2 names"):
        storage_of(str(path)).open()
    other.unlink()
    first = storage_of(str(path))
    first.open()
    assert first.last_sequence() == 1
    first.close()


@pytest.mark.parametrize("many", [1, 600])
def test_where_the_lock_was_deleted_the_last_owner_writes_alone(tmp_path: Path, many: int) -> None:
    path = tmp_path / "a.db"
    first, second = storage_of(str(path)), storage_of(str(path))
    first.open()
    first.append(Batch([event(1)]))
    Path(f"{path}.lock").unlink()
    second.open()
    second.append(Batch([event(2)]))
    with pytest.raises(StorageFailure, match=r"a\.db has another owner now") as failure:
        first.append(Batch([event(3 + k) for k in range(many)]))
    assert failure.value.lost
    with pytest.raises(StorageFailure, match="is in use by") as failure:
        first.reopen()
    assert failure.value.lost
    assert second.last_sequence() == 2
    second.append(Batch([event(4)]))
    second.close()
    epoch = first.epoch
    assert first.reopen() is False
    assert first.epoch > epoch
    first.append(Batch([event(5)]))
    assert first.last_sequence() == 5
    first.close()


def test_a_server_whose_lock_was_deleted_stands_by(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        assert ask(client, "predict", forecasts(0), "k0")[1]["ticket"] == 0
        Path(f"{db}.lock").unlink()
        with process("--db", str(db)) as (there, child), Asked(there) as other:
            assert ask(other, "predict", forecasts(1), "k1")[1]["ticket"] == 1
            status, answer = ask(client, "predict", forecasts(2), "k2")
            assert status == 503
            assert "was not acknowledged" in answer["error"]
            assert client.get("/readyz").status_code == 503
            assert ask(other, "predict", forecasts(2), "k2")[1]["ticket"] == 2
            child.terminate()
            child.wait(30)
        for _ in range(200):
            if client.get("/readyz").status_code == 200:
                break
            time.sleep(0.05)
        assert ask(client, "predict", forecasts(2), "k2")[1]["ticket"] == 2
        assert ask(client, "predict", forecasts(3), "k3")[1]["ticket"] == 3
        assert [one["key"] for one in events(client)] == ["k0", "k1", "k2", "k3"]
        assert client.get(ONE).json()["pending"] == 4
