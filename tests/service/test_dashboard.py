"""The dashboard in a browser, beside a real server."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import datasets

from normalhedge.service.access import new_token
from tests.service.chromium import Browser, browsing, in_browser
from tests.service.running import Asked, process, served

pytestmark = in_browser

SOON = 2.0
"""A posted round appears on the page within this many seconds."""

TRIES = 5
"""A busy machine may be late; it is late every time only if the page is."""

READY = "document.querySelectorAll('#experts tbody tr').length > 0"

HOSTILE = [
    "<img src=x onerror='window.caught=1'>",
    "<script>window.caught=1</script>",
    "\"><svg onload='window.caught=1'>",
    "javascript:window.caught=1",
    "${window.caught=1}",
    "__proto__",
    "constructor",
    "blend",
    "</title><b>bold</b>",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    chromium.look(1400)
    chromium.open("about:blank")
    for heard in (chromium.requests, chromium.complaints, chromium.dialogs):
        heard.clear()
    yield chromium
    chromium.open("about:blank")


def pollsters(number: int) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield the forecasts of pollsters and their outcomes."""
    for day, outcome in islice(datasets.TrumpApproval(), number):
        yield {name: value for name, value in day.items() if name != "ordinal_date"}, outcome


def feed(client: Asked, name: str, number: int) -> None:
    """Create a mixture and settle some rounds of it."""
    client.send_json("/v1/mixtures", {"name": name, "interval": [0.5, 0.9]})
    settle(client, name, 0, number)


def settle(client: Asked, name: str, first: int, number: int) -> None:
    """Settle some rounds in one request; the first has this ticket."""
    rounds: list[dict[str, Any]] = []
    for ticket, (forecasts, outcome) in enumerate(pollsters(number), first):
        rounds += [{"forecasts": forecasts}, {"ticket": ticket, "outcome": outcome}]
    client.send_json(f"/v1/mixtures/{name}/rounds", {"rounds": rounds})


def pages(name: str) -> dict[str, str]:
    """Return the addresses of all pages, and what each has when it is ready."""
    return {
        "": ".mixture",
        f"#/m/{name}": "#experts tbody tr",
        f"#/m/{name}/try": ".field",
        "docs": ".opblock",
    }


DOTS = (
    "document.querySelector('.chart')?.chart.data.layers.find(l => l.kind === 'dots')"
    "?.values.filter(v => v !== null).length"
)
"""How many outcomes the first chart shows."""


def layers(browser: Browser) -> list[dict[str, Any]]:
    """Return what the charts of a page draw."""
    found: list[dict[str, Any]] = browser.value(
        "[...document.querySelectorAll('.chart')].flatMap(e => e.chart.data.layers)"
    )
    return found


def drag(browser: Browser, low: float, high: float) -> None:
    """Drag over a part of the first chart."""
    browser.value("document.querySelector('.frame').scrollIntoView()")
    place = browser.value("document.querySelector('.u-over').getBoundingClientRect().toJSON()")
    y = place["y"] + 40
    moves = (
        ("mouseMoved", low), ("mousePressed", low), ("mouseMoved", (low + high) / 2),
        ("mouseMoved", high), ("mouseReleased", high),
    )  # fmt: skip
    for kind, share in moves:
        x = place["x"] + share * place["width"]
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                     buttons=0 if kind == "mouseReleased" else 1, clickCount=1)  # fmt: skip


def cell(ticket: int, column: int) -> str:
    """Return the text of a cell of the table of the last rounds."""
    row = f"document.querySelector('#rounds tr[data-ticket=\"{ticket}\"]')"
    return f"{row}?.cells[{column}].textContent"


