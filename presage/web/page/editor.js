// The program, to be changed: in colours, with what is wrong as it is typed, and with names that are known.

import { highlighted } from "./highlight.js";
import { element, withCode } from "./text.js";

const QUIET = 250; // milliseconds without a key before the text is looked at
const MOST_OFFERED = 8;

export class Editor {
  // `check` looks at a text, `run` runs it; both are asked of whoever has the reasoner.
  constructor(place, { check, run, language }) {
    Object.assign(this, { check, run, language });
    this.problems = [];
    this.predicates = [];
    this.original = "";
    this.offered = [];
    this.picked = 0;
    this.field = element("textarea", { class: "code", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "The program", "aria-describedby": "editor-problems" });
    this.behind = element("pre", { class: "code behind", "aria-hidden": "true" });
    this.numbers = element("pre", { class: "code numbers", "aria-hidden": "true" });
    this.offer = element("ul", { class: "offer", role: "listbox", "aria-label": "Names", hidden: "" });
    this.list = element("div", { id: "editor-problems", class: "problems", role: "status" });
    this.runButton = element("button", { type: "button", class: "main", text: "Run from the start", title: "Ctrl-Enter", onclick: () => this.go(false) });
    this.goOnButton = element("button", { type: "button", text: "Replace rules and go on", title: "From here on, as if these had been the rules all along", onclick: () => this.go(true) });
    this.undoButton = element("button", { type: "button", text: "As it was", onclick: () => this.setText(this.original) });
    this.saveButton = element("a", { class: "button", text: "Save as .psg", href: "#" });
    this.saveButton.addEventListener("click", () => {
      this.saveButton.href = URL.createObjectURL(new Blob([this.field.value], { type: "text/plain" }));
      this.saveButton.download = this.name;
    });
    const box = element("div", { class: "editor" }, this.numbers, element("div", { class: "area" }, this.behind, this.field, this.offer));
    place.replaceChildren(element("p", { class: "quiet", text: "Change the rules and run them over the same facts." }), box, element("div", { class: "row" }, this.runButton, this.goOnButton, this.undoButton, this.saveButton), this.list);
    this.field.addEventListener("input", () => this.changed());
    this.field.addEventListener("scroll", () => this.align());
    this.field.addEventListener("keydown", (event) => this.onKey(event));
    this.field.addEventListener("blur", () => setTimeout(() => this.hideOffer(), 150));
    this.field.addEventListener("click", () => this.hideOffer());
  }

  // What a run has: the text that runs now. What somebody is typing is not taken from them.
  load(text, name) {
    this.name = name.split(/[\\/]/).at(-1) || "program.psg";
    const untouched = this.field.value === this.original;
    this.original = text;
    if (untouched) this.setText(text);
  }

  setText(text) {
    this.field.value = text;
    this.changed(true);
  }

