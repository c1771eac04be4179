// Stores the values of a form for a person who must sign in again, because the session had ended when the form was sent.
// The values stay in this tab until the person signs out or another user opens a page in the tab. Passwords, secrets,
// tokens, addresses of receivers and files are never stored.
"use strict";

(() => {
  const NAME = "wmsd-form";
  const SECRET = /secret|token|password|\burl\b/i;
  const NEVER = ["password", "file", "submit", "button", "reset"];
  const form = document.querySelector("form[data-keep]");
  const lost = document.querySelector("[data-lost-form]");
  const here = location.pathname + location.search;

  const isBox = (field) => field.type === "checkbox" || field.type === "radio";
  const keyOf = (field) => isBox(field) ? `${field.name}=${field.value}` : field.name;
  const isKept = (field) => {
    if (!field.name || NEVER.includes(field.type) || "secret" in field.dataset) return false;
    if (field.type === "hidden") return field.name === "if_match"; // so that the form does not overwrite another user's change
    const isText = !isBox(field) && field.tagName !== "SELECT";
    return !isText || !SECRET.test(field.name) && !(field.tagName === "TEXTAREA" && SECRET.test(field.value));
  };
  const fields = () => [...form.elements].filter(isKept);
  const write = (kept) => sessionStorage.setItem(NAME, JSON.stringify(kept));
  const forget = () => sessionStorage.removeItem(NAME);
  const tell = () => document.querySelectorAll("[data-kept]").forEach((each) => { each.hidden = false; });

  function fill(values) {
    form.dispatchEvent(new CustomEvent("filling", { detail: Object.keys(values) })); // so that the form has enough lines
    for (const field of fields()) {
      if (!(keyOf(field) in values)) continue;
      if (isBox(field)) field.checked = values[keyOf(field)];
      else field.value = values[keyOf(field)];
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
    tell();
  }

  let kept = JSON.parse(sessionStorage.getItem(NAME));
  const { person } = document.body.dataset;
  if (kept && person && person !== kept.user) {
    forget();
    kept = null;
  }
  if (kept && lost && kept.path === lost.dataset.lostForm) {
    write({ ...kept, isLost: true });
    tell();
  } else if (kept && form) {
    const isOwn = kept.isLost && kept.user === form.dataset.keep;
    const { values } = kept;
    if (isOwn && kept.path === here) addEventListener("DOMContentLoaded", () => fill(values)); // after all scripts have run
    if (!isOwn || kept.path === here) forget();
  } else if (document.querySelector("[data-out]") || !kept?.isLost) forget();

  form?.addEventListener("submit", () => write({
    user: form.dataset.keep, path: here, isLost: false,
    values: Object.fromEntries(fields().map((field) => [keyOf(field), isBox(field) ? field.checked : field.value])),
  }));
})();
