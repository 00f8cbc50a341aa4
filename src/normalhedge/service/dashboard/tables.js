// The tables and lists of a mixture; `seen` is as in plots.js.

import { h, swap } from "./dom.js";
import { count, named, number, percent, shown, span } from "./format.js";
import { toneOf } from "./plots.js";
import { at, covers, outcomeAt, table } from "./rounds.js";

const MOST = 100; // lines of the table of experts

/** Return a table with heads, and its body. */
export function numbers(id, heads, kind = "") {
  const body = h("tbody", {});
  const head = h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text))));
  return { body, element: h("div", { class: `scroll ${kind}`, tabindex: "0" }, h("table", { class: "numbers", id }, head, body)) };
}

/** Fill the table of experts; return the names of sleeping experts. */
export function fillExperts(body, seen, retired) {
  const rows = table(seen.list, seen.names, seen.place, retired);
  rows.sort((a, b) => b.weight - a.weight);
  const more = rows.length - MOST;
  swap(body, rows.slice(0, MOST).map((row) => {
    const tone = toneOf(seen.names, row.name);
    const bar = h("span", { class: `bar ${tone}` });
    bar.style.setProperty("width", `${Math.round(56 * row.weight)}px`);
    const mark = row.retired ? h("span", { class: "badge rest" }, "retired") : row.asleep ? h("span", { class: "badge warn" }, "asleep") : null;
    return h(
      "tr", { class: row.asleep ? "dim" : "" },
      h("th", { scope: "row" }, h("span", { class: `swatch area ${tone}`, "aria-hidden": "true" }), h("bdi", {}, row.name), mark),
      h("td", { class: "bars" }, bar, percent(row.weight)),
      h("td", {}, number(row.loss)),
      h("td", {}, number(row.blend)),
      h("td", {}, percent(row.awake, 0)),
      h("td", {}, row.seen ? named(row.seen) : "–"),
    );
  }), more > 0 ? h("tr", {}, h("th", { scope: "row" }, `and ${count(more)} more`)) : null);
  return rows.filter((row) => row.asleep && !row.retired).map((row) => row.name);
}

/** Show the rounds that wait, the oldest first. */
export function fillWaiting(place, waiting, byTicket, now) {
  const sorted = [...waiting.values()].sort((a, b) => a.ticket - b.ticket);
  if (!sorted.length) {
    swap(place, h("p", { class: "lead" }, "No round waits: every outcome is here."));
    return;
  }
  const item = (round) => {
    const made = byTicket.get(round.ticket)?.prediction;
    return h(
      "li", {}, h("b", {}, named(round)),
      made === undefined ? null : h("span", {}, `forecast ${shown(made)}`),
      h("span", { class: "when" }, typeof round.time === "number" ? `for ${span(Math.max(0, now - round.time))}` : ""),
    );
  };
  const more = sorted.length - 12;
  swap(
    place,
    h("p", { class: "lead" }, `${count(sorted.length)} ${sorted.length === 1 ? "round waits" : "rounds wait"}; the oldest first.`),
    h("ol", { class: "waiting" }, sorted.slice(0, 12).map(item)),
    more > 0 ? h("p", { class: "note" }, `and ${count(more)} more`) : null,
  );
}

/** Fill the table of the last rounds, the newest first. */
export function fillLatest(body, { list, place, lossName }) {
  swap(body, list.slice(-15).reverse().map((round) => {
    const level = Object.keys(round.interval ?? {}).sort((a, b) => b - a)[0];
    const [low, high] = level === undefined ? [null, null] : round.interval[level].map((edge) => at(edge, place));
    const outcome = outcomeAt(round.outcome ?? null, place, lossName);
    return h(
      "tr", { "data-ticket": round.ticket },
      h("th", { scope: "row" }, named(round)),
      h("td", {}, number(at(round.prediction, place))),
      h("td", { class: covers(low, high, outcome) === 0 ? "warn" : "" }, low === null ? "–" : `${number(low)} to ${number(high)}`),
      h("td", {}, round.outcome === undefined ? "waits" : number(outcome)),
      h("td", {}, number(round.loss)),
      h("td", {}, number(round.plain_mean_loss)),
    );
  }));
}
