// Elements of the page. Text is always text: nothing here reads markup, so that a name such as
// "<img onerror=...>" is shown and never run.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with properties and children; strings become text. */
export function h(tag, given = {}, ...children) {
  return fill(document.createElement(tag), given, children);
}

/** Return an element of a drawing. */
export function s(tag, given = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), given, children);
}

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

/** Append children: elements, text, numbers, or lists of them; null is left out. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Replace all children. */
export function swap(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
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
