// The page of the graph's picture. Without it forms and links do the same.
import { Drawing, moreId } from "./graph/drawing.js";
import { Listing } from "./graph/listing.js";
import { Panel } from "./graph/panel.js";

const AT_ONCE = 24;
const DAY = 24 * 3600 * 1000;
const stage = document.getElementById("graph");
const form = document.querySelector("[data-view]");
const side = document.querySelector(".g-side");
const hint = document.querySelector("[data-hint]");
const way = document.querySelector("[data-way]");
const centre = stage.dataset.centre || "";
const drawing = new Drawing(stage, centre);
const listing = new Listing(side.querySelector("[data-list]"), document.querySelector("[data-row]"), centre);
const labels = new Map();
const panel = new Panel(side.querySelector("[data-panel]"), labels);
const shown = { nodes: new Map(), edges: new Map(), more: new Map() };
let endpoint = stage.dataset.endpoint;
let chosen = "";
let start = "";
let running = null;
let waiting = 0;

const USUAL = "Choose a node to see what it is tied to.";
const say = (text) => { hint.textContent = text; };

async function ask(address, signal) {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, signal });
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.detail || `The server answered with ${answer.status}.`);
  return data;
}

function keep(answer, { afresh }) {
  if (afresh) for (const kept of Object.values(shown)) kept.clear();
  for (const node of answer.nodes) shown.nodes.set(String(node.id), node);
  for (const edge of answer.edges) shown.edges.set(String(edge.id), edge);
  for (const { name, label, label_back } of answer.relations) labels.set(`${name} out`, label).set(`${name} in`, label_back);
  for (const more of answer.more || []) {
    if (more.count) shown.more.set(moreId(more), more);
    else shown.more.delete(moreId(more));
  }
}

// By relation to the centre, then the rest; without a centre by type.
function groups() {
  const found = new Map();
  const put = (label, node) => { if (!found.has(label)) found.set(label, [label, [], []]); if (node) found.get(label)[1].push(node); };
  const left = new Map(shown.nodes);
  if (centre) {
    left.delete(centre);
    for (const edge of shown.edges.values()) {
      const [source, target] = [String(edge.source), String(edge.target)];
      if (source !== centre && target !== centre) continue;
      const [other, direction] = source === centre ? [target, "out"] : [source, "in"];
      if (!left.has(other)) continue;
      put(labels.get(`${edge.relation} ${direction}`), left.get(other));
      left.delete(other);
    }
    for (const more of shown.more.values()) {
      const label = String(more.node) === centre ? more.label : `${more.label}: ${shown.nodes.get(String(more.node))?.name || ""}`;
      put(label);
      found.get(label)[2].push(more);
    }
    for (const node of left.values()) put("further on", node);
  } else {
    for (const node of left.values()) put(node.type.replaceAll("_", " "), node);
  }
  return [...found.values()];
}

function tell(answer) {
  const [nodes, edges] = [shown.nodes.size, shown.edges.size];
  const cutEdges = answer && answer.is_complete === false ? " There are more edges among these than are drawn." : "";
  document.querySelector("[data-count]").textContent =
    `${nodes} node${nodes === 1 ? "" : "s"}, ${edges} edge${edges === 1 ? "" : "s"}.${cutEdges}`;
  stage.dataset.drawn = nodes;
}

function choose(id) {
  chosen = shown.nodes.has(id) ? id : "";
  drawing.mark(chosen);
  listing.choose(chosen);
  const own = [...shown.edges.values()].filter((edge) => String(edge.source) === chosen || String(edge.target) === chosen);
  panel.show(shown.nodes.get(chosen), own, start);
  say(chosen ? "" : USUAL);
}

async function expand(id, more) {
  const address = new URL(endpoint, location.href);
  const query = address.searchParams;
  for (const name of ["depth", "limit"]) query.delete(name);
  query.set("node", id);
  query.set("expand", AT_ONCE);
  query.set("drawn", [...shown.nodes.keys()].join(","));
  if (more) {
    query.delete("relation");
    query.set("relation", more.relation);
    query.set("direction", more.direction);
  }
  const before = shown.nodes.size;
  const answer = await ask(address);
  if (more && !answer.more.some((each) => moreId(each) === moreId(more))) answer.more.push({ ...more, count: 0 });
  keep(answer, { afresh: false });
  drawing.add(answer, id);
  drawing.addMore(answer.more);
  if (drawing.isOutside()) drawing.whole();
  listing.render(groups());
  tell(answer);
  const number = shown.nodes.size - before;
  say(number ? `${number} more ${number === 1 ? "node is" : "nodes are"} drawn.` : "There is nothing more that you may see.");
}

async function connect(from, to) {
  const address = new URL(stage.dataset.paths, location.href);
  address.searchParams.set("from", from);
  address.searchParams.set("to", to);
  const asOf = new URL(endpoint, location.href).searchParams.get("as_of");
  if (asOf) address.searchParams.set("as_of", asOf);
  const answer = await ask(address);
  keep(answer, { afresh: false });
  drawing.add(answer, from);
  listing.render(groups());
  tell();
  const summary = document.createElement("p");
  summary.textContent = answer.summary;
  const list = document.createElement("ol");
  list.append(...answer.ways.map((each) => Object.assign(document.createElement("li"), { textContent: each.text })));
  way.hidden = false;
  way.querySelector("[data-way-said]").replaceChildren(summary, list);
  drawing.markWay(answer.ways);
  drawing.name();
}