def test_what_is_posted_appears_within_two_seconds(
    browser: Browser, client: Asked, server: str
) -> None:
    feed(client, "approval", 60)
    browser.open(f"{server}/#/m/approval")
    browser.until(READY)
    waits = []
    for forecasts, outcome in islice(pollsters(60 + TRIES), 60, None):
        made = client.send_json("/v1/mixtures/approval/predict", {"forecasts": forecasts})
        browser.until(f"{cell(made['ticket'], 3)} === 'waits'")
        begun = time.monotonic()
        settled = {"ticket": made["ticket"], "outcome": outcome}
        client.send_json("/v1/mixtures/approval/outcome", settled)
        browser.until(f"{cell(made['ticket'], 3)} !== 'waits'")
        waits.append(time.monotonic() - begun)
        assert float(browser.value(cell(made["ticket"], 3))) == pytest.approx(outcome, rel=1e-3)
        if waits[-1] < SOON:
            break
    assert min(waits) < SOON, waits
    assert "outcome" in browser.value("document.querySelector('.events li').textContent")
    assert browser.complaints == []


def test_the_list_follows_the_mixtures(browser: Browser, client: Asked, server: str) -> None:
    browser.open(server)
    browser.until("document.body.innerText.includes('No mixture yet')")
    feed(client, "approval", 20)
    browser.until("document.querySelector('[data-name=approval]')?.innerText.includes('20')")
    card = "document.querySelector('[data-name=approval]').innerText"
    assert "well" in browser.value(card)
    browser.value("document.querySelector('[data-name=approval] a').focus()")
    forecasts, _ = next(pollsters(1))
    client.send_json("/v1/mixtures/approval/predict", {"forecasts": forecasts})
    browser.until(f"/rounds\\s+21/.test({card})")
    assert browser.value("document.activeElement.textContent") == "approval"
    client.send_json("/v1/mixtures", {"name": "bad", "hedger": "follow-the-leader"})
    for ticket in range(6):  # the leader of the last round is wrong in this one
        even = ticket % 2
        client.send_json("/v1/mixtures/bad/predict", {"forecasts": {"a": even, "b": 1 - even}})
        client.send_json("/v1/mixtures/bad/outcome", {"ticket": ticket, "outcome": 0})
    browser.until("document.body.innerText.includes('worse than plain mean')")
    client.delete("/v1/mixtures/bad")
    browser.until("!document.querySelector('[data-name=bad]')")
    assert browser.complaints == []


def test_a_page_shows_weights_losses_coverage_sleep_and_events(
    browser: Browser, client: Asked, server: str
) -> None:
    feed(client, "approval", 60)
    forecasts, _ = next(pollsters(1))
    client.send_json("/v1/mixtures/approval/predict", {"forecasts": forecasts | {"gallup": None}})
    browser.open(f"{server}/#/m/approval")
    browser.until("document.querySelector('#experts .dim th')?.textContent.includes('gallup')")
    text = browser.text()
    assert "Asleep in the last round: gallup." in text
    assert "1 round waits" in text
    drawn = [f"{layer['kind']} {layer['tone']}" for layer in layers(browser)]
    assert sum("area" in kind for kind in drawn) == 5
    assert sum("band" in kind for kind in drawn) == 2
    assert sum("line blend" in kind for kind in drawn) == 2
    assert "line plain" in drawn
    assert browser.value(DOTS) == 60
    client.send_json("/v1/mixtures/approval/experts", {"retire": "you_gov"})
    browser.until("document.body.innerText.includes('you_gov was retired')")
    client.send_json("/v1/mixtures/approval/experts", {"rename": ["ipsos", "Ipsos US"]})
    browser.until("document.body.innerText.includes('ipsos is now called Ipsos US')")
    assert browser.complaints == []


def test_rounds_that_come_too_fast_are_read_later(
    browser: Browser, client: Asked, server: str
) -> None:
    feed(client, "approval", 3)
    browser.open(f"{server}/#/m/approval")
    browser.until(READY)
    settle(client, "approval", 3, 120)
    browser.until("/50 forecasts and 50 outcomes or more at once/.test(document.body.innerText)")
    browser.until(f"{DOTS} === 123")
    assert "120 forecasts and 120 outcomes at once" in browser.text()


