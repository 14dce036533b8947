// The answers the page knows, and which of them are to be seen: filtered, grouped, ordered.

import { SETTLED, STATUSES, timeNumber } from "./text.js";

// More answers than this are grouped by key unless someone asks for all of them.
export const MOST_SINGLE_LANES = 300;

export class Model {
  constructor() {
    this.rows = new Map();
    this.step = 0; // the step after which things stood like this
  }

  // Takes a batch of the stream, or the rows of a state of the past.
  apply({ reset = false, rows = [], gone = [], state }) {
    if (reset) this.rows.clear();
    for (const key of gone) this.rows.delete(key);
    for (const row of rows) this.rows.set(row.answer, row);
    this.step = state.step;
  }
}

// What a row can be found by: its text, and its bindings as `X=wt25`.
function haystack(row) {
  if (row.hay === undefined) {
    const bindings = Object.entries(row.bindings).map(([name, value]) => `${name}=${value}`);
    row.hay = `${row.answer} ${bindings.join(" ")}`.toLowerCase();
  }
  return row.hay;
}

export function startOf(row) {
  if (row.start === undefined) row.start = timeNumber("time" in row ? row.time : row.from);
  return row.start;
}

function passes(row, filter) {
  if (!filter.statuses.has(row.status)) return false;
  if (filter.query !== null && row.query !== filter.query) return false;
  if (filter.confidence > 0 && !SETTLED.has(row.status) && (row.confidence ?? -1) < filter.confidence) return false;
  if (filter.only !== null && groupName(row, filter.only.by) !== filter.only.name) return false;
  return filter.words.length === 0 || filter.words.every((word) => haystack(row).includes(word));
}

const ALL = "all";

function groupName(row, by) {
  if (by === ALL) return ALL;
  if (by === "query") return String(row.query);
  return by in row.bindings ? String(row.bindings[by]) : "–";
}

const last = Number.MAX_VALUE;
const ORDERS = {
  newest: (a, b) => b.serial - a.serial,
  deadline: (a, b) => (timeNumber(a.decided_by) ?? last) - (timeNumber(b.decided_by) ?? last) || b.serial - a.serial,
  time: (a, b) => (startOf(a) ?? last) - (startOf(b) ?? last) || a.serial - b.serial,
  confidence: (a, b) => (b.confidence ?? -1) - (a.confidence ?? -1) || b.serial - a.serial,
  name: (a, b) => (a.answer < b.answer ? -1 : a.answer > b.answer ? 1 : 0),
};

// The answers that pass, in order.
export function select(model, filter) {
  const found = [];
  for (const row of model.rows.values()) if (passes(row, filter)) found.push(row);
  return found.sort(ORDERS[filter.order]);
}

// By which variable the lanes are grouped, or null for a lane for each answer.
export function grouping(count, filter, keys) {
  if (filter.lanes !== "auto") return filter.lanes === "single" ? null : filter.lanes;
  return count <= MOST_SINGLE_LANES || filter.only !== null ? null : (keys[0] ?? "query");
}

// Lanes: a row each, or groups of rows with how many of each status they have, below one of all together. What is
// alone in its group has a lane of its own.
export function lanesOf(rows, by, queries) {
  if (by === null || rows.length === 0) return rows.map(single);
  const groups = new Map();
  const all = newGroup(ALL, ALL, "all answers");
  for (const row of rows) {
    const name = groupName(row, by);
    let group = groups.get(name);
    if (group === undefined) {
      group = newGroup(by, name, by === "query" ? (queries[Number(name)] ?? name) : `${by} = ${name}`);
      groups.set(name, group);
    }
    group.rows.push(row);
    group.counts[row.status] += 1;
    all.counts[row.status] += 1;
  }
  all.rows = rows;
  return [all, ...[...groups.values()].map((group) => (group.rows.length === 1 ? single(group.rows[0]) : group))];
}

const single = (row) => ({ key: row.answer, row });

function newGroup(by, name, title) {
  return { key: `${by} ${name}`, by, name, title, rows: [], counts: Object.fromEntries(STATUSES.map((each) => [each, 0])) };
}
