// One mixture, live: forecasts and outcomes, weights, losses, coverage, experts, events.

import { Listening, ask, lines, path } from "./api.js";
import { alarmLog, alarmsOf } from "./alarms.js";
import { Chart, Charts } from "./chart.js";
import { choice, h, sentence, swap } from "./dom.js";
import { cut, feedEntry, ofEvent, ofLog } from "./feed.js";
import { clock, count, percent, shown } from "./format.js";
import { badges, facts, firstRound } from "./list.js";
import { drawCoverage, drawForecasts, drawLosses, drawWeights } from "./plots.js";
import { Rounds, placeName, places, rising, spread, weightOf } from "./rounds.js";
import { fillExperts, fillLatest, fillWaiting, numbers } from "./tables.js";

const FEED = 60;
const BACK = 40; // events of the past that fill the feed and the pending forecasts
const MOST = 3_000_000; // bytes of the past that are read for them
const CALM = 3_000;
const LOOK_AGAIN = 20_000; // outcomes become overdue, and mixtures are deleted, without an event
const MOST_ROUNDS = 2_000; // of a range of time

const RANGES = [
  ["100", "last 100 rounds"], ["500", "last 500 rounds"], ["2000", "last 2,000 rounds"],
  ["3600s", "last hour"], ["21600s", "last 6 hours"], ["86400s", "last day"], ["604800s", "last week"],
  ["2592000s", "last 30 days"], ["own", "from … to …"],
];

/** Return a range that was chosen: how many rounds, and settled between which times. */
function rangeOf(value, own) {
  if (value === "own") return { limit: MOST_ROUNDS, ...own };
  if (value.endsWith("s")) return { limit: MOST_ROUNDS, seconds: parseInt(value, 10) };
  return { limit: Number(value) };
}

/** Show a mixture in an element. */
export function mixtureView(root, name, frame) {
  const page = new MixturePage(root, name, frame);
  return { stop: () => page.stop() };
}

class MixturePage {
  constructor(root, name, frame) {
    this.root = root;
    this.name = name;
    this.frame = frame;
    this.range = rangeOf("500");
    this.axis = "auto";
    this.rounds = new Rounds(500);
    this.window = 20;
    this.place = 0;
    this.feed = [];
    this.early = null;
    this.offset = 0;
    this.charts = new Charts((span) => (this.whole.hidden = span === null));
    frame.title(name);
    this.build();
    this.listening = new Listening(path(name, "/events"), {
      heard: (kind, data) => this.heard(kind, data),
      state: frame.state,
      refused: frame.refused,
    });
    this.ticking = setInterval(() => !document.hidden && this.health && this.drawFacts(), 5_000);
    this.again = setInterval(() => !document.hidden && this.health && this.lookAgain(), LOOK_AGAIN);
  }

  stop() {
    this.stopped = true;
    this.listening.stop();
    clearInterval(this.ticking);
    clearInterval(this.again);
    clearTimeout(this.asked);
    clearTimeout(this.catching);
    this.charts.remove();
  }

