// The chat page: what plain forms cannot do. Without it everything still works.
"use strict";
(() => {
  const form = document.querySelector("[data-ask]");
  const turns = document.querySelector("[data-turns]");
  const announcer = document.getElementById("announcer");
  const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
  let pending = null;
  let stopped = false;

  for (const extra of document.querySelectorAll("[data-without-script]")) {
    extra.hidden = true;
  }
  document.querySelector("[data-project-form] select")?.addEventListener("change", (event) => {
    event.target.form.requestSubmit();
  });

  function closeMenus(except) {
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (menu !== except) menu.open = false;
    }
  }
  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest("[data-menu]"));
  });

  if (!form) return;
  const box = form.querySelector("textarea");
  const send = form.querySelector("[data-send]");

  function fit() {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }

  function say(text) {
    announcer.textContent = text;
  }

  function show(element) {
    element.scrollIntoView({
      block: "start",
      behavior: reduced.matches ? "auto" : "smooth",
    });
  }

  function fromTemplate(id, question) {
    const copy = document.getElementById(id).content.firstElementChild.cloneNode(true);
    copy.querySelector("[data-question]").textContent = question;
    return copy;
  }

  function busy(is) {
    send.disabled = is;
    turns.setAttribute("aria-busy", String(is));
  }

  function begin() {
    stopped = false;
    document.querySelector("[data-beginning]")?.remove();
    pending = fromTemplate("pending-turn", box.value.trim());
    turns.append(pending);
    busy(true);
    show(pending);
    say("Searching the sources.");
  }

  function fail(reason) {
    const question = pending?.querySelector("[data-question]").textContent ?? box.value;
    const failed = fromTemplate("failed-turn", question);
    failed.querySelector("[data-reason]").textContent = reason;
    failed.querySelector("[data-retry]").addEventListener("click", () => {
      failed.remove();
      ask(question);
    });
    failed.querySelector("[data-dismiss]").addEventListener("click", () => {
      failed.remove();
      box.focus();
    });
    if (pending) pending.replaceWith(failed);
    else turns.append(failed);
    pending = null;
    busy(false);
    failed.querySelector("[data-retry]").focus();
    show(failed);
  }

  function ask(question) {
    box.value = question;
    fit();
    form.requestSubmit();
  }

  function finish() {
    const turn = turns.querySelector(":scope > article[id]:last-of-type");
    pending?.remove();
    pending = null;
    busy(false);
    if (!turn) return;
    form.querySelector("[data-conversation-field]").value = turn.dataset.conversation;
    box.value = "";
    fit();
    box.focus({ preventScroll: true });
    show(turn);
    const cards = turn.querySelectorAll(".card").length;
    const answer = turn.querySelector("[data-answer]")?.textContent ?? "";
    say(`${answer.replace(/\s+/g, " ").trim()} ${cards} sources.`);
  }

  function stop() {
    stopped = true;
    window.htmx.trigger(form, "htmx:abort");
    pending?.remove();
    pending = null;
    busy(false);
    say("Stopped.");
  }

  form.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === form) begin();
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt === form && event.detail.successful) {
      window.setTimeout(finish, 30);
    }
  });
  form.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    if (status === 422) fail(responseText);
    else if (status === 403) fail("This page is out of date. Load it again, then ask.");
    else fail(`The server could not answer (error ${status}). Your question is kept.`);
  });
  form.addEventListener("htmx:sendError", () => {
    if (!stopped) fail("The server cannot be reached. Is the network there?");
  });
  form.addEventListener("htmx:timeout", () => {
    fail("The server took too long to answer.");
  });

  for (const sample of document.querySelectorAll("[data-sample]")) {
    sample.addEventListener("submit", (event) => {
      event.preventDefault();
      ask(sample.elements.question.value);
    });
  }

  box.addEventListener("input", fit);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!send.disabled && box.value.trim()) form.requestSubmit();
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape") {
      if (pending) stop();
      else if (window.location.hash === "#sidebar") window.location.hash = "#main";
      else if (document.querySelector("[data-menu][open]")) closeMenus(null);
      else if (event.target === box) box.blur();
    }
  });
})();
