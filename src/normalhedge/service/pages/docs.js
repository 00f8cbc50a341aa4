// The page of the API: Swagger UI, with the token of the dashboard, and in its theme.

import { token } from "/dashboard/api.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

function shade() {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme === "dark" || (theme !== "light" && system.matches));
}

new MutationObserver(shade).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
system.addEventListener("change", shade);
shade();

const page = window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#main",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
  onComplete: () => token() && page.preauthorizeApiKey("token", token()),
});
