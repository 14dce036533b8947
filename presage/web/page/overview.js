// What matters first: what is decided soonest, and what just happened.

import { glyph } from "./marks.js";
import { mostUrgent, newest } from "./model.js";
import { element, showFact, showLength, showTime, timeNumber } from "./text.js";

const LINES = 4;

function line(row, tone, words, onChoose) {
  const button = element("button", { type: "button", onclick: () => onChoose(row.key) }, glyph(row.status, tone), element("span", { class: "what", text: showFact(row.answer) }), element("span", { class: "quiet", text: words }));
  button.title = `${row.status} ${row.answer}`;
  return element("li", { class: `${row.status} ${tone}` }, button);
}

function until(row, now) {
  const due = timeNumber(row.decided_by);
  const left = now === null ? null : due - now;
  const needs = row.needs.length ? `, ${row.needs.length} missing` : "";
  if (left === null || left < 0) return `by ${showTime(due)}${needs}`;
  return `${left === 0 ? "due now" : `in ${showLength(left)}`}${needs}`;
}

export function fillUrgent(list, model, now, toneOf, onChoose, finished) {
  const rows = mostUrgent(model, LINES, toneOf, now);
  if (!rows.length) return list.replaceChildren(element("li", { class: "quiet", text: finished ? "Nothing is left open." : "Nothing is open with a deadline." }));
  list.replaceChildren(...rows.map((row) => line(row, toneOf(row), until(row, now), onChoose)));
}

export function fillNewest(list, model, toneOf, onChoose) {
  const rows = newest(model, LINES);
  if (!rows.length) return list.replaceChildren(element("li", { class: "quiet", text: "Nothing yet." }));
  list.replaceChildren(...rows.map((row) => line(row, toneOf(row), `${row.status} at ${showTime(timeNumber(row.now))}`, onChoose)));
}
