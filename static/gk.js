// Draws the graph of memory from its endpoint. The list beside it holds the same.
"use strict";
(() => {
  const form = document.querySelector("[data-gk-form]");
  if (!form) return;
  // A phone has room for what is tied more than once; the address says so.
  if ("degreeOpen" in form.dataset && matchMedia("(max-width: 40rem)").matches) {
    const address = new URL(location.href);
    address.searchParams.set("min_degree", "2");
    location.replace(address);
    return;
  }
  form.addEventListener("change", (event) => {
    if (event.target.matches("[type=checkbox], select, [type=number]")) form.requestSubmit();
  });
  // An address says what was chosen, and nothing that was not.
  form.addEventListener("submit", () => {
    for (const field of form.querySelectorAll("input[name=query]")) {
      if (!field.value) field.disabled = true;
    }
  });

  const stage = document.getElementById("gk");
  if (!stage) return;
  const chosen = document.getElementById("gk-chosen");
  const FEW = 150, CROWDED = 40;
  const SHAPES = {
    fact: "ellipse", memory: "round-rectangle", topic: "triangle",
    entity: "hexagon", meta: "diamond",
  };

  // Custom properties that refer to others are resolved on an element's own colour.
  const resolved = (name) => {
    const probe = document.createElement("i");
    stage.append(probe);
    probe.style.color = `var(${name})`;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const styles = () => [
    { selector: "node", style: {
      label: "data(label)", "font-size": 10, "font-family": "system-ui, sans-serif",
      color: resolved("--ink"), "text-valign": "bottom", "text-margin-y": 3,
      "text-wrap": "ellipsis", "text-max-width": 110, "min-zoomed-font-size": 7,
      "text-outline-color": resolved("--card"), "text-outline-width": 2,
      width: "data(size)", height: "data(size)", "border-width": 1.5,
    } },
    ...Object.entries(SHAPES).map(([type, shape]) => ({
      selector: `node[type = "${type}"]`,
      style: {
        shape, "background-color": resolved(`--gk-${type}-wash`),
        "border-color": resolved(`--gk-${type}`),
        "border-style": type === "meta" ? "dashed" : "solid",
      },
    })),
    { selector: "edge", style: {
      width: "data(width)", "line-color": resolved("--line-strong"), "curve-style": "haystack",
      "haystack-radius": 0, opacity: 0.75,
    } },
    { selector: "edge.near", style: {
      label: "data(label)", "font-size": 9, color: resolved("--soft"), opacity: 1,
      "line-color": resolved("--accent"), "text-rotation": "autorotate",
      "text-outline-color": resolved("--card"), "text-outline-width": 2,
    } },
    // Among many, what is remembered tells its name from near by or when it is chosen.
    { selector: "node.quiet", style: { "min-zoomed-font-size": 15 } },
    { selector: "node.named", style: { "min-zoomed-font-size": 0 } },
    { selector: "node.chosen", style: { "border-width": 3, "border-color": resolved("--accent") } },
    { selector: ".far", style: { opacity: 0.18 } },
  ];

  const elements = (graph) => [
    ...graph.nodes.map((node) => ({ data: {
      id: node.id, type: node.node_type, degree: node.degree,
      label: node.metadata.key ? `${node.metadata.key}: ${node.content}` : node.content,
      size: 12 + 6 * Math.sqrt(node.degree),
    }, classes: graph.nodes.length > CROWDED && (node.node_type === "fact" || node.node_type === "memory") ? "quiet" : "" })),
    ...graph.edges.map((edge, n) => ({ data: {
      id: `edge ${n}`, source: edge.source, target: edge.target,
      label: edge.label.replaceAll("_", " "), width: Math.min(4, 0.8 + 0.4 * edge.weight),
    } })),
  ];

  const layout = (number) => (number <= FEW
    ? { name: "cose", animate: false, randomize: false, padding: 24, nodeOverlap: 12,
        idealEdgeLength: () => 70, nodeRepulsion: () => 9000, numIter: 500 }
    : { name: "concentric", animate: false, padding: 24, minNodeSpacing: 6,
        concentric: (node) => Math.ceil(Math.log2(1 + node.data("degree"))), levelWidth: () => 1 });

  const mark = (cy, node) => {
    cy.elements().removeClass("far near named chosen");
    document.querySelector(".gk-list li.chosen")?.classList.remove("chosen");
    if (!node) {
      chosen.textContent = "Choose a node to see what it is tied to.";
      return;
    }
    const near = node.closedNeighborhood();
    cy.elements().not(near).addClass("far");
    near.edges().addClass("near");
    near.nodes().addClass("named");
    node.addClass("chosen");
    const degree = node.data("degree");
    chosen.textContent = `${node.data("label")}: ${degree} ${degree === 1 ? "edge" : "edges"}.`;
    const row = document.querySelector(`[data-node="${CSS.escape(node.id())}"]`);
    if (row) {
      row.closest(".gk-group").open = true;
      row.classList.add("chosen");
      row.scrollIntoView({ block: "nearest" });
    }
  };

  const draw = (graph) => {
    stage.replaceChildren();
    const items = elements(graph);
    const cy = cytoscape({
      container: stage, elements: items, style: styles(), minZoom: 0.15, maxZoom: 4,
      hideEdgesOnViewport: graph.nodes.length > 1000,
      textureOnViewport: graph.nodes.length > 1000,
      layout: { name: "concentric", animate: false, concentric: (node) => node.data("degree"), levelWidth: () => 2 },
    });
    cy.layout(layout(graph.nodes.length)).run();
    cy.on("tap", (event) => mark(cy, event.target === cy ? null : event.target.isNode() ? event.target : null));
    document.querySelector(".gk-list").addEventListener("click", (event) => {
      const row = event.target.closest("[data-node]");
      if (row) mark(cy, cy.getElementById(row.dataset.node));
    });
    document.querySelector("[data-gk-tools]").hidden = false;
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => cy.zoom({
        level: cy.zoom() * Number(button.dataset.zoom),
        renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 },
      }));
    }
    document.querySelector("[data-fit]").addEventListener("click", () => { mark(cy, null); cy.fit(undefined, 24); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(styles()));
    stage.dataset.drawn = graph.nodes.length;
  };

  const say = (text) => {
    const words = document.createElement("p");
    words.className = "quiet";
    words.textContent = text;
    stage.replaceChildren(words);
  };

  const load = async () => {
    say("Drawing…");
    const started = performance.now();
    const answer = await fetch(stage.dataset.endpoint, { headers: { Accept: "application/json" } });
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      throw new Error(problem.detail || `error ${answer.status}`);
    }
    const graph = await answer.json();
    const took = performance.now() - started;
    const server = /dur=([\d.]+)/.exec(answer.headers.get("Server-Timing") || "");
    document.querySelector("[data-feed-server]").textContent = server ? `${Number(server[1]).toFixed(1)} ms` : "–";
    document.querySelector("[data-feed-all]").textContent = `${took.toFixed(0)} ms`;
    draw(graph);
  };
  load().catch((error) => say(`The picture could not be drawn: ${error.message} The list holds the same.`));
})();
