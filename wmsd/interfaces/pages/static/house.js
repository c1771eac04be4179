// What pages do beyond what a browser does by itself. Every page works without it.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // only over TLS, and on the box itself
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Shows again, every two seconds, a part of the page that tells of work under way.
const follow = (part) => setTimeout(async () => {
  let fresh = null;
  try {
    const answer = await fetch(location.pathname);
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part.id);
  } catch { /* the server may start again */ }
  if (!fresh) return follow(part);
  part.replaceWith(fresh);
  if ("follow" in fresh.dataset) follow(fresh);
}, 2000);
document.querySelectorAll("[data-follow]").forEach(follow);
