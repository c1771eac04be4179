// Reloads a part of the page every two seconds, as long as it shows running work. The part is not replaced while it contains
// the keyboard focus, or while the server does not answer.
"use strict";

const follow = (part) => setTimeout(async () => {
  if (part.contains(document.activeElement)) return follow(part);
  const text = await fetch(location.pathname, { headers: { "X-By-Itself": "1" } })
    .then((answer) => answer.text()).catch(() => null);
  if (text === null) return follow(part);
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById(part.id);
  if (!fresh) return;
  part.replaceWith(fresh);
  if ("follow" in fresh.dataset) follow(fresh);
}, 2000);
document.querySelectorAll("[data-follow]").forEach(follow);
