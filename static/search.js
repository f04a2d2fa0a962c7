// The search page: keys, and what plain links cannot do. Without it everything works.
"use strict";
(() => {
  const box = document.getElementById("q");
  const found = document.getElementById("found");
  const count = document.getElementById("count");
  const help = document.getElementById("keys");

  for (const extra of document.querySelectorAll("[data-without-script]")) {
    extra.hidden = true;
  }
  document.querySelector("[data-sends-itself] select")?.addEventListener("change", (event) => {
    event.target.form.requestSubmit();
  });
  if (!box) return;

  const opener = document.querySelector("[data-keys]");
  opener.hidden = false;
  opener.addEventListener("click", () => help.showModal());

  // What was typed before the scripts were there is searched for, too.
  document.addEventListener("DOMContentLoaded", () => {
    if (box.value !== box.defaultValue) box.form.requestSubmit();
  });

  // What could not be searched for comes with status 400, and says why.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 400) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.body.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    count.textContent = status === 404
      ? "It is not there any more, or closed to you now."
      : `The server could not answer (error ${status}). What you see is from before.`;
  });
  document.body.addEventListener("htmx:sendError", () => {
    count.textContent = "The server cannot be reached. What you see is from before.";
  });
  document.body.addEventListener("htmx:timeout", () => {
    count.textContent = "The server took too long. What you see is from before.";
  });

  const results = () => [...found.querySelectorAll("[data-result]")];

  function current() {
    return document.activeElement?.closest("[data-result]") ?? null;
  }

  function go(step) {
    const all = results();
    if (!all.length) return;
    const at = all.indexOf(current());
    const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
    if (to < 0) box.focus();
    else all[Math.min(to, all.length - 1)].focus();
  }

  function unfold(name) {
    const details = current()?.querySelector(name);
    if (details) details.open = !details.open;
  }

  const actions = {
    "/": () => { box.focus(); box.select(); },
    "?": () => help.showModal(),
    j: () => go(1),
    k: () => go(-1),
    o: () => current()?.querySelector("[data-original]")?.click(),
    w: () => unfold("[data-why]"),
    n: () => unfold("[data-around]"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target === box) {
      if (event.key === "ArrowDown") { event.preventDefault(); go(1); }
      if (event.key === "Escape") { event.preventDefault(); box.blur(); }
      // Nobody searches for a slash: the box had the focus already.
      if (event.key === "/" && !box.value) event.preventDefault();
      return;
    }
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    if (event.key === "Escape" && location.hash === "#filters") location.hash = "#main";
    if (event.key === "Enter" && event.target.matches("[data-result]")) {
      event.target.querySelector("[data-open]").click();
    } else if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });
})();