def test_rounds_can_be_read_with_the_keyboard(browser: Browser, client: Asked, server: str) -> None:
    feed(client, "approval", 30)
    browser.open(f"{server}/#/m/approval")
    browser.until(READY)
    browser.value("document.querySelector('.frame').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="End", code="End")
    spoken = browser.until("document.querySelector('.frame [aria-live]').textContent")
    assert "#29" in spoken
    assert "blend" in spoken
    assert browser.value("document.querySelector('.tip').innerText.includes('outcome')")
    unnamed = browser.value(
        "[...document.querySelectorAll('button, input, select, a')].filter(e => "
        "!(e.textContent.trim() || e.ariaLabel || e.labels?.length)).length"
    )
    assert unnamed == 0


def test_a_router_is_listed_and_has_a_page(browser: Browser, client: Asked, server: str) -> None:
    client.send_json("/v1/routers", {"name": "models", "actions": HOSTILE[:3]})
    browser.open(server)
    browser.until(
        "document.querySelector('[data-name=models]')?.innerText.includes('no round yet')"
    )
    browser.open(f"{server}/#/r/models")
    browser.until("document.body.innerText.includes('/v1/routers/models/choose')")
    lines: list[Any] = [{"choose": {}} for _ in range(30)] + [
        {"ticket": k, "gain": 0.5} for k in range(29)
    ]
    client.send_json("/v1/routers/models/rounds", {"rounds": lines})
    browser.until("document.querySelectorAll('#actions tbody tr').length === 3")
    browser.until("document.querySelectorAll('#rounds tbody tr').length === 15")
    drawn = [f"{layer['kind']} {layer['tone']}" for layer in layers(browser)]
    assert sum("area" in kind for kind in drawn) == 3
    assert {"line blend", "line plain"} <= set(drawn)
    text = browser.text()
    assert HOSTILE[0] in text
    assert "0.5" in text
    for width in (1400, 420):
        browser.look(width)
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    assert browser.complaints == []
    assert not browser.value("window.caught")


def test_names_are_data(browser: Browser, client: Asked, server: str) -> None:
    settings = {"name": "hostile", "max_names": 50}
    client.send_json("/v1/mixtures", settings)
    for ticket in range(3):
        forecasts = {name: dict.fromkeys(HOSTILE[:3], 1.0 + k) for k, name in enumerate(HOSTILE)}
        request = {"forecasts": forecasts, "id": f"{HOSTILE[0]} {ticket}"}
        client.send_json("/v1/mixtures/hostile/predict", request)
        if ticket < 2:
            outcome = dict.fromkeys(HOSTILE[:3], 2.0)
            client.send_json("/v1/mixtures/hostile/outcome", {"ticket": ticket, "outcome": outcome})
    for page in ("#/m/hostile", "#/m/hostile/try", "#/"):
        browser.open(f"{server}/{page}")
        ready = {"#/": ".mixture", "#/m/hostile": "#experts tbody tr"}.get(page, ".field")
        browser.until(f"document.querySelectorAll({ready!r}).length > 0")
        if page == "#/m/hostile":
            client.send_json("/v1/mixtures/hostile/experts", {"retire": HOSTILE[1]})
            browser.until("document.body.innerText.includes('was retired')")
            browser.until(READY)
            names = browser.value(
                "[...document.querySelectorAll('#experts tbody bdi')].map(e => e.textContent)"
            )
            assert sorted(names) == sorted(HOSTILE)
            browser.value("document.querySelectorAll('.key').forEach(e => e.click())")
            browser.value("document.querySelector('.frame').scrollIntoView()")
            place = browser.value(
                "document.querySelector('.u-over').getBoundingClientRect().toJSON()"
            )
            middle = {"x": place["x"] + place["width"] / 2, "y": place["y"] + 40}
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", **middle)
            browser.until("document.querySelector('.tip:not([hidden])')")
            assert browser.value("document.querySelectorAll('.tip:not([hidden])').length")
        if page.endswith("try"):
            browser.value("document.querySelector('[name=peek]').click()")
            browser.until("document.querySelector('#prediction')")
        assert HOSTILE[0] in browser.text() or page == "#/"
        made = browser.value(
            "document.querySelectorAll('main img, main script, main b > *').length"
        )
        assert made == 0
        assert browser.value("window.caught === undefined")
    assert browser.value("({}).caught === undefined")
    assert browser.dialogs == []
    assert browser.complaints == []


def test_no_request_leaves_the_server(browser: Browser, client: Asked, server: str) -> None:
    feed(client, "approval", 10)
    for page, ready in pages("approval").items():
        browser.open(f"{server}/{page}")
        browser.until(f"document.querySelectorAll({ready!r}).length > 0")
    asked = [one for one in browser.requests if not one.startswith(("about:", "data:"))]
    assert len(asked) > 10
    assert [one for one in asked if not one.startswith(server)] == []
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    browser.value("document.body.append(Object.assign(document.createElement('script'), "
                  "{textContent: 'window.caught = 1'}))")  # fmt: skip
    assert browser.value("window.caught === undefined")


def test_all_pages_fit_a_phone_and_both_themes(
    browser: Browser, client: Asked, server: str
) -> None:
    client.send_json("/v1/mixtures", {"name": "a" * 100})
    long = "a-very-long-name-of-a-model-" * 3
    client.send_json(f"/v1/mixtures/{'a' * 100}/predict", {"forecasts": {long: 1.0, "b": 2.0}})
    for page, ready in pages("a" * 100).items():
        for theme in ("light", "dark"):
            browser.look(400, theme)
            browser.open("about:blank")
            browser.open(f"{server}/{page}")
            browser.until(f"document.querySelectorAll({ready!r}).length > 0")
            assert browser.value("document.documentElement.scrollWidth") <= 400, page
            assert shade(browser) == theme
    browser.until("document.getElementById('theme').textContent === '◐ Auto'")
    browser.value("document.getElementById('theme').click()")
    assert shade(browser) == "light"
    browser.open(server)
    browser.until("document.querySelectorAll('.mixture').length > 0")
    assert shade(browser) == "light"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(
    browser: Browser, server: str, theme: str
) -> None:
    browser.look(1400, theme)
    browser.open(server)
    behind = [luminance(browser, name) for name in ("page", "card", "sunk")]
    for name in ("ink", "soft", "accent", "good", "warn", "bad"):
        text = luminance(browser, name)
        for other in behind:
            ratio = (max(text, other) + 0.05) / (min(text, other) + 0.05)
            assert ratio >= 4.5, (name, ratio)  # WCAG 2.2, 1.4.3


def luminance(browser: Browser, name: str) -> float:
    """Return the relative luminance of a colour of the style sheet."""
    colour = browser.value(
        f"(() => {{ document.body.style.color = 'var(--{name})'; "
        "return getComputedStyle(document.body).color; })()"
    )
    parts = [int(one) / 255 for one in colour.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("address", ["#/m/nothing", "#/m/%E0%A4%A", "#/m/nothing/try"])
def test_an_unknown_mixture_is_told(browser: Browser, server: str, address: str) -> None:
    browser.open(f"{server}/{address}")
    browser.until("document.body.innerText.includes('there is no mixture')")
    browser.value("document.querySelector('main a').click()")
    browser.until("document.body.innerText.includes('No mixture yet')")


def shade(browser: Browser) -> str:
    """Tell whether the page is light or dark."""
    colour = browser.value("getComputedStyle(document.body).backgroundColor")
    return "light" if int(colour.removeprefix("rgb(").split(",")[0]) > 127 else "dark"


def test_a_token_is_asked_for_and_kept_in_the_tab(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    admin = new_token(file, "admin", "admin")
    reader = new_token(file, "reader", "read", ["approval"])
    with (
        served(tmp_path / "a.db", token_file=str(file)) as url,
        Asked(url, admin) as client,
    ):
        feed(client, "approval", 10)
        feed(client, "other", 10)
        browser.open(url)
        enter(browser, "nh_wrong")
        browser.until("document.body.innerText.includes('does not know this token')")
        enter(browser, reader)
        browser.until("document.querySelector('[data-name=approval]')")
        assert "other" not in browser.text()
        assert browser.value("Object.values(sessionStorage)") == [reader]
        assert browser.value("Object.values(localStorage)") == []
        browser.open(f"{url}/#/m/approval")
        browser.until(READY)
        forecasts, _ = next(pollsters(1))
        client.send_json("/v1/mixtures/approval/predict", {"forecasts": forecasts})
        browser.until(f"{cell(10, 3)} === 'waits'")
        browser.open(f"{url}/#/m/approval/try")
        browser.until("document.querySelector('.field')")
        browser.value("document.querySelector('[name=predict]').click()")
        browser.until("document.body.innerText.includes('needs a token with scope write')")
        browser.value("document.getElementById('forget').click()")
        browser.until("document.querySelector('#token')")
        assert not any(reader in one for one in browser.requests)


def enter(browser: Browser, token: str) -> None:
    """Enter a token."""
    browser.until("document.querySelector('#token')")
    browser.value(f"document.querySelector('#token').value = {token!r}")
    browser.value("document.querySelector('main form').requestSubmit()")


def test_a_peek_changes_nothing_and_a_prediction_counts(
    browser: Browser, client: Asked, server: str
) -> None:
    feed(client, "approval", 10)
    browser.open(f"{server}/#/m/approval/try")
    browser.until("document.querySelector('.field')")
    assert "This counts." in browser.text()
    before = client.get("/v1/mixtures/approval").json()
    browser.value("document.querySelector('.field input').value = 'many'")
    browser.value("document.querySelector('[name=peek]').click()")
    browser.until("document.body.innerText.includes('“many” is neither a number nor JSON')")
    browser.value("document.querySelector('.field input').value = ''")
    browser.value("document.querySelector('[name=peek]').click()")
    browser.until("document.querySelector('#prediction')")
    after = client.get("/v1/mixtures/approval").json()
    assert (after["sequence"], after["rounds"]) == (before["sequence"], before["rounds"])
    browser.value("document.querySelector('#round-id').value = 'by hand'")
    browser.value("document.querySelector('[name=predict]').click()")
    browser.until("document.body.innerText.includes('Round #10 has begun')")
    browser.value("document.querySelector('#outcome').value = '43,5'")
    browser.value("document.querySelector('.answer form').requestSubmit()")
    browser.until("document.body.innerText.includes('has learned from it')")
    (last,) = client.get("/v1/mixtures/approval/history?limit=1").json()["rounds"]
    assert (last["ticket"], last["id"], last["outcome"]) == (10, "by hand", 43.5)
    assert last["forecasts"]["gallup"] is None


def test_a_newcomer_can_paste_the_commands(browser: Browser, client: Asked, server: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    browser.open(server)
    commands = browser.until("[...document.querySelectorAll('.code code')].map(e => e.textContent)")
    assert len(commands) == 3
    for command in commands:
        subprocess.run(["bash", "-c", f"{command} --fail --silent"], check=True, timeout=60)
    assert client.get("/v1/mixtures/load").json()["settled"] == 1
    browser.until("document.querySelector('[data-name=load]')?.innerText.includes('well')")


def test_the_page_follows_a_server_that_was_killed(browser: Browser, tmp_path: Path) -> None:
    options = ["--db", str(tmp_path / "a.db")]
    with process(*options) as (url, child):
        with Asked(url) as client:
            feed(client, "approval", 10)
        browser.open(f"{url}/#/m/approval")
        browser.until(READY)
        child.kill()
        browser.until("document.getElementById('live').dataset.state === 'lost'")
    with process(*options, "--port", url.rpartition(":")[2]) as (again, _), Asked(again) as client:
        forecasts, _ = next(pollsters(1))
        client.send_json("/v1/mixtures/approval/predict", {"forecasts": forecasts})
        browser.until(f"{cell(10, 3)} === 'waits'")
        assert browser.value("document.getElementById('live').dataset.state") == "live"


def test_the_page_of_the_interface_has_all_routes(
    browser: Browser, client: Asked, server: str
) -> None:
    feed(client, "load", 3)
    browser.open(f"{server}/docs#/Mixtures/mixture")
    browser.until("document.querySelector('#operations-Mixtures-mixture .try-out button') !== null")
    paths = client.get("/openapi.json").json()["paths"]
    shown = browser.value(
        "[...document.querySelectorAll('.opblock-summary')].map(e => "
        "e.querySelector('.opblock-summary-method').textContent.toLowerCase() + "
        "e.querySelector('.opblock-summary-path').dataset.path)"
    )
    assert sorted(shown) == sorted(method + path for path in paths for method in paths[path])
    here = "document.querySelector('#operations-Mixtures-mixture {}')"
    browser.value(f"{here.format('.try-out button')}.click()")
    browser.until(f"{here.format('input')} !== null")
    browser.value(f"{here.format('input')}.focus()")
    browser.call("Input.insertText", text="load")
    browser.until(f"{here.format('input')}.value === 'load'")
    browser.value(f"{here.format('button.execute')}.click()")
    browser.until(f"{here.format('.responses-inner')}?.innerText.includes('next_ticket')")
    browser.open("about:blank")
    browser.open(f"{server}/docs#/Rounds/predict")
    browser.until("document.querySelector('#operations-Rounds-predict .try-out button') !== null")
    assert browser.complaints == []
    assert not [one for one in browser.requests if not one.startswith((server, "data:", "about:"))]


class Clock:
    """The time of the server, which a test may move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.79e9
        monkeypatch.setattr("normalhedge.service._registry.time.time", lambda: self.now)


def live(client: Asked, clock: Clock, hours: int, wild: int) -> None:
    """Play a round each hour; the outcome of one is wrong."""
    client.send_json("/v1/mixtures", {"name": "load", "interval": 0.9})
    rng = np.random.default_rng(0)
    for ticket in range(hours):
        truth = 50.0 + rng.normal()
        forecasts = {name: truth + rng.normal() for name in ("gam", "ar")}
        client.send_json("/v1/mixtures/load/predict", {"forecasts": forecasts})
        clock.now += 3600.0
        outcome = 1e9 if ticket == wild else truth
        client.send_json("/v1/mixtures/load/outcome", {"ticket": ticket, "outcome": outcome})


def test_charts_have_time_ranges_and_zoom_and_survive_a_wild_outcome(
    browser: Browser, client: Asked, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    begun = clock.now
    live(client, clock, 60, wild=30)
    browser.open(f"{server}/#/m/load")
    browser.until(f"{DOTS} === 60")
    chart = "document.querySelector('.chart').chart"
    x = browser.value(f"{chart}.data.x")
    assert browser.value(f"{chart}.data.timed")
    assert x == pytest.approx([begun + 3600.0 * k for k in range(60)])
    low, high = browser.value(f"{chart}.heights")
    assert 40.0 < low < 47.0
    assert 53.0 < high < 60.0
    losses = "[...document.querySelectorAll('.chart')].find(e => /Loss/.test(e.innerText)).chart"
    assert browser.value(f"{losses}.heights")[1] < 100.0  # though a window of 20 rounds is wild
    outside = "document.querySelector('.outside:not([hidden])')"
    assert browser.value(f"{outside}.textContent").endswith("far outside: show all")
    browser.value(f"{outside}.click()")
    assert browser.value(f"{chart}.heights")[1] > 1e9
    browser.value(f"{outside}.click()")
    drag(browser, 0.25, 0.5)
    browser.until("document.querySelector('.whole:not([hidden])')")
    plots = "[...document.querySelectorAll('.chart')].map(e => e.chart.plot).filter(Boolean)"
    scales = browser.value(f"{plots}.map(p => [p.scales.x.min, p.scales.x.max])")
    assert len(scales) == 4
    for scale in scales:
        assert scale[0] == pytest.approx(begun + 15 * 3600.0, abs=2 * 3600.0)
        assert scale[1] == pytest.approx(begun + 30 * 3600.0, abs=2 * 3600.0)
    client.send_json("/v1/mixtures/load/predict", {"forecasts": {"gam": 50.0, "ar": 50.0}})
    browser.until(f"{chart}.data.x.length === 61")  # what comes meanwhile leaves the zoom as it is
    assert browser.value(f"{chart}.plot.scales.x.max") == pytest.approx(scale[1])
    browser.value("document.querySelector('.whole').click()")
    assert browser.value(f"{chart}.plot.scales.x.min") < begun + 1.0
    choose(browser, "Shown", "21600s")
    browser.until(f"{chart}.data.x.length <= 8")
    choose(browser, "Shown", "own")
    for name, at in (("From", begun + 10 * 3600.0), ("To", begun + 20 * 3600.0)):
        enter_time(browser, name, at)
    browser.until(f"{chart}.data.x.at(-1) <= {begun + 20 * 3600.0}")
    assert browser.value(f"{chart}.data.x[0]") >= begun + 8.9 * 3600.0
    choose(browser, "Axis", "rounds")
    browser.until(f"!{chart}.data.timed")
    assert browser.complaints == []


def enter_time(browser: Browser, label: str, time: float) -> None:
    """Enter a time, in seconds since 1970, as the browser's time of day."""
    browser.value(
        f"(() => {{ const e = document.querySelector('[aria-label={label}]'); "
        f"const day = new Date(1000 * {time}); "
        "e.value = new Date(day - 60000 * day.getTimezoneOffset()).toISOString().slice(0, 16); "
        "e.dispatchEvent(new Event('change')); })()"
    )


def choose(browser: Browser, label: str, value: str) -> None:
    """Choose an option."""
    browser.value(
        f"(() => {{ const e = document.querySelector('select[aria-label=\"{label}\"]'); "
        f"e.value = '{value}'; e.dispatchEvent(new Event('change')); }})()"
    )


def test_the_log_of_alarms_is_on_both_pages(
    browser: Browser, client: Asked, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("normalhedge.service._alarms.SPARE", 1.0)
    client.send_json("/v1/mixtures", {"name": "load", "hedger": "squint"})
    browser.open(f"{server}/#/m/load")
    browser.until("document.querySelector('.welcome')")
    rng, lines, silent = np.random.default_rng(0), list[dict[str, Any]](), "שלום \u202e 7"
    for t in range(90):
        names = ["a", "b", silent] if t < 80 else ["a", "b"]
        forecasts = {name: float(rng.normal()) for name in names}
        lines += [{"forecasts": forecasts}, {"ticket": t, "outcome": 0.0}]
    client.send_json("/v1/mixtures/load/rounds", {"rounds": lines})
    for page in ("#/m/load", "#/"):  # the first one heard of it while it was open
        browser.open(f"{server}/{page}")
        text = browser.until("document.querySelector('.alarms li')?.innerText")
        assert "שלום ⟨U+202E⟩ 7" in text
        assert "stopped in round 80" in text
        assert "goes on" in text
        assert browser.value("document.querySelector('.alarms bdi:last-of-type') !== null")
    client.send_json("/v1/mixtures/load/experts", {"retire": silent})
    browser.until("document.querySelector('.alarms li')?.innerText.includes('over after')")
    assert browser.complaints == []
