// Requests to this server, and its stream of events.

const KEY = "normalhedge-token";
let held = null;

/** Return the token that was entered, or null. */
export function token() {
  if (held === null) {
    try {
      held = sessionStorage.getItem(KEY) || "";
    } catch {
      held = "";
    }
  }
  return held || null;
}

/** Keep a token until the tab is closed; null forgets it. */
export function keep(text) {
  held = text || "";
  try {
    if (text) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
  } catch {
    // it is kept as long as the page is open
  }
}

/** An answer that is no success, or no answer at all (status 0). */
export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }

  /** Whether the same request would be refused again; the others are worth another try. */
  get final() {
    return [401, 403, 404].includes(this.status);
  }
}

/** Return the address of a mixture or a router, or of something below it. */
export function path(name, rest = "", words = "mixtures") {
  return `/v1/${words}/${encodeURIComponent(name)}${rest}`;
}

/** Return the command that sends a request to this server. */
export function curl(address, body) {
  const pass = token() ? ` -H "Authorization: Bearer $TOKEN"` : "";
  return `curl ${location.origin}${address}${pass} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

/** Return the JSON answer to a request; throw `Refused` with the server's sentence. */
export async function ask(address, { method = "GET", body, key, signal } = {}) {
  const answer = await send(address, { method, body, key, signal });
  return answer.json();
}

async function send(address, { method = "GET", body, key, signal, accept = "application/json" } = {}) {
  const headers = { accept };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  let answer;
  try {
    answer = await fetch(address, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer.", 0);
  }
  if (answer.ok) return answer;
  let sentence = `The server answered with status ${answer.status}.`;
  try {
    sentence = (await answer.json()).error || sentence;
  } catch {
    // not ours: something between this page and the server
  }
  throw new Refused(sentence, answer.status);
}

/** Return a key by which the server knows a request that is sent twice. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the JSON values of a body of lines, up to a number of bytes. */
export async function lines(address, most, signal) {
  const answer = await send(address, { signal, accept: "application/x-ndjson" });
  const found = [];
  let read = 0;
  for await (const text of pieces(answer.body, "\n")) {
    if (text) found.push(JSON.parse(text));
    read += text.length;
    if (read > most) break;
  }
  return found;
}

async function* pieces(stream, end) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      const parts = rest.split(end);
      rest = parts.pop();
      yield* parts;
    }
    if (rest) yield rest;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Return the kind and the data of a message of a stream of events; null for a comment. */
export function parsed(text) {
  let kind = "message";
  const data = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? { kind, data: JSON.parse(data.join("\n")) } : null;
}

const SILENCE = 40_000; // the server says something every 15 seconds
const SLOWEST = 15_000;

/**
 * Listen to a stream of events until `stop` is called. EventSource cannot send a token, so this
 * reads the stream by hand. A tab that nobody sees does not listen: a browser opens only six
 * connections to a server.
 */
export class Listening {
  constructor(address, { heard, state, refused }) {
    this.address = address;
    this.heard = heard;
    this.state = state;
    this.refused = refused;
    this.stopped = false;
    this.wait = 500;
    this.seen = () => {
      if (document.hidden) this.drop();
      else this.open();
    };
    document.addEventListener("visibilitychange", this.seen);
    this.open();
  }

  stop() {
    this.stopped = true;
    document.removeEventListener("visibilitychange", this.seen);
    this.drop();
  }

  drop() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.control?.abort();
    this.control = null;
  }

  open() {
    if (this.stopped || this.control || document.hidden) return;
    clearTimeout(this.timer);
    const control = (this.control = new AbortController());
    this.read(control).then(
      () => this.again(control, null),
      (error) => this.again(control, error),
    );
  }

  async read(control) {
    const answer = await send(this.address, { signal: control.signal, accept: "text/event-stream" });
    this.guard(control);
    for await (const text of pieces(answer.body, "\n\n")) {
      this.guard(control);
      const message = parsed(text);
      if (message && this.control === control) {
        this.wait = 500;
        this.state("live");
        this.heard(message.kind, message.data);
      }
    }
  }

  guard(control) {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => control.abort(), SILENCE);
  }

  again(control, error) {
    if (this.stopped || this.control !== control) return; // left on purpose
    this.drop();
    if (error?.final) {
      this.refused(error);
      return;
    }
    this.state("lost");
    this.timer = setTimeout(() => this.open(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(2 * this.wait, SLOWEST);
  }
}
