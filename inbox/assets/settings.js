// What settings do better with scripts: copy a secret, and ask the browser for notifications.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it and copy";
    }
  });
}

// Whether this browser tells somebody of what is theirs. It is asked for on a click, and never by itself; the inbox has the same switch.
const state = document.getElementById("notify-state");
if (state) {
  const wanted = "holdshort.notify", act = document.getElementById("notify-act"), button = document.getElementById("notify-ask");
  const asked = () => { try { return localStorage.getItem(wanted) === "yes"; } catch { return false; } };
  const remember = yes => { try { localStorage.setItem(wanted, yes ? "yes" : "no"); } catch { /* asked again next time */ } };
  const can = "Notification" in window && window.isSecureContext;
  const show = () => {
    const is = can ? Notification.permission : "none", on = asked() && is === "granted";
    state.textContent = on ? "This browser tells you." : is === "denied" ? "This browser was told not to. Allow notifications for this site in its own settings." :
      is === "none" ? "This browser cannot tell you." : "This browser does not tell you yet.";
    act.hidden = is === "denied" || is === "none";
    button.textContent = on ? "Stop telling me" : "Let this browser tell me";
    button.onclick = async () => { remember(!on && await Notification.requestPermission() === "granted"); show(); };
  };
  show();
}

// A form is sent once, however often its button is pressed. The server holds to that too.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) { event.preventDefault(); return; }
  event.target.dataset.sent = "1";
});
addEventListener("pageshow", (event) => { if (event.persisted) for (const form of document.forms) delete form.dataset.sent; });
