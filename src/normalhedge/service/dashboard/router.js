// One router, live: probabilities and choices of actions, gains, and what each action is worth.

import { Listening, ask, curl, path } from "./api.js";
import { alarmLog } from "./alarms.js";
import { Chart, Charts } from "./chart.js";
import { choice, code, h, swap } from "./dom.js";
import { clock, number, percent, shown } from "./format.js";
import { badges, facts } from "./list.js";
import { TONES, toneOf } from "./plots.js";
import { rising, rolling, spread, stacked } from "./rounds.js";
import { numbers } from "./tables.js";

const CALM = 1_000; // events that come faster are drawn together
const LOOK_AGAIN = 20_000;
const LAST = 15;

/** Show a router in an element. */
export function routerView(root, name, frame) {
  const page = new RouterPage(root, name, frame);
  return { stop: () => page.stop() };
}

class RouterPage {
  constructor(root, name, frame) {
    Object.assign(this, { root, name, frame, limit: 500, window: 50 });
    frame.title(name);
    this.charts = new Charts((span) => (this.whole.hidden = span === null));
    this.build();
    this.listening = new Listening(this.at("/events"), {
      heard: (kind) => (kind === "hello" ? this.load() : kind === "events" ? this.soon() : this.alarms.load()),
      state: frame.state,
      refused: frame.refused,
    });
    this.again = setInterval(() => !document.hidden && this.load(), LOOK_AGAIN);
  }

  at(rest = "") {
    return path(this.name, rest, "routers");
  }

  stop() {
    this.stopped = true;
    this.listening.stop();
    clearInterval(this.again);
    clearTimeout(this.asked);
    this.charts.remove();
  }

  build() {
    this.badges = h("div", { class: "badges" });
    this.subtitle = h("p", { class: "lead" });
    this.facts = h("dl", { class: "facts wide" });
    this.empty = h("section", { class: "card welcome", hidden: true });
    this.body = h("div", { class: "view", hidden: true });
    this.whole = h("button", { type: "button", class: "whole", hidden: true, onclick: () => this.charts.zoom(null) }, "Show all");
    this.alarms = alarmLog(this.at("/alarms"), "Alarms", false);
    const { charts } = this;
    const share = (value) => percent(value, 0);
    this.odds = new Chart(charts, {
      title: "Probabilities", height: 260, format: share, note: "With which each action was drawn, one above the other.",
    });
    this.shares = new Chart(charts, { title: "Choices", height: 240, format: share });
    this.gains = new Chart(charts, { title: "Gain", height: 240 });
    this.actions = numbers("actions", ["action", "probability", "chosen", "value", "95 % interval"], "tall");
    this.latest = numbers("rounds", ["round", "action", "probability", "gain"]);
    this.text = h("pre", { tabindex: "0" });
    const shownRounds = choice("Shown", [[100, "last 100 rounds"], [500, "last 500 rounds"], [2000, "last 2,000 rounds"]], 500, (value) => {
      this.limit = Number(value);
      this.charts.zoom(null);
      this.load();
    });
    const smooth = choice("Rolling over", [[20, "20 rounds"], [50, "50 rounds"], [200, "200 rounds"]], 50, (value) => {
      this.window = Number(value);
      this.draw();
    });
    swap(
      this.root,
      h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/" }, "All"), " / ", h("bdi", {}, this.name)),
      h("div", { class: "head" }, h("h1", {}, this.name), this.badges),
      this.subtitle,
      h("section", { class: "card", "aria-label": "Health" }, this.facts),
      this.empty,
      this.body,
    );
    swap(
      this.body,
      h("div", { class: "toolbar" }, shownRounds, smooth, this.whole),
      this.odds.element,
      h("div", { class: "two" }, this.shares.element, this.gains.element),
      h(
        "div", { class: "two loose" },
        h("section", { class: "card" }, h("h2", {}, "Actions"), this.actions.element,
          h("p", { class: "note" }, "The value is the estimated mean gain of always choosing the action, in the rounds that the server keeps.")),
        h("section", { class: "card" }, h("h2", {}, "Last rounds"), this.latest.element),
      ),
      this.alarms.element,
      h("details", { class: "card" }, h("summary", {}, h("h2", {}, "Summary")), this.text),
    );
  }

  soon() {
    this.asked ??= setTimeout(() => this.load(), CALM);
  }

