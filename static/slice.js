// A slider over the days of a neighbourhood. Without it the date and the button do.
"use strict";
(() => {
  const form = document.querySelector("[data-slice]");
  if (!form) return;
  const range = form.querySelector("#slice-range");
  const day = form.querySelector("#slice-day");
  const said = form.querySelector("#slice-said");
  const around = document.getElementById("around");
  const LENGTH_OF_DAY = 24 * 3600 * 1000;
  const first = Date.parse(day.min);
  const words = new Intl.DateTimeFormat(document.documentElement.lang, {
    day: "numeric", month: "long", year: "numeric", timeZone: "UTC",
  });
  let waiting = 0;
  let running = null;

  for (const hidden of form.querySelectorAll("[data-needs-script]")) hidden.hidden = false;
  for (const extra of form.querySelectorAll("[data-without-script]")) extra.hidden = true;

  const tell = () => {
    range.setAttribute("aria-valuetext", words.format(first + range.value * LENGTH_OF_DAY));
  };

  const show = async () => {
    running?.abort();
    running = new AbortController();
    const address = new URL(location.href);
    address.searchParams.set("day", day.value);
    history.replaceState(null, "", address);
    try {
      const answer = await fetch(address, {
        headers: { "HX-Request": "true" }, signal: running.signal,
      });
      const text = await answer.text();
      if (!answer.ok && answer.status !== 400) throw new Error(answer.status);
      around.innerHTML = text;
      const number = around.querySelectorAll(".around-list li:not(.more-around)").length;
      said.textContent = `${number} around it then.`;
    } catch (error) {
      if (error.name !== "AbortError") said.textContent = "The server could not answer; what you see is from before.";
    }
  };

  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 150);
  };

  range.addEventListener("input", () => {
    day.value = new Date(first + range.value * LENGTH_OF_DAY).toISOString().slice(0, 10);
    tell();
    soon();
  });
  day.addEventListener("change", () => {
    if (!day.value) return;
    range.value = Math.round((Date.parse(day.value) - first) / LENGTH_OF_DAY);
    tell();
    soon();
  });
  tell();
})();
