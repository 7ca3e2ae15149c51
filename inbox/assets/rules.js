// Replaying takes a while: it can be called off, and leaving the page calls it off too.
const form = document.getElementById("replay-form");
if (form) {
  const cancel = form.querySelector("[data-cancel]"), busy = form.querySelector("[data-busy]"), out = form.querySelector("#replayed"), send = form.querySelector("[type=submit]");
  let under = null;

  const show = running => {
    send.disabled = running;
    cancel.hidden = busy.hidden = !running;
    form.setAttribute("aria-busy", String(running));
  };
  const say = text => {
    const p = document.createElement("p");
    p.className = "muted";
    p.textContent = text;
    out.replaceChildren(p);
  };

  form.addEventListener("submit", async event => {
    event.preventDefault();
    if (under) return;
    under = new AbortController();
    show(true);
    try {
      const answer = await fetch(form.action, {method: "POST", body: new URLSearchParams(new FormData(form)), headers: {"HX-Request": "true"}, signal: under.signal});
      const login = answer.headers.get("HX-Redirect");
      if (login) { location.assign(login); return; }
      out.innerHTML = await answer.text(); // of our own server, which escapes what others wrote
    } catch (err) {
      say(err.name === "AbortError" ? "Canceled. Nothing was changed." : "The server could not be reached. Try again in a moment.");
    } finally {
      under = null;
      show(false);
    }
  });
  cancel.addEventListener("click", () => { if (under) under.abort(); send.focus(); });
  addEventListener("pagehide", () => { if (under) under.abort(); });
}
