// What pages gain with scripts: keys, results while somebody types, and word of what changed. All else works without.
"use strict";

const isTyping = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");

// `/` searches, `j` and `k` go through what is listed, `?` says so.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping()) return document.activeElement.blur();
  if (isTyping()) return;
  if (event.key === "/") {
    event.preventDefault();
    (document.querySelector("#search input[type=search]") ?? document.querySelector(".find input"))?.focus();
  } else if (event.key === "j" || event.key === "k") {
    const links = [...document.querySelectorAll("main li > a:first-of-type, main h3 a, main summary")].filter((one) => one.offsetParent);
    const at = links.indexOf(document.activeElement);
    const next = links[event.key === "j" ? at + 1 : at < 0 ? links.length - 1 : at - 1];
    next?.focus();
  }
});

// A section that an address names is opened.
const openTarget = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const details = target && target.closest("details");
  if (details) details.open = true;
};
addEventListener("hashchange", openTarget);
openTarget();

document.querySelectorAll(".copy input").forEach((input) => input.addEventListener("focus", () => input.select()));

// Results while somebody types.
const form = document.getElementById("search");
const results = document.getElementById("results");
if (form && results) {
  const input = form.querySelector("input[type=search]");
  let waiting = 0;
  let asking;
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const address = new URL(form.getAttribute("action"), document.baseURI);
    address.searchParams.set("q", input.value);
    history.replaceState(null, "", address);
    address.searchParams.set("part", "1");
    try {
      const reply = await fetch(address, { signal: asking.signal });
      if (reply.ok) results.innerHTML = await reply.text();
    } catch {
      // The next key asks again.
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  });
  const end = input.value.length;
  input.setSelectionRange(end, end);
}

// How far a digest is, and what it adds, while the page is open.
const news = document.getElementById("news");
if (news && window.EventSource) {
  let first;
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const stream = new EventSource(new URL("live", document.baseURI));
  stream.onmessage = (event) => {
    const now = JSON.parse(event.data);
    first ??= now;
    const running = document.getElementById("running");
    if (running) {
      running.textContent = now.running ?? "";
      running.hidden = !now.running;
    }
    const parts = [];
    if (now.sessions !== first.sessions) parts.push(counted(Math.abs(now.sessions - first.sessions), now.sessions > first.sessions ? "new session" : "session") + (now.sessions > first.sessions ? "" : " fewer"));
    if (now.digests > first.digests) parts.push(counted(now.digests - first.digests, "new digest"));
    if (parts.length && now.waiting) parts.push(`${counted(now.waiting, "session")} still waiting`);
    if (!parts.length) return;
    const reload = document.createElement("a");
    reload.href = location.href;
    reload.textContent = "Show";
    reload.addEventListener("click", (click) => { click.preventDefault(); location.reload(); });
    news.replaceChildren(`Changed since you opened this page: ${parts.join(", ")}. `, reload);
    news.hidden = false;
  };
  addEventListener("pagehide", () => stream.close());
}
