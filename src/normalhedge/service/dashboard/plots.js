// The charts of a mixture. `seen` is their content: {list, place, names, lossName, window, x,
// timed, labels, describe, marks}, where `list` has the rounds, `x` their places on the axis, and `place` the item.

import { swap } from "./dom.js";
import { count, percent } from "./format.js";
import { at, covers, forecastOf, limits, lossOf, outcomeAt, rolling, stacked, weightOf } from "./rounds.js";

export const TONES = 8; // colours of experts; the others share a grey

const expertKey = (name) => `expert ${name}`;

/** Return the class of the colour of an expert: colours belong to names. */
export function toneOf(names, name) {
  const k = names.indexOf(name);
  return k < TONES ? `c${k}` : "others";
}

function bounds(list, level, place) {
  const edge = (k) => list.map((round) => at(round.interval?.[level]?.[k] ?? null, place));
  return { low: edge(0), high: edge(1) };
}

/** Return the levels of intervals, the widest first. */
function intervalLevels(list) {
  const found = new Set(list.flatMap((round) => Object.keys(round.interval ?? {})));
  return [...found].sort((a, b) => b - a);
}

const outcomes = ({ list, place, lossName }) => list.map((round) => outcomeAt(round.outcome ?? null, place, lossName));

/** Draw forecasts and outcomes, with intervals around the forecasts. */
export function drawForecasts(chart, seen) {
  const { list, place, names } = seen;
  const bands = intervalLevels(list).map((level, k) => ({
    kind: "band", label: `${percent(Number(level), 0)} interval`, tone: `b${Math.min(k, 2)}`, ...bounds(list, level, place),
  }));
  const experts = names.slice(0, TONES).map((name) => ({
    kind: "line", label: name, key: expertKey(name), tone: `${toneOf(names, name)} thin`,
    values: list.map((round) => at(forecastOf(round, name), place)),
  }));
  if (!chart.quietened) {
    chart.quietened = true; // the lines of experts are shown when they are asked for
    for (const name of names) chart.hidden.add(expertKey(name));
  }
  chart.draw({
    ...seen,
    layers: [
      ...bands,
      ...experts,
      { kind: "line", label: "blend", tone: "blend", values: list.map((round) => at(round.prediction, place)) },
      { kind: "dots", label: "outcome", tone: "outcome", values: outcomes(seen) },
    ],
  });
}

/** Draw the weights of the experts, one above the other. */
export function drawWeights(chart, seen) {
  const { list, place, names } = seen;
  const own = names.slice(0, TONES);
  const others = names.slice(TONES);
  const rows = own.map((name) => list.map((round) => weightOf(round, name, place)));
  if (others.length) {
    rows.push(list.map((round) => others.reduce((sum, name) => sum + weightOf(round, name, place), 0)));
  }
  chart.draw({
    ...seen,
    domain: [0, 1],
    ticksAt: [0, 0.25, 0.5, 0.75, 1],
    layers: stacked(rows).map((edges, k) => ({
      kind: "area", key: k < own.length ? expertKey(own[k]) : undefined, label: own[k] ?? `${count(others.length)} others`, tone: k < own.length ? `c${k}` : "others", ...edges,
    })),
  });
}

/** Draw the rolling losses of the blend, the plain mean and the experts. */
export function drawLosses(chart, seen) {
  const { list, names, lossName, window } = seen;
  const known = (pick) => list.map(pick).map((value) => (typeof value === "number" ? value : null));
  const mean = (pick) => rolling(known(pick), window);
  const calm = (pick) => {
    const [low, high] = limits([known(pick)]).bulk; // a wild round is in the means of the whole window
    return rolling(known(pick).map((value) => (value >= low && value <= high ? value : null)), window);
  };
  const layers = [
    ...names.slice(0, TONES).map((name) => ({
      kind: "line", label: name, key: expertKey(name), tone: `${toneOf(names, name)} thin`, values: mean((round) => lossOf(round, name)),
    })),
    { kind: "line", label: "plain mean", tone: "plain", values: mean((round) => round.plain_mean_loss) },
    { kind: "line", label: "blend", tone: "blend", values: mean((round) => round.loss) },
  ];
  swap(
    chart.note,
    `Mean ${lossName} loss of the last ${window === 1 ? "round" : `${window} rounds`}; lower is better. ` +
      "An expert counts in the rounds in which it was awake.",
  );
  chart.draw({ ...seen, layers, bulk: [calm((round) => round.plain_mean_loss), calm((round) => round.loss)] });
}

/** Draw how many of the last outcomes the intervals covered; hide the chart if there are none. */
export function drawCoverage(chart, seen) {
  const levels = intervalLevels(seen.list);
  chart.element.hidden = !levels.length;
  if (!levels.length) return;
  const window = Math.max(seen.window, 20);
  const known = outcomes(seen);
  const layers = levels.map((level, k) => {
    const { low, high } = bounds(seen.list, level, seen.place);
    const inside = known.map((outcome, j) => covers(low[j], high[j], outcome));
    return { kind: "line", label: `${percent(Number(level), 0)} interval`, tone: `c${k % TONES}`, values: rolling(inside, window) };
  });
  swap(chart.note, `Share of the last ${window} outcomes inside of the interval; dashed: its confidence level.`);
  chart.draw({
    ...seen, layers, domain: [0, 1], ticksAt: [0, 0.5, 1],
    rules: levels.map((level, k) => ({ value: Number(level), tone: `c${k % TONES}` })),
  });
}
