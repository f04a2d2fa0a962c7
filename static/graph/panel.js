// What is known of the chosen node, and what can be done with it.
import { words } from "./drawing.js";
import { dayOf, kindOf } from "./listing.js";

export class Panel {
  // `labels` name a relation by "NAME out" and "NAME in", as seen from the node.
  constructor(root, labels) {
    this.root = root;
    this.labels = labels;
  }

  part(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  // `edges` are those of the node in the picture; `start` where a path begins, if chosen.
  show(node, edges, start) {
    this.root.hidden = !node;
    if (!node) return;
    const text = node.name === node.text.trim().replace(/\s+/g, " ") ? "" : node.text;
    this.part("type").textContent = kindOf(node);
    this.part("date").textContent = dayOf(node);
    this.part("date").dateTime = node.occurred_at || "";
    this.part("source").textContent = node.gone_at ? "gone at its source" : node.source_kind;
    this.part("name").textContent = node.name || node.key;
    this.part("context").textContent = [node.name, node.text].includes(node.context) ? "" : node.context;
    this.part("text").textContent = text;
    this.facts(node, edges);
    this.part("page").href = node.page;
    this.part("why").href = `${node.page}#evidence`;
    this.part("centre").href = `?node=${node.id}`;
    this.part("to").hidden = !start || start === String(node.id);
    this.part("from").hidden = !this.part("to").hidden;
  }

  facts(node, edges) {
    const counted = new Map();
    for (const edge of edges) {
      const direction = String(edge.source) === String(node.id) ? "out" : "in";
      const name = this.labels.get(`${edge.relation} ${direction}`) || words(edge.relation);
      counted.set(name, (counted.get(name) || 0) + 1);
    }
    this.part("facts").replaceChildren(...[...counted].sort((a, b) => b[1] - a[1]).flatMap(([name, number]) => {
      const [count, relation] = [document.createElement("dt"), document.createElement("dd")];
      count.textContent = number;
      relation.textContent = name;
      return [count, relation];
    }));
  }
}
