// What a run is about: the author's prose, what each query asks, and the rules. Markdown becomes elements, never HTML.

import { listing } from "./highlight.js";
import { glyph } from "./marks.js";
import { element } from "./text.js";

// What is typed into a terminal, and pictures, are for the page on paper: here the picture is alive, and so is a paragraph
// that does nothing but announce or describe them. Programs are shown.
const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```[ \t]*$/gm;
const PICTURE = /^!\[.*\]\(.*\)[ \t]*$/gm;

function blocks(prose) {
  const programs = [];
  const plain = prose
    .replace(FENCE, (_, kind, text) => (kind === "presage" ? `\n\n\u0000${programs.push(text) - 1}\n\n` : "\n\n\u0001\n\n"))
    .replace(PICTURE, "\n\n\u0001");
  const found = [];
  for (const block of plain.split(/\n\s*\n/)) {
    const text = block.trim();
    if (text.startsWith("\u0001")) {
      // With a picture goes what stands directly below it: its caption.
      if (/^[^#|*-][\s\S]*:$/.test(found.at(-1) ?? "")) found[found.length - 1] = announced(found.at(-1));
    } else if (text.startsWith("\u0000")) found.push("```" + programs[Number(text.slice(1))]);
    else if (text) found.push(text);
  }
  return found.filter(Boolean);
}

// A paragraph without the sentence that announces what is left out.
function announced(text) {
  const end = text.slice(0, -1).search(/[.!?](?=\s[^.!?]*$)/);
  return end < 0 ? "" : text.slice(0, end + 1);
}

function sections(prose) {
  const found = [];
  for (const text of blocks(prose)) {
    const heading = /^(#{1,6})\s+(.*)/.exec(text);
    if (heading) {
      found.push({ heading: heading[2], blocks: [] });
      const rest = text.split("\n").slice(1).join("\n").trim();
      if (rest) found.at(-1).blocks.push(rest);
    } else {
      if (!found.length) found.push({ heading: "", blocks: [] });
      found.at(-1).blocks.push(text);
    }
  }
  return found.filter((each) => each.blocks.length);
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]*)\)|<([^>]+)>/g;

export function inline(text) {
  const made = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > at) made.push(text.slice(at, found.index));
    if (found[1] !== undefined) made.push(element("code", { text: found[1] }));
    else if (found[2] !== undefined) made.push(element("strong", { text: found[2] }));
    else if (found[3] !== undefined) made.push(element("em", { text: found[3] }));
    else made.push(found[4] ?? found[6]); // places of other files mean nothing here
    at = found.index + found[0].length;
  }
  made.push(text.slice(at));
  return made;
}

function block(text) {
  if (text.startsWith("```")) return listing(text.slice(3));
  if (/^[*-] /.test(text)) {
    const items = text.split(/\n(?=[*-] )/).map((item) => item.replace(/^[*-] /, "").replace(/\n\s*/g, " "));
    return element("ul", {}, ...items.map((item) => element("li", {}, ...inline(item))));
  }
  if (text.startsWith("|")) {
    const rows = text.split("\n").filter((row) => !/^\|[\s:|-]+\|$/.test(row)).map((row) => row.split("|").slice(1, -1));
    return element("table", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, ...inline(cell.trim()))))));
  }
  return element("p", {}, ...inline(text.replace(/\n/g, " ")));
}

export function storyOf(about, onEdit) {
  const made = [element("h2", { text: about.title || about.program.split(/[\\/]/).at(-1) })];
  const [opening, ...others] = sections(about.prose ?? "");
  const told = opening && !opening.heading ? opening.blocks : [];
  made.push(...told.slice(0, 3).map(block));
  if (about.words?.length) {
    made.push(element("h3", { text: "What is asked" }));
    for (const { query, means, tone } of about.words) {
      const kind = tone === "bad" ? "bad news" : tone === "good" ? "good news" : "";
      made.push(element("div", { class: "asked" }, glyph("confirmed", tone), element("div", {}, element("code", { text: query }), kind ? element("span", { class: `tag ${tone}`, text: kind }) : "", element("p", { class: "quiet", text: means }))));
    }
  }
  if (about.source) {
    made.push(element("h3", { text: "The rules" }), listing(about.source));
    if (about.editable) made.push(element("p", {}, element("button", { type: "button", text: "Change them", onclick: onEdit })));
  }
  made.push(...told.slice(3).map(block));
  const rest = opening && opening.heading ? [opening, ...others] : others;
  for (const each of rest) made.push(element("h3", { text: each.heading }), ...each.blocks.map(block));
  return made;
}
