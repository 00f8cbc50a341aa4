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
  const means = [];
  for (let k = 0, sum = 0, known = 0; k < values.length; k += 1) {
    if (k % 1000 === 0) {
      // sums are made afresh now and then, so that rounding errors do not gather
      sum = known = 0;
      for (let j = Math.max(0, k - window); j < k; j += 1) {
        if (values[j] !== null) (sum += values[j]), (known += 1);
      }
    }
    if (values[k] !== null) (sum += values[k]), (known += 1);
    const gone = k - window;
    if (gone >= 0 && values[gone] !== null) (sum -= values[gone]), (known -= 1);
    means.push(known ? sum / known : null);
  }
  return means;
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
