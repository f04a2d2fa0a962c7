// Copies an answer as Markdown; where the clipboard is closed the link downloads it.

import { say } from "./announce.js";

export async function copy(link) {
  try {
    const response = await fetch(link.href);
    if (!response.ok) throw new Error(`error ${response.status}`);
    await navigator.clipboard.writeText(await response.text());
  } catch {
    window.location.assign(link.href);
    return;
  }
  const label = link.querySelector("[data-copy-text]");
  label.textContent = "Copied";
  say("Copied.");
  window.setTimeout(() => { label.textContent = "Copy"; }, 2000);
}
