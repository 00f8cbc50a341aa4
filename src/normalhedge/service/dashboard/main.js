// The frame of the page: which view is shown, whether it is live, and the token.

import { keep, token } from "./api.js";
import { h, plain, swap } from "./dom.js";
import { listView } from "./list.js";
import { mixtureView } from "./mixture.js";
import { routerView } from "./router.js";
import { tryView } from "./try.js";

const main = document.getElementById("main");
const live = document.getElementById("live");
const forget = document.getElementById("forget");
let view = null;

const WORDS = { connecting: "connecting", live: "live", lost: "connection lost, trying again", stopped: "" };

/** What a view may do to the frame. */
const frame = {
  state(word) {
    if (live.dataset.state === word) return;
    live.dataset.state = word;
    live.textContent = WORDS[word];
    live.hidden = !WORDS[word];
  },
  title(text) {
    document.title = text ? `${plain(text)} · normalhedge` : "normalhedge";
  },
  /** Show why something is refused; ask for a token if that would help. */
  refused(error) {
    frame.state("stopped");
    view?.stop();
    view = null;
    if (error.status === 401) askToken(token() ? "The server does not know this token, or it has expired." : "");
    else {
      swap(
        main,
        h(
          "section",
          { class: "card notice", role: "alert" },
          h("h1", {}, error.status === 404 ? "Not here" : "Refused"),
          h("p", {}, error.message),
          h("p", {}, h("a", { href: "#/" }, "All mixtures and routers")),
        ),
      );
    }
  },
};

function askToken(problem) {
  frame.title("Token");
  const input = h("input", {
    id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: "nh_…",
  });
  const form = h(
    "form",
    { class: "card notice" },
    h("h1", {}, "This server wants a token"),
    problem ? h("p", { class: "bad", role: "alert" }, problem) : null,
    h(
      "p",
      {},
      "A token with scope read shows everything; one with scope write can also send rounds by hand. It is kept in this tab until you close it. Whoever runs the server makes one, where TOKENS is its file of tokens:",
    ),
    h("pre", { tabindex: "0" }, h("code", {}, "normalhedge token TOKENS my-browser --scope read")),
    h("label", { for: "token" }, "Token"),
    h("div", { class: "line" }, input, h("button", { type: "submit", class: "main" }, "Enter")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep(input.value.trim());
    show();
  });
  swap(main, form);
  input.focus();
}

function show() {
  view?.stop();
  view = null;
  forget.hidden = !token();
  frame.state("connecting");
  const [kind, name, page] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const root = swap(main).appendChild(h("div", { class: "view" }));
  if (kind === "m" && name) view = page === "try" ? tryView(root, name, frame) : mixtureView(root, name, frame);
  else if (kind === "r" && name) view = routerView(root, name, frame);
  else view = listView(root, frame);
  scrollTo(0, 0);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

addEventListener("hashchange", (event) => {
  if (new URL(event.newURL).hash !== "#main") show(); // the link that skips the header is no page
});
forget.addEventListener("click", () => {
  keep(null);
  show();
});
show();
