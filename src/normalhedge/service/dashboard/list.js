// The lists of mixtures and routers with their health.

import { Listening, ask, curl, path } from "./api.js";
import { alarmLog } from "./alarms.js";
import { code, h, sentence, swap } from "./dom.js";
import { ago, count, number, percent } from "./format.js";

const LOOK_AGAIN = 20_000; // outcomes become overdue without any event
const POLL = 2_000;
const WORDS = ["mixtures", "routers"];

const counted = (many, words) => `${count(many)} ${many === 1 ? words.slice(0, -1) : words}`;

/** Return the marks of a mixture: its problems, or that all is well. */
export function marks(health) {
  if (!health.loaded) return [["rest", begun(health) === null ? "no round yet" : "not loaded"]];
  const found = [];
  if (health.worse_than_plain_mean) found.push(["bad", "worse than plain mean"]);
  const kinds = { degraded: ["bad", "got worse"], stopped: ["warn", "stopped"], copy: ["warn", "a copy"] };
  for (const [kind, [tone, words]] of Object.entries(kinds)) {
    const names = (health.alerts ?? []).filter((alert) => alert.kind === kind).map((alert) => alert.expert);
    if (names.length) found.push([tone, names.length === 1 ? [h("bdi", {}, names[0]), `: ${words}`] : `${count(names.length)} experts: ${words}`]);
  }
  if (health.overdue) found.push(["warn", `${count(health.overdue)} overdue`]);
  if (!found.length) found.push(health.settled ? ["good", "well"] : ["rest", health.rounds ? health.actions === undefined ? "no outcome yet" : "no gain yet" : "no round yet"]);
  return found;
}

/** Return when the last round began, or null. */
const begun = (health) => health.last_forecast ?? health.last_choice ?? null;

/** Return how the loss of the blend compares with the loss of the plain mean. */
export function versus(health) {
  const { loss, plain_mean_loss: plain } = health;
  if (typeof loss !== "number" || typeof plain !== "number" || !(plain > 0)) return null;
  const share = loss / plain - 1;
  if (share > 1) return { share, text: `${number(share + 1)} times as large` };
  return { share, text: `${percent(Math.abs(share))} ${share <= 0 ? "lower" : "higher"}` };
}

/** Return how many outcomes intervals covered: pairs of a level and a share. */
export function coverage(health) {
  return (health.coverage ?? []).filter((one) => typeof one.covered === "number").slice(0, 4);
}

/** Return the marks as elements. */
export function badges(health) {
  return marks(health).map(([tone, text]) => h("span", { class: `badge ${tone}` }, text));
}

/** Show the list in an element. */
export function listView(root, frame) {
  frame.title("");
  const known = new Map();
  const cards = new Map();
  let offset = 0;
  let poll = null;
  let later = null;
  let stopped = false;
  const holders = { mixtures: h("div", { class: "mixtures" }), routers: h("div", { class: "mixtures" }) };
  const title = h("h2", { hidden: true }, "Routers");
  const headline = h("p", { class: "lead", role: "status" });
  const alarms = alarmLog("/v1/alarms", "Alarms", true);
  const heading = h("h1", {}, "Mixtures");
  swap(root, heading, headline, holders.mixtures, title, holders.routers, alarms.element);

  async function load() {
    try {
      const found = [];
      for (const words of WORDS) {
        for (let after = ""; after !== null; ) {
          const answer = await ask(`/v1/${words}?after=${encodeURIComponent(after)}`);
          if (stopped) return;
          offset = answer.time - Date.now() / 1000;
          found.push(...answer[words].map((health) => ({ ...health, words })));
          after = answer.next ?? null;
        }
      }
      known.clear();
      for (const health of found) known.set(health.name, health);
      draw();
      alarms.load();
      if (poll) frame.state("live");
    } catch (error) {
      if (stopped) return;
      if (error.final) frame.refused(error);
      else if (poll) frame.state("lost");
      else {
        clearTimeout(later);
        later = setTimeout(load, POLL); // whether the server is gone, the stream of events tells
      }
    }
  }

  function draw() {
    const all = [...known.values()];
    const some = (words) => all.filter((one) => one.words === words);
    const ill = all.filter((one) => marks(one).some(([tone]) => tone === "bad" || tone === "warn")).length;
    swap(headline, all.length
      ? `${WORDS.filter((words) => some(words).length).map((words) => counted(some(words).length, words)).join(" and ")}, ${ill ? `${count(ill)} to look at` : "nothing to worry about"}.`
      : "");
    if (!all.length) {
      cards.clear();
      title.hidden = true;
      swap(holders.mixtures, welcome());
      swap(holders.routers);
      return;
    }
    const names = all.map((one) => one.name);
    if (names.join(" ") !== [...cards.keys()].join(" ")) {
      cards.clear();
      for (const { name, words } of all) cards.set(name, new Card(name, words));
      const [mixtures, routers] = WORDS.map((words) => some(words).length > 0);
      swap(heading, mixtures ? "Mixtures" : "Routers");
      title.hidden = !(mixtures && routers);
      for (const words of WORDS) swap(holders[words], some(words).map((one) => cards.get(one.name).element));
    }
    refresh(all);
  }

  function refresh(some) {
    const now = Date.now() / 1000 + offset;
    for (const health of some) cards.get(health.name)?.show(health, now);
  }

  function heard(kind, data) {
    if (kind === "hello") load();
    else if (kind === "alarm") alarms.load();
    else if (kind === "health") {
      offset = data.time - Date.now() / 1000;
      if (data.names) load();
      else {
        for (const words of WORDS) for (const health of data[words]) known.set(health.name, { ...health, words });
        draw();
      }
    }
  }

  const listening = new Listening("/v1/events", {
    heard,
    state: frame.state,
    refused(error) {
      if (error.status !== 403) {
        frame.refused(error);
        return;
      }
      // A token for some mixtures may not hear of all: ask now and then.
      poll = setInterval(load, POLL);
      load();
    },
  });
  const again = setInterval(() => !document.hidden && !poll && load(), LOOK_AGAIN);
  const clock = setInterval(() => !document.hidden && refresh([...known.values()]), 5_000);
  return {
    stop() {
      stopped = true;
      clearTimeout(later);
      listening.stop();
      clearInterval(again);
      clearInterval(clock);
      clearInterval(poll);
    },
  };
}

