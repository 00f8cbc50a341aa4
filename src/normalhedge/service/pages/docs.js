// The OpenAPI document, as people read it. All of it comes from /openapi.json of this server.

import { token } from "/dashboard/api.js";
import { code, h, swap } from "/dashboard/dom.js";

const main = document.getElementById("main");

const GROUPS = [
  ["Rounds", ["predict", "outcome", "outcomes", "correct", "peek", "rounds", "stream"]],
  ["Mixtures", ["", "experts", "summary", "history", "pending", "events"]],
  ["Export and import", ["state", "log"]],
];

/** Return the group of a path. */
function groupOf(path) {
  if (!path.startsWith("/v1/mixtures")) return "Server";
  const verb = path.split("/")[4] ?? "";
  return GROUPS.find(([, verbs]) => verbs.includes(verb))?.[0] ?? "Mixtures";
}

/** Follow the references of a schema. */
function resolved(schema, whole) {
  let found = schema ?? {};
  for (let k = 0; found.$ref && k < 10; k += 1) {
    found = whole.components.schemas[decodeURIComponent(found.$ref.split("/").pop())] ?? {};
  }
  return found;
}

/** Return the type of a schema in a few words. */
function words(schema, whole) {
  if (schema.$ref) return resolved(schema, whole).title ?? schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map((one) => words(one, whole)))].join(" or ");
  if (schema.type === "array") return `list of ${words(schema.items ?? {}, whole)}`;
  if (schema.type === "object" && schema.additionalProperties) return "object";
  return schema.type ?? "any JSON";
}

/** Return the limits of a schema in a few words. */
function limits(schema) {
  const said = [];
  if (schema.minimum !== undefined) said.push(`at least ${schema.minimum}`);
  if (schema.maximum !== undefined && schema.maximum < 1e9) said.push(`at most ${schema.maximum}`);
  if (schema.pattern) said.push(`like ${schema.pattern}`);
  if (schema.default !== undefined && schema.default !== null) said.push(`${JSON.stringify(schema.default)} by default`);
  return said.join(", ");
}

const EXAMPLES = {
  predict: { forecasts: { gam: 51.2, ar: 49.9 }, id: "day 1" },
  outcome: { id: "day 1", outcome: 50.8 },
  outcomes: { outcomes: [{ ticket: 0, outcome: 50.8 }, { id: "day 2", outcome: 51.3 }] },
  correct: { ticket: 0, outcome: 50.9 },
  peek: { forecasts: { gam: 51.2, ar: 49.9 } },
  rounds: { rounds: [{ forecasts: { gam: 51.2, ar: 49.9 } }, { ticket: 0, outcome: 50.8 }] },
  stream: { forecasts: { gam: 51.2, ar: 49.9 } },
  experts: { retire: "gam" },
  create: { name: "load", loss: "square", interval: 0.9 },
  rename: { name: "wind" },
  compact: { keep_days: 90 },
};

/** Return a table of the fields of a schema. */
function shape(schema, whole) {
  const found = resolved(schema, whole);
  if (!found.properties) return h("p", { class: "note" }, found.description ?? words(found, whole));
  const rows = Object.entries(found.properties).map(([name, field]) => {
    const inner = resolved(field, whole);
    const text = [field.description ?? inner.description ?? "", limits(inner)].filter(Boolean).join(" ");
    return h("tr", {},
      h("th", { scope: "row" }, h("code", {}, name), found.required?.includes(name) ? "" : " (optional)"),
      h("td", {}, words(field, whole)), h("td", {}, text));
  });
  return [
    found.description ? h("p", { class: "note" }, found.description) : null,
    h("div", { class: "scroll" }, h("table", { class: "shape" }, h("tbody", {}, rows))),
  ];
}

/** Return the type of the content that a request takes, or null. */
const takes = (operation) => Object.keys(operation.requestBody?.content ?? {})[0] ?? null;

/** Return the command that sends a request. */
function command(method, path, operation) {
  const address = location.origin + path.replace("{name}", "load");
  const parts = [method === "get" ? `curl ${address}` : `curl -X ${method.toUpperCase()} ${address}`];
  if (token()) parts.push('-H "Authorization: Bearer $TOKEN"');
  const body = EXAMPLES[operation.operationId];
  if (takes(operation)) {
    parts.push(`-H 'Content-Type: ${takes(operation)}'`);
    parts.push(body ? `--data-binary '${JSON.stringify(body)}'` : "--data-binary @FILE");
  }
  return parts.join(" \\\n  ");
}

