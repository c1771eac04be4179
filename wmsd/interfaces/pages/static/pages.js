// What pages do beyond what a browser does by itself. Every page works without it.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // only over TLS, and on the box itself
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
if (rail) { // only as far as is needed; scrollIntoView would scroll the page too
  rail.scrollTop = here.offsetTop + 2 * here.offsetHeight - rail.clientHeight;
}

const menu = document.querySelector(".rail .menu"); // closed on a phone; elsewhere the style shows it, where it can
if (menu && !CSS.supports("selector(::details-content)")) menu.open = matchMedia("(min-width: 761px)").matches;

const find = document.querySelector("[data-find]");
document.addEventListener("keydown", (event) => {
  if (!find || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (localStorage.getItem("wmsd-keys") === "off") return; // see keys.js
  event.preventDefault();
  find.focus();
});

for (const slider of document.querySelectorAll("[data-moment]")) { // writes into a field of moments: in minutes, UTC
  const field = document.getElementById(slider.dataset.moment);
  slider.parentElement.hidden = slider.min === slider.max;
  const write = () => {
    const isNow = slider.value === slider.max;
    field.value = isNow ? "" : new Date(slider.value * 60_000).toISOString().slice(0, 16);
    slider.setAttribute("aria-valuetext", isNow ? slider.dataset.now : field.value.replace("T", " "));
  };
  slider.addEventListener("input", write);
  slider.addEventListener("pointerup", () => slider.form.requestSubmit()); // by keyboard: Enter
  slider.addEventListener("keydown", (event) => event.key === "Enter" && slider.form.requestSubmit());
}

for (const field of document.querySelectorAll("[data-date]")) { // a calendar beside a day that is typed, such as 26.11.2026
  const made = (name, values) => Object.assign(document.createElement(name), values);
  const calendar = made("input", { type: "date", tabIndex: -1, className: "calendar", ariaHidden: "true" });
  const label = field.dataset.date;
  const button = made("button", { type: "button", className: "button", textContent: "▾", title: label, ariaLabel: label });
  const turned = (text, from, to) => text.trim().split(from).reverse().map((part) => part.padStart(2, "0")).join(to);
  button.addEventListener("click", () => {
    calendar.value = field.value.includes(".") ? turned(field.value, ".", "-") : field.value;
    calendar.showPicker();
  });
  calendar.addEventListener("change", () => {
    field.value = turned(calendar.value, "-", ".");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
  field.parentElement.append(button, calendar);
}

for (const part of document.querySelectorAll("[data-with]")) { // what goes with another choice is not sent
  const choice = document.getElementById(part.dataset.with);
  const show = () => {
    part.hidden = choice.value !== part.dataset.is;
    for (const input of part.querySelectorAll("input, select, textarea")) input.disabled = part.hidden;
  };
  choice.addEventListener("change", show);
  show();
}
