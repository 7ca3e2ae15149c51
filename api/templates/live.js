// Keeps the list as it is on the server. Without this script the page reloads itself now and then.
"use strict";
(() => {
  const names = ["hitl.interrupt.paused", "hitl.request.queued", "hitl.request.asked", "hitl.request.voted", "hitl.request.decided", "hitl.request.expired",
    "hitl.request.canceled", "hitl.request.assigned", "events.gap"];
  const state = () => document.getElementById("state");
  let due = 0, busy = false, again = false;

  function tell(text, stale) {
    state().textContent = text;
    document.body.classList.toggle("stale", stale);
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch("/", {headers: {Accept: "text/html"}, cache: "no-store"});
      if (answer.status === 401) { location.assign("/login"); return; }
      if (!answer.ok) throw new Error(answer.statusText);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("list").replaceWith(next.getElementById("list"));
      document.title = next.title;
      tell("live ·", false);
    } catch {
      tell("not connected ·", true);
    } finally {
      busy = false;
      if (again) { again = false; soon(); }
    }
  }

  function soon() {
    clearTimeout(due);
    due = setTimeout(refresh, 250);
  }

  const events = new EventSource("/v1/events?type=hitl.*");
  events.addEventListener("connected", soon);
  events.onerror = () => tell("not connected ·", true);
  for (const name of names) events.addEventListener(name, soon);
  setInterval(soon, 30000); // what is left of the time goes on without events
})();
