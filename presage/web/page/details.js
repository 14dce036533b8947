// One answer in full: its ways, the rules it goes through, its proof, and what would be if. Or one group: its answers.

import { highlighted } from "./highlight.js";
import { glyph } from "./marks.js";
import { element, inSeries, isAbsence, series, showConfidence, showFact, showSentence, showTime, splitFact, supposed, timeNumber, withCode } from "./text.js";

const MOST_LISTED = 200;
const LEVELS_OPEN = 3;

const heading = (text) => element("h3", { text });
const list = (texts) => element("ul", {}, ...texts.map((text) => element("li", { text })));
const facts = inSeries;
const time = (given) => (given === null || given === undefined ? given : showTime(timeNumber(given)) || String(given));

function statusLine(status, more, tone = "") {
  return element("p", { class: `status ${status} ${tone}` }, element("strong", {}, glyph(status, tone), status), element("span", { class: "quiet", text: more }));
}

function pairs(entries) {
  const made = element("dl");
  for (const [name, value] of entries) {
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length)) continue;
    made.append(element("dt", { text: name }));
    if (Array.isArray(value)) made.append(element("dd", {}, value[0] instanceof Element ? value[0] : list(value)));
    else made.append(element("dd", { text: String(value) }));
  }
  return made;
}

const BOUND = /^([A-Z_]\w*) (<|<=|>|>=) (-?\d\S*)$/;
const WITHIN = { "<": "≤", "<=": "<", ">": "≤", ">=": "<" }; // what a bound that must not be leaves

// What `unless` leaves of open times and values, as people write it: 7 < T ≤ 8. Times stand behind an @ somewhere.
function between({ unless, because, needs }, answer) {
  const times = new Set([answer, ...because, ...needs].flatMap((text) => splitFact(text)[1].match(/[A-Z_]\w*/g) ?? []));
  const known = new Map();
  for (const text of unless) {
    const found = BOUND.exec(text);
    if (!found) continue;
    const [, name, sign, value] = found;
    const shown = (times.has(name) && time(value)) || value;
    const range = known.get(name) ?? { low: "", high: "" };
    if (sign.startsWith("<")) range.low = { text: `${shown} ${WITHIN[sign]} `, value: shown, closed: sign === "<" };
    else range.high = { text: ` ${WITHIN[sign]} ${shown}`, value: shown, closed: sign === ">" };
    known.set(name, range);
  }
  return [...known].map(([name, { low, high }]) =>
    low && high && low.value === high.value && low.closed && high.closed ? `${name} = ${low.value}` : !low ? `${name}${high.text}` : !high ? `${name} ${low.closed ? "≥" : ">"} ${low.value}` : `${low.text}${name}${high.text}`);
}

// What is missing; where it can be asked what would be if it came, each is a button that asks.
function missing(texts, onMissing) {
  if (!onMissing) return facts(texts);
  return texts.length ? [element("ul", {}, ...series(texts).map((each) => element("li", {}, element("button", { type: "button", class: "missing", text: inSeries(each)[0], title: "What if this came?", onclick: () => onMissing(each) }))))] : [];
}

function way(given, needed, answer, onMissing = null) {
  return pairs([
    ["because", facts(given.because)],
    [needed, missing(given.needs, onMissing)],
    ["where", between(given, answer)],
    ["unless", given.unless.filter((text) => !BOUND.test(text)).map(showSentence)],
    ["decided by", time(given.decided_by)],
    ["confidence", showConfidence(given.confidence)],
  ]);
}

const KINDS = {
  given: (step) => `arrived at ${time(step.arrived)}`,
  known: (step) => (step.line ? `line ${step.line} of ${step.file ?? "the program"}` : "static"),
  rule: (step) => `line ${step.line}${step.file ? ` of ${step.file}` : ""}: ${step.rule}${values(step)}${step.shown_before ? " (shown above)" : ""}`,
  absent: () => "nothing makes it true, and nothing can any more",
  comparison: () => "",
  needed: () => "still needed",
};

function values(step) {
  const found = Object.entries(step.values ?? {}).map(([name, value]) => `${name} = ${value}`);
  return found.length ? ` (${found.join(", ")})` : "";
}

