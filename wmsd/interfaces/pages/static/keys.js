// Keys: / searches, n creates a record, g and a letter open a page of the menu, ? lists them and can switch them off.
"use strict";

(() => {
  const dialog = document.getElementById("keys");
  const [button, isOn] = [document.getElementById("show-keys"), document.getElementById("keys-on")];
  const find = document.getElementById("find") ?? document.querySelector("form[role=search] input:not([type=hidden])");
  const places = new Map([...document.querySelectorAll(".rail [data-key]")].map((link) => [link.dataset.key, link]));
  const fresh = document.querySelector("[data-new]");
  let went = -Infinity; // the time when g was pressed

  const made = (name, ...content) => {
    const element = document.createElement(name);
    element.append(...content);
    return element;
  };
  const tell = (link, ...keys) => {
    const shown = keys.flatMap((key) => [" ", made("kbd", key)]).slice(1);
    dialog.querySelector("dl").append(made("dt", ...shown), made("dd", link.textContent));
  };
  if (fresh) tell(fresh, "n");
  for (const [key, link] of places) tell(link, "g", key);
  try {
    isOn.checked = localStorage.getItem("wmsd-keys") !== "off";
    isOn.addEventListener("change", () => localStorage.setItem("wmsd-keys", isOn.checked ? "on" : "off"));
  } catch {} // without storage in the browser, the keys are on
  button.hidden = false;
  button.addEventListener("click", () => dialog.showModal());

  document.addEventListener("keydown", (event) => {
    if (!isOn.checked || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const place = event.timeStamp - went < 3000 && places.get(event.key);
    went = event.key === "g" ? event.timeStamp : -Infinity;
    if (place) place.click();
    else if (event.key === "?") dialog.showModal();
    else if (event.key === "/" && find) find.focus();
    else if (event.key === "n" && fresh) fresh.click();
    else return;
    event.preventDefault();
  });
})();
