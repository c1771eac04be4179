// Date fields, and fields that belong to a choice. Without this script, people can type into every field.
"use strict";

for (const field of document.querySelectorAll("[data-date]")) { // a calendar next to a typed date, such as 26.11.2026
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

for (const part of document.querySelectorAll("[data-with]")) { // fields of another choice are not sent
  const choice = document.getElementById(part.dataset.with);
  const show = () => {
    part.hidden = choice.value !== part.dataset.is;
    for (const input of part.querySelectorAll("input, select, textarea")) input.disabled = part.hidden;
  };
  choice.addEventListener("change", show);
  show();
}
