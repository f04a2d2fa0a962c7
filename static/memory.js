// The memory page: what plain forms cannot do. Without it everything still works.

for (const extra of document.querySelectorAll("[data-without-script]")) extra.hidden = true;

for (const select of document.querySelectorAll("[data-sends-itself] select, [data-filters] select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// What was changed keeps the focus, so that the keyboard stays where it was.
document.body.addEventListener("htmx:afterSwap", (event) => {
  const { id } = event.detail.target;
  if (id) document.getElementById(id)?.focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    document.getElementById("q")?.focus();
  } else if (event.key === "Escape") {
    const act = event.target.closest("details.act[open]");
    if (act) {
      act.open = false;
      act.querySelector("summary").focus();
    }
  }
});
