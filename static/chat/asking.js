// Asking: one question at a time is streamed, can be stopped, and can be tried again.

import { beginAnew, finish as finishSaying, hear, say } from "./announce.js";
import { events, Silent } from "./events.js";
import { copyOf, LiveTurn } from "./live.js";

const STOP_WITHIN = 900;
const GONE = "The server cannot be reached. Is the network there?";
const BROKEN = "The connection broke before the answer was finished.";
const SILENT = "The server has said nothing for a while.";
const OLD = "This page is out of date. Load it again, then ask.";

export class Asking {
  constructor(form, turns) {
    this.form = form;
    this.turns = turns;
    this.box = form.querySelector("textarea");
    this.send = form.querySelector("[data-send]");
    this.live = null;
    this.reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
  }

  get conversation() {
    return this.form.elements.conversation.value;
  }

  get isBusy() {
    return this.live !== null;
  }

  async ask(question, { ignore = [], keepBox = false } = {}) {
    if (this.isBusy || !question.trim()) return;
    const live = this.begin(question, ignore);
    if (!keepBox) this.write("");
    try {
      const response = await this.request(live);
      if (!response.ok) await this.refused(response, live);
      else await this.follow(response, live);
    } catch (error) {
      await this.broke(error, live);
    } finally {
      if (this.live === live) this.end();
    }
  }

  begin(question, ignore) {
    const live = new LiveTurn(question);
    Object.assign(live, { ignore, abort: new AbortController(), stopping: false });
    this.live = live;
    document.querySelector("[data-beginning]")?.remove();
    this.turns.querySelectorAll("[data-followups]").forEach((old) => old.remove());
    this.turns.append(live.element);
    live.find("stop").addEventListener("click", () => this.stop());
    this.send.disabled = true;
    this.turns.setAttribute("aria-busy", "true");
    beginAnew();
    say("Searching the sources.");
    this.show(live.element);
    return live;
  }

  request(live) {
    const { dataset, elements } = this.form;
    return fetch(dataset.stream, {
      method: "POST",
      headers: {
        Accept: "text/event-stream",
        "Content-Type": "application/json",
        "X-CSRFToken": elements.csrfmiddlewaretoken.value,
      },
      body: JSON.stringify({
        project: dataset.project,
        question: live.question,
        stream: true,
        ...(this.conversation ? { conversation: this.conversation } : {}),
        ...(live.ignore.length ? { ignore: live.ignore } : {}),
      }),
      signal: live.abort.signal,
    });
  }

  async follow(response, live) {
    for await (const { name, data } of events(response)) {
      if (data.turn) live.turn = data.turn;
      if (data.conversation) live.conversation = data.conversation;
      if (name === "done") return this.finish(live);
      if (name === "error") return this.failed(live, data);
      this.told(live, name, data);
    }
    throw new TypeError("The stream ended without a word.");
  }

  told(live, name, data) {
    if (name === "status") {
      live.status(data.text);
      if (data.state !== "started") say(data.text ?? "");
    } else if (name === "filters") live.chips(data.chips ?? []);
    else if (name === "call") live.call(data);
    else if (name === "sources") live.sources(data.sources);
    else if (name === "citation") live.cite(data);
    else if (name === "sql") {
      live.tables.add(data);
      say(`A table of ${data.row_count} rows from ${data.connection}.`);
    } else if (name === "chart") live.tables.draw(data);
    else if (name === "followups") live.followups = data.questions;
    else if (name === "delta") {
      live.write(data.text);
      hear(data.text);
    }
  }

  // The finished turn comes from the server: its words are marked up there.
  async finish(live) {
    finishSaying();
    const turn = await this.stored(live);
    if (!turn) return this.failed(live, { detail: BROKEN });
    this.end();
    const cards = turn.querySelectorAll(".sources .card").length;
    say(live.stopping ? "Stopped." : `${cards} ${cards === 1 ? "source" : "sources"}.`);
    return turn;
  }

  // Shows the turn as it is stored in place of the live one; null where it is not.
  async stored(live) {
    if (!live.turn) return null;
    const page = await this.fetchTurn(live.turn).catch(() => null);
    const turn = page?.querySelector("article.turn");
    if (!turn) return null;
    this.place(live, turn);
    for (const id of ["topbar-title", "history-list"]) {
      const searched = id === "history-list" && document.getElementById("find")?.value;
      const fresh = page.getElementById(id);
      if (fresh && !searched) document.getElementById(id)?.replaceWith(fresh);
    }
    this.form.elements.conversation.value = turn.dataset.conversation;
    if (window.location.pathname !== turn.dataset.address) {
      window.history.pushState(null, "", turn.dataset.address);
    }
    document.title = `${document.querySelector("#topbar-title h1")?.textContent} · Fabric`;
    for (const each of [turn, document.getElementById("topbar-title")]) {
      window.htmx.process(each);
    }
    document.dispatchEvent(new CustomEvent("turn", { detail: turn }));
    return turn;
  }

