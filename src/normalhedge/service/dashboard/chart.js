// A chart over time or over rounds: lines, dots, bands and stacked areas, drawn by uPlot. Dragging
// zooms all charts of a page; the arrow keys and the pointer read single rounds.

import { h, swap } from "./dom.js";
import { number, timeTicks } from "./format.js";
import { limits } from "./rounds.js";

const { uPlot } = window; // a script of its own: see index.html

const LINES = { blend: 2.6, plain: 2, thin: 1.3 };
const FILLS = { band: 0.16, area: 0.85 };
const FONT = "12px system-ui, sans-serif"; // whole pixels, as uPlot reads them

/** Return the key of a layer, which no other has: an expert may be called "blend", too. */
const keyOf = (layer) => layer.key ?? layer.label;
const edged = (layer) => layer.kind === "band" || layer.kind === "area";

/** Charts that are read and zoomed together. */
export class Charts {
  constructor(zoomed) {
    this.all = [];
    this.sync = uPlot.sync(Symbol("charts"));
    this.zoomed = zoomed;
    this.span = null; // what is shown after a zoom: [from, to]
    this.themes = new MutationObserver(() => this.repaint());
    this.themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = this.repaint.bind(this);
    this.dark.addEventListener("change", this.repaint);
  }

  repaint() {
    for (const chart of this.all) chart.plot?.redraw(false);
  }

  /** Show a part of all charts, or everything. */
  zoom(span) {
    if (String(span) === String(this.span)) return;
    this.span = span;
    for (const chart of this.all) chart.fit();
    this.zoomed(span);
  }

  remove() {
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.repaint);
    for (const chart of this.all) chart.remove();
  }
}