// A step of a proof; what it rests on is made when it is opened, since proofs may be large.
function proofStep(step, depth) {
  const why = KINDS[step.kind]?.(step) ?? step.kind;
  const words = [element("span", { text: showFact(step.holds) })];
  if (why) words.push(element("span", { class: "why", text: why }));
  const below = [
    ...(step.because ?? []).map((each) => () => proofStep(each, depth + 1)),
    ...(step.near ?? []).map((each) => () => element("div", { class: "leaf why", text: `line ${each.line}${each.file ? ` of ${each.file}` : ""} fails at ${each.fails_at}` })),
  ];
  if (!below.length) return element("div", { class: "tree" }, element("div", { class: "leaf" }, ...words));
  const opened = element("details", {}, element("summary", {}, ...words));
  let filled = false;
  const fill = () => {
    if (filled) return;
    filled = true;
    opened.append(...below.map((make) => make()));
  };
  opened.addEventListener("toggle", fill);
  if (depth < LEVELS_OPEN) {
    fill();
    opened.open = true;
  }
  return element("div", { class: "tree" }, opened);
}

// How a way would come true, for who wants to know.
function wayProof({ proof }) {
  if (!proof) return [];
  return [element("details", { class: "if" }, element("summary", { text: "How it would come true" }), proofStep(proof, 0))];
}

// From the answer down: what failed, in which rule; what failed first comes last.
function failures(chain) {
  return chain.map((each) =>
    element("div", { class: "tree" }, element("div", { class: "leaf" },
      element("span", { text: showFact(each.part ?? each.fails_at) }),
      element("span", { class: "why", text: `fails${each.met ? ` of ${facts(each.met).join(" and ")}` : ""}, in line ${each.line}${each.file ? ` of ${each.file}` : ""}: ${each.rule}${values(each)}` }),
    )),
  );
}

function rules(found) {
  return found.map(({ line, text }) =>
    element("div", { class: "rule code" }, element("span", { class: "number", text: String(line) }), element("span", {}, ...highlighted(text))),
  );
}

// Facts that are to be thought of as arrived, and what would come of it.
class WhatIf {
  constructor(needed, now, onSuppose) {
    Object.assign(this, { now, onSuppose });
    const wanted = needed.filter((text) => !isAbsence(text));
    // Where nothing need come, what must stay away is what people ask about.
    const first = (wanted.length ? wanted : needed.slice(0, 1)).map((text) => supposed(text, now)).filter((each) => each.ground);
    this.field = element("textarea", { rows: "2", spellcheck: "false", "aria-label": "Facts to think of as arrived, one a line" });
    this.field.addEventListener("input", () => this.fit());
    this.write(first.map((each) => each.text));
    this.told = element("div", { class: "would", role: "status" });
    this.box = element("details", { class: "what-if" }, element("summary", { text: "What if…" }), element("p", { class: "quiet", text: "these facts arrived now? The run itself is not changed." }), this.field, element("button", { type: "button", text: "Say what would be", onclick: () => this.ask() }), this.told);
  }

  write(lines) {
    this.field.value = lines.join("\n");
    this.fit();
  }

  fit() {
    this.field.rows = Math.min(10, Math.max(2, this.field.value.split("\n").length));
  }

  // A premise that was clicked, or several in a row: they came, whether they are needed or must stay away.
  suppose(texts) {
    const given = texts.map((text) => supposed(text, this.now));
    this.write(given.map((each) => each.text));
    this.box.open = true;
    if (given.every((each) => each.ground)) return this.ask();
    // What holds for any value needs one.
    this.told.replaceChildren(element("p", { class: "quiet", text: "Put values in place of the variables." }));
    const { index, 0: found } = /\b[A-Z_]\w*/.exec(this.field.value);
    this.field.focus();
    return this.field.setSelectionRange(index, index + found.length);
  }

