// What matters first: what is decided soonest, and what just happened.

import { glyph } from "./marks.js";
import { mostUrgent, newest } from "./model.js";
import { cutName, element, isAbsence, showFact, showLength, showTime, showWritten, splitFact, timeNumber } from "./text.js";

const LINES = 4;

function line(row, tone, words, onChoose) {
  const [what, when] = splitFact(row.answer);
  const name = element("span", { class: "what" }, ...cutName(what), element("span", { class: "tail", text: when === "" ? "" : `@${showWritten(when)}` }));
  const button = element("button", { type: "button", onclick: () => onChoose(row.key) }, glyph(row.status, tone), name, element("span", { class: "quiet", text: words }));
  button.title = `${row.status} ${showFact(row.answer)}`;
  button.setAttribute("aria-label", `${button.title}, ${words}`);
  return element("li", { class: `${row.status} ${tone}` }, button);
}

// What an answer lacks: facts that must come, or nothing but that some stay away.
function lacks(row) {
  const missing = row.needs.filter((text) => !isAbsence(text)).length;
  return missing ? `${missing} missing` : row.needs.length ? "if nothing comes" : "";
}

function until(row, now) {
  const due = timeNumber(row.decided_by);
  const left = now === null ? null : due - now;
  const needs = row.needs.length ? `, ${lacks(row)}` : "";
  if (left === null || left < 0) return `by ${showTime(due)}${needs}`;
  return `${left === 0 ? "due now" : `in ${showLength(left)}`}${needs}`;
}

export function fillUrgent(list, model, now, toneOf, onChoose, finished) {
  const rows = mostUrgent(model, LINES, toneOf, now);
  if (!rows.length) return list.replaceChildren(element("li", { class: "quiet", text: finished ? "Nothing is left open." : "Nothing is open with a deadline." }));
  list.replaceChildren(...rows.map((row) => line(row, toneOf(row), until(row, now), onChoose)));
}

// What happened to an answer last: a new status, or a part of what it needs.
function happened(row) {
  const when = showTime(timeNumber(row.now));
  if (row.since === row.now || row.status !== "possible") return `${row.status} at ${when}`;
  return `still possible at ${when}`;
}

export function fillNewest(list, model, toneOf, onChoose) {
  const rows = newest(model, LINES);
  if (!rows.length) return list.replaceChildren(element("li", { class: "quiet", text: "Nothing yet." }));
  list.replaceChildren(...rows.map((row) => line(row, toneOf(row), happened(row), onChoose)));
}
