// Lists in which several records can be ticked.
"use strict";

document.addEventListener("change", ({ target }) => { // on the document, because a live list is replaced
  if (!target.matches("[data-tick-all]")) return;
  for (const box of target.closest("table").querySelectorAll("td.tick input")) box.checked = target.checked;
});
