// A prediction by hand: a look that changes nothing, or a real round.

import { ask, freshKey, path } from "./api.js";
import { h, swap } from "./dom.js";
import { number, percent, shown } from "./format.js";
import { at, places } from "./rounds.js";

/** Return the value of a field: a number, other JSON, or null for an empty one; throw a sentence. */
export function value(text) {
  const given = text.trim();
  if (!given) return null;
  const plain = Number(given.replace(/^(-?\d+),(\d+)$/, "$1.$2")); // a decimal comma
  if (Number.isFinite(plain)) return plain;
  try {
    return JSON.parse(given);
  } catch {
    throw new Error(`“${given}” is neither a number nor JSON such as [0.2, 0.8].`);
  }
}

/** Show the page in an element. */
export function tryView(root, name, frame) {
  const page = new TryPage(root, name, frame);
  return { stop: () => (page.stopped = true) };
}

class TryPage {
  constructor(root, name, frame) {
    this.root = root;
    this.name = name;
    this.frame = frame;
    this.fields = new Map();
    frame.title(`Try ${name}`);
    this.load();
  }

  async load() {
    try {
      const [details, past] = await Promise.all([
        ask(path(this.name)),
        ask(path(this.name, "/history?limit=1")),
      ]);
      if (this.stopped) return;
      this.frame.state("stopped");
      this.build(details, past.rounds[0]?.forecasts ?? {});
    } catch (error) {
      if (!this.stopped) this.frame.refused(error);
    }
  }

