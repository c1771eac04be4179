// Ticks the abilities of a set. Without this script, the server returns the form with these abilities ticked.
"use strict";

for (const button of document.querySelectorAll("[data-ticks]")) {
  const ticked = button.dataset.ticks.split(" ");
  button.addEventListener("click", (event) => {
    event.preventDefault();
    for (const box of button.closest("fieldset").querySelectorAll("[type=checkbox]")) {
      box.checked = ticked.some((each) => box.name.endsWith(`:${each}`));
    }
  });
}
