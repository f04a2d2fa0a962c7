// What a screen reader is told: states, and the answer by finished sentences.

const log = document.getElementById("announcer");
const SENTENCE = /[^]*?(?:[.!?…]["'’”)]*(?:\s?\[\d{1,3}\])*(?=\s)|\n+)/g;
let unsaid = "";

export function say(text) {
  const said = text.replace(/\s+/g, " ").trim();
  if (!said) return;
  const line = document.createElement("p");
  line.textContent = said;
  log.append(line);
}

export function beginAnew() {
  log.replaceChildren();
  unsaid = "";
}

export function hear(text) {
  unsaid += text;
  let end = 0;
  for (const sentence of unsaid.matchAll(SENTENCE)) {
    say(worded(sentence[0]));
    end = sentence.index + sentence[0].length;
  }
  unsaid = unsaid.slice(end);
}

export function finish() {
  say(worded(unsaid));
  unsaid = "";
}

function worded(text) {
  return text.replace(/\[(\d{1,3})\]/g, "").replace(/[*_`#|]+/g, "");
}
