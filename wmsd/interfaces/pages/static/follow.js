// Shows a part of the page again every two seconds, as long as it tells of work that is under way. What somebody is at
// with the keyboard stays; so does everything while the server does not answer.
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
