// Shapes: one for each status and each kind of mark, so that nothing is said by colour alone.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const diamond = (x, y, r) => `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`;
const PATHS = {
  confirmed: diamond,
  holds: diamond,
  possible: (x, y, r) => `M${x - r * 0.8} ${y - r}L${x + r} ${y}L${x - r * 0.8} ${y + r}Z`,
  unsupported: (x, y, r) => `M${x - r} ${y - r}H${x + r}V${y + r}H${x - r}Z`,
  refuted: (x, y, r) => `M${x - r * 0.8} ${y - r * 0.8}L${x + r * 0.8} ${y + r * 0.8}M${x + r * 0.8} ${y - r * 0.8}L${x - r * 0.8} ${y + r * 0.8}`,
  // A step without a model: a barred circle.
  inconsistent: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0M${x - 0.7 * r} ${y + 0.7 * r}L${x + 0.7 * r} ${y - 0.7 * r}`,
};
const LOOKS = { confirmed: "shape full", holds: "shape full", possible: "shape lively", unsupported: "shape dashed", refuted: "shape thin", inconsistent: "shape" };

export function statusShape(status, x, y, r) {
  return svg("path", { d: PATHS[status](x, y, r), class: LOOKS[status] });
}

// A fact: round if it is there or must come, square if it is absent or must stay so; full once it is settled.
export function factMark(x, y, absence, full) {
  const look = full ? "mark full" : "mark";
  if (absence) return svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8, class: look });
  return svg("circle", { cx: x, cy: y, r: 4.2, class: look });
}

// A fact at every time of a stretch, with its ends.
export function stretchMark(from, to, y, absence, full) {
  const holder = svg("g", { class: `stretch ${full ? "full" : ""} ${absence ? "absence" : ""}` });
  holder.append(svg("rect", { x: from, y: y - 2, width: Math.max(3, to - from), height: 4, rx: absence ? 0 : 2, class: full ? "mark full" : "mark" }));
  return holder;
}

// A time that is open between two ends.
export function rangeMark(from, to, y, height, look = "range") {
  const holder = svg("g", { class: look });
  holder.append(svg("rect", { x: from, y: y - height / 2, width: Math.max(3, to - from), height, rx: height / 2 }));
  return holder;
}

export function deadlineMark(x, top, bottom) {
  return svg("path", { d: `M${x} ${top}V${bottom}M${x - 3} ${top}H${x + 3}M${x - 3} ${bottom}H${x + 3}`, class: "deadline" });
}

export function glyph(status, tone = "") {
  const drawing = svg("svg", { class: `glyph ${status} ${tone}`, viewBox: "0 0 14 14", "aria-hidden": "true" });
  drawing.append(statusShape(status, 7, 7, 5));
  return drawing;
}

const LEGEND = {
  deadline: () => deadlineMark(7, 2, 12),
  range: () => rangeMark(1, 27, 7, 8),
  state: () => svg("rect", { x: 1, y: 2, width: 26, height: 10, rx: 3, class: "holds-bar" }),
  evidence: () => factMark(7, 7, false, true),
  premise: () => factMark(7, 7, false, false),
  absence: () => factMark(7, 7, true, false),
};

// The shapes in the legend and beside the filters.
export function fillGlyphs() {
  for (const place of document.querySelectorAll("svg[data-shape]")) {
    place.setAttribute("viewBox", "0 0 14 14");
    place.append(statusShape(place.dataset.shape, 7, 7, 5));
  }
  for (const place of document.querySelectorAll("svg[data-mark]")) {
    place.setAttribute("viewBox", place.classList.contains("wide") ? "0 0 28 14" : "0 0 14 14");
    place.append(LEGEND[place.dataset.mark]());
  }
}