  build() {
    const link = `#/m/${encodeURIComponent(this.name)}`;
    this.badges = h("div", { class: "badges" });
    this.subtitle = h("p", { class: "lead" });
    this.facts = h("dl", { class: "facts wide" });
    this.warning = h("p", { class: "card warning", hidden: true });
    this.empty = h("section", { class: "card welcome", hidden: true });
    this.body = h("div", { class: "view", hidden: true });
    this.itemHolder = h("span", {});
    const kept = choice("Shown", RANGES, "500", (value) => {
      this.dates.hidden = value !== "own";
      this.show(rangeOf(value, this.chosenDates()));
    });
    const dated = () => this.show(rangeOf("own", this.chosenDates()));
    this.from = h("input", { type: "datetime-local", "aria-label": "From", onchange: dated });
    this.to = h("input", { type: "datetime-local", "aria-label": "To", onchange: dated });
    this.dates = h("span", { class: "choice", hidden: true }, this.from, "to", this.to);
    const axis = choice("Axis", [["auto", "as it fits"], ["time", "time"], ["rounds", "rounds"]], "auto", (value) => {
      this.axis = value;
      this.charts.zoom(null);
      this.draw();
    });
    this.whole = h("button", { type: "button", class: "whole", hidden: true, onclick: () => this.charts.zoom(null) }, "Show all");
    this.alarms = alarmLog(alarmsOf(this.name), "Alarms", false, (alarms) => {
      this.told = alarms;
      if (this.details) this.draw();
    });
    const smooth = choice(
      "Rolling over", [[1, "1 round"], [20, "20 rounds"], [50, "50 rounds"], [200, "200 rounds"]], 20,
      (value) => {
        this.window = Number(value);
        this.draw();
      },
    );
    swap(
      this.root,
      h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/" }, "Mixtures"), " / ", h("bdi", {}, this.name)),
      h(
        "div",
        { class: "head" },
        h("h1", {}, this.name),
        this.badges,
        h("a", { class: "button", href: `${link}/try` }, "Try a prediction"),
      ),
      this.subtitle,
      h("section", { class: "card", "aria-label": "Health" }, this.facts),
      this.warning,
      this.empty,
      this.body,
    );
    const charts = this.charts;
    this.forecastChart = new Chart(charts, {
      title: "Forecast and outcome", height: 270,
      note: "A forecast without a dot waits for its outcome. Click a name to show or hide its line; drag over a chart to look closer, and double-click to see all again. Dashed: an alarm began.",
    });
    this.weightChart = new Chart(charts, {
      title: "Weights", height: 240, format: (value) => percent(value, 0),
      note: "How much of each forecast is in the blend. An expert that sleeps has no weight.",
    });
    this.lossChart = new Chart(charts, { title: "Loss", height: 240 });
    this.coverChart = new Chart(charts, {
      title: "Interval coverage", height: 180, format: (value) => percent(value, 0),
    });
    this.experts = numbers("experts", ["expert", "weight", "loss", "blend's loss", "awake", "last seen"], "tall");
    this.latest = numbers("rounds", ["round", "forecast", "interval", "outcome", "loss", "loss of plain mean"]);
    this.asleep = h("p", { class: "lead" });
    this.pending = h("div", {});
    this.events = h("ol", { class: "events", "aria-label": "Events, the newest first" });
    this.summaryText = h("pre", { tabindex: "0" });
    const summary = h(
      "details", { class: "card" }, h("summary", {}, h("h2", {}, "Summary of all rounds")), this.summaryText,
    );
    summary.addEventListener("toggle", () => summary.open && this.loadSummary());
    const experts = h(
      "section", { class: "card" }, h("h2", {}, "Experts"), this.asleep, this.experts.element,
      h("p", { class: "note" }, "Both losses are means over the rounds shown in which the expert was awake."),
    );
    swap(
      this.body,
      h("div", { class: "toolbar" }, kept, this.dates, axis, smooth, this.itemHolder, this.whole),
      this.forecastChart.element,
      h("div", { class: "two" }, this.weightChart.element, this.lossChart.element),
      h("div", { class: "two loose" }, experts, this.coverChart.element),
      h(
        "div", { class: "two loose" },
        h("section", { class: "card" }, h("h2", {}, "Events"), this.events),
        h("section", { class: "card" }, h("h2", {}, "Waiting for outcomes"), this.pending),
      ),
      this.alarms.element,
      h("section", { class: "card" }, h("h2", {}, "Last rounds"), this.latest.element),
      summary,
    );
  }

  chosenDates() {
    const seconds = (input) => (input.value ? new Date(input.value).getTime() / 1000 : undefined);
    return { since: seconds(this.from), until: seconds(this.to) };
  }

  /** Show another range. */
  show(range) {
    this.range = range;
    this.rounds = new Rounds(range.limit);
    this.charts.zoom(null);
    this.load();
  }

  /** Return the rounds of the range that is shown. */
  chosen() {
    const { since = this.range.seconds ? this.now() - this.range.seconds : undefined, until } = this.range;
    const inside = (round) => {
      const times = [round.time, round.settled].filter((time) => typeof time === "number");
      return (since === undefined || times.some((time) => time >= since)) && (until === undefined || times.some((time) => time <= until));
    };
    return this.rounds.list().filter(inside);
  }

