// How things are said: times, numbers, answers in words. Everything here gives plain text.

export const STATUSES = ["possible", "holds", "unsupported", "confirmed", "refuted", "inconsistent"];
export const SETTLED = new Set(["confirmed", "refuted", "inconsistent"]);
export const isOpen = (row) => row.status === "possible" || row.status === "unsupported";

let clock = { tick: null, start: 0, shown: false, oneDay: false };
// `shown`: whether people count in timestamps here; where these are met in answers, they do.
export function setClock(tickMilliseconds, start, shown) {
  clock = { tick: tickMilliseconds, start: Date.parse(start), shown: shown && tickMilliseconds !== null, oneDay: false };
}
export const showsClock = () => clock.shown;

// Where all there is to see lies on one day, the day need not be said. Tells whether that is new.
export function setExtent(extent) {
  if (!clock.shown || extent === null) return false;
  const day = (time) => Math.floor((clock.start + time * clock.tick) / 86400000);
  const before = clock.oneDay;
  clock.oneDay = day(extent.low) === day(extent.high);
  return before !== clock.oneDay;
}

const LENGTHS = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800].map((seconds) => seconds * 1000)];

// A length of time that people like to count in, at least as long as given: 1, 2 or 5 times a power of ten or, by the
// clock, so many minutes, hours or days.
export function niceStep(least) {
  const nice = !clock.shown ? undefined : LENGTHS.find((each) => each >= least * clock.tick * 0.999 && (clock.tick < each ? each % clock.tick === 0 : true));
  if (nice !== undefined && nice >= clock.tick) return nice / clock.tick;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * 0.999);
}

const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)/;
const UNITS = { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 };

// A time as a number for drawing: 3, "1/3", "0.5", a timestamp; null where it is not bound.
export function timeNumber(given) {
  if (given === null || given === undefined) return null;
  if (typeof given === "number") return given;
  const text = String(given).trim();
  const stamp = STAMP.exec(text);
  if (stamp && clock.tick !== null) {
    clock.shown = true;
    const rest = duration(text.slice(stamp[0].length).replace(/^\+/, ""));
    return (Date.parse(stamp[0]) - clock.start) / clock.tick + (rest ?? 0);
  }
  const [above, below] = text.split("/");
  const value = below === undefined ? Number(above) : Number(above) / Number(below);
  return Number.isFinite(value) && text !== "" ? value : null;
}

// A length of time in ticks: 2, 1/3, 2m, 1/3s.
function duration(text) {
  const found = /^([\d./]+)(ms|s|m|h|d)?$/.exec(text);
  if (!found) return null;
  const amount = timeNumber(found[1]);
  if (found[2] === undefined) return amount;
  return clock.tick === null || amount === null ? null : (amount * UNITS[found[2]]) / clock.tick;
}

