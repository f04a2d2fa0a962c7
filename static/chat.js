// The chat page: what plain forms cannot do. Without it everything still works.

import { say } from "./chat/announce.js";
import { Asking } from "./chat/asking.js";
import * as cards from "./chat/cards.js";
import { copy } from "./chat/copying.js";
import { Palette } from "./chat/palette.js";
import { enhance } from "./results.js";

const form = document.querySelector("[data-ask]");
const turns = document.querySelector("[data-turns]");
const help = document.getElementById("keys");
const POLL = 2000;
const asking = form && turns ? new Asking(form, turns) : null;

function closeMenus(except) {
  for (const menu of document.querySelectorAll("[data-menu][open]")) {
    if (menu !== except) menu.open = false;
  }
}

function go(address) {
  return () => window.location.assign(address);
}

const palette = new Palette(document.getElementById("palette"), [
  ...[...document.querySelectorAll(".sidebar .new, .places a")].map((link) => ({
    label: link.dataset.action ?? link.textContent.trim(),
    act: go(link.href),
  })),
  ...(asking ? [
    { label: "Write a question", keys: "/", act: () => asking.box.focus() },
    { label: "Copy the last answer", act: () => lastOf("[data-copy]")?.click() },
    { label: "Edit the last question", act: () => lastOf("[data-edit]")?.click() },
  ] : []),
  ...[...document.querySelectorAll("#project-choice option")].map((option) => ({
    label: `Project ${option.value}`,
    act: go(`/?project=${encodeURIComponent(option.value)}`),
  })),
  { label: "Keys on this page", keys: "?", act: () => help.showModal() },
]);

function lastOf(selector) {
  return [...document.querySelectorAll(`article.turn ${selector}`)].at(-1);
}

function ready(within) {
  for (const extra of within.querySelectorAll("[data-without-script]")) extra.hidden = true;
  for (const tool of within.querySelectorAll("[data-edit]")) tool.hidden = false;
  enhance(within);
}

// A turn that another page, or this one before it was loaded again, had asked for.
async function watch(turn) {
  const page = await asking.fetchTurn(turn.dataset.turn).catch(() => null);
  const fresh = page?.querySelector("article.turn");
  if (!fresh) return;
  if ("running" in fresh.dataset) {
    window.setTimeout(() => watch(turn), POLL);
    return;
  }
  turn.replaceWith(fresh);
  window.htmx.process(fresh);
  ready(fresh);
  say("The answer is there.");
}

ready(document);
cards.begin();
document.querySelector("[data-project-form] select")?.addEventListener("change", (event) => {
  event.target.form.requestSubmit();
});
document.addEventListener("turn", (event) => ready(event.detail));
document.addEventListener("click", (event) => {
  closeMenus(event.target.closest("[data-menu]"));
  const link = event.target.closest("[data-copy]");
  if (link) {
    event.preventDefault();
    copy(link);
  }
  if (event.target.closest("[data-keys]")) help.showModal();
  if (event.target.closest("[data-palette]")) palette.open();
});

function begin() {
  const { box } = asking;
  const fit = () => {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    asking.ask(box.value.trim());
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-again]")) return;
    event.preventDefault();
    const sent = new FormData(event.target);
    asking.ask(sent.get("question"), { ignore: sent.getAll("ignore"), keepBox: true });
  });
  document.addEventListener("click", (event) => {
    const turn = event.target.closest("article.turn[id]");
    if (turn && event.target.closest("[data-edit]")) {
      asking.edit(turn.querySelector(".question").textContent);
    }
  });
  box.addEventListener("input", fit);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  for (const turn of turns.querySelectorAll("[data-running]")) watch(turn);
}

if (asking) begin();

function escape(target) {
  if (asking?.isBusy) asking.stop();
  else if (cards.close()) return;
  else if (window.location.hash === "#sidebar") window.location.hash = "#main";
  else if (document.querySelector("[data-menu][open]")) closeMenus(null);
  else if (target === asking?.box) target.blur();
}

document.addEventListener("keydown", (event) => {
  const isPalette = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (isPalette) {
    event.preventDefault();
    palette.open();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return void escape(event.target);
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key === "/" && asking) {
    event.preventDefault();
    asking.box.focus();
  } else if (event.key === "?") help.showModal();
});
