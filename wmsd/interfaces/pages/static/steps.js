"use strict";

// The next step stands where the one before stood: the second click of a hand is not meant for it.
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
