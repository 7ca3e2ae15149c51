// Tells somebody who looks elsewhere that something waits for them: in the title of the page, and by a notification if they asked for it.
const wanted = "holdshort.notify", base = document.title.replace(/^\(\S+\) /, "");
let waiting = 0, title = base;

const remember = yes => { try { localStorage.setItem(wanted, yes ? "yes" : "no"); } catch {} };
const asked = () => { try { return localStorage.getItem(wanted) === "yes"; } catch { return false; } };
const possible = "Notification" in window && window.isSecureContext;

// drawNotify keeps the button true. Permission is asked for on a click, and never by itself.
export function drawNotify(say) {
  const button = document.getElementById("notify");
  if (!button || !possible) return;
  const on = asked() && Notification.permission === "granted";
  const name = on ? "Notifications are on" : Notification.permission === "denied" ? "Notifications are blocked" : "Notify me";
  button.hidden = false;
  button.setAttribute("aria-label", name);
  button.setAttribute("aria-pressed", on);
  button.title = on ? name + ". Press to stop." : name + " when something critical, or assigned to me, arrives while I look elsewhere";
  button.onclick = async () => {
    if (on) remember(false);
    else if (Notification.permission === "denied") { say("This browser blocks notifications of this page. Allow them in its settings."); return; }
    else remember(await Notification.requestPermission() === "granted");
    drawNotify(say);
  };
}

// arrived is told of rows that came or changed. Each is told once. Nothing of what is asked stands in the notification: others may see the screen.
const told = new Set();
export function arrived(rows) {
  const me = document.body.dataset.me;
  const mine = rows.filter(r => (r.dataset.priority === "critical" || me && r.dataset.assignee === me) && !told.has(r.dataset.id));
  for (const r of mine) told.add(r.dataset.id);
  if (!mine.length || !document.hidden || !possible || !asked() || Notification.permission !== "granted") return;
  waiting += mine.length;
  const id = mine[0].dataset.id;
  try {
    const note = new Notification(waiting === 1 ? "1 request waits for you" : waiting + " requests wait for you", {tag: "holdshort", body: "Holdshort"});
    note.onclick = () => {
      window.focus();
      note.close();
      document.dispatchEvent(new CustomEvent("hs:show", {detail: {id}}));
    };
  } catch {
    // Some phones let pages ask and then show nothing: the title still says it.
  }
}

// titled puts what is shown, and how much waits, into the title of the page.
export function titled(count, text) {
  if (text) title = text + " · Holdshort";
  else if (text === "") title = base;
  const n = count ?? document.querySelector(".nav [data-count=all]")?.textContent.trim();
  document.title = (n && n !== "0" ? "(" + n + ") " : "") + title;
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) waiting = 0; });
