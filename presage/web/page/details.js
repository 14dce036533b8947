// One answer in full: its ways, the rules it goes through, its proof. Or one group: its answers.

import { glyph } from "./marks.js";
import { element, showConfidence } from "./text.js";

const MOST_LISTED = 200;
const LEVELS_OPEN = 3;

const heading = (text) => element("h3", { text });
const list = (texts) => element("ul", {}, ...texts.map((text) => element("li", { text })));

function statusLine(status, more) {
  return element("p", { class: `status ${status}` }, element("strong", {}, glyph(status), status), element("span", { class: "quiet", text: more }));
}

function pairs(entries) {
  const made = element("dl");
  for (const [name, value] of entries) {
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length)) continue;
    made.append(element("dt", { text: name }));
    made.append(Array.isArray(value) ? element("dd", {}, list(value)) : element("dd", { text: String(value) }));
  }
  return made;
}

function way(given, needed) {
  return pairs([
    ["because", given.because],
    [needed, given.needs],
    ["unless", given.unless],
    ["decided by", given.decided_by],
    ["confidence", showConfidence(given.confidence)],
  ]);
}

const KINDS = {
  given: (step) => `arrived at ${step.arrived}`,
  known: (step) => (step.line ? `line ${step.line} of the program` : "static"),
  rule: (step) => `line ${step.line}: ${step.rule}${values(step)}${step.shown_before ? " (shown above)" : ""}`,
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
  const words = [element("span", { text: step.holds })];
  if (why) words.push(element("span", { class: "why", text: why }));
  const below = [
    ...(step.because ?? []).map((each) => () => proofStep(each, depth + 1)),
    ...(step.near ?? []).map((each) => () => element("div", { class: "leaf why", text: `line ${each.line} fails at ${each.fails_at}` })),
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
      element("span", { text: each.fails_at }),
      element("span", { class: "why", text: `fails, in line ${each.line}: ${each.rule}${values(each)}` }),
    )),
  );
}

function rules(found) {
  return found.map(({ line, text }) =>
    element("div", { class: "rule tree" }, element("span", { class: "number", text: String(line) }), element("span", { text })),
  );
}

export function answerDetails({ line, query, proof, no_proof: noProof, rules: found, rules_are_certain: certain, was, failed }) {
  const made = [element("h2", { text: line.answer }), statusLine(line.status, `since ${line.now}, query ${query}`)];
  const bindings = Object.entries(line.bindings).map(([name, value]) => `${name} = ${value}`);
  if (bindings.length) made.push(heading("Values"), list(bindings));
  if (line.status === "possible") {
    made.push(heading(line.ways.length === 1 ? "One way to come true" : `${line.ways.length} ways to come true`));
    for (const each of line.ways) made.push(element("div", { class: "way" }, way(each, "needs"), ...wayProof(each)));
  } else if (line.because.length) {
    made.push(heading("Because"), list(line.because));
  }
  if (was) {
    made.push(heading("When it was last possible"), element("div", { class: "way" }, way(was, "needed")));
  }
  if (failed?.length) made.push(heading("What failed"), ...failures(failed));
  if (proof) made.push(heading("Proof, accepted by the checker"), proofStep(proof, 0));
  if (noProof) made.push(heading("Proof"), element("p", { class: "quiet", text: noProof }));
  if (found.length) made.push(heading(certain ? "The rules that made it" : "The rules it goes through"), ...rules(found));
  return made;
}

export function groupDetails(group, onChoose, onOnly) {
  const made = [element("h2", { text: group.title })];
  for (const [status, count] of Object.entries(group.counts)) if (count) made.push(statusLine(status, String(count)));
  made.push(element("p", {}, element("button", { type: "button", text: "A lane for each of these", onclick: onOnly })));
  const more = group.rows.length - MOST_LISTED;
  made.push(heading(more > 0 ? `The first ${MOST_LISTED} of ${group.rows.length}` : "Answers"));
  const lines = element("ul", { class: "list" });
  for (const row of group.rows.slice(0, MOST_LISTED)) {
    const button = element("button", { type: "button", text: row.answer, onclick: () => onChoose(row) });
    lines.append(element("li", {}, glyph(row.status), " ", button));
  }
  made.push(lines);
  return made;
}
