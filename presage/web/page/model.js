// The answers the page knows, and which of them are to be seen: filtered, grouped, ordered, most urgent, newest.

import { SETTLED, STATUSES, isAbsence, isOpen, openTimes, timeNumber, timeOfFact, counted, series, splitFact } from "./text.js";

// More answers than this are grouped by key, where several share one, unless someone asks for all of them.
export const MOST_SINGLE_LANES = 24;

export class Model {
  constructor() {
    this.rows = new Map();
    this.step = 0; // the step after which things stood like this
  }

  // Takes a batch of the stream, or the rows of a state of the past.
  apply({ reset = false, rows = [], gone = [], state }) {
    if (reset) this.rows.clear();
    for (const key of gone) this.rows.delete(key);
    for (const row of rows) this.rows.set(row.key, row);
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

// Where on the axis everything about an answer lies; worked out once, when it is first needed.
export function geometry(row) {
  if (row.places !== undefined) return row.places;
  const was = row.was ?? row;
  const known = openTimes(was.unless ?? []);
  const one = (text, full) => ({ text, full, absence: isAbsence(text), count: counted(text), ...timeOfFact(text, known) });
  const fact = (texts, full) => (texts.length === 1 ? one(texts[0], full) : { ...one(texts[0], full), to: one(texts.at(-1), full).to, stretch: true });
  const facts = [...series(was.because).map((texts) => fact(texts, true)), ...series(was.needs).map((texts) => fact(texts, false))];
  const deadline = timeNumber(was.decided_by);
  const start = startOf(row);
  const end = "to" in row ? timeNumber(row.to) : start;
  const name = splitFact(row.answer)[1];
  const ranges = united((row.bounds_of_ways ?? []).map((unless) => openTimes(unless).get(name) ?? {}));
  const all = [start, end, deadline];
  for (const each of facts) all.push(each.from, each.to);
  for (const each of ranges) all.push(each.low, each.high);
  const times = all.filter((time) => Number.isFinite(time));
  row.places = {
    facts, deadline, start, end, ranges,
    grows: row.status === "holds",
    low: times.length ? Math.min(...times) : null,
    high: times.length ? Math.max(...times) : null,
  };
  return row.places;
}

// Ranges as one sees them: those that touch are one.
function united(ranges) {
  const found = [];
  for (const { low = -Infinity, high = Infinity } of [...ranges].sort((a, b) => (a.low ?? -Infinity) - (b.low ?? -Infinity))) {
    const before = found.at(-1);
    if (before && low <= before.high) before.high = Math.max(before.high, high);
    else found.push({ low, high });
  }
  return found;
}

function passes(row, filter) {
  if (!filter.statuses.has(row.status === "holds" ? "confirmed" : row.status)) return false;
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
const due = (row) => (row.due === undefined ? (row.due = timeNumber(row.decided_by) ?? last) : row.due);
const ORDERS = {
  newest: (a, b) => b.serial - a.serial,
  deadline: (a, b) => due(a) - due(b) || b.serial - a.serial,
  time: (a, b) => (startOf(a) ?? last) - (startOf(b) ?? last) || a.serial - b.serial,
  confidence: (a, b) => (b.confidence ?? -1) - (a.confidence ?? -1) || b.serial - a.serial,
  name: (a, b) => (a.answer < b.answer ? -1 : a.answer > b.answer ? 1 : 0),
};

// The answers that pass, in order.
export function select(model, filter) {
  const found = [];
  let inOrder = true;
  for (const row of model.rows.values()) {
    if (!passes(row, filter)) continue;
    if (found.length && found[found.length - 1].serial > row.serial) inOrder = false;
    found.push(row);
  }
  // Rows come in the order in which they were first told, so that the newest are last.
  return filter.order === "newest" && inOrder ? found.reverse() : found.sort(ORDERS[filter.order]);
}

// The few rows that come first by an order, without sorting all of them.
function first(rows, count, before) {
  const found = [];
  for (const row of rows) {
    if (found.length === count && !before(row, found[count - 1])) continue;
    let place = found.length;
    while (place > 0 && before(row, found[place - 1])) place -= 1;
    found.splice(place, 0, row);
    if (found.length > count) found.pop();
  }
  return found;
}

const RANK = { bad: 0, "": 1, good: 2 };

// What is decided soonest, from now on; of equals, what is bad, and then what lacks least.
export function mostUrgent(model, count, toneOf, now) {
  const open = [];
  for (const row of model.rows.values()) if (isOpen(row) && due(row) < last && due(row) >= (now ?? 0)) open.push(row);
  return first(open, count, (a, b) => (due(a) - due(b) || RANK[toneOf(a)] - RANK[toneOf(b)] || a.needs.length - b.needs.length || a.serial - b.serial) < 0);
}

export const newest = (model, count) => first(model.rows.values(), count, (a, b) => a.told > b.told);

// By which variable the lanes are grouped, or null for a lane for each answer.
export function grouping(rows, filter, keys) {
  if (filter.lanes !== "auto") return filter.lanes === "single" ? null : filter.lanes;
  if (rows.length <= MOST_SINGLE_LANES || filter.only !== null) return null;
  // The first variable that puts several answers together; one that all queries have goes before one that some lack.
  let second = null;
  let only = null;
  for (const key of keys) {
    const names = new Set();
    let lacking = false;
    for (const row of rows) {
      lacking ||= !(key in row.bindings);
      names.add(groupName(row, key));
      if (names.size > rows.length * 0.7) break;
    }
    if (names.size === 1 && !lacking) only ??= key;
    if (names.size < 2 || names.size > rows.length * 0.7) continue;
    if (!lacking) return key;
    second ??= key;
  }
  if (second !== null || only !== null) return second ?? only;
  return rows.length <= 300 ? null : (keys[0] ?? "query");
}

const natural = new Intl.Collator("en", { numeric: true }).compare;

// Lanes: a row each, or groups of rows with how many of each status they have, below one of all together. What is
// alone in its group has a lane of its own; a group that was opened is followed by its answers.
export function lanesOf(rows, by, queries, order, opened) {
  if (by === null || rows.length === 0) return rows.map(single);
  const groups = new Map();
  const all = newGroup(ALL, ALL, "all answers");
  for (const row of rows) {
    const name = groupName(row, by);
    let group = groups.get(name);
    if (group === undefined) {
      group = by === "query" ? newGroup(by, name, queries[Number(name)] ?? name) : newGroup(by, name, `${by} = ${name}`, `${by} = `);
      groups.set(name, group);
    }
    group.rows.push(row);
    group.counts[row.status] += 1;
    all.counts[row.status] += 1;
  }
  all.rows = rows;
  const found = [...groups.values()];
  // A lane stays where it is while things happen in it, unless people want what is urgent or likely on top.
  if (order === "newest" || order === "name") found.sort((a, b) => natural(a.name, b.name));
  const lanes = found.length > 1 ? [all] : [];
  for (const group of found) {
    if (group.rows.length === 1) lanes.push(single(group.rows[0]));
    else {
      group.open = opened.has(group.key);
      lanes.push(group);
      if (group.open) lanes.push(...group.rows.map((row) => ({ key: row.key, row, inside: true })));
    }
  }
  return lanes;
}

const single = (row) => ({ key: row.key, row });

function newGroup(by, name, title, prefix = "") {
  return { key: `${by} ${name}`, by, name, title, prefix, rows: [], open: false, counts: Object.fromEntries(STATUSES.map((each) => [each, 0])) };
}
