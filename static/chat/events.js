// Server-sent events of a fetched response, one after another.

const SILENCE = 45000;

export class Silent extends Error {}

// Yields {name, data}; throws Silent when the server has said nothing for too long.
export async function* events(response, silence = SILENCE) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await within(reader.read(), silence);
      if (done) return;
      text += value.replaceAll("\r\n", "\n");
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const event = parsed(text.slice(0, end));
        text = text.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  let name = "message";
  const lines = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) lines.push(line.slice(5).trimStart());
  }
  return lines.length ? { name, data: JSON.parse(lines.join("\n")) } : null;
}

function within(promise, milliseconds) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Silent()), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
