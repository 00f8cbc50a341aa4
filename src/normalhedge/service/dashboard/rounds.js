// The rounds of a mixture, and numbers computed of them. No page in here: all is plain data.

const OF_CLASSES = new Set(["log", "l1", "zero-one-classes"]);

/** Return the paths to all numbers of a value: [[]] for a number, [["0"], ["1"]] for a pair. */
export function places(value, above = []) {
  if (value === null || typeof value !== "object") return [above];
  return Object.keys(value).flatMap((key) => places(value[key], [...above, key]));
}

/** Return the number at a place of a value, or null. */
export function at(value, place) {
  let found = value;
  for (const key of place) {
    if (found === null || typeof found !== "object") return null;
    found = Object.hasOwn(found, key) ? found[key] : null;
  }
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/**
 * Return the outcome that belongs to a place of a prediction. The outcome of class probabilities is
 * the number of a class: 1 at its own place and 0 at the others. The outcome of quantiles is one number for
 * all of them.
 */
export function outcomeAt(outcome, place, lossName) {
  let found = outcome;
  const rest = [...place];
  while (rest.length && found !== null && typeof found === "object") {
    const key = rest.shift();
    found = Object.hasOwn(found, key) ? found[key] : null;
  }
  if (typeof found !== "number" || !Number.isFinite(found)) return null;
  return rest.length && OF_CLASSES.has(lossName) ? Number(String(found) === rest[0]) : found;
}

/** Return the name of a place, for people. */
export function placeName(place, lossName) {
  if (!place.length) return "";
  const last = place[place.length - 1];
  const levels = /levels=(.*)$/.exec(lossName);
  if (OF_CLASSES.has(lossName)) return [...place.slice(0, -1), `class ${last}`].join(" / ");
  if (levels) return [...place.slice(0, -1), `level ${levels[1].split("/")[last] ?? last}`].join(" / ");
  return place.join(" / ");
}

/** Return the mean, at each index, of the known values among the last `window` ones; else null. */
export function rolling(values, window) {
  return values.map((_, k) => {
    // Each sum is made afresh: nothing is left of a wild value once it is out of the window.
    let [sum, known] = [0, 0];
    for (let j = Math.max(0, k - window + 1); j <= k; j += 1) {
      if (values[j] !== null) (sum += values[j]), (known += 1);
    }
    return known ? sum / known : null;
  });
}

/** Return 1 if an interval covers an outcome, 0 if not, null if either is unknown. */
export function covers(low, high, outcome) {
  if (low === null || high === null || outcome === null) return null;
  return Number(low <= outcome && outcome <= high);
}

/** Return the lower and upper edges of stacked shares, one pair of lists for each row of shares. */
export function stacked(rows) {
  const below = rows.length ? rows[0].map(() => 0) : [];
  return rows.map((row) => {
    const low = [...below];
    row.forEach((value, k) => (below[k] += value ?? 0));
    return { low, high: [...below] };
  });
}

/** Return the forecast of an expert in a round, or null. */
export function forecastOf(round, name) {
  return round.forecasts && Object.hasOwn(round.forecasts, name) ? round.forecasts[name] : null;
}

/** Return whether an expert made a forecast in a round. */
export function awake(round, name) {
  const forecast = forecastOf(round, name);
  return places(forecast).some((place) => at(forecast, place) !== null);
}

/** Return the weight of an expert in a round, at a place; 0 if it slept. */
export function weightOf(round, name, place) {
  const weight = round.weights && Object.hasOwn(round.weights, name) ? round.weights[name] : null;
  if (typeof weight === "number") return weight;
  for (let n = place.length; n > 0; n -= 1) {
    const found = at(weight, place.slice(0, n)); // classes of an item share its weights
    if (found !== null) return found;
  }
  return 0;
}

/** Return the loss of an expert in a round, or null. */
export function lossOf(round, name) {
  return round.losses && Object.hasOwn(round.losses, name) ? round.losses[name] : null;
}

const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

/** The last rounds of a mixture by ticket. */
export class Rounds {
  constructor(limit) {
    this.limit = limit;
    this.byTicket = new Map();
  }

  /** Add facts about a round; earlier facts stay. */
  put(round) {
    this.byTicket.set(round.ticket, { ...this.byTicket.get(round.ticket), ...round });
    if (this.byTicket.size > 1.2 * this.limit + 50) {
      const kept = [...this.byTicket.entries()].sort(([a], [b]) => a - b).slice(-this.limit);
      this.byTicket = new Map(kept);
    }
  }

  /** Return the last rounds whose prediction is known, the oldest first. */
  list() {
    return [...this.byTicket.values()]
      .filter((round) => round.prediction !== undefined)
      .sort((a, b) => a.ticket - b.ticket)
      .slice(-this.limit);
  }
}

/** Return the line of each expert in a table: weight, losses over the same rounds, sleep. */
export function table(list, names, place, retired) {
  const last = list[list.length - 1];
  return names.map((name) => {
    const settled = list.filter((round) => typeof lossOf(round, name) === "number");
    return {
      name,
      weight: weightOf(last, name, place),
      loss: mean(settled.map((round) => lossOf(round, name))),
      blend: mean(settled.map((round) => round.loss)),
      awake: list.filter((round) => awake(round, name)).length / list.length,
      seen: list.findLast((round) => awake(round, name)) ?? null,
      retired: retired.includes(name),
      asleep: !awake(last, name),
    };
  });
}

/**
 * Return the range of some lists of values as {whole, bulk, outside}. The bulk leaves out values far
 * away from the middle four fifths, so that a wild one does not flatten the others; `outside` is the
 * number of values beyond it. With `core`, lists that must be seen well, the bulk is theirs, and others may
 * make it a little larger.
 */
export function limits(lists, core = null) {
  const known = ordered(lists);
  if (!known.length) return { whole: [0, 1], bulk: [0, 1], outside: 0 };
  const whole = [known[0], known[known.length - 1]];
  let bulk = usual(known, whole);
  const own = core === null ? [] : ordered(core);
  if (own.length) {
    const [low, high] = usual(own, [own[0], own[own.length - 1]]);
    const room = 1.2 * Math.max(high - low, 0.5 * Math.abs(high));
    bulk = [Math.max(bulk[0], low - room), Math.min(bulk[1], high + room)];
    bulk = [Math.min(bulk[0], low), Math.max(bulk[1], high)];
  }
  const outside = known.filter((value) => value < bulk[0] || value > bulk[1]).length;
  return { whole, bulk, outside };
}

function ordered(lists) {
  return Float64Array.from(lists.flat().filter((value) => value !== null && Number.isFinite(value))).sort();
}

function usual(known, [low, high]) {
  const rank = (share) => known[Math.round(share * (known.length - 1))];
  const room = 2 * (rank(0.9) - rank(0.1));
  if (!(room > 0)) return [low, high];
  const inside = known.filter((value) => value >= rank(0.1) - room && value <= rank(0.9) + room);
  return [inside[0], inside[inside.length - 1]];
}

/** Return whether rounds are spread over time, and not sent all at once: then time is their axis. */
export function spread(times) {
  const known = times.filter((time) => typeof time === "number");
  if (known.length < times.length || known.length < 2) return false;
  const sorted = [...known].sort((a, b) => a - b);
  const step = (sorted[sorted.length - 1] - sorted[0]) / (20 * sorted.length);
  const near = sorted.filter((time, k) => k && time - sorted[k - 1] <= step).length;
  return near < sorted.length / 2;
}

/** Return times that never fall: a clock may be set back. */
export function rising(times) {
  let last = -Infinity;
  return times.map((time) => (last = Math.max(last, time)));
}