  build(details, last) {
    this.rows = h("div", { class: "fields" });
    this.answer = h("section", { class: "card answer", "aria-live": "polite", hidden: true });
    this.real = h("section", { class: "card answer", "aria-live": "polite", hidden: true });
    this.id = h("input", { id: "round-id", placeholder: "none", autocomplete: "off" });
    const retired = new Set(details.retired);
    const names = details.names.filter((one) => !retired.has(one));
    for (const one of names) this.addField(one, Object.hasOwn(last, one) ? last[one] : null);
    const form = h(
      "form", { class: "card" },
      h("h2", {}, "Forecasts"),
      h("p", { class: "note" }, names.length
        ? "The fields hold the forecasts of the last settled round. An empty field means that the expert sleeps. A list or an object is written as JSON."
        : "The mixture knows no expert yet: add the first ones by name."),
      this.rows,
      this.newField(),
      h("div", { class: "actions" },
        h("div", {},
          h("button", { type: "submit", class: "main", name: "peek" }, "Peek"),
          h("p", { class: "note" }, "Shows the blend. It does not count: nothing is stored or learned.")),
        h("div", { class: "counts" },
          h("label", { for: "round-id" }, "Id of the round ", this.id),
          h("button", { type: "button", class: "danger", name: "predict", onclick: () => this.predict() }, "Predict for real"),
          h("p", { class: "note" }, h("b", {}, "This counts."), " It begins a round of the mixture, which waits for an outcome, and its outcome changes the weights for good."))),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.peek();
    });
    const link = `#/m/${encodeURIComponent(this.name)}`;
    swap(
      this.root,
      h("nav", { class: "crumbs", "aria-label": "Where you are" },
        h("a", { href: "#/" }, "Mixtures"), " / ", h("a", { href: link }, this.name), " / try"),
      h("h1", {}, "Try a prediction"),
      h("div", { class: "two" }, form, h("div", { class: "view" }, this.answer, this.real)),
    );
  }

  addField(name, filled) {
    if (this.fields.has(name)) return this.fields.get(name);
    const id = `field-${this.fields.size}`;
    const text = filled === null ? "" : typeof filled === "number" ? String(filled) : JSON.stringify(filled);
    const input = h("input", { id, value: text, placeholder: "asleep", autocomplete: "off", inputmode: "text" });
    this.fields.set(name, input);
    this.rows.append(h("div", { class: "field" }, h("label", { for: id }, h("bdi", {}, name)), input));
    return input;
  }

  newField() {
    const input = h("input", { id: "new-expert", placeholder: "name", autocomplete: "off" });
    const add = () => {
      const name = input.value.trim();
      if (!name) return;
      this.addField(name, null).focus();
      input.value = "";
    };
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      add();
    });
    return h("div", { class: "line adding" }, h("label", { for: "new-expert" }, "Another expert"), input,
      h("button", { type: "button", onclick: add }, "Add"));
  }

  forecasts() {
    // A list of pairs keeps every name, "__proto__" too.
    const pairs = [...this.fields].map(([name, input]) => [name, value(input.value)]);
    return Object.fromEntries(pairs);
  }

  problem(place, error) {
    place.hidden = false;
    swap(place, h("h2", {}, "Refused"), h("p", { class: "bad", role: "alert" }, error.message));
  }

  async peek() {
    try {
      const found = await ask(path(this.name, "/peek"), { method: "POST", body: { forecasts: this.forecasts() } });
      this.answer.hidden = false;
      swap(this.answer, h("h2", {}, "Peek"), h("p", { class: "note" }, "Nothing was stored."), said(found));
    } catch (error) {
      this.problem(this.answer, error);
    }
  }

  async predict() {
    try {
      const body = { forecasts: this.forecasts() };
      if (this.id.value.trim()) body.id = this.id.value.trim();
      const found = await this.once("/predict", body);
      this.id.value = "";
      this.real.hidden = false;
      swap(this.real, h("h2", {}, `Round #${found.ticket} has begun`), said(found), this.settling(found.ticket));
    } catch (error) {
      this.problem(this.real, error);
    }
  }

  /** Send a request that counts. Sent again after a failure, it has the same key: it counts once. */
  async once(rest, body) {
    const content = rest + JSON.stringify(body);
    if (this.unsure?.content !== content) this.unsure = { content, key: freshKey() };
    try {
      const answer = await ask(path(this.name, rest), { method: "POST", body, key: this.unsure.key });
      this.unsure = null;
      return answer;
    } catch (error) {
      if (error.status && error.status < 500 && error.status !== 429) this.unsure = null;
      throw error;
    }
  }

  settling(ticket) {
    const input = h("input", { id: "outcome", required: true, autocomplete: "off", placeholder: "when it is known" });
    const told = h("p", { class: "note", role: "status" },
      h("b", {}, "This counts."), " The mixture learns from the outcome. You can also leave it to the program that sends outcomes.");
    const form = h("form", {}, h("label", { for: "outcome" }, "Outcome"),
      h("div", { class: "line" }, input, h("button", { type: "submit", class: "danger" }, "Send the outcome")), told);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await this.once("/outcome", { ticket, outcome: value(input.value) });
        swap(form, h("p", { role: "status" }, "The mixture has learned from it. ",
          h("a", { href: `#/m/${encodeURIComponent(this.name)}` }, "See its weights")));
      } catch (error) {
        swap(told, h("span", { class: "bad" }, error.message));
      }
    });
    return form;
  }
}

function said(found) {
  const spots = places(found.prediction);
  const bounds = Object.entries(found.interval ?? {});
  const single = spots.length === 1;
  const rows = Object.entries(found.weights).map(([name, weight]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, typeof weight === "number" ? percent(weight) : shown(weight))));
  return [
    single
      ? h("p", { class: "big", id: "prediction" }, number(at(found.prediction, spots[0])))
      : h("ul", { id: "prediction" }, spots.map((spot) => h("li", {}, `${spot.join(" / ")}: `, h("b", {}, number(at(found.prediction, spot)))))),
    bounds.map(([level, [low, high]]) => h("p", {}, `${percent(Number(level), 0)} interval: ${shown(low)} to ${shown(high)}`)),
    h("table", { class: "numbers small" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "expert"), h("th", { scope: "col" }, "weight"))), h("tbody", {}, rows)),
  ];
}
