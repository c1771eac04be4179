// Additional functions of pages. Every page also works without this script.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // exists only over TLS, and on the server's own machine
  button.hidden = false;
  button.addEventListener("click", async () => {
    const { text, copy } = button.dataset;
    const copied = document.getElementById(copy);
    await navigator.clipboard.writeText(text ?? copied.value ?? copied.textContent);
    button.textContent = button.dataset.copied ?? "Copied";
  });
}

document.querySelector("form[data-go-on]")?.submit();

const here = document.querySelector(".rail [aria-current]");
const rail = here?.closest(".rail");
if (rail) { // scrolls only the menu, and only as far as needed; scrollIntoView would scroll the page, too
  rail.scrollTop = here.offsetTop + 2 * here.offsetHeight - rail.clientHeight;
}

const menu = document.querySelector(".rail .menu"); // closed on a phone; on wide screens the stylesheet opens it where it can
if (menu && !CSS.supports("selector(::details-content)")) menu.open = matchMedia("(min-width: 761px)").matches;

const find = document.querySelector("[data-find]");
document.addEventListener("keydown", (event) => {
  if (!find || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (localStorage.getItem("wmsd-keys") === "off") return; // see keys.js
  event.preventDefault();
  find.focus();
});
