// A turn while it is being answered: status, chips, calls, text, sources.

import { LiveTables } from "./tables.js";

const NUMBER = /\[(\d{1,3})\]/;

export class LiveTurn {
  constructor(question) {
    this.question = question;
    this.element = copyOf("pending-turn");
    this.answer = this.find("answer");
    this.find("question").textContent = question;
    this.tables = new LiveTables(this.find("tables"), copyOf);
    this.cited = new Set();
    this.text = "";
  }

  find(name) {
    return this.element.querySelector(`[data-${name}]`);
  }

  status(text) {
    if (text) this.find("doing").textContent = text;
  }

  chips(chips) {
    const list = this.find("chips");
    list.replaceChildren(...chips.map(chip));
    list.hidden = !chips.length;
  }

  call(made) {
    const line = document.createElement("li");
    const name = document.createElement("code");
    name.textContent = made.name;
    const what = made.error || `${made.result_count} found`;
    line.append(name, ` ${what}, ${Math.round(made.took_ms)} ms`);
    if (made.error) line.className = "flag";
    this.find("calls").append(line);
    this.find("calls").hidden = false;
  }

  write(text) {
    this.text += text;
    const pieces = text.split(NUMBER);
    pieces.forEach((piece, at) => {
      if (at % 2) this.answer.append(marker(piece));
      else if (piece) this.answer.append(piece);
    });
  }

  sources(found) {
    for (const source of found) {
      if (!this.cited.has(source.key) && !this.card(source.key)) {
        this.find("read").append(card(source));
      }
    }
    this.arrange();
  }

  cite(source) {
    this.cited.add(source.key);
    this.card(source.key)?.remove();
    const made = card(source);
    made.id = `live-source-${source.n}`;
    this.find("cited").append(made);
    this.arrange();
  }

  card(key) {
    return this.element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  arrange() {
    const has = (name) => this.find(name).children.length > 0;
    this.find("cited-part").hidden = !has("cited");
    this.find("also-read").hidden = !has("read");
    this.find("sources").hidden = !has("cited") && !has("read");
    this.element.classList.toggle("with-sources", has("cited") || has("read"));
  }
}

export function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

function marker(n) {
  const link = document.createElement("a");
  link.className = "cite";
  link.href = `#live-source-${n}`;
  link.setAttribute("aria-label", `Source ${n}`);
  link.textContent = n;
  const raised = document.createElement("sup");
  raised.append(link);
  return raised;
}

function chip({ label, text, how }) {
  const made = document.createElement("li");
  made.className = `chip plain ${how}`;
  const name = document.createElement("span");
  name.className = "chip-label";
  name.textContent = `${label} `;
  const value = document.createElement("span");
  value.className = "chip-text";
  value.textContent = text;
  made.append(name, value);
  return made;
}

function card(source) {
  const made = copyOf("live-card");
  made.dataset.key = source.key;
  const put = (name, text) => {
    const place = made.querySelector(`[data-${name}]`);
    place.textContent = text ?? "";
    place.hidden = !text;
  };
  put("n", source.quote ? String(source.n) : "");
  put("kind", (source.type ?? "").replaceAll("_", " "));
  put("context", source.title ? source.context : "");
  put("age", source.age ? `${source.age} old` : "");
  put("quote", source.quote);
  const title = made.querySelector("[data-title]");
  title.textContent = source.title || source.context || source.key;
  if (source.node_id) title.href = `/nodes/${source.node_id}/`;
  return made;
}
