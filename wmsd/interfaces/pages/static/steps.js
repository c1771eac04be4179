"use strict";

// The next button appears in the place of the pressed one. It is disabled at first, against double clicks.
const CALM = 700; // milliseconds
for (const part of document.querySelectorAll("[data-live=steps]")) {
  let timer = 0;
  const rest = () => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    part.inert = true;
    clearTimeout(timer);
    timer = setTimeout(() => { part.inert = false; focused?.focus({ preventScroll: true }); }, CALM);
  };
  new MutationObserver(rest).observe(part, { childList: true });
  rest();
}
