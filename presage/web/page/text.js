// How things are said: times, numbers, answers in words. Everything here gives plain text.

export const STATUSES = ["possible", "unsupported", "confirmed", "refuted", "inconsistent"];
export const SETTLED = new Set(["confirmed", "refuted", "inconsistent"]);

// A time as a number for drawing: 3, "1/3", "0.5"; null where it is not bound.
export function timeNumber(given) {
  if (given === null || given === undefined) return null;
  if (typeof given === "number") return given;
  const [above, below] = String(given).split("/");
  const value = below === undefined ? Number(above) : Number(above) / Number(below);
  return Number.isFinite(value) && above.trim() !== "" ? value : null;
}

// The time of a fact in text: what stands after the last @. Of an interval, its ends.
export function timeOfFact(text) {
  const written = text.slice(text.lastIndexOf("@") + 1);
  const interval = /^[[(](.+),(.+)[\])]$/.exec(written);
  if (interval) return { from: timeNumber(interval[1]), to: timeNumber(interval[2]) };
  const at = timeNumber(written);
  return { from: at, to: at };
}

export const isAbsence = (text) => text.startsWith("not ");

let clock = { tick: null, start: 0 };
export function setClock(tickMilliseconds, start) {
  clock = { tick: tickMilliseconds, start: Date.parse(start) };
}

// A point of the timeline for people: a number, or a timestamp where the program has a tick.
export function showTime(value, step = 1) {
  if (value === null || value === undefined) return "";
  if (clock.tick === null) return showNumber(value, step);
  const moment = new Date(clock.start + value * clock.tick);
  if (Number.isNaN(moment.getTime())) return showNumber(value, step);
  const [day, rest] = moment.toISOString().split("T");
  const length = step * clock.tick;
  if (length >= 86400000) return day;
  if (length >= 60000) return `${day.slice(5)} ${rest.slice(0, 5)}`;
  return length >= 1000 ? rest.slice(0, 8) : rest.slice(0, 12);
}

function showNumber(value, step) {
  const digits = step >= 1 ? 2 : Math.min(6, Math.ceil(-Math.log10(step)) + 1);
  return String(Number(Number(value).toFixed(digits)));
}

export function showCount(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

const brief = new Intl.NumberFormat("en", { notation: "compact" });
export const showBriefly = (value) => (value < 10000 ? String(value) : brief.format(value));

export const showConfidence = (value) => (value === null || value === undefined ? "" : value.toPrecision(2).replace(/\.?0+$/, ""));

// What stands about an answer, in a sentence.
export function describe(row) {
  const parts = [row.answer, row.status];
  if (row.status === "possible") {
    parts.push(`${row.because.length} of ${row.because.length + row.needs.length} premises arrived`);
    if (row.needs.length) parts.push(`needs ${row.needs.join(", ")}`);
    if (row.decided_by !== null) parts.push(`decided by ${row.decided_by}`);
    if (row.confidence !== null) parts.push(`confidence ${showConfidence(row.confidence)}`);
    if (row.ways > 1) parts.push(`${row.ways} ways`);
  }
  return parts.join("; ");
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