  async ask() {
    const { told } = this;
    const given = this.field.value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!given.length) {
      told.replaceChildren(element("p", { class: "quiet", text: "Write facts with their times, one a line; or click what is needed above." }));
      return this.field.focus();
    }
    told.replaceChildren(element("p", { class: "quiet", text: "…" }));
    try {
      const { lines } = await this.onSuppose(given);
      if (lines.length) told.replaceChildren(element("p", { class: "quiet", text: "Then it would be said:" }), ...lines.map(saidLine));
      else told.replaceChildren(element("p", { class: "quiet", text: "Nothing would change." }));
    } catch (problem) {
      told.replaceChildren(element("p", { class: "problem" }, ...withCode(showSentence(problem.message))));
    }
    told.scrollIntoView({ block: "nearest" });
    return undefined;
  }
}

function saidLine({ status, answer, tone, needs }) {
  const more = needs?.length ? element("span", { class: "quiet", text: ` needs ${facts(needs).join(", ")}` }) : "";
  return element("div", { class: `${status} ${tone ?? ""} said` }, glyph(status, tone ?? ""), element("span", { text: `${status} ${showFact(answer)}` }), more);
}

export function answerDetails({ line, query, proof, no_proof: noProof, rules: found, rules_are_certain: certain, was, failed, why }, { tone = "", means = "", now = null, onSuppose = null, onShow = null } = {}) {
  const made = [element("h2", { text: showFact(line.answer), title: line.answer }), statusLine(line.status, `since ${time(line.since)}, query ${query}`, tone)];
  if (why) made.push(element("p", { class: "reason", text: `${showSentence(why)}.` }));
  if (line.status === "unsupported") made.push(element("p", { class: "reason", text: "What spoke for it is gone. It may still come true, if what has not arrived yet speaks for it." }));
  const bindings = Object.entries(line.bindings).map(([name, value]) => `${name} = ${value}`);
  if (bindings.length) made.push(element("p", { class: "values", text: bindings.join(", ") }));
  if (means) made.push(element("p", { class: "quiet", text: means }));
  if (onShow) made.push(element("p", { class: "row" }, element("button", { type: "button", text: "Show on the timeline", onclick: onShow })));
  if (line.status === "possible") {
    made.push(heading(line.ways.length === 1 ? "One way to come true" : `${line.ways.length} ways to come true`));
    const whatIf = onSuppose ? new WhatIf(line.needs, now, onSuppose) : null;
    for (const each of line.ways) made.push(element("div", { class: "way" }, way(each, "needs", line.answer, whatIf && ((texts) => whatIf.suppose(texts))), ...wayProof(each)));
    if (line.ways_left_out) made.push(element("p", { class: "quiet", text: `and ${line.ways_left_out} more ways` }));
    if (whatIf) made.push(whatIf.box);
  } else if (line.because.length) {
    made.push(heading("Because"), list(facts(line.because)));
  }
  if (was) {
    made.push(heading("When it was last possible"), element("div", { class: "way" }, way(was, "needed", line.answer)));
  }
  if (failed?.length) made.push(heading("What failed"), ...failures(failed));
  if (proof) made.push(heading("Proof, accepted by the checker"), proofStep(proof, 0));
  if (noProof) made.push(heading("Proof"), element("p", { class: "quiet" }, ...withCode(noProof)));
  if (found.length) made.push(heading(certain ? "The rules that made it" : "The rules it goes through"), ...rules(found));
  return made;
}

export function groupDetails(group, onChoose, onOnly, toneOf) {
  const made = [element("h2", { text: group.title })];
  for (const [status, count] of Object.entries(group.counts)) if (count) made.push(statusLine(status, String(count), toneOf(group.rows[0])));
  made.push(element("p", {}, element("button", { type: "button", text: "A lane for each of these", onclick: onOnly })));
  const more = group.rows.length - MOST_LISTED;
  made.push(heading(more > 0 ? `The first ${MOST_LISTED} of ${group.rows.length}` : "Answers"));
  const lines = element("ul", { class: "list" });
  for (const row of group.rows.slice(0, MOST_LISTED)) {
    const button = element("button", { type: "button", text: showFact(row.answer), onclick: () => onChoose(row) });
    lines.append(element("li", {}, glyph(row.status, toneOf(row)), " ", button));
  }
  made.push(lines);
  return made;
}