// The part of a fact's text before its time, and its time as written: what stands after the last @.
export function splitFact(text) {
  const at = text.lastIndexOf("@");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// Where a written time may lie, given what is known of open times: a number, T, T1+2, T-2m.
function placed(written, known) {
  const at = timeNumber(written);
  if (at !== null) return { from: at, to: at, open: false };
  const found = /^([A-Z_]\w*)(?:([+-])(.+))?$/.exec(written.trim());
  if (!found) return { from: null, to: null, open: true };
  const moved = found[2] ? duration(found[3]) : 0;
  const by = moved === null ? 0 : found[2] === "-" ? -moved : moved;
  const range = known?.get(found[1]);
  return { from: range?.low === undefined ? null : range.low + by, to: range?.high === undefined ? null : range.high + by, open: true };
}

// When a fact is, in numbers: its time, the ends of its stretch, or the bounds of its open time.
export function timeOfFact(text, known) {
  const written = splitFact(text)[1];
  const stretch = /^[[(](.*),(.*)[\])]$/.exec(written);
  if (!stretch) return { ...placed(written, known), stretch: false };
  const [first, last] = [placed(stretch[1], known), placed(stretch[2], known)];
  return { from: first.from, to: last.to, open: first.open || last.open, stretch: true };
}

// What `unless` leaves of each open time: T < 3 excludes what is before 3.
export function openTimes(unless) {
  const known = new Map();
  for (const text of unless) {
    const found = /^([A-Z_]\w*) (<=?|>=?) (.+)$/.exec(text);
    const value = found ? timeNumber(found[3]) : null;
    if (value === null) continue;
    const range = known.get(found[1]) ?? {};
    if (found[2].startsWith("<")) range.low = Math.max(range.low ?? -Infinity, value);
    else range.high = Math.min(range.high ?? Infinity, value);
    known.set(found[1], range);
  }
  return known;
}

// Words before the fact a premise counts: `2 of failed(u1)@T1`.
export const counted = (text) => /^((?:at most |exactly )?\d+|sum [^(]*?) of /.exec(text)?.[1] ?? "";
export const isAbsence = (text) => text.startsWith("not ") || text.startsWith("at most ");

// A point of the timeline for people: a number, or a timestamp where the program has a tick. An axis has no room for days
// beside seconds.
export function showTime(value, step = 1, onAxis = false) {
  if (value === null || value === undefined) return "";
  if (!clock.shown) return showNumber(value, Number.isInteger(value) ? step : Math.min(step, 0.001));
  const moment = new Date(clock.start + value * clock.tick);
  if (Number.isNaN(moment.getTime())) return showNumber(value, step);
  const [day, rest] = moment.toISOString().split("T");
  const length = step * clock.tick;
  // Between two ticks: as finely as it is.
  if (!Number.isInteger(value) && step === 1) return rest.slice(0, 12).replace(/\.?0+$/, (end) => (end.startsWith(".") ? "" : end));
  if (length >= 86400000) return day;
  const shown = rest.slice(0, length >= 60000 ? 5 : length >= 1000 ? 8 : 12);
  return clock.oneDay || (onAxis && length < 60000) ? shown : `${day.slice(5)} ${shown}`;
}

function showNumber(value, step) {
  const digits = step >= 1 ? 2 : Math.min(6, Math.ceil(-Math.log10(step)) + 1);
  return String(Number(Number(value).toFixed(digits)));
}

// A time as it is written in an answer or a fact, in the way the axis shows times.
export function showWritten(written) {
  if (!clock.shown || written === "") return written;
  return written.replace(/[^[\](),]+/g, (part) => {
    const value = timeNumber(part);
    return value === null ? part : showTime(value, 1);
  });
}

export function showFact(text) {
  const [what, when] = splitFact(text);
  return when === "" ? what : `${what}@${showWritten(when)}`;
}

// Facts, those at many times in a row together: of few each is worth seeing.
export function series(texts) {
  if (texts.length < 6) return texts.map((text) => [text]);
  const found = [];
  const last = new Map();
  texts.forEach((text, place) => {
    const [what, when] = splitFact(text);
    const time = /^-?\d+$/.test(when) ? Number(when) : null;
    const before = time === null ? undefined : last.get(what);
    if (before && before.time + 1 === time) {
      before.places.push(place);
      before.time = time;
    } else {
      found.push({ places: [place], time });
      if (time !== null) last.set(what, found.at(-1));
    }
  });
  const parts = found.flatMap(({ places }) => (places.length < 6 ? places.map((place) => [place]) : [places]));
  return parts.sort((a, b) => a[0] - b[0]).map((places) => places.map((place) => texts[place]));
}

// The same as lists show them: a line for each, from the first time to the last.
export const inSeries = (texts) => series(texts).map((each) => (each.length === 1 ? showFact(each[0]) : `${showFact(each[0])} … ${splitFact(showFact(each.at(-1)))[1]}`));

// A time as people type it: a number, a timestamp, a day, or by the clock of the day that `near` lies in; null where it is none.
export function readTime(written, near = 0) {
  const text = written.trim();
  const time = timeNumber(text);
  if (time !== null || clock.tick === null) return time;
  const base = new Date(clock.start + near * clock.tick).toISOString();
  const found = /^(?:(\d\d-\d\d) )?(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/.exec(text);
  if (found) return timeNumber(`${base.slice(0, 5)}${found[1] ?? base.slice(5, 10)}T${found[2].padEnd(8, ":00")}Z`);
  return /^\d{4}-\d\d-\d\d/.test(text) ? timeNumber(`${text.slice(0, 10)}T${(text.slice(11, 19) || "00:00:00").padEnd(8, ":00")}Z`) : null;
}

// A premise as a fact that might come now: what must stay away as if it came, one of what is counted, and at a time of
// its own: where that is open, now; of a stretch, the first time of it that is not over. `ground`: no value is left open.
export function supposed(text, now) {
  const bare = text.replace(/^not /, "");
  const [what, when] = splitFact(bare.slice(counted(bare) ? counted(bare).length + 4 : 0));
  const { from, to, open, stretch } = timeOfFact(text);
  let time = showWritten(when);
  if (stretch || open) time = showTime(Math.min(Math.max(from ?? now, now), to ?? Infinity));
  return { text: `${what}@${time}`, ground: !/\b[A-Z_]\w*/.test(what.replace(/"(?:[^"\\]|\\.)*"/g, "")) };
}

// A fact as people type it, with its time as a number.
export function readFact(written, near = 0) {
  const [what, when] = splitFact(written.trim());
  const time = when === "" || !clock.shown ? null : readTime(when, near);
  return time === null ? written.trim() : `${what}@${time}`;
}

// A sentence about facts and times, with its times in the way the axis shows them.
export function showSentence(text) {
  if (!clock.shown) return text;
  const shown = (written) => showWritten(written.replace(/[.,;:]$/, "")) + (/[.,;:]$/.exec(written)?.[0] ?? "");
  return text.replace(/(@)([[(]?[^\s\])]+[\])]?)|\b((?:by|at|since|before|until|from|and|to) )(\d\S*)/g, (_, pin, when, word, time) => (pin ? `@${shown(when)}` : word + shown(time)));
}

// A length of time for people.
export function showLength(ticks) {
  if (clock.tick === null) return showNumber(ticks, ticks % 1 ? 0.01 : 1);
  const seconds = Math.round((ticks * clock.tick) / 1000);
  if (ticks > 0 && seconds === 0) return `${showNumber(ticks * clock.tick, 1)} ms`;
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

export function showCount(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

const brief = new Intl.NumberFormat("en", { notation: "compact" });
export const showBriefly = (value) => (value < 10000 ? String(value) : brief.format(value));

export const showConfidence = (value) => (value === null || value === undefined ? "" : value.toPrecision(2).replace(/\.?0+$/, ""));

// What stands about an answer, in a sentence.
export function describe(row) {
  const parts = [showFact(row.answer), row.status];
  if (row.status === "possible") {
    parts.push(`${row.because.length} of ${row.because.length + row.needs.length} premises arrived`);
    if (row.needs.length) parts.push(`needs ${inSeries(row.needs).join(", ")}`);
    if (row.decided_by !== null) parts.push(`decided by ${showTime(timeNumber(row.decided_by)) || row.decided_by}`);
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

// A message: what stands between backticks in it is code.
export function withCode(text) {
  return text.split("`").map((part, place) => (place % 2 ? element("code", { text: part }) : part));
}

// A name that is cut where there is no room: in its predicate, since answers differ in their values, or where these are
// long in their middle, since values often differ at their ends.
export function cutName(text, most = 16, kept = 9) {
  const values = text.slice(text.indexOf("("));
  const end = text.includes("(") && values.length <= most ? values : text.length > kept + 6 ? text.slice(-kept) : "";
  return [element("span", { class: "head", text: text.slice(0, text.length - end.length) }), element("span", { class: "tail", text: end })];
}
