// Where a page has its run from: a server that tells what changes, or the file itself, which has all of it.

import { timeNumber } from "./text.js";

export function connect() {
  const own = document.getElementById("recorded");
  return own === null ? new Served() : new Recorded(JSON.parse(own.textContent));
}

async function asked(answer) {
  const given = await answer.json();
  if (!answer.ok) throw new Error(given.error ?? "the server did not answer");
  return given;
}

const post = async (path, body) =>
  asked(await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));

class Served {
  recorded = false;

  async about() {
    return asked(await fetch("api/program"));
  }

  listen(onBatch, onLost) {
    const stream = new EventSource("api/events");
    stream.addEventListener("batch", (event) => onBatch(JSON.parse(event.data)));
    stream.addEventListener("error", onLost);
  }

  command(action, more = {}) {
    return post("api/control", { action, ...more });
  }

  async stateAt(step) {
    return asked(await fetch(`api/state?step=${step}`));
  }

  async answer(key, step) {
    return asked(await fetch(`api/answer?answer=${encodeURIComponent(key)}${step === null ? "" : `&step=${step}`}`));
  }

  check(source) {
    return post("api/check", { source });
  }

  run(source, goOn) {
    return post("api/run", { source, go_on: goOn });
  }

  suppose(facts, step) {
    return post("api/suppose", { facts, step });
  }
}

// A run that was shared: it begins as it ended, and can be played again.
class Recorded {
  recorded = true;

  constructor({ about, first, steps, answers, speed }) {
    Object.assign(this, { given: about, first, steps, answers, speed: speed || 1 });
    this.place = steps.length - 1;
    this.paused = true;
    this.told = () => {};
  }

  async about() {
    return this.given;
  }

  listen(onBatch) {
    this.told = onBatch;
    this.tell(true, this.rowsAt(this.place));
    let before = performance.now();
    this.time = timeNumber(this.steps[this.place].state.now) ?? 0;
    setInterval(() => {
      const moment = performance.now();
      const gone = (moment - before) / 1000;
      before = moment;
      if (!this.paused) this.advance(gone);
    }, 50);
  }

  advance(seconds) {
    if (this.place + 1 >= this.steps.length) {
      this.paused = true;
      return this.tell(false, []);
    }
    const next = timeNumber(this.steps[this.place + 1].state.now) ?? 0;
    // The first step begins the run, wherever on the timeline it lies.
    this.time = this.speed === 0 || this.place === 0 ? next : Math.min(next, this.time + seconds * this.speed);
    if (this.time >= next) this.show();
  }

  show() {
    this.place += 1;
    const { rows, gone } = this.steps[this.place];
    this.tell(false, rows, gone);
  }

  tell(reset, rows, gone = []) {
    this.told({ reset, rows, gone, state: this.state(), more: false, about: [0, 0] });
  }

  state() {
    const { state } = this.steps[this.place];
    const finished = this.place + 1 >= this.steps.length;
    const next = finished ? null : this.steps[this.place + 1].state.now;
    return { ...state, stream_time: this.time ?? timeNumber(state.now) ?? 0, next, paused: this.paused || finished, speed: this.speed, finished, problem: "", first_step: this.steps[0].state.step, facts_per_second: 0, changes_per_second: 0 };
  }

  rowsAt(place) {
    const rows = new Map(this.first.map((row) => [row.key, row]));
    for (const step of this.steps.slice(0, place + 1)) {
      for (const key of step.gone) rows.delete(key);
      for (const row of step.rows) rows.set(row.key, row);
    }
    return [...rows.values()];
  }

  async command(action, more = {}) {
    if (action === "again") {
      this.place = 0;
      this.time = timeNumber(this.steps[0].state.now) ?? 0;
      this.paused = false;
      this.tell(true, this.rowsAt(0));
    } else if (action === "speed") this.speed = more.speed;
    else if (action === "step") {
      this.paused = true;
      if (this.place + 1 < this.steps.length) {
        this.time = timeNumber(this.steps[this.place + 1].state.now) ?? this.time;
        this.show();
      }
    } else this.paused = action !== "play";
    return this.state();
  }

  async stateAt(step) {
    const place = this.steps.findIndex((each) => each.state.step === step);
    if (place < 0) throw new Error(`step ${step} is not in this file`);
    return { rows: this.rowsAt(place), state: this.steps[place].state };
  }

  async answer(key, step) {
    const place = step === null ? this.place : this.steps.findIndex((each) => each.state.step === step);
    const row = this.rowsAt(place).find((each) => each.key === key);
    if (row === undefined) throw new Error(`no answer \`${key}\` is in sight`);
    const full = this.answers[key];
    if (full && full.line.now === row.now && full.line.status === row.status) return full;
    // Of earlier states only what their lines say is in the file.
    const { because, needs, unless, decided_by, confidence } = row;
    const ways = row.status === "possible" ? [{ because, needs, unless, decided_by, confidence }] : [];
    return { line: { ...row, ways }, query: this.given.queries[row.query] ?? "", proof: null, no_proof: "", rules: full?.rules ?? [], rules_are_certain: false, was: row.was ?? null, failed: [] };
  }
}
