// Updates an open page when data changes elsewhere. Without this script, a page shows the data of the time when it was loaded.
// The tabs of a browser share one event stream, because a browser opens only six connections to a host.
// One visible tab holds the stream and passes the messages to the other tabs.
"use strict";

(() => {
  const SILENT = 25000; // milliseconds without a message until the tab with the stream counts as closed
  const LEAST = 1000; // the least milliseconds between two reloads of this page
  const ROWS = "tbody tr, .facts > div, :scope > div > b";
  const watched = document.getElementById("main").dataset.watch;
  const shown = document.getElementById("live");
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("wmsd-live") : null;
  const me = Math.random();
  let stream = null, heard = 0, isLooking = false, isWanted = false, isStale = false, isOver = false;

  function tell(message) {
    channel?.postMessage({ ...message, from: me });
    hear(message);
  }

  function hear(message) {
    heard = Date.now();
    if (message.over) return end();
    show(shown.dataset.on);
    if (watched === "all" || message.many || message.companies.includes(Number(watched))) look();
  }

  function show(text) {
    shown.textContent = text;
  }

  function end() {
    isOver = true;
    leave();
    show(shown.dataset.over);
  }

  function hold() {
    if (isOver || document.hidden || Date.now() - heard < SILENT) return;
    if (stream && heard) { leave(); show(shown.dataset.lost); } // the network was lost without an error
    if (stream) return;
    stream = new EventSource("/live");
    stream.onmessage = (event) => tell(JSON.parse(event.data));
    stream.addEventListener("over", () => tell({ over: true, companies: [] }));
    stream.onerror = () => {
      show(shown.dataset.lost);
      if (stream?.readyState === EventSource.CLOSED) { stream = null; heard = Date.now(); } // the script tries again later
    };
  }

  function leave() {
    stream?.close();
    stream = null;
    heard = 0;
  }

  function soon() {
    setTimeout(hold, 100 + Math.random() * 400);
  }

  if (channel) channel.onmessage = ({ data }) => {
    if (data.who) {
      if (stream) channel.postMessage({ companies: [], from: me });
    } else if (data.gone) {
      heard = 0;
      soon();
    } else {
      if (stream && data.from < me) leave();
      hear(data);
    }
  };

  function begin() {
    channel?.postMessage({ who: true });
    soon();
  }

  addEventListener("visibilitychange", () => {
    if (!document.hidden) { look(); begin(); } else if (stream) { leave(); channel?.postMessage({ gone: true }); }
  });
  addEventListener("pagehide", () => { if (stream) { leave(); channel?.postMessage({ gone: true }); } });
  addEventListener("pageshow", (event) => { if (event.persisted) { look(); begin(); } });
  document.addEventListener("change", () => { if (isStale) look(); });
  document.addEventListener("selectionchange", () => { if (isStale && getSelection().isCollapsed) look(); });
  setInterval(hold, 5000);
  begin();

  async function look() {
    if (isLooking || isOver || document.hidden) { isWanted = true; return; }
    isLooking = true;
    isWanted = isStale = false;
    try {
      const answer = await fetch(location.href, { headers: { "X-By-Itself": "1" } });
      if (answer.redirected) end();
      else if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      isWanted = true; // the server is not reachable for a short time
    }
    setTimeout(() => { isLooking = false; if (isWanted) look(); }, LEAST);
  }

  function take(fresh) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
      if (!now || now.innerHTML === part.innerHTML) continue;
      if (isSelected(part)) { isStale = true; continue; }
      const focused = part.contains(document.activeElement) ? document.activeElement : null;
      const known = new Set([...part.querySelectorAll(ROWS)].map((each) => each.textContent));
      const left = [...part.querySelectorAll(".wide")].map((each) => each.scrollLeft);
      part.replaceChildren(...now.childNodes);
      part.querySelectorAll(".wide").forEach((each, place) => { each.scrollLeft = left[place] ?? 0; });
      if (focused) focusAgain(part, focused);
      for (const row of part.querySelectorAll(ROWS)) row.classList.toggle("changed", !known.has(row.textContent));
    }
  }

  function focusAgain(part, before) {
    const isSame = (each) => each.textContent === before.textContent && each.getAttribute("href") === before.getAttribute("href");
    const same = [...part.querySelectorAll("a[href], button")].find(isSame);
    (same ?? part.querySelector(".wide"))?.focus({ preventScroll: true });
  }

  // Do not change the page while a person has selected text to copy, or has ticked records.
  function isSelected(part) {
    const selected = getSelection();
    return !selected.isCollapsed && selected.containsNode(part, true) || part.querySelector("input:checked") !== null;
  }
})();
