// Filters the contents of the reference while somebody types. Without it the form asks the server.
"use strict";

const filter = document.querySelector("[data-filter]");
if (filter) {
  const entries = [...document.querySelectorAll("[data-entry]")].map((entry) => {
    const words = (entry.dataset.words ?? "").split(" ");
    return { entry, words, text: `${entry.textContent} ${words.join(" ")}`.toLowerCase() };
  });
  const found = document.querySelector("[data-found]");
  const show = () => {
    const asked = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    for (const { entry, words, text } of entries) {
      entry.hidden = !asked.every((word) => text.includes(word));
      number += entry.hidden ? 0 : 1;
      const fields = words.filter((name) => asked.some((word) => name.includes(word))).slice(0, 8);
      entry.querySelector("[data-fields]").textContent = fields.length ? `Fields: ${fields.join(", ")}` : "";
    }
    for (const section of document.querySelectorAll("[data-section]"))
      section.hidden = !section.querySelector("[data-entry]:not([hidden])");
    found.textContent = asked.length ? `${number} found` : "";
  };
  if (!new URLSearchParams(location.search).get("q")) filter.addEventListener("input", show);
}