  changed(quietly = false) {
    this.undoButton.disabled = this.field.value === this.original;
    this.draw();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.look(), quietly ? 0 : QUIET);
    if (quietly) this.hideOffer();
    else this.suggest();
  }

  async look() {
    const text = this.field.value;
    let found;
    try {
      found = await this.check(text);
    } catch (problem) {
      this.list.replaceChildren(element("p", { class: "problem", text: problem.message }));
      return;
    }
    if (text !== this.field.value) return;
    this.problems = found.problems;
    // While a statement is half written its neighbours' names stay known.
    if (found.predicates.length) this.predicates = found.predicates;
    this.runButton.disabled = this.goOnButton.disabled = !found.ok;
    this.draw();
    this.listProblems(found.more);
  }

  listProblems(more) {
    const made = this.problems.map((each) => {
      const where = each.line === null ? "" : `line ${each.line}, column ${each.column}`;
      const box = element("button", { type: "button", class: `found ${each.severity}`, onclick: () => this.goTo(each) },
        element("span", { class: "where", text: `${each.severity} ${each.code}${where ? `, ${where}` : ""}` }), element("span", { class: "message" }, ...withCode(each.message)));
      if (each.text) {
        const caret = `${" ".repeat(each.column - 1)}${"^".repeat(Math.max(1, Math.min(each.end - each.start, each.text.length - each.column + 1)))}`;
        box.append(element("span", { class: "code excerpt" }, `${each.text}\n`, element("b", { text: caret })));
      }
      if (each.hint) box.append(element("span", { class: "hint" }, ...withCode(`hint: ${each.hint}`)));
      return box;
    });
    if (more) made.push(element("p", { class: "quiet", text: `and ${more} more` }));
    if (!made.length) made.push(element("p", { class: "quiet fine", text: "Nothing is wrong with it." }));
    this.list.replaceChildren(...made);
  }

  goTo({ start, end, line }) {
    if (start === null) return;
    this.field.focus();
    this.field.setSelectionRange(start, end);
    this.field.scrollTop = Math.max(0, (line - 4) * this.lineHeight());
    this.align();
  }

  lineHeight() {
    return parseFloat(getComputedStyle(this.field).lineHeight);
  }

  draw() {
    const text = this.field.value;
    const wrong = this.problems.filter((each) => each.start !== null && each.end <= text.length + 1).map((each) => [each.start, each.end, each.severity]);
    this.behind.replaceChildren(...highlighted(text, wrong), "\n");
    const lines = text.split("\n").length;
    if (this.lines !== lines) this.numbers.textContent = Array.from({ length: lines }, (_, place) => place + 1).join("\n");
    this.lines = lines;
    this.align();
  }

  align() {
    this.behind.style.transform = `translate(${-this.field.scrollLeft}px, ${-this.field.scrollTop}px)`;
    this.numbers.style.transform = `translateY(${-this.field.scrollTop}px)`;
  }

  // -- names ---------------------------------------------------------------------------------------

  known() {
    const made = this.predicates.map(({ name, kind, columns }) => ({ name, shown: columns.length ? `${name}(${columns.map((each) => each || "_").join(", ")})` : name, kind, inserted: columns.length ? `${name}(` : name }));
    for (const word of this.language.keywords) made.push({ name: word, shown: word, kind: "word", inserted: word });
    return made;
  }

  suggest(always = false) {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const word = /[\p{L}_][\p{L}\p{N}_]*$/u.exec(line)?.[0] ?? "";
    if (/[%#]/.test(line) || (!always && word.length < 1) || /^[\p{Lu}_]/u.test(word)) return this.hideOffer();
    const small = word.toLowerCase();
    this.offered = this.known().filter(({ name }) => name.toLowerCase().startsWith(small) && name !== word).slice(0, MOST_OFFERED);
    this.word = word;
    this.picked = 0;
    if (!this.offered.length) return this.hideOffer();
    this.showOffer(line, before);
  }

  showOffer(line, before) {
    this.offer.replaceChildren(...this.offered.map(({ shown, kind }, place) =>
      element("li", { role: "option", id: `offer-${place}`, "aria-selected": place === this.picked, onmousedown: (event) => { event.preventDefault(); this.take(place); } }, element("span", { text: shown }), element("span", { class: "quiet", text: kind }))));
    const style = getComputedStyle(this.field);
    this.measure ??= document.createElement("canvas").getContext("2d");
    this.measure.font = style.font;
    const x = this.measure.measureText(line.slice(0, line.length - this.word.length)).width - this.field.scrollLeft + parseFloat(style.paddingLeft);
    const y = before.split("\n").length * this.lineHeight() - this.field.scrollTop + parseFloat(style.paddingTop);
    this.offer.hidden = false;
    // Above the line where there is no room below.
    const { offsetHeight: tall, offsetWidth: wide } = this.offer;
    const top = y + 2 + tall > this.field.clientHeight ? Math.max(0, y - this.lineHeight() - tall - 2) : y + 2;
    this.offer.style.transform = `translate(${Math.max(0, Math.min(x, this.field.clientWidth - wide - 4))}px, ${top}px)`;
    this.field.setAttribute("aria-activedescendant", `offer-${this.picked}`);
  }

  pick(step) {
    this.picked = (this.picked + step + this.offered.length) % this.offered.length;
    [...this.offer.children].forEach((each, place) => each.setAttribute("aria-selected", place === this.picked));
    this.field.setAttribute("aria-activedescendant", `offer-${this.picked}`);
  }

  take(place) {
    const { inserted } = this.offered[place];
    const at = this.field.selectionStart;
    this.field.setRangeText(inserted, at - this.word.length, at, "end");
    this.hideOffer();
    this.changed(true);
    this.field.focus();
  }

  hideOffer() {
    this.offer.hidden = true;
    this.offered = [];
    this.field.removeAttribute("aria-activedescendant");
  }

  onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return this.go(false);
    }
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return this.suggest(true);
    }
    if (!this.offered.length) return;
    const acts = { ArrowDown: () => this.pick(1), ArrowUp: () => this.pick(-1), Enter: () => this.take(this.picked), Tab: () => this.take(this.picked), Escape: () => this.hideOffer() };
    if (!(event.key in acts)) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }

  async go(goOn) {
    if (this.runButton.disabled) return;
    this.runButton.disabled = this.goOnButton.disabled = true;
    try {
      const text = this.field.value;
      await this.run(text, goOn);
      this.original = text;
      this.undoButton.disabled = true;
    } catch (problem) {
      this.list.prepend(element("p", { class: "problem", text: problem.message }));
    }
    this.runButton.disabled = this.goOnButton.disabled = false;
  }
}
