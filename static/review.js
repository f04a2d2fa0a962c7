// The keys of the review. Without it every act has its button still.

const item = document.querySelector("[data-review-item]");
const list = document.querySelector("[data-review-list]");
const keys = document.getElementById("rv-keys");
// Other letters for the same act.
const SAME = { K: "a", r: "p" };

for (const button of document.querySelectorAll("[data-keys-dialog]")) {
  button.hidden = false;
  button.addEventListener("click", () => keys.showModal());
}

function isTyping(target) {
  return target.isContentEditable || target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog[open]") !== null;
}

// Opens a verb where its first field is, or presses a button.
function act(found) {
  if (found.tagName !== "SUMMARY") {
    found.click();
    return;
  }
  found.parentElement.open = true;
  const field = found.parentElement.querySelector("input:not([type=hidden]), textarea, select, button");
  field.focus();
  found.parentElement.scrollIntoView({ block: "nearest" });
}

const rows = () => [...document.querySelectorAll("#result_list tbody")];
const current = () => rows().findIndex((row) => row.classList.contains("is-current"));

function move(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = Math.min(all.length - 1, Math.max(0, current() + by));
  for (const row of all) row.classList.toggle("is-current", row === all[at]);
  const link = all[at].querySelector("th a, td a");
  link.focus({ preventScroll: true });
  all[at].scrollIntoView({ block: "nearest" });
}

function inList(key) {
  const row = rows()[current()];
  if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "o" && row) row.querySelector("th a, td a").click();
  else if (key === "x" && row) row.querySelector("input.action-select").click();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape" && item && isTyping(event.target)) {
    event.target.blur();
    return;
  }
  if (isTyping(event.target)) return;
  if (event.key === "?") {
    event.preventDefault();
    keys.showModal();
    return;
  }
  const key = SAME[event.key] ?? event.key;
  if (!/^[a-z]$/.test(key)) return;
  if (list && inList(key)) {
    event.preventDefault();
    return;
  }
  const found = document.querySelector(`[data-key="${key}"]:not(:disabled)`);
  if (!found) return;
  event.preventDefault();
  act(found);
});
