// The list beside the picture: the same nodes, by how they are tied to the centre.
import { moreId } from "./drawing.js";

const SHAPES = {
  person: ["circle", { r: 11 }],
  place: ["rect", { x: -11, y: -11, width: 22, height: 22, rx: 4 }],
  said: ["rect", { x: -13, y: -8, width: 26, height: 16, rx: 5 }],
  thing: ["path", { d: "M0-13 13 0 0 13-13 0z" }],
};
const OPEN_ROWS = 40;
const DAY = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short", year: "numeric" });

export const dayOf = (node) => (node.occurred_at ? DAY.format(new Date(node.occurred_at)) : "");
export const kindOf = (node) => node.type.replaceAll("_", " ");

export class Listing {
  constructor(root, row, centre) {
    this.root = root;
    this.template = row;
    this.centre = centre;
  }

  // `groups` as [label, nodes, more] in their order.
  render(groups) {
    const focused = document.activeElement?.dataset?.node;
    const open = new Set([...this.root.querySelectorAll("details[open]")].map((each) => each.dataset.label));
    const isFirst = !this.root.querySelector("details[data-label]");
    let rows = 0;
    this.root.replaceChildren(...groups.map(([label, nodes, more], n) => {
      const section = this.section(label, nodes, more);
      section.open = n === 0 || open.has(label) || (isFirst && rows <= OPEN_ROWS);
      rows += nodes.length;
      return section;
    }));
    if (focused) this.root.querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  section(label, nodes, more) {
    const section = document.createElement("details");
    section.dataset.label = label;
    const head = document.createElement("h3");
    const summary = document.createElement("summary");
    summary.append(head);
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = nodes.length;
    head.append(`${label.slice(0, 1).toUpperCase()}${label.slice(1)} `, count);
    const list = document.createElement("ul");
    list.append(...nodes.map((node) => this.row(node)), ...more.map((each) => this.moreRow(each)));
    section.append(summary, list);
    return section;
  }

  row(node) {
    const row = this.template.content.firstElementChild.cloneNode(true);
    const [sign, link, about] = row.children;
    sign.classList.add(node.family);
    const [name, shape] = SHAPES[node.family];
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(shape)) drawn.setAttribute(key, value);
    sign.append(drawn);
    link.href = `?node=${node.id}`;
    link.dataset.node = node.id;
    link.textContent = node.name || node.key;
    about.textContent = [kindOf(node), dayOf(node)].filter(Boolean).join(", ");
    return row;
  }

  moreRow(more) {
    const row = document.createElement("li");
    row.className = "g-more";
    const link = document.createElement("a");
    link.href = `/nodes/${more.node}/?relation=${encodeURIComponent(more.relation)}&direction=${more.direction}`;
    link.dataset.more = moreId(more);
    link.textContent = `+${more.count}${more.is_exact ? "" : " or"} more`;
    row.append(link);
    return row;
  }

  choose(id) {
    this.root.querySelector("li.is-chosen")?.classList.remove("is-chosen");
    const link = id && this.root.querySelector(`[data-node="${CSS.escape(id)}"]`);
    if (!link) return;
    const row = link.closest("li");
    row.classList.add("is-chosen");
    row.closest("details").open = true;
    if (getComputedStyle(this.root).maxHeight !== "none") row.scrollIntoView({ block: "nearest" });
  }
}
