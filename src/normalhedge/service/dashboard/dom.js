// Elements of the page. Text is always text: nothing here reads markup, so that a name such as
// "<img onerror=...>" is shown and never run. Marks that nobody sees, and that change the direction
// or the place of others, are written out.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Return a text in which unseen marks are written out, such as ⟨U+202E⟩. */
export function plain(text) {
  return String(text).replace(UNSEEN, (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Return the parts of a sentence, with names in it set apart: they may run from right to left. */
export function sentence(text, names) {
  const parts = [];
  let rest = String(text);
  for (const name of names.filter(Boolean)) {
    const at = rest.indexOf(name);
    if (at < 0) continue;
    parts.push(rest.slice(0, at), h("bdi", {}, name));
    rest = rest.slice(at + name.length);
  }
  return [...parts, rest];
}

/** Return an element with properties and children; strings become text. */
export function h(tag, given = {}, ...children) {
  return fill(document.createElement(tag), given, children);
}

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : name.startsWith("aria-") ? plain(value) : String(value));
  }
  put(element, ...children);
  return element;
}

/** Append children: elements, text, numbers, or lists of them; null is left out. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : plain(child));
  }
  return element;
}

/** Replace all children. */
export function swap(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

/** Return a list of options to choose from: pairs of a value and a text. */
export function choice(label, options, chosen, changed) {
  const select = h(
    "select",
    { "aria-label": label },
    options.map(([value, text]) => h("option", { value, selected: String(value) === String(chosen) }, text)),
  );
  select.addEventListener("change", () => changed(select.value));
  return h("label", { class: "choice" }, h("span", {}, label), select);
}

/** Return a block of code with a button that copies it. */
export function code(text) {
  const button = h("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy by hand"; // only secure pages may write to the clipboard
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return h("div", { class: "code" }, h("pre", { tabindex: "0" }, h("code", {}, text)), button);
}
