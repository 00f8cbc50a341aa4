// Light, dark, or as the system has it. It runs before the page is painted, so that nothing flashes.
"use strict";
(() => {
  const KEY = "normalhedge-theme";
  const ORDER = ["auto", "light", "dark"];
  const root = document.documentElement;

  function stored() {
    try {
      const found = localStorage.getItem(KEY);
      return ORDER.includes(found) ? found : "auto";
    } catch {
      return "auto"; // a browser may refuse to remember anything
    }
  }

  root.dataset.theme = stored();

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const say = () => {
      button.textContent = { auto: "◐ Auto", light: "◐ Light", dark: "◐ Dark" }[root.dataset.theme];
      button.title = "Light, dark, or as your system has it";
      button.setAttribute("aria-label", `Theme: ${root.dataset.theme}`);
    };
    button.addEventListener("click", () => {
      const next = ORDER[(ORDER.indexOf(root.dataset.theme) + 1) % ORDER.length];
      root.dataset.theme = next;
      try {
        localStorage.setItem(KEY, next);
      } catch {
        // it holds until the page is closed
      }
      say();
    });
    say();
  });
})();
