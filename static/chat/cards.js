// The card of a source beside its number, while it is pointed at or has the focus.

const canHover = window.matchMedia("(hover: hover)");
let shown = null;
let waiting = 0;

export function begin() {
  for (const name of ["mouseover", "focusin"]) {
    document.addEventListener(name, (event) => {
      const link = event.target.closest?.("a.cite");
      // A hand does not point before it presses: there the number leads to its card.
      if (link && (name === "focusin" || canHover.matches)) soon(() => open(link), name === "focusin" ? 0 : 120);
      else if (shown && !event.target.closest?.(".hover-card")) soon(close, 180);
      else if (event.target.closest?.(".hover-card")) window.clearTimeout(waiting);
    });
  }
  document.addEventListener("click", (event) => {
    if (event.target.closest("a.cite")) close();
  });
  document.addEventListener("scroll", close, true);
}

export function close() {
  window.clearTimeout(waiting);
  const was = shown;
  shown?.card.remove();
  shown?.link.removeAttribute("aria-describedby");
  shown = null;
  return was !== null;
}

function soon(act, milliseconds) {
  window.clearTimeout(waiting);
  waiting = window.setTimeout(act, milliseconds);
}

function open(link) {
  if (shown?.link === link) return;
  close();
  const source = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!source) return;
  const card = document.createElement("div");
  card.className = "hover-card card";
  card.id = "hover-card";
  card.setAttribute("role", "tooltip");
  for (const part of source.children) {
    const copy = part.cloneNode(true);
    copy.querySelectorAll("details").forEach((each) => each.remove());
    card.append(copy);
  }
  document.body.append(card);
  link.setAttribute("aria-describedby", card.id);
  shown = { link, card };
  stand(card, link.getBoundingClientRect());
}

// Below the number where there is room, else above it; never beyond the window.
function stand(card, at) {
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.max(8, Math.min(at.left - 24, window.innerWidth - width - 8));
  const below = at.bottom + 6 + height < window.innerHeight;
  card.style.left = `${left}px`;
  card.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - height - 6)}px`;
}
