// The same answers as a table, a page of rows at a time.

import { glyph } from "./marks.js";
import { element, inSeries, showConfidence, showFact, showTime, timeNumber } from "./text.js";

const ROWS = 100;
const COLUMNS = 7;

export class Table {
  constructor({ body, where, before, after }, onChoose, toneOf) {
    Object.assign(this, { body, where, before, after, onChoose, toneOf });
    this.rows = [];
    this.page = 0;
    before.addEventListener("click", () => this.turn(-1));
    after.addEventListener("click", () => this.turn(1));
  }

  turn(pages) {
    this.page += pages;
    this.draw();
  }

  setRows(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const pages = Math.max(1, Math.ceil(this.rows.length / ROWS));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const shown = this.rows.slice(this.page * ROWS, (this.page + 1) * ROWS);
    // Rows stay where they are and are filled anew, so that nobody loses their place.
    while (this.body.rows.length > shown.length) this.body.deleteRow(-1);
    while (this.body.rows.length < shown.length) this.body.append(this.makeRow());
    this.body.parentElement.classList.toggle("unlikely", shown.every((row) => row.confidence === null));
    shown.forEach((row, place) => this.fill(this.body.rows[place], row));
    this.where.textContent = `page ${this.page + 1} of ${pages}, ${this.rows.length.toLocaleString("en")} answers`;
    this.before.disabled = this.page === 0;
    this.after.disabled = this.page === pages - 1;
  }

  makeRow() {
    const line = element("tr");
    for (let cell = 0; cell < COLUMNS; cell++) line.append(element("td"));
    line.cells[1].append(element("button", { type: "button", onclick: () => this.onChoose(line.row) }));
    return line;
  }

  fill(line, row) {
    if (line.row === row) return;
    line.row = row;
    const tone = this.toneOf(row);
    line.className = `${row.status} ${tone}`;
    line.cells[0].replaceChildren(glyph(row.status, tone), ` ${row.status}`);
    line.cells[1].firstChild.textContent = showFact(row.answer);
    line.cells[2].textContent = showTime(timeNumber(row.since));
    // What is refuted says what spoke for it when it was last possible.
    const { because, needs, decided_by: due } = row.was ?? row;
    line.cells[3].replaceChildren(...inSeries(because).map((text) => element("div", { text })));
    line.cells[4].replaceChildren(...inSeries(needs).map((text) => element("div", { text })));
    line.cells[5].textContent = showTime(timeNumber(due));
    line.cells[6].textContent = showConfidence(row.confidence);
  }
}
