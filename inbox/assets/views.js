// Views that somebody gave a name. They stay in this browser, apart for each person.
const store = "holdshort.views." + document.body.dataset.me;

function read() {
  try {
    const all = JSON.parse(localStorage.getItem(store));
    return Array.isArray(all) ? all.filter(v => typeof v?.name === "string" && typeof v.query === "string") : [];
  } catch { return []; }
}

function write(all) { try { localStorage.setItem(store, JSON.stringify(all)); return true; } catch { return false; } }

// drawViews shows the saved views as chips, and the way to save this one. The query is the view that is shown.
export function drawViews(query, say) {
  const place = document.getElementById("views"), save = document.getElementById("save");
  if (!place) return;
  const all = read();
  place.replaceChildren(...all.map(v => {
    const chip = document.createElement("span"), link = document.createElement("a"), gone = document.createElement("button");
    chip.className = "saved";
    link.className = "chip";
    link.href = "/" + (v.query && "?" + v.query);
    link.textContent = v.name;
    link.dir = "auto";
    if (v.query === query) link.setAttribute("aria-current", "true");
    gone.type = "button";
    gone.className = "gone";
    gone.textContent = "×";
    gone.setAttribute("aria-label", "Remove the view " + v.name);
    gone.addEventListener("click", () => { write(read().filter(o => o.name !== v.name)); drawViews(query, say); say("Removed the view " + v.name); document.querySelector("#list .chip")?.focus(); });
    chip.append(link, gone);
    return chip;
  }));
  place.hidden = !all.length;
  if (!save) return;
  save.hidden = !("savable" in save.dataset) || all.some(v => v.query === query);
  save.onclick = () => ask(save, query, say);
}

function ask(save, query, say) {
  const form = document.createElement("form"), name = document.createElement("input"), keep = document.createElement("button");
  form.className = "naming";
  name.required = true;
  name.maxLength = 40;
  name.placeholder = "Name of this view";
  name.setAttribute("aria-label", "Name of this view");
  keep.textContent = "Save";
  form.append(name, keep);
  const done = () => { if (form.isConnected) { form.remove(); save.hidden = false; } };
  form.addEventListener("submit", e => {
    e.preventDefault();
    const text = name.value.trim();
    if (!text) return;
    const kept = write([...read().filter(v => v.name !== text), {name: text, query}]);
    done();
    drawViews(query, say);
    say(kept ? "Saved the view " + text : "Not saved: this browser keeps nothing for this page");
  });
  name.addEventListener("blur", () => setTimeout(() => { if (!form.contains(document.activeElement)) done(); }, 200));
  save.hidden = true;
  save.after(form);
  name.focus();
}
