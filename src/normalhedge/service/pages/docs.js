"use strict";
// The page of the interface: it draws openapi.json, and sends requests by hand. All texts are set as
// text, never as HTML.

const make = (tag, text = "", ...parts) => {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  node.append(...parts);
  return node;
};

const kind = (schema) => {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items) || "anything"}`;
  if (schema.type === "object" && schema.additionalProperties)
    return `object of ${kind(schema.additionalProperties) || "anything"}`;
  return [schema.type || "anything"].flat().join(" or ");
};

const EXAMPLES = {
  predict: { forecasts: { gam: 51.2, ar: 49.9 }, id: "day 1" },
  outcome: { id: "day 1", outcome: 50.8 },
  outcomes: { outcomes: [{ ticket: 0, outcome: 50.8 }] },
  correct: { ticket: 0, outcome: 50.9 },
  peek: { forecasts: { gam: 51.2, ar: 49.9 } },
  rounds: { rounds: [{ forecasts: { gam: 51.2, ar: 49.9 } }, { ticket: 0, outcome: 50.8 }] },
  experts: { retire: "gam" },
  create: { name: "load", loss: "square", interval: 0.9 },
  rename: { name: "wind" },
  compact: { keep_days: 90 },
};

const table = (rows, ...heads) => {
  const node = make("table", "", make("tr", "", ...heads.map((head) => make("th", head))));
  for (const row of rows) node.append(make("tr", "", ...row.map((cell) => make("td", cell))));
  return node;
};

const trial = (method, path, operation) => {
  const inputs = new Map();
  const form = make("div");
  for (const one of operation.parameters) {
    const input = make("input");
    if (one.name === "name") input.value = "load";
    inputs.set(one, input);
    form.append(make("label", `${one.name} `, input));
  }
  let body = null;
  if (operation.requestBody) {
    body = make("textarea");
    body.value = JSON.stringify(EXAMPLES[operation.operationId] ?? {}, null, 1);
    form.append(body);
  }
  const answer = make("pre", "the answer comes here");
  const button = make("button", "Send");
  button.addEventListener("click", async () => {
    const headers = {};
    let address = path;
    const query = new URLSearchParams();
    for (const [one, input] of inputs) {
      if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value && one.in === "query") query.set(one.name, input.value);
      else if (input.value) headers[one.name] = input.value;
    }
    const token = document.getElementById("token").value;
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = Object.keys(operation.requestBody.content)[0];
    try {
      const said = await fetch(`${address}${query.size ? `?${query}` : ""}`, {
        method, headers, body: body ? body.value : undefined,
      });
      const text = await said.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch { /* lines, or a text */ }
      answer.textContent = `${said.status}\n${shown.slice(0, 20000)}`;
    } catch (error) {
      answer.textContent = String(error);
    }
  });
  form.append(button, answer);
  return form;
};

const draw = (document_) => {
  document.getElementById("about").textContent = `${document_.info.description} Version ${document_.info.version}.`;
  const routes = document.getElementById("routes");
  for (const [path, methods] of Object.entries(document_.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const word = make("span", method.toUpperCase());
      word.className = "method";
      const quiet = make("span", ` ${operation.summary}`);
      quiet.className = "quiet";
      const details = make("details", "", make("summary", "", word, make("code", path), quiet));
      details.append(make("p", operation.description));
      if (operation.parameters.length)
        details.append(table(operation.parameters.map((one) =>
          [one.name, one.in, kind(one.schema), one.description ?? ""]), "parameter", "in", "type", "meaning"));
      if (operation.requestBody)
        for (const [media, one] of Object.entries(operation.requestBody.content))
          details.append(make("p", `Takes ${media}: ${kind(one.schema)}`));
      for (const [status, one] of Object.entries(operation.responses)) {
        if (status < 300)
          for (const [media, content] of Object.entries(one.content))
            details.append(make("p", `Answers ${status}, ${media}: ${kind(content.schema)}`));
      }
      if (!Object.keys(operation.responses).some((status) => "text/event-stream" in (operation.responses[status].content ?? {})))
        details.append(trial(method.toUpperCase(), path, operation));
      routes.append(details);
    }
  const forms = document.getElementById("forms");
  for (const [name, schema] of Object.entries(document_.components.schemas)) {
    const details = make("details", "", make("summary", "", make("code", name)));
    details.append(make("p", schema.description ?? ""));
    const required = new Set(schema.required ?? []);
    details.append(table(Object.entries(schema.properties ?? {}).map(([field, one]) =>
      [field, kind(one), required.has(field) ? "needed" : "", one.description ?? ""]), "field", "type", "", "meaning"));
    forms.append(details);
  }
};

fetch("/openapi.json").then((answer) => answer.json()).then(draw).catch((error) => {
  document.getElementById("about").textContent = `openapi.json could not be read: ${error}`;
});
