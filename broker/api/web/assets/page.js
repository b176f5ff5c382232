// Times in the reader's zone, with UTC on hover; and pages that say so look again by themselves. Nothing else needs it.
"use strict";
function local(root) {
  const two = n => String(n).padStart(2, "0");
  for (const t of root.querySelectorAll("time[datetime]")) {
    const d = new Date(t.dateTime);
    if (isNaN(d)) continue;
    t.textContent = d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate()) + " " +
      two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
  }
}
local(document);
const zone = document.getElementById("zone");
if (zone) zone.textContent = "times in " + (Intl.DateTimeFormat().resolvedOptions().timeZone || "your zone");

const main = document.getElementById("main");
const seconds = Number(main.dataset.live || 0);
if (seconds) {
  const says = document.getElementById("live");
  const pause = document.createElement("button");
  pause.className = "quiet";
  pause.type = "button";
  says.before(pause);
  let on = true;
  const name = () => { pause.textContent = on ? "Stop refreshing" : "Refresh by itself"; };
  name();
  pause.addEventListener("click", () => { on = !on; name(); });
  setInterval(async () => {
    if (!on || document.hidden || main.contains(document.activeElement) && document.activeElement !== main) return;
    try {
      const answer = await fetch(location.href, { headers: { "X-Vimbroker-Refresh": "1" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      main.replaceChildren(...page.getElementById("main").childNodes);
      const seen = page.querySelector("footer time");
      document.querySelector("footer time").replaceWith(seen);
      local(document);
      says.textContent = "";
    } catch (e) {
      says.textContent = "It cannot be refreshed now: what is shown is of before.";
    }
  }, seconds * 1000);
}
