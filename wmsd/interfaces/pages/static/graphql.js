// Suggests names while a person types a GraphQL document or its variables. The form also works without this script.

const TOKEN = /#[^\n]*|"""(?:\\"""|(?!""")[^])*(?:"""|$)|"(?:\\.|[^"\\\n])*"?|\.\.\.|[_A-Za-z]\w*|[^\s,\w]|\d+/g;
const NAME = /^[_A-Za-z]/;
const START = ["query", "mutation", "fragment"];
const MOST = 50;

// The types of the variables that a document declares, by name.
function declared(text) {
  const found = {};
  for (const [, name, type] of text.matchAll(/\$(\w+)\s*:\s*[[\s]*(\w+)/g)) found[name] = type;
  return found;
}

// The state of the parser at a place of the document: which names are possible there.
function placeOf(schema, text, start) {
  const stack = [{ ...start }];
  let root = schema.query;
  let last = "";
  for (const token of text.match(TOKEN) ?? []) {
    const top = stack.at(-1);
    if (token.startsWith("#")) continue;
    if (token === "{") {
      if (top.kind === "document") stack.push({ kind: "fields", type: root });
      else if (top.kind === "json") stack.push({ kind: "input", fields: top.fields });
      else if (top.kind === "fields") stack.push({ kind: "fields", type: top.isNamed ? top.inner : top.type });
      else stack.push({ kind: "input", fields: schema.inputs[top.value] ?? {} });
      top.isNamed = false;
    } else if (token === "(") {
      if (top.kind === "fields") stack.push({ kind: "input", fields: top.field?.[1] ?? {} });
      else stack.push({ kind: "variables" });
    } else if (token === "}" || token === ")") {
      if (stack.length > 1) stack.pop();
      if (stack.length === 1) root = schema.query;
      if (stack.at(-1).value && token === "}") stack.at(-1).isDone = true;
    } else if (token === ":") {
      if (top.kind === "input") [top.value, top.isDone] = [top.fields[last], false];
      top.isType = top.kind === "variables";
    } else if (token === "$" || token === "=") {
      top.isType = false;
    } else if (NAME.test(token) && last !== "@") {
      if (top.kind === "document") {
        if (last === "on") root = token;
        else if (token === "mutation") root = schema.mutation;
        else if (token === "query") root = schema.query;
      } else if (top.kind === "fields") {
        top.isNamed = token !== "on" || last !== "...";
        if (last === "on") top.inner = token;
        else if (last !== "..." || token !== "on") {
          top.field = schema.types[top.type]?.[token];
          top.inner = top.field?.[0];
        }
      } else if (top.value) top.isDone = true;
    } else if (top.value && token !== "[" && token !== "]") top.isDone = true;
    last = token;
  }
  return { ...stack.at(-1), last };
}

// Returns the possible names at a place of the text: { from, names }. `from` is the start of the name at this place.
export function suggestions(schema, text, at, start = { kind: "document" }) {
  const from = at - text.slice(0, at).match(/[_A-Za-z]?\w*$/)[0].length;
  const before = text.slice(0, from);
  const tokens = before.match(TOKEN) ?? [];
  const end = tokens.at(-1) ?? "";
  const isText = /^("""(?!.*""".)|#|"(?!.*"$))/s.test(end) && before.endsWith(end) && !/^".*"$/s.test(end);
  const prefix = text.slice(from, at).toLowerCase();
  const names = isText ? [] : namesAt(schema, text, placeOf(schema, before, start));
  const found = names.filter((name) => name.toLowerCase().startsWith(prefix) && name !== text.slice(from, at));
  return { from, names: found.slice(0, MOST) };
}

function namesAt(schema, text, place) {
  if (place.last === "$") return place.kind === "variables" ? [] : Object.keys(declared(text));
  if (place.last === "@") return ["include", "skip"];
  if (place.kind === "document") {
    if (place.last === "on") return Object.keys(schema.types);
    return ["", "}"].includes(place.last) ? START : [];
  }
  if (place.kind === "variables") return place.isType ? Object.keys({ ...schema.inputs, ...schema.enums }) : [];
  if (place.kind === "input") {
    if (!place.value || place.isDone) return Object.keys(place.fields);
    return place.value === "Boolean" ? ["true", "false"] : (schema.enums[place.value] ?? []);
  }
  if (place.last === "on") return Object.keys(schema.types);
  return [...Object.keys(schema.types[place.type] ?? {}), "__typename"];
}

// Returns the same for the JSON of the variables, after a change to the syntax of GraphQL: field names without quotes.
export function variableSuggestions(schema, document, text, at) {
  const before = text.slice(0, at);
  if (!/"\w*$/.test(before)) return { from: at, names: [] };
  const plain = before.replace(/"(\w+)"(?=\s*:)/g, " $1 ").replace(/"(\w*)$/, " $1");
  const { from, names } = suggestions(schema, plain, at, { kind: "json", fields: declared(document) });
  return { from, names: names.filter((name) => name !== "true" && name !== "false") };
}

// Puts a list of suggestions under a text area.
function suggestIn(area, find) {
  const list = document.createElement("ul");
  const told = document.createElement("p");
  list.id = `${area.id}-names`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", area.form.dataset.suggestions);
  told.className = "hidden";
  told.setAttribute("role", "status");
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", list.id);
  area.after(list, told);
  let found = { from: 0, names: [] };
  let chosen = -1;

  const choose = (place) => {
    chosen = place;
    for (const [index, item] of [...list.children].entries()) item.setAttribute("aria-selected", index === place);
    const item = list.children[place];
    if (!item) return area.removeAttribute("aria-activedescendant");
    area.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  };
  const show = (next, place) => {
    found = next;
    list.replaceChildren(
      ...found.names.map((name, index) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${index}`;
        item.setAttribute("role", "option");
        item.textContent = name;
        item.addEventListener("mousedown", (event) => (event.preventDefault(), take(index)));
        return item;
      }),
    );
    list.hidden = !found.names.length;
    told.textContent = found.names.length ? `${area.form.dataset.suggestions}: ${found.names.length}` : "";
    choose(found.names.length ? place : -1);
  };
  const close = () => show({ from: 0, names: [] }, -1);
  const take = (place) => {
    area.setRangeText(found.names[place], found.from, area.selectionStart, "end");
    close();
  };
  area.addEventListener("input", () => {
    const next = find(area.value, area.selectionStart);
    show(next.from < area.selectionStart ? next : { from: 0, names: [] }, -1);
  });
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) show(find(area.value, area.selectionStart), 0);
    else if (list.hidden) return;
    else if (event.key === "ArrowDown") choose((chosen + 1) % found.names.length);
    else if (event.key === "ArrowUp") choose((chosen || found.names.length) - 1);
    else if (event.key === "Enter" && chosen >= 0) take(chosen);
    else if (event.key === "Escape") close();
    else return ["ArrowLeft", "ArrowRight"].includes(event.key) ? close() : undefined;
    event.preventDefault();
  });
  close();
}

const form = globalThis.document?.querySelector("[data-schema]");
if (form) {
  const schema = await (await fetch(form.dataset.schema)).json();
  const { query, variables } = form.elements;
  suggestIn(query, (text, at) => suggestions(schema, text, at));
  suggestIn(variables, (text, at) => variableSuggestions(schema, query.value, text, at));
  form.querySelector("[data-help]").hidden = false;
}
