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

const state = document.getElementById("notify-state");
if (state) {
  const act = document.getElementById("notify-act");
  const show = () => {
    const is = "Notification" in window ? Notification.permission : "none";
    state.textContent = {granted: "This browser tells you.", denied: "This browser was told not to. Allow notifications for this site in its own settings.",
      default: "This browser does not tell you yet.", none: "This browser cannot tell you."}[is];
    act.hidden = is !== "default";
  };
  show();
  document.getElementById("notify-ask").addEventListener("click", async () => { await Notification.requestPermission(); show(); });
}

// A form is sent once, however often its button is pressed. The server holds to that too.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) { event.preventDefault(); return; }
  event.target.dataset.sent = "1";
});
addEventListener("pageshow", (event) => { if (event.persisted) for (const form of document.forms) delete form.dataset.sent; });
