// Draws a part of the graph: nodes at the places the server gives them, edges between.

const SIGNS = { person: "ellipse", place: "round-rectangle", said: "round-rectangle", thing: "diamond" };
const MANY = 300;
// Of many edges the heaviest are drawn with the nodes, the others after them.
const FIRST = 600, NEXT = 2000;
// The room of a node with its name: what comes later looks for a free one.
const WIDE = 96, HIGH = 46, SPOTS = 400;
// The room around all that is drawn, and how small and large it may begin.
const EDGE = 34, LEAST = 0.03, MOST = 1.4;
const NAMED = 11, LETTER = 0.56, LONGEST = 22;

// Custom properties that refer to others are resolved on an element's own colour.
function resolved(stage, name) {
  const probe = document.createElement("i");
  stage.append(probe);
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function styles(stage, isLarge) {
  const colour = (name) => resolved(stage, name);
  return [
    { selector: "node", style: {
      label: "data(label)", "font-size": NAMED, "font-family": "system-ui, sans-serif",
      color: colour("--ink"), "text-valign": "bottom", "text-margin-y": 3,
      "text-outline-color": colour("--card"), "text-outline-width": 2,
      width: "data(size)", height: "data(size)", "border-width": 1.5,
    } },
    ...Object.entries(SIGNS).map(([family, shape]) => ({
      selector: `node[family = "${family}"]`,
      style: {
        shape, "background-color": colour(`--family-${family}-wash`),
        "border-color": colour(`--family-${family}`),
      },
    })),
    { selector: "node[family = 'said']", style: { height: "data(low)" } },
    { selector: "node[?more]", style: {
      shape: "round-rectangle", width: 46, height: 20, label: "data(count)",
      "text-valign": "center", "text-margin-y": 0, "font-size": 10, "font-weight": 600,
      "background-color": colour("--panel"), "border-color": colour("--line-strong"),
      "border-style": "dashed", color: colour("--soft"), "text-outline-width": 0,
    } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": colour("--soft"), "curve-style": "haystack",
      "haystack-radius": 0, opacity: isLarge ? 0.22 : 0.42,
    } },
    { selector: "edge[?more]", style: { "line-style": "dashed", opacity: 0.6 } },
    { selector: "edge.near", style: {
      "curve-style": "straight", "line-color": colour("--accent"), opacity: 1,
      "target-arrow-shape": "triangle", "target-arrow-color": colour("--accent"), "arrow-scale": 0.7,
    } },
    { selector: "edge.said", style: {
      label: "data(label)", "font-size": 9, color: colour("--ink"), "z-index": 9,
      "text-rotation": "autorotate", "text-background-color": colour("--card"),
      "text-background-opacity": 0.92, "text-background-padding": 2,
    } },
    { selector: "node.mute", style: { label: "" } },
    { selector: ".far", style: { opacity: 0.16 } },
    { selector: "node.centre", style: { "border-width": 3, "font-weight": 700 } },
    { selector: "node.chosen", style: { "border-width": 3.5, "border-color": colour("--accent") } },
    { selector: "edge.way", style: {
      "curve-style": "straight", width: 3.5, opacity: 1, "line-color": colour("--accent"),
    } },
    { selector: "node.way", style: { "border-width": 3, "border-color": colour("--accent") } },
  ];
}

