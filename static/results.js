// Results of databases: sorted by their columns, opened whole, drawn where that fits.

const SHOWN = 50;
const ORDERS = { none: "ascending", ascending: "descending", descending: "none" };
const COLLATOR = new Intl.Collator(document.documentElement.lang, { sensitivity: "base" });
const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map();

export function enhance(within) {
  for (const result of within.querySelectorAll("[data-table-result]:not([data-ready])")) {
    result.dataset.ready = "";
    beginSorting(result);
    beginOpening(result);
    const figure = result.querySelector("[data-chart]");
    if (figure) draw(figure, result);
  }
}

function beginSorting(result) {
  const rows = [...result.querySelectorAll("tbody tr:not(.no-rows)")];
  if (rows.length < 2) return;
  rows.forEach((row, at) => { row.dataset.at = at; });
  for (const head of result.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(result, head));
  }
}

function sort(result, head) {
  const order = ORDERS[head.getAttribute("aria-sort")];
  for (const each of head.parentElement.children) each.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const body = result.querySelector("tbody");
  const rows = [...body.rows];
  const place = head.cellIndex;
  const compare = head.dataset.family === "number" ? byNumber : byText;
  const step = order === "descending" ? -1 : 1;
  rows.sort((one, other) => {
    if (order !== "none") {
      const [a, b] = [one.cells[place], other.cells[place]];
      // What is NULL has no place in an order: it comes last either way.
      const nulls = ("null" in a.dataset) - ("null" in b.dataset);
      const found = nulls || step * compare(a.textContent, b.textContent);
      if (found) return found;
    }
    return one.dataset.at - other.dataset.at;
  });
  body.append(...rows);
  const name = head.textContent.trim();
  result.querySelector("[data-sorted]").textContent =
    order === "none" ? "In the order of the result." : `Sorted by ${name}, ${order}.`;
}

function byNumber(a, b) {
  const [one, other] = [Number(a), Number(b)];
  return Number.isNaN(one) || Number.isNaN(other) ? COLLATOR.compare(a, b) : one - other;
}

function byText(a, b) {
  return COLLATOR.compare(a, b);
}

function beginOpening(result) {
  const button = result.querySelector("[data-all]");
  const table = result.querySelector("table.grid");
  if (!button || table.tBodies[0].rows.length <= SHOWN) return;
  const first = result.querySelector("[data-first]");
  button.hidden = first.hidden = false;
  button.addEventListener("click", () => {
    table.classList.remove("short");
    button.hidden = first.hidden = true;
    result.querySelector(".grid-frame").focus({ preventScroll: true });
  });
}

async function draw(figure, result) {
  const table = result.querySelector("table.grid");
  const points = [...table.tBodies[0].rows].map((row) =>
    [...row.cells].map((cell) => cell.textContent));
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const x = Number(figure.dataset.x);
  const isLine = figure.dataset.chart === "line";
  if (isLine) points.sort((a, b) => inTime(a[x], b[x]));
  const made = {
    isLine,
    labels: points.map((row) => row[x]),
    lines: figure.dataset.y.split(" ").map(Number).map((place) => ({
      label: heads[place],
      data: points.map((row) => Number(row[place])),
    })),
  };
  try {
    // It is large, and most pages have no chart: it comes with the first.
    await import("./vendor/chart-4.6.1.umd.min.js");
  } catch {
    return; // the table says it all
  }
  if (!figure.isConnected) return;
  figure.hidden = false;
  drawn.set(figure, made);
  paint(figure, made);
}

function inTime(a, b) {
  return a === b ? 0 : a < b ? -1 : 1;
}

function paint(figure, { isLine, labels, lines }) {
  const canvas = figure.querySelector("canvas");
  const { Chart } = globalThis;
  Chart.getChart(canvas)?.destroy();
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const colours = [colour("--accent"), colour("--family-thing")];
  const axis = {
    ticks: { color: colour("--soft"), maxRotation: 60, autoSkip: true },
    grid: { color: colour("--line") },
    border: { color: colour("--line-strong") },
  };
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12 };
  // Long names stand beside their bars, where there is room for them.
  const isLying = !isLine && labels.some((label) => label.length > 12);
  const measure = { ...axis, beginAtZero: !isLine };
  const names = { ...axis, grid: { display: false } };
  if (isLying) {
    names.ticks = { ...names.ticks, callback: (at) => short(labels[at]) };
    names.ticks.autoSkip = false;
  }
  figure.classList.toggle("tall", isLying && labels.length > 8);
  new Chart(canvas, {
    type: isLine ? "line" : "bar",
    data: {
      labels,
      datasets: lines.map((line, n) => ({
        ...line,
        borderColor: colours[n],
        backgroundColor: colours[n],
        borderWidth: isLine ? 2 : 0,
        borderRadius: 3,
        maxBarThickness: 48,
        pointRadius: labels.length > 60 ? 0 : 2.5,
        tension: 0,
      })),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: isLying ? "y" : "x",
      font,
      color: colour("--ink"),
      interaction: { mode: "index", intersect: false, axis: isLying ? "y" : "x" },
      scales: isLying ? { x: measure, y: names } : { x: names, y: measure },
      plugins: {
        legend: { display: lines.length > 1, labels: { color: colour("--ink"), boxWidth: 12, font } },
      },
    },
  });
}

function short(label) {
  return label.length > 24 ? `${label.slice(0, 23)}…` : label;
}

DARK.addEventListener("change", () => {
  for (const [figure, made] of drawn) {
    if (figure.isConnected) paint(figure, made);
    else drawn.delete(figure);
  }
});