function fact(label, value, tone = "") {
  return h("div", { class: "fact" }, h("dt", {}, label), h("dd", { class: tone }, value));
}

/** The card of a mixture. Its link stays the same element, so that it keeps the focus. */
class Card {
  constructor(name, words) {
    this.badges = h("div", { class: "badges" });
    this.facts = h("dl", { class: "facts" });
    this.note = h("p", { class: "note" });
    const link = h("a", { href: `#/${words[0]}/${encodeURIComponent(name)}` }, name);
    this.element = h(
      "article",
      { class: "card mixture", "data-name": name },
      h("div", { class: "head" }, h("h2", {}, link), this.badges),
      this.facts,
      this.note,
    );
  }

  show(health, now) {
    swap(this.badges, badges(health));
    swap(this.facts, facts(health, now));
    const asleep = health.loaded ? "" : "It is on the disk, and is loaded when it is used or looked at.";
    const alerts = (health.alerts ?? []).flatMap((alert) => [...sentence(alert.text, [alert.expert, alert.other]), ". "]);
    swap(this.note, alerts.length ? alerts : begun(health) === null ? "Open it to see what to send." : asleep);
  }
}

/** Return the numbers of a mixture or a router. */
export function facts(health, now) {
  const late = health.overdue ? `, ${count(health.overdue)} overdue` : "";
  if (health.last_choice !== undefined) {
    const { mean_cost: cost, budget } = health.spending ?? {};
    return [
      fact("last choice", ago(health.last_choice, now)),
      fact("last gain", ago(health.last_gain, now)),
      health.loaded && [
        fact("waiting", count(health.pending) + late, late ? "warn" : ""),
        fact("actions", count(health.actions)),
        fact("rounds", count(health.rounds)),
        fact("mean gain", number(health.gain)),
      ],
      typeof cost === "number" && fact("mean cost", `${number(cost)} of ${number(budget)}`, cost > budget ? "warn" : ""),
    ];
  }
  const compared = versus(health);
  return [
    fact("last forecast", ago(health.last_forecast, now)),
    fact("last outcome", ago(health.last_outcome, now)),
    health.loaded && [
      fact("waiting", count(health.pending) + late, late ? "warn" : ""),
      fact("experts", count(health.experts)),
      fact("rounds", count(health.rounds)),
      fact(`${health.loss_name} loss`, number(health.loss)),
    ],
    compared && fact("against plain mean", compared.text, compared.share > 0 ? "bad" : "good"),
    coverage(health).map((one) => fact(`${percent(one.level, 0)} interval covers`, percent(one.covered))),
  ];
}

function welcome() {
  return h(
    "section",
    { class: "card welcome" },
    h("h2", {}, "No mixture yet"),
    h("p", {}, "A mixture blends the forecasts of your models. Create one:"),
    code(curl("/v1/mixtures", { name: "load", interval: 0.9 })),
    h("p", {}, "Then send the forecasts of a round, and its outcome when it is known:"),
    firstRound("load"),
    h("p", { class: "note" }, "They appear here as they come. All requests are described under ", h("a", { href: "/docs" }, "API"), "."),
  );
}

/** Return the commands that send the first round of a mixture. */
export function firstRound(name) {
  return [
    code(curl(path(name, "/predict"), { forecasts: { gam: 51.2, ar: 49.9 }, id: "day 1" })),
    code(curl(path(name, "/outcome"), { id: "day 1", outcome: 50.8 })),
  ];
}