const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).trimEnd()}…` : text);

export const words = (relation) => relation.replaceAll("_", " ");
export const moreId = (more) => `more ${more.node} ${more.relation} ${more.direction}`;

export class Drawing {
  constructor(stage, centre) {
    this.stage = stage;
    this.centre = centre;
    this.waiting = 0;
    this.rest = [];
  }

  begin(answer) {
    this.stage.replaceChildren();
    const isLarge = answer.nodes.length > MANY;
    // What has to be drawn small is drawn larger for it.
    const xs = answer.nodes.map(({ x }) => x), ys = answer.nodes.map(({ y }) => y);
    const room = Math.min(this.stage.clientWidth / (Math.max(...xs) - Math.min(...xs) + 90), this.stage.clientHeight / (Math.max(...ys) - Math.min(...ys) + 90));
    this.larger = isLarge ? 0.75 : Math.min(2.4, Math.max(1, 0.7 / room));
    const ties = new Map();
    for (const { source, target } of answer.edges) for (const end of [source, target]) ties.set(end, (ties.get(end) || 0) + 1);
    const edges = answer.edges.map((edge) => this.edgeOf(edge));
    this.rest = isLarge ? edges.splice(FIRST) : [];
    this.cy = cytoscape({
      container: this.stage, style: styles(this.stage, isLarge), minZoom: LEAST, maxZoom: 4,
      elements: [...answer.nodes.map((node) => this.nodeOf(node, node, ties.get(node.id))), ...edges],
      layout: { name: "preset", fit: false }, ...this.fitting(answer.nodes, ties),
      hideEdgesOnViewport: isLarge, textureOnViewport: isLarge, pixelRatio: isLarge ? 1 : "auto",
      boxSelectionEnabled: false,
    });
    this.addMore(answer.more);
    if (!isLarge) this.whole();
    this.cy.on("pan zoom resize", () => this.soon());
    this.cy.on("mouseover", "node, edge", (event) => { this.stage.classList.add("is-over"); this.say(event.target); });
    this.cy.on("mouseout", "node, edge", () => { this.stage.classList.remove("is-over"); this.cy.edges(".said").not(".kept").removeClass("said"); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.cy.style(styles(this.stage, isLarge)));
    this.name();
    this.goOn();
  }

  // One frame of the page after another, so that it answers meanwhile.
  goOn() {
    if (!this.rest.length) { this.stage.dataset.whole = this.cy.edges("[!more]").length; return; }
    requestAnimationFrame(() => setTimeout(() => { this.more(NEXT); this.goOn(); }));
  }

  more(number) {
    const there = (id) => this.cy.getElementById(id).nonempty();
    const some = this.rest.splice(0, number);
    this.cy.add(some.filter(({ data }) => !there(data.id) && there(data.source) && there(data.target)));
  }

  // Where all nodes are in sight: cytoscape would measure every edge and name for it.
  fitting(nodes, ties) {
    const far = nodes.map(({ id, x, y }) => ({ x, y, half: this.size(ties.get(id) || 0) / 2 }));
    const x1 = Math.min(...far.map(({ x, half }) => x - half)), x2 = Math.max(...far.map(({ x, half }) => x + half));
    const y1 = Math.min(...far.map(({ y, half }) => y - half)), y2 = Math.max(...far.map(({ y, half }) => y + half));
    const { clientWidth: wide, clientHeight: high } = this.stage;
    const zoom = Math.min(MOST, (wide - 2 * EDGE) / (x2 - x1), (high - 2 * EDGE) / (y2 - y1));
    if (!(zoom > LEAST)) return {};
    return { zoom, pan: { x: (wide - zoom * (x1 + x2)) / 2, y: (high - zoom * (y1 + y2)) / 2 } };
  }

  nodeOf(node, { x, y }, ties = 0) {
    const size = this.size(ties);
    return {
      // Nameless until it is known for which names there is room.
      group: "nodes", position: { x, y }, classes: String(node.id) === this.centre ? "centre mute" : "mute",
      data: { ...node, id: String(node.id), label: cut(node.name || node.key), ties, size, low: size * 0.68 },
    };
  }

  edgeOf(edge) {
    return { group: "edges", data: {
      ...edge, id: `edge ${edge.id}`, source: String(edge.source), target: String(edge.target),
      label: words(edge.relation), width: this.larger * Math.min(4, 0.8 + 0.5 * Math.log2(1 + edge.weight)),
    } };
  }

  // What ties much is drawn larger.
  size(ties) {
    return this.larger * Math.min(46, 15 + 4 * Math.sqrt(ties));
  }

  resize() {
    this.cy.batch(() => this.cy.nodes("[!more]").forEach((node) => {
      const ties = node.degree(false), size = this.size(ties);
      if (ties !== node.data("ties")) node.data({ ties, size, low: size * 0.68 });
    }));
  }

  addMore(more) {
    for (const each of more) {
      const id = moreId(each);
      this.cy.getElementById(id).remove();
      const node = this.cy.getElementById(String(each.node));
      if (!each.count || node.empty()) continue;
      const label = each.is_exact ? `+${each.count}` : `+${each.count}…`;
      const middle = this.cy.nodes().boundingBox({ includeLabels: false });
      const at = node.position();
      // Outwards, where there is room.
      const away = { x: at.x - (middle.x1 + middle.w / 2) || 1, y: at.y - (middle.y1 + middle.h / 2) };
      const far = Math.hypot(away.x, away.y);
      this.cy.add([
        { group: "nodes", position: this.free({ x: at.x + 70 * away.x / far, y: at.y + 70 * away.y / far }),
          data: { ...each, id, more: true, count: `${label}`, label, of: String(each.node) } },
        { group: "edges", data: { id: `to ${id}`, source: String(each.node), target: id, more: true, label: each.label, width: 1 } },
      ]);
    }
  }

  // Nodes that are drawn stay where they are; new ones come near to where they belong.
  add(answer, beside) {
    this.more(this.rest.length);
    const offset = this.offset(answer.nodes);
    for (const node of answer.nodes) {
      if (this.cy.getElementById(String(node.id)).nonempty()) continue;
      const wanted = offset ? { x: node.x + offset.x, y: node.y + offset.y } : this.near(beside, node);
      this.cy.add(this.nodeOf(node, this.free(wanted)));
    }
    for (const edge of answer.edges) {
      const drawn = this.edgeOf(edge);
      const ends = [drawn.data.source, drawn.data.target];
      if (this.cy.getElementById(drawn.data.id).empty() && ends.every((end) => this.cy.getElementById(end).nonempty())) this.cy.add(drawn);
    }
    this.resize();
    this.soon();
  }

  // How far this picture lies from the server's, by the nodes that are in both.
  offset(nodes) {
    const both = nodes.map((node) => [node, this.cy.getElementById(String(node.id))]).filter(([, drawn]) => drawn.nonempty());
    if (!both.length) return null;
    const sum = both.reduce((at, [node, drawn]) => ({ x: at.x + drawn.position("x") - node.x, y: at.y + drawn.position("y") - node.y }), { x: 0, y: 0 });
    return { x: sum.x / both.length, y: sum.y / both.length };
  }

  near(beside, node) {
    const found = beside ? this.cy.getElementById(beside) : this.cy.collection();
    return found.nonempty() ? { x: found.position("x") + 40, y: found.position("y") + 30 } : node;
  }

  // The free place nearest to the one that is wanted: on rings around it.
  free(wanted) {
    const taken = this.cy.nodes().map((node) => node.position());
    const isFree = (at) => taken.every((each) => Math.abs(each.x - at.x) > WIDE || Math.abs(each.y - at.y) > HIGH);
    for (let spot = 0; spot < SPOTS; spot += 1) {
      const ring = 14 * Math.sqrt(spot), angle = spot * 2.39996;
      const at = { x: wanted.x + 1.4 * ring * Math.cos(angle), y: wanted.y + ring * Math.sin(angle) };
      if (isFree(at)) return at;
    }
    return wanted;
  }

  // What the server no longer shows goes; what is new comes.
  replace(answer) {
    this.rest = [];
    const kept = new Set([...answer.nodes.map((node) => String(node.id)), ...answer.edges.map((edge) => `edge ${edge.id}`)]);
    this.cy.elements().filter((each) => !kept.has(each.id())).remove();
    this.add(answer);
    this.addMore(answer.more);
    if (this.isOutside()) this.whole();
    this.name();
  }

  whole() {
    this.cy.fit(undefined, EDGE);
    if (this.cy.zoom() > MOST) this.cy.zoom(MOST);
    this.cy.center();
  }

  isOutside() {
    const box = this.cy.elements().boundingBox(), seen = this.cy.extent();
    return box.x1 < seen.x1 || box.x2 > seen.x2 || box.y1 < seen.y1 || box.y2 > seen.y2;
  }

  say(target) {
    const edges = target.isNode() ? (target.degree(false) <= 24 ? target.connectedEdges() : this.cy.collection()) : target;
    edges.addClass("said");
  }

  // One node with what it is tied to stands out; none: all do.
  mark(id) {
    this.more(this.rest.length);
    this.cy.elements(".far, .near, .chosen, .said, .kept, .way").removeClass("far near chosen said kept way");
    const node = id ? this.cy.getElementById(id) : this.cy.collection();
    if (node.empty()) { this.soon(); return; }
    const near = node.closedNeighborhood();
    this.cy.elements().not(near).addClass("far");
    near.edges().addClass("near");
    if (near.edges().length <= 12) near.edges().addClass("said kept");
    node.addClass("chosen");
    this.soon();
  }

  markWay(ways) {
    this.cy.elements().removeClass("far near chosen said kept way");
    const ids = new Set(ways.flatMap((way) => [...way.nodes.map(String), ...way.edges.map((edge) => `edge ${edge}`)]));
    const way = this.cy.elements().filter((each) => ids.has(each.id()));
    this.cy.elements().not(way).addClass("far");
    way.addClass("way");
    way.edges().addClass("said kept");
    if (way.nonempty()) this.cy.fit(way, 90);
    if (this.cy.zoom() > MOST) { this.cy.zoom(MOST); this.cy.center(way); }
    this.soon();
  }

  png(paper) {
    this.more(this.rest.length);
    return this.cy.png({ output: "blob", full: true, scale: 2, maxWidth: 6000, maxHeight: 6000, bg: paper });
  }

  show(id) {
    const node = this.cy.getElementById(id);
    if (node.empty()) return;
    const box = node.renderedBoundingBox();
    if (box.x1 < 0 || box.y1 < 0 || box.x2 > this.cy.width() || box.y2 > this.cy.height()) this.cy.center(node);
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.name(), 90);
  }

  // Names stay readable at every zoom, and give way to those of what ties more.
  name() {
    const zoom = this.cy.zoom(), size = NAMED / Math.min(Math.max(zoom, 0.02), 1.15);
    const rank = (node) => (node.hasClass("chosen") ? 4000 : 0) + (node.hasClass("way") ? 3000 : 0)
      + (node.hasClass("centre") ? 2000 : 0) - (node.hasClass("far") ? 5000 : 0) + node.data("ties");
    const nodes = this.cy.nodes("[!more]").toArray().map((node) => [rank(node), node]).sort(([a], [b]) => b - a).map(([, node]) => node);
    const more = this.cy.nodes("[?more]"), readable = Math.max(1, 0.9 / zoom);
    const bodies = nodes.map((node) => {
      const { x, y } = node.renderedPosition(), wide = node.data("size") * zoom / 2, high = node.data("low") * zoom / 2;
      return { of: node, x1: x - wide, x2: x + wide, y1: y - high, y2: y + high };
    });
    const taken = bodies.length > MANY ? [] : bodies;
    for (const node of more) {
      const { x, y } = node.renderedPosition(), wide = 23 * readable * zoom, high = 10 * readable * zoom;
      taken.push({ x1: x - wide, x2: x + wide, y1: y - high, y2: y + high });
    }
    const most = taken.length + this.cy.width() * this.cy.height() / 5000;
    this.cy.batch(() => more.forEach((node) => { node.style({ width: 46 * readable, height: 20 * readable, "font-size": 10 * readable }); }));
    this.cy.batch(() => nodes.forEach((node) => {
      const at = node.renderedPosition();
      const wide = LETTER * NAMED * node.data("label").length * Math.max(zoom / 1.15, 1);
      const top = at.y + node.data("low") * zoom / 2;
      const box = { x1: at.x - wide / 2, x2: at.x + wide / 2, y1: top + 1, y2: top + 18 };
      const isSeen = box.x2 > 0 && box.y2 > 0 && box.x1 < this.cy.width() && box.y1 < this.cy.height();
      const isFree = isSeen && taken.length < most && taken.every((each) => each.of?.same(node) || each.x2 < box.x1 || each.x1 > box.x2 || each.y2 < box.y1 || each.y1 > box.y2);
      if (isFree) {
        taken.push(box);
        node.removeClass("mute");
        node.style({ "z-index": 5, "font-size": size, "text-margin-y": 3 * size / NAMED, "text-outline-width": 2 * size / NAMED });
      } else {
        node.addClass("mute");
      }
    }));
  }
}
