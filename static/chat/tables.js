// Results of databases while an answer comes: the same tables as the stored ones.

import { enhance } from "../results.js";

const FORMS = { line: "Line chart", bar: "Bar chart" };

export class LiveTables {
  constructor(list, copyOf) {
    this.list = list;
    this.copyOf = copyOf;
    this.made = new Map();
  }

  add(told) {
    const made = this.copyOf("live-table");
    const find = (name) => made.querySelector(`[data-${name}]`);
    made.setAttribute("aria-label", `Result of ${told.connection}`);
    find("connection").textContent = told.connection;
    find("reading").textContent = told.reading ?? "";
    const assumed = told.assumptions ?? [];
    find("assumptions").hidden = !assumed.length;
    find("assumptions").textContent = `Assumed: ${assumed.join("; ")}`;
    fill(made, told);
    facts(made, told);
    const place = told.place ?? this.made.size;
    this.made.get(place)?.element.remove();
    this.made.set(place, { element: made, told });
    this.list.append(made);
    this.list.hidden = false;
    enhance(made);
  }

  draw({ place, kind, x, y }) {
    const found = this.made.get(place);
    if (!found) return;
    const { element, told } = found;
    // A chart of some of the rows would draw a part as if it were all.
    if (told.truncated || told.rows.length !== told.row_count) return;
    const names = y.map((at) => told.columns[at]?.name);
    if (kind === "number") {
      const big = element.querySelector("[data-big-number]");
      big.querySelector("strong").textContent = grouped(told.rows[0]?.[y[0]]);
      big.querySelector("span").textContent = names[0];
      big.hidden = false;
      return;
    }
    const figure = element.querySelector("figure.chart");
    const label = `${FORMS[kind]} of ${names.join(" and ")} by ${told.columns[x]?.name}`;
    Object.assign(figure.dataset, { chart: kind, x, y: y.join(" ") });
    figure.querySelector("figcaption").textContent = label;
    figure.querySelector("canvas").setAttribute("aria-label", `${label}. The table below has its numbers.`);
    const result = element.querySelector("[data-table-result]");
    delete result.dataset.ready;
    result.replaceWith(renewed(result));
    enhance(element);
  }
}

// A copy without the listeners and buttons of the first: it is enhanced anew.
function renewed(result) {
  const copy = result.cloneNode(true);
  for (const button of copy.querySelectorAll("button.sort")) button.replaceWith(...button.childNodes);
  return copy;
}

function fill(made, { columns, rows }) {
  const head = made.querySelector("thead tr");
  for (const { name, family } of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.dataset.family = family;
    cell.className = family === "number" ? "number" : "";
    cell.textContent = name;
    head.append(cell);
  }
  const body = made.querySelector("tbody");
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((value, at) => {
      const cell = line.insertCell();
      cell.classList.toggle("number", columns[at]?.family === "number");
      cell.textContent = value === null ? "NULL" : String(value);
      if (value === null) {
        cell.dataset.null = "";
        cell.classList.add("null");
      }
    });
  }
  if (!rows.length) {
    const line = body.insertRow();
    line.className = "no-rows";
    const cell = line.insertCell();
    cell.colSpan = Math.max(1, columns.length);
    cell.textContent = "No rows: nothing fits the conditions.";
  }
  made.querySelector("table.grid").classList.toggle("short", rows.length > 50);
}

function facts(made, told) {
  const find = (name) => made.querySelector(`[data-${name}]`);
  const { rows, row_count: count, truncated } = told;
  const here = rows.length === count ? "" : `${rows.length} rows here, `;
  const all = truncated ? "rows read, and there are more" : count === 1 ? "row" : "rows";
  find("rows").textContent = `${here}${count} ${all}`;
  find("took").textContent = `${Math.round(told.took_ms)} ms`;
  find("all").textContent = `Show all ${rows.length}`;
  const tables = told.tables ?? [];
  find("sql-facts").textContent =
    `SQL · ${tables.length} table${tables.length === 1 ? "" : "s"} · ${count} row${count === 1 ? "" : "s"} · ${Math.round(told.took_ms)} ms`;
  find("sql-tables").textContent = tables.join(", ");
  find("sql").textContent = told.sql;
}

function grouped(number) {
  const text = String(number ?? "");
  const [whole, part] = text.split(".");
  if (!/^-?\d+$/.test(whole)) return text;
  const set = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? set : `${set}.${part}`;
}
