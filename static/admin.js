// What the admin's frame lacks for keys and for those who hear it: roles, names, focus.

const NAMES = {
  "#searchbar": "Search this list",
  "#searchbar-submit": "Search",
  "#search-input-command": "Search or go to",
  "#command-submit": "Search",
};

function mend(root) {
  for (const [found, name] of Object.entries(NAMES)) {
    for (const each of root.querySelectorAll(found)) if (!each.ariaLabel) each.ariaLabel = name;
  }
  // Their text is the name of a picture: nothing to be read out.
  for (const icon of root.querySelectorAll(".material-symbols-outlined:not([aria-hidden])")) icon.ariaHidden = "true";
  // What is clicked and is no button.
  for (const each of root.querySelectorAll("span[x-on\\:click], a[x-on\\:click]:not([href])")) {
    each.tabIndex = 0;
    each.role ??= "button";
    if (!each.ariaLabel && /sidebar\w*Open = !/.test(each.getAttribute("x-on:click"))) each.ariaLabel = "Show or hide the navigation";
  }
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (!["Enter", " "].includes(event.key) || target.getAttribute?.("role") !== "button") return;
  if (target.matches("button, a[href], input, summary")) return;
  event.preventDefault();
  target.click();
});

// Past the navigation, which is long, with one key.
function skipTo(content) {
  if (!content) return;
  content.tabIndex = -1;
  const skip = document.createElement("a");
  skip.href = "#content";
  skip.className = "fabric-skip";
  skip.textContent = "Skip to the content";
  document.body.prepend(skip);
}

document.addEventListener("DOMContentLoaded", () => {
  skipTo(document.getElementById("content"));
  const main = document.getElementById("main");
  if (main) main.role = "main";
  const home = document.querySelector("#nav-sidebar a[href]");
  if (home && !home.ariaLabel) home.ariaLabel = "Fabric: the dashboard";
  mend(document);
  document.addEventListener("htmx:afterSwap", (event) => mend(event.target));
});