  query(limit, place) {
    const { seconds, since, until } = this.range;
    const bounds = { limit, since: seconds ? this.now() - seconds : since, until, before: place || undefined };
    return new URLSearchParams(Object.entries(bounds).filter(([, value]) => value !== undefined)).toString();
  }

  /** Return the settled rounds of the range that is shown; long ones come in parts. */
  async past() {
    const { limit } = this.range;
    let rounds = [];
    for (let place = ""; rounds.length < limit && place !== null; ) {
      const part = await ask(path(this.name, `/history?${this.query(limit - rounds.length, place)}`));
      rounds = [...part.rounds, ...rounds];
      place = part.next ?? null;
    }
    return rounds;
  }

  /** The stream has begun anew: read all again, then the messages that came meanwhile. */
  async load() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.early ??= [];
    try {
      const details = await ask(path(this.name));
      const after = Math.max(0, details.sequence - BACK);
      const [past, waiting, log] = await Promise.all([
        this.past(),
        ask(path(this.name, "/pending")),
        lines(path(this.name, `/log?events=true&after=${after}`), MOST),
      ]);
      if (this.stopped || turn !== this.turn) return;
      this.details = this.health = details;
      this.feed = [];
      this.waiting = new Map();
      for (const entry of log.map(ofLog)) this.note(entry);
      this.waiting = new Map(waiting.pending.map((one) => [one.ticket, one]));
      for (const round of past) this.rounds.put(round);
      const early = this.early;
      this.early = null;
      for (const data of early) this.hear(data);
      if (!this.early) this.draw();
      this.loadSummary();
      this.alarms.load();
    } catch (error) {
      if (this.stopped || turn !== this.turn) return;
      if (error.final) this.frame.refused(error);
      else setTimeout(() => !this.stopped && turn === this.turn && this.load(), 2_000);
    }
  }

  async lookAgain() {
    try {
      const details = await ask(path(this.name));
      if (this.stopped || this.early) return;
      this.details = this.health = details;
      this.drawFacts();
    } catch (error) {
      if (!this.stopped && error.status === 404) this.frame.refused(error);
    }
  }

  async loadSummary() {
    try {
      const summary = await ask(path(this.name, "/summary"));
      if (this.stopped) return;
      swap(this.summaryText, summary.text);
      const alerts = (summary.alerts ?? []).map((alert) => sentence(alert.text, [alert.expert, alert.other]));
      const told = [summary.warning, ...alerts].filter((one) => one.length);
      swap(this.warning, told.map((one) => [one, ". "]));
      this.warning.hidden = !told.length;
    } catch (error) {
      swap(this.summaryText, error.message);
    }
  }

  heard(kind, data) {
    if (kind === "hello") this.load();
    else if (kind === "alarm") this.alarms.load();
    else if (kind === "events") {
      if (this.early) this.early.push(data);
      else {
        this.hear(data);
        if (!this.early) this.draw();
      }
    }
  }

  hear(data) {
    this.offset = data.time - Date.now() / 1000;
    this.health = data.health;
    if (data.skipped) {
      this.feed.unshift({ time: data.time, text: `${count(data.skipped)} events came too fast to be shown` });
    }
    for (const event of data.events) this.note(ofEvent(event));
    if (data.skipped || data.events.some((event) => cut(event))) this.catchUp();
    if (data.events.some((event) => event.change !== undefined)) {
      this.known = null; // names may have changed
      this.rounds = new Rounds(this.rounds.limit);
      this.load();
    }
  }

  /** Some rounds were left out because they came too fast: read them once it is calm again. */
  catchUp() {
    clearTimeout(this.catching);
    this.catching = setTimeout(() => this.load(), CALM);
  }

  /** Take an event, of the stream or of the log. */
  note(entry) {
    if (this.feed.some((one) => one.sequence === entry.sequence)) return;
    for (const round of entry.predicted) {
      this.rounds.put(round);
      this.waiting.set(round.ticket, round);
    }
    for (const round of entry.settled) {
      this.rounds.put(round);
      this.waiting.delete(round.ticket);
    }
    this.feed.unshift(entry);
    this.feed.length = Math.min(this.feed.length, FEED);
  }

  now() {
    return Date.now() / 1000 + this.offset;
  }

  /** Paint soon, but spend at most a quarter of the time on it. */
  draw() {
    if (this.asked) return;
    const wait = Math.max(0, (this.rested ?? 0) - performance.now());
    this.asked = setTimeout(() => {
      this.asked = null;
      const begun = performance.now();
      this.paint();
      const end = performance.now();
      this.rested = end + 3 * (end - begun);
    }, wait);
  }

  drawFacts() {
    swap(this.badges, badges(this.health));
    swap(this.facts, facts(this.health, this.now()));
  }

  paint() {
    const { details } = this;
    this.drawFacts();
    const list = this.chosen();
    const lossName = this.health.loss_name ?? "";
    const wanted = details.settings.interval;
    const levels = wanted === undefined || wanted === null ? "no intervals" : `intervals of ${[wanted].flat().map((one) => percent(one, 0)).join(", ")}`;
    swap(this.subtitle, `Hedger ${details.settings.hedger}, ${lossName} loss, ${levels}.`);
    this.body.hidden = !this.health.rounds;
    this.empty.hidden = Boolean(list.length);
    if (!list.length && this.health.rounds) {
      swap(this.empty, h("p", {}, "No round of this range has an outcome: choose another one."));
      return;
    }
    if (!list.length) {
      swap(this.empty, h("h2", {}, "No round yet"), h("p", {}, "Send the forecasts of a round, and its outcome when it is known:"), firstRound(this.name));
      return;
    }
    const spots = places(list[list.length - 1].prediction);
    this.chooseItem(spots, lossName);
    const describe = (k) => {
      const id = list[k].id === undefined ? "" : ` · ${shown(list[k].id)}`;
      return `#${list[k].ticket}${id} · ${clock(list[k].time)}`;
    };
    const place = spots[this.place];
    const times = list.map((round) => round.time);
    const timed = this.axis === "time" ? times.every((time) => typeof time === "number") : this.axis === "auto" && spread(times);
    const seen = {
      list, place, lossName, describe, timed, names: this.order(list, place), window: this.window,
      x: timed ? rising(times) : list.map((_, k) => k),
      labels: list.map((round) => `#${round.ticket}`),
      marks: timed ? (this.told ?? []).map((alarm) => ({ at: alarm.began, tone: "alarm" })) : [],
    };
    drawForecasts(this.forecastChart, seen);
    drawWeights(this.weightChart, seen);
    drawLosses(this.lossChart, seen);
    drawCoverage(this.coverChart, seen);
    this.tellAsleep(fillExperts(this.experts.body, seen, details.retired));
    fillLatest(this.latest.body, seen);
    fillWaiting(this.pending, this.waiting, this.rounds.byTicket, this.now());
    swap(this.events, this.feed.map((entry) => feedEntry(entry)));
  }

  tellAsleep(names) {
    const more = names.length > 12 ? ` and ${count(names.length - 12)} more` : "";
    const some = names.slice(0, 12).flatMap((name, k) => [k ? ", " : "", h("bdi", {}, name)]);
    swap(this.asleep, names.length ? ["Asleep in the last round: ", some, `${more}.`] : "All were awake in the last round.");
  }

  chooseItem(spots, lossName) {
    const key = JSON.stringify(spots);
    if (key === this.spotsKey) return;
    this.spotsKey = key;
    if (this.place >= spots.length) this.place = 0;
    const options = spots.map((spot, k) => [k, placeName(spot, lossName)]);
    const changed = (value) => {
      this.place = Number(value);
      this.draw();
    };
    swap(this.itemHolder, spots.length > 1 ? choice("Item", options, this.place, changed) : null);
  }

  /** Return the names of experts in an order that stays, the heaviest first: they get colours of their own. */
  order(list, place) {
    const found = new Set([...this.details.names, ...list.flatMap((round) => Object.keys(round.forecasts ?? {}))]);
    if (!this.known) {
      const last = list[list.length - 1];
      this.known = [...found].sort((a, b) => weightOf(last, b, place) - weightOf(last, a, place));
    }
    for (const name of found) if (!this.known.includes(name)) this.known.push(name);
    return this.known;
  }
}