  place(live, turn) {
    // A failed turn that was tried again is the same one.
    document.getElementById(turn.id)?.remove();
    live.element.replaceWith(turn);
    if (live.followups?.length) turn.after(this.followupsOf(live.followups));
  }

  followupsOf(questions) {
    const list = copyOf("followups");
    for (const question of questions) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = question;
      button.addEventListener("click", () => this.ask(question));
      const item = document.createElement("li");
      item.append(button);
      list.querySelector("ul").append(item);
    }
    return list;
  }

  async fetchTurn(turn) {
    const response = await fetch(this.form.dataset.turn.replace("/0/", `/${turn}/`));
    if (!response.ok || response.redirected) return null;
    return new DOMParser().parseFromString(await response.text(), "text/html");
  }

  async stop() {
    const { live } = this;
    if (!live || live.stopping) return;
    live.stopping = true;
    live.find("stop").disabled = true;
    live.status("Stopping…");
    const late = window.setTimeout(() => live.abort.abort(), STOP_WITHIN);
    live.abort.signal.addEventListener("abort", () => window.clearTimeout(late));
    if (!live.turn) {
      live.abort.abort();
      return;
    }
    const address = this.form.dataset.stop.replace("/0/", `/${live.turn}/`);
    const headers = { "X-CSRFToken": this.form.elements.csrfmiddlewaretoken.value };
    await fetch(address, { method: "POST", headers }).catch(() => live.abort.abort());
  }

  async broke(error, live) {
    if (live.stopping) return this.stopped(live);
    if (live.turn && (await this.stored(live))) return null;
    const isSilent = error instanceof Silent;
    const detail = isSilent ? SILENT : live.turn || live.text ? BROKEN : GONE;
    return this.failed(live, { detail });
  }

  // The stream was cut by the reader: what came stays, marked as what it is.
  async stopped(live) {
    say("Stopped.");
    if (live.turn && (await this.stored(live))) return;
    if (!live.text) {
      live.element.remove();
      if (!this.box.value) this.write(live.question);
      return;
    }
    live.element.classList.remove("pending");
    live.find("waiting").replaceWith(copyOf("stopped-note"));
    live.element.querySelector("[data-retry]").addEventListener("click", () => {
      live.element.remove();
      this.ask(live.question, { ignore: live.ignore, keepBox: true });
    });
  }

  async refused(response, live) {
    if (response.status === 401) {
      const next = encodeURIComponent(window.location.pathname);
      window.location.assign(`${this.form.dataset.login}?next=${next}`);
      return;
    }
    const problem = await response.json().catch(() => ({}));
    if (response.status === 403) problem.detail = OLD;
    problem.detail ??= `The server could not answer (error ${response.status}).`;
    this.failed(live, problem);
  }

  failed(live, problem) {
    const failed = copyOf("failed-turn");
    failed.querySelector("[data-question]").textContent = live.question;
    const came = failed.querySelector("[data-came]");
    came.append(...live.answer.childNodes);
    came.hidden = !live.text;
    failed.querySelector("[data-reason]").textContent =
      `${problem.detail || problem.title || "The server could not answer."} Your question is kept.`;
    const retry = failed.querySelector("[data-retry]");
    retry.hidden = problem.can_retry === false;
    retry.addEventListener("click", () => {
      failed.remove();
      this.ask(live.question, { ignore: live.ignore, keepBox: true });
    });
    failed.querySelector("[data-edit]").addEventListener("click", () => {
      failed.remove();
      this.edit(live.question);
    });
    if (live.conversation) this.form.elements.conversation.value = live.conversation;
    live.element.replaceWith(failed);
    this.show(failed);
    failed.querySelector(retry.hidden ? "[data-edit]" : "[data-retry]").focus({ preventScroll: true });
  }

  end() {
    this.live = null;
    this.send.disabled = false;
    this.turns.setAttribute("aria-busy", "false");
    if (document.activeElement === document.body) this.box.focus({ preventScroll: true });
  }

  edit(question) {
    this.write(question);
    this.box.focus();
    this.box.setSelectionRange(question.length, question.length);
  }

  write(text) {
    this.box.value = text;
    this.box.dispatchEvent(new Event("input"));
  }

  show(element) {
    element.scrollIntoView({ block: "start", behavior: this.reduced.matches ? "auto" : "smooth" });
  }
}
