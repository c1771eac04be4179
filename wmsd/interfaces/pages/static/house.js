// What pages do beyond what a browser does by itself. Every page works without it.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // only over TLS, and on the box itself
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

const find = document.querySelector("[data-find]");
document.addEventListener("keydown", (event) => {
  if (!find || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  event.preventDefault();
  find.focus();
});