// The address of the page and that of the data follow the form.
function follow() {
  const page = new URL(location.href), data = new URL(endpoint, location.href);
  for (const name of ["type", "relation"]) {
    const boxes = [...form.querySelectorAll(`input[name=${name}]`)];
    const on = boxes.filter((box) => box.checked).map((box) => box.value);
    for (const query of [page.searchParams, data.searchParams]) {
      query.delete(name);
      if (on.length < boxes.length) for (const value of on) query.append(name, value);
    }
  }
  const depth = form.querySelector("select[name=depth]");
  if (depth) for (const query of [page.searchParams, data.searchParams]) query.set("depth", depth.value);
  const day = form.querySelector("input[name=day]");
  if (day?.value) {
    const isLast = day.value >= day.max;
    page.searchParams.delete("day");
    data.searchParams.delete("as_of");
    if (!isLast) {
      page.searchParams.set("day", day.value);
      data.searchParams.set("as_of", `${day.value}T23:59:59.999999`);
    }
  }
  history.replaceState(null, "", page);
  endpoint = data.href;
  document.querySelector("[data-address]").textContent = `GET ${data.pathname}${data.search}`;
}

async function change() {
  const unchosen = ["type", "relation"].find((name) => {
    const boxes = [...form.querySelectorAll(`input[name=${name}]`)];
    return boxes.length && !boxes.some((box) => box.checked);
  });
  if (unchosen) { say(`Leave at least one ${unchosen} chosen.`); return; }
  follow();
  running?.abort();
  running = new AbortController();
  const answer = await ask(endpoint, running.signal);
  keep(answer, { afresh: true });
  drawing.replace(answer);
  listing.render(groups());
  tell(answer);
  choose(chosen);
}

const trying = (task) => task.catch((error) => { if (error.name !== "AbortError") say(error.message); });

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(() => trying(change()), 150);
}

function openMore(id) {
  const more = shown.more.get(id);
  if (more) trying(expand(String(more.node), more));
}

function listen() {
  drawing.cy.on("tap", (event) => {
    const target = event.target;
    if (target === drawing.cy) choose("");
    else if (target.isNode() && target.data("more")) openMore(target.id());
    else if (target.isNode()) choose(target.id());
  });
  listing.root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-node], [data-more]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.more) { openMore(link.dataset.more); return; }
    choose(link.dataset.node);
    drawing.show(link.dataset.node);
  });
  panel.part("expand").addEventListener("click", () => trying(expand(chosen)));
  panel.part("from").addEventListener("click", () => {
    start = chosen;
    say("Choose the other end, then “Path to here”.");
  });
  panel.part("to").addEventListener("click", () => {
    const from = start;
    start = "";
    trying(connect(from, chosen));
  });
  document.querySelector("[data-path]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const to = event.target.elements.to.value.trim();
    const address = new URL(location.href);
    address.searchParams.set("to", to);
    history.replaceState(null, "", address);
    trying(connect(centre, to));
  });
  form.addEventListener("change", (event) => { if (event.target.id !== "g-range") soon(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); soon(); });
}

function tools() {
  document.querySelector("[data-tools]").hidden = false;
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => drawing.cy.zoom({
      level: drawing.cy.zoom() * Number(button.dataset.zoom),
      renderedPosition: { x: drawing.cy.width() / 2, y: drawing.cy.height() / 2 },
    }));
  }
  document.querySelector("[data-fit]").addEventListener("click", () => { choose(""); drawing.whole(); });
  document.querySelector("[data-png]").addEventListener("click", () => {
    const paper = getComputedStyle(stage).backgroundColor;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(drawing.png(paper));
    link.download = "graph.png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

function slide() {
  const range = document.getElementById("g-range"), day = document.getElementById("g-day");
  if (!range) return;
  for (const hidden of form.querySelectorAll("[data-needs-script]")) hidden.hidden = false;
  const first = Date.parse(day.min);
  const named = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const speak = () => range.setAttribute("aria-valuetext", named.format(first + range.value * DAY));
  range.addEventListener("input", () => {
    day.value = new Date(first + range.value * DAY).toISOString().slice(0, 10);
    speak();
    soon();
  });
  day.addEventListener("change", () => {
    if (day.value) range.value = Math.round((Date.parse(day.value) - first) / DAY);
    speak();
  });
  speak();
}

async function load() {
  for (const extra of document.querySelectorAll("[data-without-script]")) extra.hidden = true;
  // The page brings its first picture along.
  performance.mark("graph begins");
  const answer = JSON.parse(document.getElementById("graph-data").textContent);
  keep(answer, { afresh: true });
  drawing.begin(answer);
  tools();
  listen();
  slide();
  tell(answer);
  say(USUAL);
  panel.show(shown.nodes.get(centre), [...shown.edges.values()].filter((edge) => [edge.source, edge.target].map(String).includes(centre)), start);
  chosen = centre;
  performance.measure("graph drawn", "graph begins");
  stage.dataset.ready = "";
  const to = new URL(location.href).searchParams.get("to");
  if (centre && to) await connect(centre, to);
}

load().catch((error) => {
  const said = document.createElement("p");
  said.textContent = `The picture could not be drawn: ${error.message} The list holds the same.`;
  stage.replaceChildren(said);
});
