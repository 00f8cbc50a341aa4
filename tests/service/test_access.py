"""Who may do what."""

import json
import stat
import time
from pathlib import Path

import pytest

from normalhedge.service._limits import Limits
from normalhedge.service.access import new_token, read_tokens, remove_token
from tests.cli.command import call
from tests.service.examples import ONE
from tests.service.running import Asked, served

FORECASTS = {"forecasts": {"a": 1.0}}


def test_tokens_allow_what_they_say(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    admin = new_token(file, "boss", "admin")
    write = new_token(file, "job", "write", ["load"])
    read = new_token(file, "page", "read")
    old = new_token(file, "old", "admin", expires=time.time() - 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not any(token in file.read_text() for token in (admin, write, read))
    with served(tmp_path / "a.db", token_file=str(file)) as url:
        for token in (None, "wrong", old, "nh_" + "x" * 43):
            with Asked(url, token) as client:
                answer = client.get("/v1/mixtures")
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert client.get("/healthz").status_code == 200
                assert client.get("/metrics").status_code == 401
        with Asked(url, admin) as client:
            client.send_json("/v1/mixtures", {"name": "load"})
            client.send_json("/v1/mixtures", {"name": "secret"})
        with Asked(url, write) as client:
            client.send_json(f"{ONE}/predict", FORECASTS)
            assert client.post("/v1/mixtures/secret/predict", json=FORECASTS).status_code == 404
            assert client.post("/v1/mixtures", json={"name": "load2"}).status_code == 403
            assert client.delete(ONE).status_code == 403
            assert [m["name"] for m in client.get("/v1/mixtures").json()["mixtures"]] == ["load"]
            assert "secret" not in client.get("/metrics").text
            assert client.get("/v1/events").status_code == 403
        with Asked(url, read) as client:
            assert client.post(f"{ONE}/peek", json=FORECASTS).status_code == 200
            assert client.post(f"{ONE}/predict", json=FORECASTS).status_code == 403
        remove_token(file, "page")
        time.sleep(1.1)
        with Asked(url, read) as client:
            assert client.get("/v1/mixtures").status_code == 401


def test_pages_of_other_sites_are_kept_out(client: Asked) -> None:
    def status(**headers: str) -> int:
        return client.get("/v1/mixtures", headers=headers).status_code

    assert status(host="localhost:1234") == 200
    assert status(host="evil.example") == 403
    assert status(host="127.0.0.1.evil.example") == 403
    assert status(origin="http://evil.example") == 403
    assert status(origin="null") == 403
    sent = client.post("/v1/mixtures", json={}, headers={"sec-fetch-site": "cross-site"})
    assert sent.json()["error"] == "requests of pages of other sites are not answered"
    assert status(**{"sec-fetch-site": "cross-site"}) == 200  # a link to the dashboard
    # A proxy may drop the port of the name, where the browser says that the page is ours.
    assert status(**{"origin": "https://127.0.0.1:8443", "sec-fetch-site": "same-origin"}) == 200
    own = f"127.0.0.1:{client.base_url.port}"
    assert status(host=own, origin=f"http://{own}") == 200
    plain = client.post(
        "/v1/mixtures", content=b'{"name": "x"}', headers={"content-type": "text/plain"}
    )
    assert plain.status_code == 415
    assert "access-control-allow-origin" not in client.get("/v1/mixtures").headers


def test_a_rate_is_kept(tmp_path: Path) -> None:
    with served(tmp_path / "a.db", limits=Limits(rate=0.001, burst=3)) as url, Asked(url) as client:
        found = [client.get("/v1/mixtures") for _ in range(4)]
        assert [one.status_code for one in found] == [200, 200, 200, 429]
        assert int(found[3].headers["retry-after"]) >= 1
        sentence = "at most 0.001 requests in a second are answered: wait a moment"
        assert found[3].json()["error"] == sentence
        for path in ("/healthz", "/readyz"):  # no limit for the watchman
            assert {client.get(path).status_code for _ in range(6)} == {200}


def test_a_token_with_the_name_of_an_address_has_a_rate_of_its_own(tmp_path: Path) -> None:
    token = new_token(tmp_path / "tokens", "127.0.0.1", "read")
    limits = Limits(rate=0.001, burst=2)
    with served(tmp_path / "a.db", limits=limits, token_file=str(tmp_path / "tokens")) as url:
        with Asked(url) as nobody:
            statuses = [nobody.get("/v1/mixtures").status_code for _ in range(3)]
            assert statuses == [401, 401, 429]
        with Asked(url, token) as client:
            assert client.get("/v1/mixtures").status_code == 200


def test_the_command_makes_lists_and_removes_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "tokens")
    options = ("--scope", "read", "--mixture", "load", "--days", "3")
    assert call(capsys, "token", file, "job", *options)[1].startswith("nh_")
    assert call(capsys, "token", file)[1].startswith("job: read, load, until ")
    code, _, error = call(capsys, "token", file, "job")
    assert code == 2
    assert "already" in error
    assert call(capsys, "token", file, "job", "--remove")[0] == 0
    assert read_tokens(Path(file)) == []
    (tmp_path / "bad").write_text(json.dumps({"name": "x"}))
    assert "line 1" in call(capsys, "token", str(tmp_path / "bad"))[2]
