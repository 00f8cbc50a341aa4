"""A log whose old part is removed."""

import pytest

from normalhedge.service import _memory as memory
from normalhedge.service._recovery import recover, state_at, state_text
from normalhedge.service.server import storage_of
from tests.service.examples import ONE, ask, events, operations_at_random
from tests.service.running import Asked, served


def test_compaction_leaves_a_log_that_replays(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr("normalhedge.service._recovery.HISTORY", 10)
    with served(db) as url, Asked(url) as client:
        client.send_json("/v1/mixtures", {"name": "load"})
        for k, (verb, body) in enumerate(operations_at_random(5, 200)):
            assert ask(client, verb, body, f"key-{k}")[0] in {200, 404, 409}
        before, log = client.get(f"{ONE}/state").text, events(client)
        done = client.send_json(f"{ONE}/compact", {"keep_days": 0})
        assert 100 < done["removed"] < 200
        assert events(client) == log[done["removed"] :]
        assert client.send_json(f"{ONE}/compact", {"keep_days": 0})["removed"] == 0
    storage = storage_of(db)
    storage.open()
    try:
        assert state_text(recover(storage, 1).mixture) == before
        oldest = storage.snapshots(1)[-1]
        assert oldest == done["sequence"]
        assert state_text(state_at(storage, 1, log[-1]["sequence"])) == before
    finally:
        storage.close()
