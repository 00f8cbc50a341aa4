// A chart over rounds: lines, dots, bands and stacked areas, drawn as SVG. Colours are classes of
// the style sheet, so that light and dark need no new drawing. The arrow keys and the pointer read
// single rounds.

import { h, s, swap } from "./dom.js";
import { number } from "./format.js";

const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

/** Return round numbers from low to high, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

/** Return the smallest range that holds all known values, with some room; or the range given. */
function range(layers, domain) {
  if (domain) return domain;
  let low = Infinity;
  let high = -Infinity;
  for (const layer of layers) {
    for (const values of [layer.values, layer.low, layer.high]) {
      for (const value of values ?? []) {
        if (value !== null && Number.isFinite(value)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
  }
  if (low > high) return [0, 1];
  const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
}

function pathOf(values, x, y) {
  let text = "";
  let pen = false;
  values.forEach((value, k) => {
    if (value === null) {
      pen = false;
      return;
    }
    text += `${pen ? "L" : "M"}${x(k).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!pen && (values[k + 1] === null || k === values.length - 1)) text += "h.01"; // a single point
    pen = true;
  });
  return text;
}

/** Return the outline between two edges. With `steps`, each round is a bar as wide as its share. */
function areaOf(low, high, x, y, steps) {
  const edges = (k) => (steps ? [Math.max(0, k - 0.5), Math.min(low.length - 1, k + 0.5)] : [k]);
  let text = "";
  for (let k = 0; k < low.length; k += 1) {
    const top = [];
    const bottom = [];
    for (; k < low.length && low[k] !== null && high[k] !== null; k += 1) {
      for (const edge of edges(k)) {
        top.push(`${x(edge).toFixed(1)} ${y(high[k]).toFixed(1)}`);
        bottom.push(`${x(edge).toFixed(1)} ${y(low[k]).toFixed(1)}`);
      }
    }
    if (top.length) text += `M${top.join("L")}L${bottom.reverse().join("L")}Z`;
  }
  return text;
}

/** Return the key of a layer, which no other has: an expert may be called "blend", too. */
const keyOf = (layer) => layer.key ?? layer.label;

/** Charts that point at the same round together. */
export class Charts {
  constructor() {
    this.all = [];
    this.index = null;
  }

  point(index, chart) {
    this.index = index;
    for (const one of this.all) one.mark(index, one === chart);
  }
}

export class Chart {
  /** Make a chart with a title, a note below it, and a height in pixels. */
  constructor(charts, { title, note = "", height = 220, format = number }) {
    this.charts = charts;
    this.format = format;
    this.height = height;
    this.hidden = new Set();
    this.data = { labels: [], layers: [] };
    this.plot = s("svg", { class: "plot", height, "aria-hidden": "true" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.spoken = h("div", { class: "unseen", "aria-live": "polite" });
    this.frame = h(
      "div",
      { class: "frame", tabindex: "0", role: "group", "aria-label": `${title}. Arrow keys read single rounds.` },
      this.plot,
      this.tip,
      this.spoken,
    );
    this.legend = h("div", { class: "legend", role: "group", "aria-label": "Lines of this chart" });
    this.note = h("p", { class: "note" }, note);
    this.element = h(
      "section",
      { class: "card chart" },
      h("h2", {}, title),
      this.legend,
      this.frame,
      this.note,
    );
    this.frame.addEventListener("pointermove", (event) => this.follow(event));
    this.frame.addEventListener("pointerdown", (event) => this.follow(event));
    this.frame.addEventListener("pointerleave", () => this.charts.point(null, this));
    this.frame.addEventListener("keydown", (event) => this.step(event));
    this.frame.addEventListener("blur", () => this.charts.point(null, this));
    this.observer = new ResizeObserver(() => this.paint());
    this.observer.observe(this.frame);
    charts.all.push(this);
  }

  /**
   * Draw. `labels` names each round; `layers` are {kind, label, tone, values} or {kind, label, tone,
   * low, high}, with a `key` where labels may be the same; `domain`, `ticksAt` and `rules` are
   * optional.
   */
  draw(data) {
    this.data = data;
    const known = new Map();
    for (const layer of data.layers) known.set(keyOf(layer), layer);
    const key = JSON.stringify([...known.values()].map((layer) => [keyOf(layer), layer.label, layer.tone, layer.kind]));
    if (key !== this.legendKey) {
      this.legendKey = key;
      swap(this.legend, [...known.values()].map((layer) => this.entry(layer)));
    }
    this.paint();
  }

  entry(layer) {
    const button = h(
      "button",
      { type: "button", class: "key", "aria-pressed": String(!this.hidden.has(keyOf(layer))) },
      h("span", { class: `swatch ${layer.kind} ${layer.tone}`, "aria-hidden": "true" }),
      layer.label,
    );
    button.addEventListener("click", () => {
      if (!this.hidden.delete(keyOf(layer))) this.hidden.add(keyOf(layer));
      button.setAttribute("aria-pressed", String(!this.hidden.has(keyOf(layer))));
      this.paint();
    });
    return button;
  }

  paint() {
    const width = this.frame.clientWidth;
    if (!width) return;
    const { labels, domain } = this.data;
    const layers = this.data.layers.filter((layer) => !this.hidden.has(keyOf(layer)));
    const [low, high] = range(layers, domain);
    const n = labels.length;
    this.width = width;
    this.x = (k) => LEFT + ((width - LEFT - RIGHT) * (n > 1 ? k / (n - 1) : 0.5));
    this.y = (value) => TOP + (this.height - TOP - BOTTOM) * (1 - (value - low) / (high - low));
    this.plot.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.plot.setAttribute("width", width);
    swap(this.plot, this.grid(low, high, n), layers.map((layer) => this.drawn(layer)), this.cursorMark());
    this.mark(this.charts.index, false);
  }

  grid(low, high, n) {
    const parts = [];
    const at = this.data.ticksAt ?? ticks(low, high, this.height > 150 ? 5 : 3);
    for (const value of at) {
      const y = this.y(value);
      parts.push(s("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }));
      parts.push(s("text", { class: "tick", x: LEFT - 8, y: y + 4, "text-anchor": "end" }, this.format(value)));
    }
    for (const rule of this.data.rules ?? []) {
      const y = this.y(rule.value);
      parts.push(s("line", { class: `rule ${rule.tone ?? ""}`, x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }));
    }
    const room = Math.max(1, Math.floor((this.width - LEFT - RIGHT) / 110));
    const whole = n > 1 ? ticks(0, n - 1, room).filter((k) => Number.isInteger(k)) : n ? [0] : [];
    for (const k of whole) {
      const anchor = this.x(k) > this.width - 45 ? "end" : "middle";
      parts.push(
        s("text", { class: "tick", x: this.x(k), y: this.height - 6, "text-anchor": anchor }, this.data.labels[k]),
      );
    }
    return parts;
  }

  drawn(layer) {
    const { x, y } = this;
    const kind = `${layer.kind} ${layer.tone}`;
    if (layer.kind === "band" || layer.kind === "area") {
      return s("path", { class: kind, d: areaOf(layer.low, layer.high, x, y, layer.kind === "area") });
    }
    if (layer.kind === "dots") {
      // One path of points with round ends: thousands of circles would be slow.
      const points = layer.values.map((value, k) => (value === null ? "" : `M${x(k).toFixed(1)} ${y(value).toFixed(1)}h0`));
      const n = layer.values.length;
      return s("path", { class: kind, d: points.join(""), "stroke-width": n > 250 ? 3.4 : n > 80 ? 4.6 : 6 });
    }
    return s("path", { class: kind, d: pathOf(layer.values, x, y) });
  }

  cursorMark() {
    this.cursor = s("line", { class: "cursor", y1: TOP, y2: this.height - BOTTOM, visibility: "hidden" });
    return this.cursor;
  }

  follow(event) {
    const n = this.data.labels.length;
    if (!n || !this.x) return;
    const inside = event.clientX - this.frame.getBoundingClientRect().left;
    const share = (inside - LEFT) / (this.width - LEFT - RIGHT);
    this.charts.point(Math.min(n - 1, Math.max(0, Math.round(share * (n - 1)))), this);
  }

  step(event) {
    const n = this.data.labels.length;
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    if (event.key === "Escape") this.charts.point(null, this);
    if (!n || !(event.key in moves)) return;
    event.preventDefault();
    const from = this.charts.index ?? (moves[event.key] < 0 ? n : -1);
    this.charts.point(Math.min(n - 1, Math.max(0, from + moves[event.key])), this);
    this.spoken.textContent = this.lines(this.charts.index).map(([label, text]) => `${label} ${text}`).join(", ");
  }

  /** Return the facts about a round: pairs of a label and a text, with a tone. */
  lines(k) {
    const said = [["", this.data.describe ? this.data.describe(k) : this.data.labels[k], ""]];
    for (const layer of this.data.layers) {
      if (this.hidden.has(keyOf(layer))) continue;
      let text = null;
      if (layer.kind === "band") {
        if (layer.low[k] !== null) text = `${this.format(layer.low[k])} to ${this.format(layer.high[k])}`;
      } else {
        const value = layer.kind === "area" ? layer.high[k] - layer.low[k] : layer.values[k];
        if (value !== null) text = this.format(value);
      }
      if (text !== null) said.push([layer.label, text, `${layer.kind} ${layer.tone}`]);
    }
    return said;
  }

  mark(index, speaking) {
    if (!this.cursor) return;
    const shown = index !== null && index < this.data.labels.length;
    this.cursor.setAttribute("visibility", shown ? "visible" : "hidden");
    this.tip.hidden = !(shown && speaking);
    if (!shown) return;
    const x = this.x(index);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    if (!speaking) return;
    swap(
      this.tip,
      this.lines(index).map(([label, text, tone]) =>
        label
          ? h("div", { class: "row" }, h("span", { class: `swatch ${tone}` }), h("span", {}, label), h("b", {}, text))
          : h("div", { class: "when" }, text),
      ),
    );
    const wide = this.tip.offsetWidth;
    const left = x + 14 + wide > this.width ? x - 14 - wide : x + 14;
    this.tip.style.setProperty("left", `${Math.max(2, left)}px`);
  }

  remove() {
    this.observer.disconnect();
  }
}
