// Draws the tables of a schema and their foreign keys. The list beside it tells the same.
"use strict";
(() => {
  const stage = document.getElementById("schema-picture");
  if (!stage) return;
  const chosen = document.getElementById("schema-chosen");
  const FEW = 80;

  const colour = (name) => getComputedStyle(stage.closest(".schema")).getPropertyValue(name).trim();
  const styles = () => [
    { selector: "node", style: {
      label: "data(label)", shape: "round-rectangle", "font-size": 11,
      "font-family": "system-ui, sans-serif", color: colour("--s-ink"),
      "text-valign": "center", "text-wrap": "ellipsis", "text-max-width": 120,
      width: "data(width)", height: 26, "min-zoomed-font-size": 6,
      "background-color": colour("--s-wash"), "border-width": 1.5, "border-color": colour("--s-accent"),
    } },
    { selector: "node[?view]", style: { "border-color": colour("--s-view"), "border-style": "dashed" } },
    { selector: "node[?hidden]", style: {
      "border-color": colour("--s-line"), "background-color": colour("--s-panel"), color: colour("--s-soft"),
    } },
    { selector: "edge", style: {
      width: 1.2, "line-color": colour("--s-soft"), "curve-style": "bezier", opacity: 0.7,
      "target-arrow-shape": "triangle", "target-arrow-color": colour("--s-soft"), "arrow-scale": 0.8,
    } },
    { selector: "edge.near", style: {
      label: "data(label)", "font-size": 9, color: colour("--s-ink"), opacity: 1,
      "line-color": colour("--s-accent"), "target-arrow-color": colour("--s-accent"),
      "text-background-color": colour("--s-card"), "text-background-opacity": 0.9, "text-rotation": "autorotate",
    } },
    { selector: "node.chosen", style: { "border-width": 3 } },
    { selector: ".far", style: { opacity: 0.2 } },
  ];

  const elements = (graph) => [
    ...graph.nodes.map((node) => ({ data: { ...node, width: Math.min(140, 24 + 6.5 * node.label.length) } })),
    ...graph.edges.map((edge, n) => ({ data: { id: `edge ${n}`, ...edge } })),
  ];

  const layout = (number) => (number <= FEW
    ? { name: "cose", animate: false, randomize: false, padding: 24, nodeOverlap: 60, nodeDimensionsIncludeLabels: true,
        idealEdgeLength: () => 90, nodeRepulsion: () => 24000, componentSpacing: 60, numIter: 600 }
    : { name: "concentric", animate: false, padding: 24, minNodeSpacing: 14,
        concentric: (node) => Math.ceil(Math.log2(1 + node.data("ties"))), levelWidth: () => 1 });

  const mark = (cy, node) => {
    cy.elements().removeClass("far near chosen");
    document.querySelector(".schema-box.is-chosen")?.classList.remove("is-chosen");
    if (!node) {
      chosen.textContent = "Choose a table to see its keys.";
      return;
    }
    const near = node.closedNeighborhood();
    cy.elements().not(near).addClass("far");
    near.edges().addClass("near");
    node.addClass("chosen");
    const keys = node.connectedEdges().length;
    chosen.textContent = `${node.data("schema")}.${node.data("label")}: ${keys} ${keys === 1 ? "key" : "keys"}.`;
    const row = document.querySelector(`[data-table="${CSS.escape(node.id())}"]`);
    if (row) {
      row.classList.add("is-chosen");
      row.open = true;
      row.scrollIntoView({ block: "nearest" });
    }
  };

  const draw = (graph) => {
    stage.replaceChildren();
    const cy = cytoscape({
      container: stage, elements: elements(graph), style: styles(), minZoom: 0.1, maxZoom: 3,
      layout: { name: "grid", animate: false },
    });
    cy.layout(layout(graph.nodes.length)).run();
    cy.on("tap", (event) => mark(cy, event.target === cy ? null : event.target.isNode() ? event.target : null));
    for (const row of document.querySelectorAll("[data-table]")) {
      row.addEventListener("toggle", () => {
        const node = cy.getElementById(row.dataset.table);
        if (row.open && node.length && !node.hasClass("chosen")) mark(cy, node);
      });
    }
    document.querySelector("[data-schema-tools]").hidden = false;
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => cy.zoom({
        level: cy.zoom() * Number(button.dataset.zoom),
        renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 },
      }));
    }
    document.querySelector("[data-fit]").addEventListener("click", () => { mark(cy, null); cy.fit(undefined, 24); });
    // The admin's theme is a class, chosen in its menu.
    new MutationObserver(() => cy.style(styles())).observe(document.documentElement, { attributeFilter: ["class"] });
    stage.dataset.drawn = graph.nodes.length;
  };

  const load = async () => {
    const answer = await fetch(stage.dataset.endpoint, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`error ${answer.status}`);
    draw(await answer.json());
  };
  load().catch((error) => {
    const words = document.createElement("p");
    words.textContent = `The picture could not be drawn: ${error.message}. The list tells the same.`;
    stage.replaceChildren(words);
  });
})();
