// Events as people read them: of the live stream, and of the log.

import { h } from "./dom.js";
import { clock, number, shown } from "./format.js";

/** Return an event of the live stream in the form of the page. */
export function ofEvent(event) {
  return {
    sequence: event.sequence,
    time: event.time,
    kind: event.kind,
    predicted: event.predicted ?? [],
    settled: event.settled ?? [],
    change: event.change,
    cut: cut(event),
  };
}

const AT_ONCE = 50; // the stream tells at most so many rounds of an event, the last ones

/** Return whether the stream may have left out rounds of an event. */
export function cut(event) {
  return (event.predicted ?? []).length >= AT_ONCE || (event.settled ?? []).length >= AT_ONCE;
}

/** Return an event of the log in the same form. */
export function ofLog(event) {
  const operations = Array.isArray(event.body) ? event.body : [event.body ?? {}];
  const answers = Array.isArray(event.answer?.answers) ? event.answer.answers : [event.answer ?? {}];
  const byTicket = new Map(answers.filter((one) => one?.prediction !== undefined).map((one) => [one.ticket, one]));
  const predicted = [];
  const settled = [];
  for (const operation of operations) {
    if (operation.predict !== undefined) {
      const { settled: _, ...said } = byTicket.get(operation.ticket) ?? {};
      predicted.push({ ...said, ticket: operation.ticket, time: event.time, forecasts: operation.predict });
    } else {
      const ticket = operation.update ?? operation.correct;
      if (ticket !== undefined) settled.push({ ticket, outcome: operation.outcome });
    }
  }
  const change = predicted.length || settled.length ? undefined : event.body;
  return { sequence: event.sequence, time: event.time, kind: event.kind, predicted, settled, change };
}

const CHANGES = {
  retire: (one) => `${shown(one)} was retired`,
  leave: (one) => `${shown(one)} left`,
  rename: ([from, to]) => `${shown(from)} is now called ${shown(to)}`,
  inherit: ([to, from]) => `${shown(to)} starts where ${shown(from)} stands`,
};

function sentence(entry) {
  if (entry.text) return entry.text;
  const { predicted, settled } = entry;
  const id = (round) => (round.id === undefined ? `#${round.ticket}` : `#${round.ticket} (${shown(round.id)})`);
  if (predicted.length + settled.length > 1) {
    const parts = [];
    if (predicted.length) parts.push(`${predicted.length} ${predicted.length === 1 ? "forecast" : "forecasts"}`);
    if (settled.length) parts.push(`${settled.length} ${settled.length === 1 ? "outcome" : "outcomes"}`);
    return `${parts.join(" and ")}${entry.cut ? " or more" : ""} at once`;
  }
  if (predicted.length) return `${id(predicted[0])}: forecast ${shown(predicted[0].prediction)}`;
  if (settled.length) {
    const [round] = settled;
    const cost = typeof round.loss === "number" ? `, loss ${number(round.loss)}` : "";
    return `${id(round)}: ${entry.kind === "correct" ? "corrected outcome" : "outcome"} ${shown(round.outcome)}${cost}`;
  }
  for (const [word, say] of Object.entries(CHANGES)) {
    const given = entry.change?.[word];
    if (given !== undefined && given !== null) return say(given);
  }
  return entry.kind;
}

/** Return an event as an item of a list. */
export function feedEntry(entry) {
  const tone = entry.text ? "rest" : entry.settled.length ? "good" : entry.predicted.length ? "plain" : "warn";
  return h(
    "li", { "data-sequence": entry.sequence },
    h("time", {}, clock(entry.time)),
    h("span", { class: `dot ${tone}`, "aria-hidden": "true" }),
    h("span", {}, sentence(entry)),
  );
}