  /** Read all again, and draw it. */
  async load() {
    clearTimeout(this.asked);
    this.asked = null;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const [details, summary, rounds] = await Promise.all([ask(this.at()), ask(this.at("/summary")), this.past()]);
      if (this.stopped || turn !== this.turn) return;
      Object.assign(this, { details, summary, rounds });
      this.draw();
      this.alarms.load();
    } catch (error) {
      if (this.stopped || turn !== this.turn) return;
      if (error.final) this.frame.refused(error);
      else this.asked ??= setTimeout(() => this.load(), 2 * CALM);
    }
  }

  /** Return the last rounds; long ones come in parts. */
  async past() {
    let rounds = [];
    for (let place = ""; rounds.length < this.limit && place !== null; ) {
      const query = `limit=${this.limit - rounds.length}${place && `&before=${place}`}`;
      const part = await ask(this.at(`/history?${query}`));
      rounds = [...part.rounds, ...rounds];
      place = part.next ?? null;
    }
    return rounds.filter((round) => round.action !== undefined);
  }

  draw() {
    if (!this.details) return;
    const { details, summary, rounds } = this;
    const { rule, budget } = details.settings;
    swap(this.badges, badges(details));
    swap(this.facts, facts(details, Date.now() / 1000));
    const learner = typeof rule === "string" ? rule : rule?.rule ?? rule?.hedger ?? "auto";
    swap(this.subtitle, `Rule ${learner}${budget ? `, at most ${number(budget)} a round` : ""}.`);
    this.body.hidden = !rounds.length;
    this.empty.hidden = Boolean(rounds.length);
    if (!rounds.length) {
      swap(this.empty, h("h2", {}, "No gain yet"), h("p", {}, "Ask for an action, and send its gain when it is known:"), firstChoice(this.name));
      return;
    }
    this.drawCharts(this.order(rounds));
    swap(this.actions.body, summary.actions.map((row) => h(
      "tr", {},
      h("th", { scope: "row" }, h("span", { class: `swatch area ${toneOf(this.known, row.action)}`, "aria-hidden": "true" }), h("bdi", {}, row.action)),
      h("td", {}, percent(row.probability)),
      h("td", {}, shown(row.chosen)),
      h("td", {}, row.value ? number(row.value.estimate) : "–"),
      h("td", {}, row.value ? `${number(row.value.low)} to ${number(row.value.high)}` : "–"),
    )));
    swap(this.latest.body, rounds.slice(-LAST).reverse().map((round) => h(
      "tr", { "data-ticket": round.ticket },
      h("th", { scope: "row" }, `#${round.ticket}`), h("td", {}, h("bdi", {}, round.action)),
      h("td", {}, percent(round.probability)), h("td", {}, number(gainOf(round))),
    )));
    swap(this.text, summary.text);
  }

  /** Return the actions in an order that stays, the most frequent first: they get colours of their own. */
  order(rounds) {
    const found = new Map();
    for (const { action } of rounds) found.set(action, (found.get(action) ?? 0) + 1);
    for (const name of this.details.names) if (!found.has(name)) found.set(name, 0);
    this.known ??= [];
    const fresh = [...found.keys()].filter((name) => !this.known.includes(name));
    this.known.push(...fresh.sort((a, b) => found.get(b) - found.get(a)));
    return this.known;
  }

  drawCharts(names) {
    const list = this.rounds;
    const times = list.map((round) => round.time);
    const timed = spread(times);
    const seen = {
      list, timed, x: timed ? rising(times) : list.map((_, k) => k), labels: list.map((round) => `#${round.ticket}`),
      describe: (k) => `#${list[k].ticket} · ${list[k].action} · ${clock(list[k].time)}`,
    };
    const own = names.slice(0, TONES);
    const others = names.slice(TONES);
    const lines = [...own.map((name) => [name, [name], toneOf(names, name)]), ...(others.length ? [[`${others.length} others`, others, "others"]] : [])];
    const odds = lines.map(([, some]) => list.map((round) => some.reduce((sum, name) => sum + oddsOf(round, name), 0)));
    const unit = { domain: [0, 1], ticksAt: [0, 0.25, 0.5, 0.75, 1] };
    const layer = (kind, k, values) => ({ kind, label: lines[k][0], key: `action ${lines[k][0]}`, tone: lines[k][2], ...values });
    this.odds.draw({ ...seen, ...unit, layers: stacked(odds).map((edges, k) => layer("area", k, edges)) });
    const chosen = lines.map(([, some]) => rolling(list.map((round) => Number(some.includes(round.action))), this.window));
    this.shares.draw({ ...seen, ...unit, layers: chosen.map((values, k) => layer("line", k, { values })) });
    swap(this.shares.note, `How often each action was chosen in the last ${this.window} rounds.`);
    const gains = list.map(gainOf);
    const [low, high] = this.details.settings.gains ?? [0, 1];
    let sum = 0;
    const mean = gains.map((gain, k) => (sum += gain) / (k + 1));
    this.gains.draw({
      ...seen, domain: [low, high],
      layers: [
        { kind: "line", label: "mean since the first round shown", tone: "plain", values: mean },
        { kind: "line", label: `last ${this.window} rounds`, tone: "blend", values: rolling(gains, this.window) },
      ],
    });
    swap(this.gains.note, "Mean gain of the chosen actions; higher is better.");
  }
}

function oddsOf(round, name) {
  return round.probabilities && Object.hasOwn(round.probabilities, name) ? round.probabilities[name] : 0;
}

/** Return the gain of the action that was chosen in a round. */
function gainOf(round) {
  return typeof round.gain === "number" ? round.gain : round.gain[round.action];
}

/** Return the commands of the first round of a router. */
export function firstChoice(name) {
  return [
    code(curl(path(name, "/choose", "routers"), {})),
    code(curl(path(name, "/reward", "routers"), { ticket: 0, gain: 0.7 })),
  ];
}
