// Keyboard support for forms with lines: Enter moves to the next line, arrows move up and down, and columns of a spreadsheet
// are pasted as lines. A field for an article or a partner shows matches by code, name or barcode. The form also works
// without this script.
"use strict";

(() => {
  const PAUSE = 120; // milliseconds without a key before a list is requested
  const made = (name, attributes = {}, ...content) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...content);
    return element;
  };

  // --- Suggestions: a list under the field.
  const list = made("ul", { class: "suggestions", role: "listbox", id: "choices" });
  let [owner, chosen, asked, timer] = [null, -1, null, 0];

  const close = () => {
    clearTimeout(timer);
    asked?.abort();
    list.remove();
    owner?.setAttribute("aria-expanded", "false");
    owner?.removeAttribute("aria-activedescendant");
    [owner, chosen] = [null, -1];
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", index === place));
    const item = list.children[place];
    if (!item) return owner.removeAttribute("aria-activedescendant");
    owner.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  };
  const pick = (place) => {
    const [field, choice] = [owner, list.children[place].choice];
    field.value = choice.code;
    tell(field, choice);
    close();
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const forget = (field) => { if (field.nextElementSibling?.matches(".means")) field.nextElementSibling.remove(); };
  const tell = (field, choice) => { // shows the name and the available quantity next to the code
    const told = field.nextElementSibling?.matches(".means") ? field.nextElementSibling : made("span", { class: "means small" });
    const { available, has_any: hasAny, unit, name } = choice;
    told.replaceChildren(name);
    if (available !== null && available !== undefined) {
      told.append(" ", made("b", { class: hasAny ? "good" : "bad" }, `${available} ${unit}`));
    }
    field.after(told);
  };
  const show = (field, choices) => {
    close();
    if (!choices.length || document.activeElement !== field) return;
    owner = field;
    list.replaceChildren(...choices.map((choice, index) => {
      const item = made("li", { role: "option", id: `choice-${index}` }, made("b", {}, choice.code), ` ${choice.name} `);
      if (choice.available !== null) {
        item.append(made("span", { class: choice.has_any ? "good" : "bad" }, `${choice.available} ${choice.unit}`));
      }
      item.choice = choice;
      item.addEventListener("mousedown", (event) => { event.preventDefault(); pick(index); });
      return item;
    }));
    field.after(list);
    field.setAttribute("aria-expanded", "true");
    mark(0);
  };
  const find = async (field) => { // returns the matches for the text in the field, or null if they are unknown
    const text = field.value.trim();
    asked?.abort();
    asked = new AbortController();
    const warehouse = document.getElementById("warehouse")?.value ?? "";
    const query = new URLSearchParams({ text, warehouse });
    try {
      const answer = text ? await fetch(`${field.dataset.choices}?${query}`, { signal: asked.signal }) : null;
      const choices = answer?.ok ? await answer.json() : null;
      return field.value.trim() === text ? choices : null;
    } catch {
      return null; // the next key sends a new request
    }
  };
  const ask = async (field) => {
    const choices = await find(field);
    if (choices) show(field, choices); // a cancelled request must not close what a later key has asked for
  };
  // Selects the text as Tab does, so that typing replaces it.
  const go = (field) => { field?.focus(); field?.select?.(); };
  // Chooses the only record that matches a code. This is for a code that was scanned, or typed before the list arrived.
  const settle = async (field) => {
    const typed = field.value.trim();
    const finding = find(field);
    asked = null; // leaving the field does not cancel the request
    const choices = await finding ?? [];
    const same = choices.filter((each) => each.code.toLowerCase() === typed.toLowerCase());
    const [choice, ...others] = same.length ? same : choices;
    if (!choice || others.length) return;
    field.value = choice.code;
    tell(field, choice);
  };
  function finds(field) {
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-expanded", "false");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", list.id);
    field.removeAttribute("list");
    field.addEventListener("input", () => {
      close();
      forget(field);
      timer = setTimeout(ask, PAUSE, field);
    });
    field.addEventListener("blur", close);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && owner !== field && field.form.method === "get") return; // sends the filters of the list
      if (event.key === "Enter" && !event.ctrlKey && owner !== field && field.value.trim()) {
        event.preventDefault();
        event.stopImmediatePropagation();
        settle(field);
        go(next(field));
        return;
      }
      if (owner !== field) return;
      const last = list.children.length - 1;
      if (event.key === "ArrowDown") mark(chosen < last ? chosen + 1 : 0);
      else if (event.key === "ArrowUp") mark(chosen > 0 ? chosen - 1 : last);
      else if (event.key === "Escape") close();
      else if (event.key === "Tab") return pick(chosen);
      else if (event.key === "Enter" && !event.ctrlKey) {
        pick(chosen);
        go(next(field));
      } else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    });
  }
  const inputs = (row) => [...row.querySelectorAll("input:not([type=hidden]), select, textarea")];
  const next = (field) => {
    const all = [...field.form.querySelectorAll("input:not([type=hidden]), select, textarea, button")];
    return all[all.indexOf(field) + 1];
  };

  // --- Lines. If no line can be added, Enter in the last line sends the form.
  function byKeys(body, more) {
    body.addEventListener("keydown", (event) => {
      const row = event.target.closest("tr");
      if (event.target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      const column = inputs(row).indexOf(event.target);
      if (event.key === "Enter") {
        const following = row.nextElementSibling ?? more?.();
        if (event.target.matches("button") || !following) return;
        inputs(following)[0].focus();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const other = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
        if (!other || column < 0) return;
        inputs(other)[column].focus();
      } else return;
      event.preventDefault();
    });
  }
  function linesOf(part) {
    const body = part.querySelector("tbody");
    const add = part.querySelector("[data-add]");
    const most = Number(part.dataset.most);
    if (!body.rows.length) return;
    if (!add) return byKeys(body);
    add.type = "button";
    add.textContent = part.dataset.addOne;
    add.addEventListener("click", () => inputs(more())[0]?.focus());
    const pattern = body.rows[body.rows.length - 1].cloneNode(true);
    for (const field of pattern.querySelectorAll("input, textarea")) field.value = "";
    pattern.querySelectorAll(".error, .means, ul").forEach((each) => each.remove());
    pattern.querySelectorAll("input[type=hidden]").forEach((each) => each.remove());
    pattern.querySelectorAll("[aria-invalid]").forEach((each) => each.removeAttribute("aria-invalid"));
    const isEmpty = (row) => inputs(row).every((field) => !field.value.trim());
    let count = 0;

    function more() {
      const row = pattern.cloneNode(true);
      for (const field of inputs(row)) {
        field.name = field.id = field.name.replace(/\.\d+\./, `.${count}.`);
        field.removeAttribute("autofocus");
        field.removeAttribute("aria-describedby");
      }
      count += 1;
      body.append(row);
      ready(row);
      return row;
    }
    function ready(row) {
      const remove = made("button", { type: "button", class: "button", "aria-label": part.dataset.remove }, "×");
      remove.addEventListener("click", () => {
        const after = row.nextElementSibling ?? row.previousElementSibling;
        row.remove();
        inputs(after ?? more())[0].focus();
      });
      row.append(made("td", { class: "remove" }, remove));
      row.querySelectorAll("[data-choices]").forEach(finds);
    }
    [...body.rows].forEach(ready);
    part.querySelector("thead tr").append(made("th", { class: "remove" }));
    while (body.rows.length > 1 && isEmpty(body.rows[body.rows.length - 1]) && isEmpty(body.rows[body.rows.length - 2])) {
      body.rows[body.rows.length - 1].remove();
    }
    count = body.rows.length;

    part.form.addEventListener("filling", ({ detail: names }) => { // see kept.js
      const numbers = names.filter((name) => name.startsWith(`${part.dataset.rows}.`)).map((name) => Number(name.split(".")[1]));
      while (count <= Math.max(...numbers)) more();
    });
    body.addEventListener("input", () => {
      if (body.rows.length < most && !isEmpty(body.rows[body.rows.length - 1])) more();
    });
    byKeys(body, more);
    body.addEventListener("paste", (event) => {
      if (event.target.matches("textarea")) return; // for serials: each on a separate line
      const text = event.clipboardData.getData("text/plain");
      const rows = text.split(/\r?\n/).filter((each) => each.trim()).map((each) => each.split("\t"));
      if (rows.length < 2 && !text.includes("\t")) return;
      event.preventDefault();
      let row = event.target.closest("tr");
      const column = Math.max(inputs(row).indexOf(event.target), 0);
      const free = most - [...body.rows].indexOf(row);
      const told = part.querySelector(".refused");
      told?.remove();
      if (rows.length > free) {
        const sentence = part.dataset.tooMany.replace("{rows}", rows.length).replace("{most}", most);
        const kept = made("textarea", { rows: 4, "aria-label": part.dataset.pasted });
        kept.value = text;
        part.append(made("div", { class: "refused", role: "alert" }, made("p", { class: "error" }, sentence), kept));
        return;
      }
      for (const cells of rows) {
        const fields = inputs(row).slice(column);
        cells.slice(0, fields.length).forEach((cell, index) => {
          fields[index].value = cell.trim();
          forget(fields[index]);
        });
        row = row.nextElementSibling ?? more();
      }
      inputs(row)[column].focus();
    });
  }
  document.querySelectorAll("fieldset.rows").forEach(linesOf);
  document.querySelectorAll("form.fields .leading [data-choices], form.filters [data-choices]").forEach(finds);
  document.addEventListener("keydown", (event) => {
    const form = document.querySelector("form.fields");
    if (event.key === "Enter" && event.ctrlKey && form?.contains(event.target)) form.requestSubmit();
  });
})();
