// The dashboard's pictures: each is drawn from the table beside it, in the page's theme.

const SERIES = ["--fabric-1", "--fabric-2", "--fabric-3", "--fabric-4", "--fabric-5", "--fabric-6", "--fabric-7", "--fabric-8"];
const NAMES_LONG = 8, FONT_SIZE = 11;
const DAY = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short", timeZone: "UTC" });

for (const extra of document.querySelectorAll("[data-without-script]")) extra.hidden = true;
for (const select of document.querySelectorAll("[data-sends-itself] select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

const figures = [...document.querySelectorAll("[data-figure] table")].map((table) => ({
  table,
  panel: table.closest("[data-figure]"),
}));

function paintAll() {
  const { Chart } = globalThis;
  if (!Chart) return; // the tables say it all
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  for (const { table, panel } of figures) paint(Chart, table, panel, colour);
}

function paint(Chart, table, panel, colour) {
  const canvas = panel.querySelector("canvas");
  const kind = panel.dataset.figure;
  const rows = [...table.tBodies[0].rows];
  const labels = rows.map((row) => row.cells[0].textContent.trim());
  const heads = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent.trim());
  const isLying = kind !== "lines" && labels.some((label) => label.length > NAMES_LONG && !/^\d{4}-/.test(label));
  Chart.getChart(canvas)?.destroy();
  panel.querySelector(".picture").hidden = false;
  panel.classList.toggle("tall", isLying && labels.length > 6);
  const names = {
    stacked: kind === "stacked",
    grid: { display: false },
    ticks: { color: colour("--fabric-soft"), autoSkip: !isLying, autoSkipPadding: 14, maxRotation: 0, callback: (at) => short(labels[at]) },
    border: { color: colour("--fabric-line") },
  };
  const numbers = {
    stacked: kind === "stacked",
    type: "logarithmic" in panel.dataset ? "logarithmic" : "linear",
    // A logarithm has no zero: one is a short bar, not none.
    min: "logarithmic" in panel.dataset ? 0.5 : undefined,
    beginAtZero: true,
    title: { display: Boolean(panel.dataset.unit), text: panel.dataset.unit, color: colour("--fabric-soft"), font: { size: FONT_SIZE } },
    ticks: { color: colour("--fabric-soft"), maxTicksLimit: 5, maxRotation: 0, precision: 0, callback: (value) => (value < 1 && value > 0 ? "" : Number(value).toLocaleString()) },
    grid: { color: colour("--fabric-line") },
    border: { display: false },
  };
  new Chart(canvas, {
    type: kind === "lines" ? "line" : "bar",
    data: {
      labels,
      datasets: heads.map((label, n) => ({
        label,
        data: columnOf(rows, n + 1),
        borderColor: colour(SERIES[n % SERIES.length]),
        backgroundColor: colour(SERIES[n % SERIES.length]),
        borderWidth: kind === "lines" ? 2 : 0,
        // A line through one day is none: the first is a dot.
        pointRadius: columnOf(rows, n + 1).filter((value) => value !== null).length === 1 ? 4 : 0,
        pointHitRadius: 8,
        clip: 8,
        spanGaps: true,
        maxBarThickness: 28,
      })),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: isLying ? "y" : "x",
      font: { size: FONT_SIZE },
      interaction: { mode: "index", intersect: false, axis: isLying ? "y" : "x" },
      scales: isLying ? { x: numbers, y: names } : { x: names, y: numbers },
      onClick: (event, _, chart) => follow(event, chart, rows, isLying),
      plugins: {
        legend: {
          display: heads.length > 1,
          position: "bottom",
          labels: { color: colour("--fabric-ink"), boxWidth: 10, boxHeight: 10, font: { size: FONT_SIZE } },
        },
      },
    },
  });
}

// A bar leads where its number in the table leads.
function follow(event, chart, rows, isLying) {
  const [hit] = chart.getElementsAtEventForMode(event.native, "nearest", { intersect: true, axis: isLying ? "y" : "x" }, false);
  if (!hit) return;
  const cells = rows[hit.index].cells;
  const link = cells[hit.datasetIndex + 1].querySelector("a") ?? cells[0].querySelector("a");
  if (link) globalThis.location.assign(link.href);
}

function columnOf(rows, n) {
  return rows.map((row) => numberOf(row.cells[n]));
}

function numberOf(cell) {
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

function short(label) {
  const text = /^\d{4}-\d\d-\d\d$/.test(label) ? DAY.format(new Date(label)) : label;
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}

paintAll();
new MutationObserver(paintAll).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
