// Ctrl or Cmd and K: conversations and actions, found by typing.

export class Palette {
  constructor(dialog, actions) {
    this.dialog = dialog;
    this.actions = actions;
    this.box = dialog.querySelector("input");
    this.list = dialog.querySelector("[role=listbox]");
    this.asked = 0;
    this.box.addEventListener("input", () => this.fill());
    this.box.addEventListener("keydown", (event) => this.press(event));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }

  open() {
    if (this.dialog.open) return;
    this.box.value = "";
    this.dialog.showModal();
    this.fill();
  }

  async fill() {
    const wanted = this.box.value.trim();
    const asked = (this.asked += 1);
    const words = wanted.toLowerCase();
    const actions = this.actions.filter(({ label }) => label.toLowerCase().includes(words));
    this.show(actions, []);
    const address = new URL(this.dialog.dataset.conversations, window.location.href);
    address.searchParams.set("find", wanted);
    const response = await fetch(address).catch(() => null);
    if (!response?.ok || asked !== this.asked) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const links = [...page.querySelectorAll("li a")].slice(0, 20);
    this.show(actions, links.map((link) => ({
      label: link.textContent,
      act: () => window.location.assign(link.getAttribute("href")),
    })));
  }

  show(actions, conversations) {
    const groups = [["Actions", actions], ["Conversations", conversations]];
    this.list.replaceChildren();
    this.options = [];
    for (const [name, entries] of groups) {
      if (!entries.length) continue;
      const group = document.createElement("div");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", name);
      const title = document.createElement("p");
      title.textContent = name;
      title.setAttribute("aria-hidden", "true");
      group.append(title, ...entries.map((entry) => this.option(entry)));
      this.list.append(group);
    }
    if (!this.options.length) {
      const nothing = document.createElement("p");
      nothing.textContent = "Nothing of that name.";
      this.list.append(nothing);
    }
    this.choose(0);
  }

  option({ label, keys, act }) {
    const made = document.createElement("div");
    made.setAttribute("role", "option");
    made.id = `palette-${this.options.length}`;
    made.append(label);
    if (keys) {
      const key = document.createElement("kbd");
      key.textContent = keys;
      made.append(key);
    }
    made.addEventListener("click", () => {
      this.dialog.close();
      act();
    });
    this.options.push(made);
    return made;
  }

  choose(at) {
    if (!this.options.length) {
      this.box.removeAttribute("aria-activedescendant");
      return;
    }
    this.at = (at + this.options.length) % this.options.length;
    this.options.forEach((option, n) => option.setAttribute("aria-selected", String(n === this.at)));
    const chosen = this.options[this.at];
    this.box.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  }

  press(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      this.choose(this.at + steps[event.key]);
    } else if (event.key === "Enter" && this.options.length) {
      event.preventDefault();
      this.options[this.at].click();
    }
  }
}
