// The log of alarms: of one mixture, or of all.

import { ask, path } from "./api.js";
import { h, sentence, swap } from "./dom.js";
import { clock, span } from "./format.js";

const MOST = 30;
const TONES = { degraded: "bad" };
const WORDS = { overdue: "overdue", degraded: "got worse", stopped: "stopped", copy: "a copy" };

/** Return a list of alarms, {element, load}, which is hidden if there are none. */
export function alarmLog(address, title, named, loaded = () => {}) {
  const list = h("ol", { class: "events alarms", "aria-label": "Alarms, the newest first" });
  const more = h("button", { type: "button", class: "quiet", hidden: true }, "Earlier alarms");
  const element = h("section", { class: "card", hidden: true }, h("h2", {}, title), list, more);
  let shown = MOST;
  more.addEventListener("click", () => {
    shown += MOST;
    load();
  });

  async function load() {
    try {
      const { alarms } = await ask(`${address}?limit=${Math.min(shown + 1, 1000)}`);
      element.hidden = !alarms.length;
      more.hidden = alarms.length <= shown || shown >= 1000;
      swap(list, alarms.slice(0, shown).map((alarm) => entry(alarm, named)));
      loaded(alarms);
    } catch {
      // the next event, or the next look, tries again
    }
  }
  return { element, load };
}

function entry(alarm, named) {
  const tone = alarm.ended === null ? TONES[alarm.kind] ?? "warn" : "rest";
  const over = alarm.ended === null ? "goes on" : `over after ${span(Math.max(0, alarm.ended - alarm.began))}`;
  const told = alarm.told === null ? "" : `, told at ${clock(alarm.told)}`;
  const about = alarm.mixture ?? alarm.router;
  const link = about && h("a", { href: `#/${alarm.router ? "r" : "m"}/${encodeURIComponent(about)}` }, h("bdi", {}, about));
  return h(
    "li", { "data-alarm": alarm.id },
    h("time", {}, clock(alarm.began)),
    h("span", { class: `badge ${tone}` }, WORDS[alarm.kind] ?? alarm.kind),
    h("span", {}, named ? [link || "a deleted one", ": "] : null, sentence(alarm.text, [alarm.expert, alarm.other]), ". ",
      h("span", { class: "soft" }, `${over}${told}`)),
  );
}

/** Return the address of the alarms of a mixture. */
export function alarmsOf(name) {
  return path(name, "/alarms");
}