export class Chart {
  /** Make a chart with a title, a note below it, and a height in pixels. */
  constructor(charts, { title, note = "", height = 220, format = number }) {
    Object.assign(this, { charts, format, height, plot: null, whole: false });
    this.hidden = new Set();
    this.data = { x: [], layers: [] };
    this.tip = h("div", { class: "tip", hidden: true });
    this.spoken = h("div", { class: "unseen", "aria-live": "polite" });
    this.probe = h("i", { hidden: true });
    this.frame = h(
      "div",
      { class: "frame", tabindex: "0", role: "group", "aria-label": `${title}. Arrow keys read single rounds.` },
      this.tip,
      this.spoken,
      this.probe,
    );
    this.legend = h("div", { class: "legend", role: "group", "aria-label": "Lines of this chart" });
    this.note = h("p", { class: "note" }, note);
    this.outside = h("button", { type: "button", class: "quiet outside", hidden: true });
    this.outside.addEventListener("click", () => {
      this.whole = !this.whole;
      this.fit();
    });
    this.element = h(
      "section", { class: "card chart" }, h("h2", {}, title), this.legend, this.frame, this.outside, this.note,
    );
    this.element.chart = this;
    this.frame.addEventListener("keydown", (event) => this.step(event));
    this.frame.addEventListener("blur", () => this.point(null));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.frame);
    charts.all.push(this);
  }

  /**
   * Draw. `x` are the places of the rounds, in seconds since 1970 or as whole numbers (`timed` says
   * which), and `labels` name them; `layers` are {kind, label, tone, values} or {kind, label, tone,
   * low, high}, with a `key` where labels may be the same. `domain`, `ticksAt`, `rules` and `bulk`,
   * the values that must be seen well, are optional.
   */
  draw(data) {
    this.data = data;
    const key = JSON.stringify([data.timed, this.dense(), data.layers.map((layer) => [keyOf(layer), layer.label, layer.tone, layer.kind])]);
    if (key !== this.drawn) {
      this.drawn = key;
      const known = new Map(data.layers.map((layer) => [keyOf(layer), layer]));
      swap(this.legend, [...known.values()].map((layer) => this.entry(layer)));
      this.plot?.destroy();
      this.plot = null;
    }
    if (this.plot) this.plot.setData(this.columns(), false);
    this.fit();
  }

  /** Return whether dots have little room. */
  dense() {
    return 4 * this.data.x.length > this.frame.clientWidth;
  }

  columns() {
    const { x, layers } = this.data;
    return [x, ...layers.flatMap((layer) => (edged(layer) ? [layer.low, layer.high] : [layer.values]))];
  }

  entry(layer) {
    const button = h(
      "button",
      { type: "button", class: "key", "aria-pressed": String(!this.hidden.has(keyOf(layer))) },
      h("span", { class: `swatch ${layer.kind} ${layer.tone}`, "aria-hidden": "true" }),
      h("bdi", {}, layer.label),
    );
    button.addEventListener("click", () => {
      if (!this.hidden.delete(keyOf(layer))) this.hidden.add(keyOf(layer));
      button.setAttribute("aria-pressed", String(!this.hidden.has(keyOf(layer))));
      this.fit();
    });
    return button;
  }

  /** Return a colour of the style sheet, as it is in the present theme. */
  colour(tone, alpha = 1) {
    this.probe.className = tone;
    this.probe.style.color = "var(--tone)";
    const parts = getComputedStyle(this.probe).color.match(/[\d.]+/g) ?? [0, 0, 0];
    return `rgba(${parts.slice(0, 3).join(",")},${alpha})`;
  }

  make() {
    const series = [{}];
    const bands = [];
    for (const layer of this.data.layers) {
      const stroke = () => this.colour(layer.tone);
      if (edged(layer)) {
        const paths = layer.kind === "area" ? uPlot.paths.stepped({ align: 1 }) : undefined;
        bands.push({ series: [series.length + 1, series.length], fill: () => this.colour(layer.tone, FILLS[layer.kind]) });
        series.push({ width: 0, paths, points: { show: false } }, { width: 0, paths, points: { show: false } });
      } else if (layer.kind === "dots") {
        series.push({ paths: () => null, points: { show: true, size: this.dense() ? 3.2 : 4.8, width: 0, fill: stroke, stroke } });
      } else {
        const kinds = layer.tone.split(" ");
        series.push({
          stroke, width: LINES[kinds.find((kind) => kind in LINES)] ?? 1.8, dash: kinds.includes("plain") ? [6, 4] : undefined,
          points: { show: true, size: 4, width: 0, fill: stroke, filter: lonely },
        });
      }
    }
    const axis = { font: FONT, stroke: () => this.colour("plain"), grid: { stroke: () => this.colour("grid") }, ticks: { show: false } };
    this.plot = new uPlot(
      {
        width: this.frame.clientWidth, height: this.height, series, bands, legend: { show: false }, padding: [10, 28, 0, 0],
        scales: { x: { time: this.data.timed, range: () => this.shown() }, y: { range: () => this.heights } },
        axes: [
          {
            ...axis, size: 36, lineGap: 1.2, space: () => (this.data.timed ? 84 : 50),
            values: (_, at, __, ___, step) => (this.data.timed ? timeTicks(at, step) : at.map((k) => this.data.labels[k] ?? "")),
            incrs: this.data.timed ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
          },
          { ...axis, size: (_, texts) => Math.max(56, ...(texts ?? []).map((text) => 14 + 7 * text.length)), values: (_, at) => at.map(this.format), splits: this.data.ticksAt ? () => this.data.ticksAt : undefined },
        ],
        cursor: {
          sync: { key: this.charts.sync.key, setSeries: false, scales: ["x", null], filters: { pub: (kind) => kind !== "mousedown" && kind !== "mouseup" } },
          drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false,
          bind: { dblclick: () => () => this.charts.zoom(null) },
        },
        hooks: {
          setCursor: [(plot) => this.read(plot.cursor.idx)],
          setSelect: [(plot) => this.select(plot)],
          draw: [(plot) => this.rule(plot)],
        },
      },
      this.columns(),
      this.frame,
    );
  }

  /** Return the first and last place that are shown. */
  shown() {
    if (this.charts.span) return this.charts.span;
    const { x, timed } = this.data;
    const [low, high] = [x[0] ?? 0, x[x.length - 1] ?? 1];
    const room = high > low ? 0.01 * (high - low) : timed ? 1 : 0.5;
    return [low - room, high + room];
  }

  /** Choose what is shown, and draw it. */
  fit() {
    const [from, to] = this.shown();
    const inside = (values) => values.filter((_, k) => this.data.x[k] >= from && this.data.x[k] <= to);
    const layers = this.data.layers.filter((layer) => !this.hidden.has(keyOf(layer)));
    const found = limits(layers.flatMap((layer) => (edged(layer) ? [layer.low, layer.high] : [layer.values])).map(inside),
      this.data.bulk?.map(inside));
    const [low, high] = this.data.domain ?? (this.whole ? found.whole : found.bulk);
    const room = this.data.domain ? 0 : (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
    this.heights = [low - room, high + room];
    this.outside.hidden = Boolean(this.data.domain) || !found.outside;
    this.outside.textContent = this.whole
      ? "Show the usual range"
      : `${found.outside === 1 ? "A value lies" : `${found.outside} values lie`} far outside: show all`;
    if (!this.frame.clientWidth) return;
    if (!this.plot) this.make();
    let k = 1;
    this.plot.batch(() => {
      for (const layer of this.data.layers) {
        for (let part = edged(layer) ? 2 : 1; part; part -= 1, k += 1) {
          const show = !this.hidden.has(keyOf(layer));
          if (this.plot.series[k].show !== show) this.plot.setSeries(k, { show });
        }
      }
      this.plot.setScale("x", { min: from, max: to });
      this.plot.redraw(true, true);
    });
  }

  resize() {
    const width = this.frame.clientWidth;
    if (!width) return;
    if (this.plot) this.plot.setSize({ width, height: this.height });
    else if (this.drawn) this.fit();
  }

  /** Zoom to what was dragged over. */
  select(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.charts.zoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
  }

  /** Draw dashed lines across the chart. */
  rule(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    const line = (tone, from, to) => {
      ctx.strokeStyle = this.colour(tone, 0.8);
      ctx.beginPath();
      ctx.moveTo(...from);
      ctx.lineTo(...to);
      ctx.stroke();
    };
    for (const { value, tone } of this.data.rules ?? []) {
      const y = plot.valToPos(value, "y", true);
      line(tone, [bbox.left, y], [bbox.left + bbox.width, y]);
    }
    for (const { at, tone } of this.data.marks ?? []) {
      const x = plot.valToPos(at, "x", true);
      if (x >= bbox.left && x <= bbox.left + bbox.width) line(tone, [x, bbox.top], [x, bbox.top + bbox.height]);
    }
    ctx.restore();
  }

  step(event) {
    const n = this.data.x.length;
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    if (event.key === "Escape") {
      this.point(null);
      this.charts.zoom(null);
    }
    if (!n || !(event.key in moves)) return;
    event.preventDefault();
    const from = this.index ?? (moves[event.key] < 0 ? n : -1);
    this.point(Math.min(n - 1, Math.max(0, from + moves[event.key])));
    this.spoken.textContent = this.lines(this.index).map(([label, text]) => `${label} ${text}`).join(", ");
  }

  /** Move the cursor to a round, or away. */
  point(index) {
    const left = index === null || !this.plot ? -10 : this.plot.valToPos(this.data.x[index], "x");
    this.plot?.setCursor({ left, top: index === null ? -10 : 10 });
    this.read(index); // rounds of the same time have one place
  }

  /** Show the facts about a round. */
  read(index) {
    const known = index !== null && index !== undefined && index < this.data.x.length;
    this.index = known ? index : null;
    this.tip.hidden = !known || !(this.frame.matches(":hover") || document.activeElement === this.frame);
    if (this.tip.hidden) return;
    swap(
      this.tip,
      this.lines(index).map(([label, text, tone]) =>
        label
          ? h("div", { class: "row" }, h("span", { class: `swatch ${tone}` }), h("bdi", {}, label), h("b", {}, text))
          : h("div", { class: "when" }, text),
      ),
    );
    const x = this.plot.valToPos(this.data.x[index], "x") + this.plot.over.offsetLeft;
    const wide = this.tip.offsetWidth;
    const left = x + 14 + wide > this.frame.clientWidth ? x - 14 - wide : x + 14;
    this.tip.style.setProperty("left", `${Math.max(2, left)}px`);
  }

  /** Return the facts about a round: pairs of a label and a text, with a tone. */
  lines(k) {
    const said = [["", this.data.describe(k), ""]];
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

  remove() {
    this.observer.disconnect();
    this.plot?.destroy();
  }
}

/** Return the points of a line that have no neighbour: no line leads to them. */
function lonely(plot, k) {
  const values = plot.data[k];
  const known = (j) => values[j] !== null && values[j] !== undefined;
  return values.flatMap((_, j) => (known(j) && !known(j - 1) && !known(j + 1) ? [j] : []));
}
