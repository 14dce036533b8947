// A program in colours: comments, words of the language, variables, constants. Gives elements, never HTML.

import { element } from "./text.js";

const TOKEN = /([%#][^\n]*)|("(?:[^"\\\n]|\\.)*"?)|(\$?[\p{L}_][\p{L}\p{N}_]*)|(\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|\d+(?:\.\d+)?(?:\/\d+)?(?:ms|s|m|h|d)?\b)|(:-|<=|>=|!=|[@=<>|])/gu;

let keywords = new Set();
export function setWords(words) {
  keywords = new Set(words);
}

function look(found) {
  if (found[1]) return "comment";
  if (found[2] || found[4]) return "constant";
  if (found[5]) return "sign";
  if (keywords.has(found[3])) return "keyword";
  return /^[\p{Lu}_]/u.test(found[3]) ? "variable" : "";
}

// The pieces of a text, each with its look; `wrong` are stretches [start, end, severity] to be underlined.
export function highlighted(text, wrong = []) {
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > at) pieces.push([at, found.index, ""]);
    pieces.push([found.index, found.index + found[0].length, look(found)]);
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push([at, text.length, ""]);
  const made = [];
  for (const [start, end, kind] of pieces) {
    const cuts = new Set([start, end]);
    for (const [from, to] of wrong) for (const cut of [from, to]) if (cut > start && cut < end) cuts.add(cut);
    const places = [...cuts].sort((a, b) => a - b);
    for (let each = 0; each + 1 < places.length; each++) {
      const hit = wrong.find(([from, to]) => from <= places[each] && to >= places[each + 1]);
      const piece = text.slice(places[each], places[each + 1]);
      const name = `${kind} ${hit ? `squiggle ${hit[2]}` : ""}`.trim();
      made.push(name ? element("span", { class: name, text: piece }) : document.createTextNode(piece));
    }
  }
  return made;
}

// A program to read, with numbers of lines.
export function listing(text, marked = new Set()) {
  const box = element("div", { class: "code listing" });
  text.replace(/\s+$/, "").split("\n").forEach((line, place) => {
    box.append(element("div", { class: marked.has(place + 1) ? "line marked" : "line" }, element("span", { class: "number", text: String(place + 1) }), element("span", {}, ...highlighted(line))));
  });
  return box;
}
