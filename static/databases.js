// The pages of databases: what plain forms cannot do. Without it everything still works.

import { enhance } from "./results.js";

const result = document.getElementById("result");
const editor = document.getElementById("editor");
const text = document.getElementById("sql");
const find = document.getElementById("find");
const cancel = document.querySelector("[data-cancel]");
const said = document.querySelector("[data-running]");
let mark = "";
let clock = 0;

function ready(within) {
  for (const extra of within.querySelectorAll("[data-without-script]")) extra.hidden = true;
  for (const extra of within.querySelectorAll("[data-needs-script], [data-insert], [data-use-sql]")) extra.hidden = false;
  enhance(within);
}

ready(document);
for (const select of document.querySelectorAll("[data-sends-itself] select, [data-filters] select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

function write(words) {
  text.focus();
  text.setRangeText(words, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

// A name goes in with a space before it where it would stick to what is there.
function insert(name) {
  const before = text.value.slice(0, text.selectionStart);
  write(before && !/[\s.(]$/.test(before) ? ` ${name}` : name);
}

function use(button) {
  text.value = button.closest(".sql-part").querySelector("[data-sql]").textContent;
  text.focus();
  text.scrollIntoView({ block: "center" });
}

document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-insert]");
  if (name && text) insert(name.dataset.insert);
  const sql = event.target.closest("[data-use-sql]");
  if (sql && text) use(sql);
});

function tick(since) {
  const seconds = Math.round((Date.now() - since) / 1000);
  said.textContent = seconds ? `Running for ${seconds} s…` : "Running…";
}

function began(form) {
  form.elements.mark.value = mark;
  cancel.hidden = cancel.disabled = false;
  cancel.hidden = false;
  result.setAttribute("aria-busy", "true");
  result.classList.add("waits");
  const since = Date.now();
  tick(since);
  clock = window.setInterval(() => tick(since), 1000);
  for (const each of document.querySelectorAll("[data-runs] [type=submit]")) each.disabled = true;
}

function ended() {
  window.clearInterval(clock);
  mark = "";
  said.textContent = "";
  cancel.hidden = true;
  result.removeAttribute("aria-busy");
  result.classList.remove("waits");
  for (const each of document.querySelectorAll("[data-runs] [type=submit]")) each.disabled = false;
}

function trouble(words) {
  const box = document.createElement("p");
  box.className = "trouble";
  box.setAttribute("role", "alert");
  box.textContent = words;
  result.replaceChildren(box);
}

async function stop() {
  cancel.disabled = true;
  said.textContent = "Cancelling…";
  const sent = new FormData();
  sent.set("mark", mark);
  sent.set("csrfmiddlewaretoken", editor.elements.csrfmiddlewaretoken.value);
  const answer = await fetch(cancel.dataset.cancel, { method: "POST", body: sent }).catch(() => null);
  const stopped = answer?.ok ? (await answer.json()).stopped : 0;
  // It may not have begun yet: then it can be tried again.
  if (!stopped && mark) cancel.disabled = false;
}

function begin() {
  document.body.addEventListener("htmx:configRequest", (event) => {
    if (!event.target.matches("[data-runs]")) return;
    mark = identity();
    event.detail.parameters.mark = mark;
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.matches("[data-runs]")) began(event.target);
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.target.matches("[data-runs]")) ended();
  });
  const troubles = {
    "htmx:responseError": (status) => status === 404
      ? "This database is not there any more, or closed to you now."
      : `The server could not answer (error ${status}). Your statement is kept.`,
    "htmx:sendError": () => "The server cannot be reached. Your statement is kept.",
    "htmx:timeout": () => "The server took too long. Your statement is kept.",
  };
  for (const [name, words] of Object.entries(troubles)) {
    document.body.addEventListener(name, (event) => {
      if (event.target.matches("[data-runs]")) trouble(words(event.detail.xhr?.status));
    });
  }
  document.body.addEventListener("htmx:afterSettle", (event) => {
    ready(event.detail.target);
    if (event.detail.target === result) {
      result.querySelector("[data-sorted]")?.replaceChildren("The rows are there.");
    }
  });
  cancel.addEventListener("click", stop);
  text.addEventListener("keydown", (event) => {
    const indents = document.querySelector("[data-tab-indents]").checked;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      editor.requestSubmit();
    } else if (event.key === "Tab" && indents && !event.shiftKey) {
      event.preventDefault();
      write("  ");
    } else if (event.key === "Escape" && !cancel.hidden) {
      stop();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== "/") return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    find?.focus();
  });
}

// Random without a secure context, which `crypto.randomUUID` asks for.
function identity() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

if (editor) begin();
