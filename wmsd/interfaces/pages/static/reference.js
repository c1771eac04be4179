// Filters the contents of the reference while a person types. Without this script, the form sends the text to the server.
"use strict";

const filter = document.querySelector("[data-filter]");
if (filter) {
  const entries = [...document.querySelectorAll("[data-entry]")].map((entry) => {
    const words = (entry.dataset.words ?? "").split(" ");
    const read = [...entry.children].filter((each) => !("fields" in each.dataset)).map((each) => each.textContent);
    return { entry, words, text: [...read, ...words].join(" ").toLowerCase() };
  });
  const found = document.querySelector("[data-found]");
  const tell = (place, isShown, what) => {
    place.hidden = !isShown;
    place.firstElementChild.textContent = what;
  };
  const show = () => {
    const asked = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    for (const { entry, words, text } of entries) {
      entry.hidden = !asked.every((word) => text.includes(word));
      number += entry.hidden ? 0 : 1;
      const fields = words.filter((name) => asked.some((word) => name.includes(word))).slice(0, 8);
      tell(entry.querySelector("[data-fields]"), fields.length, fields.join(", "));
    }
    for (const section of document.querySelectorAll("[data-section]"))
      section.hidden = !section.querySelector("[data-entry]:not([hidden])");
    tell(found, asked.length, number);
  };
  if (!new URLSearchParams(location.search).get("q")) filter.addEventListener("input", show);
}