/** Return a form that sends a request by hand. */
function trial(method, path, operation) {
  const inputs = (operation.parameters ?? []).map((one) => {
    const input = h("input", { autocomplete: "off", value: one.in === "path" ? "load" : "", placeholder: one.in });
    return { one, input, label: h("label", { class: "choice" }, h("span", {}, one.name), input) };
  });
  const body = takes(operation) ? h("textarea", { rows: "3", spellcheck: "false", "aria-label": "Content of the request" }) : null;
  if (body) body.value = JSON.stringify(EXAMPLES[operation.operationId] ?? {});
  const answer = h("pre", { tabindex: "0", "aria-live": "polite", hidden: true });
  const form = h("form", { class: "trial" }, h("h3", {}, "Send it"), h("div", { class: "toolbar" }, inputs.map(({ label }) => label)), body,
    h("div", { class: "line" }, h("button", { type: "submit", class: method === "get" ? "" : "danger" }, "Send"),
      method === "get" ? null : h("span", { class: "note" }, operation.operationId === "peek" ? "It changes nothing." : "It counts, like any other request.")), answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let address = path;
    const query = new URLSearchParams();
    const headers = token() ? { authorization: `Bearer ${token()}` } : {};
    for (const { one, input } of inputs) {
      if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value && one.in === "query") query.set(one.name, input.value);
      else if (input.value) headers[one.name] = input.value;
    }
    if (body) headers["content-type"] = takes(operation);
    answer.hidden = false;
    try {
      const said = await fetch(query.size ? `${address}?${query}` : address, {
        method: method.toUpperCase(), headers, body: body?.value, credentials: "omit",
      });
      answer.textContent = `${said.status}\n${laidOut(await said.text()).slice(0, 20_000)}`;
    } catch (error) {
      answer.textContent = error.message;
    }
  });
  return form;
}

function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text; // lines, or a plain text
  }
}

function route(method, path, operation, whole) {
  const parameters = (operation.parameters ?? []).filter((one) => one.in !== "path");
  const [status, done] = Object.entries(operation.responses).find(([code]) => code < 300) ?? [];
  const [media, content] = Object.entries(done?.content ?? {})[0] ?? [];
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  return h(
    "details", { class: "card route", id: operation.operationId },
    h("summary", {}, h("span", { class: `method ${method}` }, method.toUpperCase()), h("code", { class: "path" }, path),
      h("span", { class: "note" }, operation.summary ?? "")),
    h(
      "div", { class: "inside" },
      h("p", {}, operation.description ?? ""),
      code(command(method, path, operation)),
      parameters.length ? [h("h3", {}, "Parameters"), h("div", { class: "scroll" }, h("table", { class: "shape" }, h("tbody", {}, parameters.map((one) =>
        h("tr", {}, h("th", { scope: "row" }, h("code", {}, one.name)), h("td", {}, `${one.in}, ${words(one.schema, whole)}`),
          h("td", {}, [one.description ?? "", limits(one.schema)].filter(Boolean).join(" ")))))))] : null,
      body ? [h("h3", {}, "Request"), shape(body.schema, whole)] : null,
      content ? [h("h3", {}, `Answer ${status}, ${media}`), shape(content.schema, whole)] : null,
      media === "text/event-stream" ? null : trial(method, path, operation), // a stream of events never ends
    ),
  );
}

function problems(whole) {
  const some = Object.values(Object.values(whole.paths)[0])[0].responses;
  return h("section", { class: "card" }, h("h2", {}, "When something is refused"),
    h("p", { class: "note" }, 'The answer is {"error": a sentence, "status": a number}.'),
    h("div", { class: "scroll" }, h("table", { class: "shape" }, h("tbody", {}, Object.entries(some)
      .filter(([status]) => status >= 400)
      .map(([status, one]) => h("tr", {}, h("th", { scope: "row" }, status), h("td", {}, one.description)))))));
}

async function show() {
  const answer = await fetch("/openapi.json", { credentials: "omit" });
  const whole = await answer.json();
  const groups = new Map([...GROUPS.map(([title]) => [title, []]), ["Server", []]]);
  for (const [path, methods] of Object.entries(whole.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      groups.get(groupOf(path)).push(route(method, path, operation, whole));
    }
  }
  swap(main, h(
    "div", { class: "view" },
    h("h1", {}, "API"),
    h("p", { class: "lead" }, `${whole.info.description} Version ${whole.info.version}. The document for programs: `,
      h("a", { href: "/openapi.json" }, "openapi.json"), "."),
    h("p", { class: "lead" }, "A server with tokens wants the header “Authorization: Bearer TOKEN”. A request with the header “Idempotency-Key” may be sent again: it counts once."),
    [...groups].map(([title, routes]) => h("section", { class: "group" }, h("h2", {}, title), routes)),
    problems(whole),
  ));
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted instanceof HTMLDetailsElement) {
    wanted.open = true;
    wanted.scrollIntoView();
  }
}

show().catch((error) => swap(main, h("p", { class: "card", role: "alert" }, `The document cannot be read: ${error.message}`)));
