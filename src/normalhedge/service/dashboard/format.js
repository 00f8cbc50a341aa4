// Numbers and times as people read them.

const PLAIN = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Return a number with four significant digits; a dash if there is none. */
export function number(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  if (size >= 1e4) return WHOLE.format(value);
  return PLAIN.format(value);
}

/** Return a whole number. */
export function count(value) {
  return typeof value === "number" ? WHOLE.format(value) : "–";
}

/** Return a share as a percentage. */
export function percent(value, digits = 1) {
  return typeof value === "number" && Number.isFinite(value) ? `${(100 * value).toFixed(digits)} %` : "–";
}

/** Return how long ago a time was, both in seconds since 1970. */
export function ago(time, now) {
  if (typeof time !== "number") return "never";
  const seconds = Math.max(0, now - time);
  if (seconds < 2) return "just now";
  return `${span(seconds)} ago`;
}

/** Return a number of seconds in the largest unit that fits. */
export function span(seconds) {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.floor(seconds)} s`;
}

/** Return a time of day, with the date if it is not today. */
export function clock(time) {
  if (typeof time !== "number") return "–";
  const date = new Date(1000 * time);
  const today = date.toDateString() === new Date().toDateString();
  const hour = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return today ? hour : `${date.toLocaleDateString()} ${hour}`;
}

const DAY = 86_400;
const PARTS = [
  [DAY, { day: "numeric", month: "short" }],
  [60, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }],
  [0, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }],
].map(([size, parts]) => [size, new Intl.DateTimeFormat("en-GB", parts)]);

/** Return the labels of places on an axis of time; the first one of a day, and of a year, says so. */
export function timeTicks(at, step) {
  const [size, form] = PARTS.find(([least]) => step >= least);
  const fraction = step < 1 ? (time) => `.${(time % 1).toFixed(2).slice(2)}` : () => "";
  let before = null;
  return at.map((time) => {
    const date = new Date(1000 * time);
    const year = before === null ? date.getFullYear() !== new Date().getFullYear() : date.getFullYear() !== before.getFullYear();
    const day = before === null || date.toDateString() !== before.toDateString();
    before = date;
    const text = form.format(date) + fraction(time);
    if (year) return `${text}\n${date.getFullYear()}`;
    return day && size < DAY ? `${text}\n${PARTS[0][1].format(date)}` : text;
  });
}

/** Return a value of any form as short text. */
export function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return brief(value.map(shown), "[", "]");
  return brief(Object.entries(value).map(([key, one]) => `${key}: ${shown(one)}`), "{", "}");
}

function brief(parts, open, close) {
  const more = parts.length > 4 ? [...parts.slice(0, 3), `${parts.length - 3} more`] : parts;
  return open + more.join(", ") + close;
}

/** Return the id of a round, if it has one, else its ticket. */
export function named(round) {
  return round.id === undefined ? `#${round.ticket}` : shown(round.id);
}
