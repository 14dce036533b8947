// The timeline: lanes one below the other, of which only those in sight are drawn.

import { deadlineMark, factMark, glyph, statusShape, svg } from "./marks.js";
import { startOf } from "./model.js";
import { STATUSES, describe, element, isAbsence, showBriefly, showTime, timeNumber, timeOfFact } from "./text.js";

const SPARE = 4; // lanes drawn beyond the edges, so that scrolling finds them there
const NOW_AT = 0.62; // where now is while it is followed, as a share of the width
const BIN = 9; // pixels of time that a group lane sums up
const FAR = 20000; // pixels after which drawings start anew, before numbers get too large for SVG

export class Timeline {
  constructor(places, onChoose) {
    Object.assign(this, places); // frame, axis, lanes, space, nowLine, nothing
    this.onChoose = onChoose;
    this.items = [];
    this.drawn = new Map();
    this.chosen = null;
    this.scale = null; // pixels for a unit of time
    this.left = 0; // the time at the left edge
    this.base = 0; // the time from which drawings count
    this.following = true;
    this.now = null;
    this.lanes.addEventListener("scroll", () => this.draw(), { passive: true });
    this.lanes.addEventListener("keydown", (event) => this.onKey(event));
    this.enableDragging();
    new ResizeObserver(() => this.measure()).observe(this.frame);
    this.measure();
  }

  measure() {
    const style = getComputedStyle(document.documentElement);
    this.rowHeight = parseFloat(style.getPropertyValue("--row"));
    this.labelWidth = parseFloat(style.getPropertyValue("--label")) * parseFloat(style.fontSize);
    const before = this.width;
    this.width = Math.max(40, this.lanes.clientWidth - this.labelWidth);
    // The same stretch of time stays in sight.
    if (before && this.scale !== null) this.scale *= this.width / before;
    this.height = this.lanes.clientHeight;
    this.redrawAll();
  }

  setLanes(items) {
    this.items = items;
    this.space.style.height = `${items.length * this.rowHeight}px`;
    this.nothing.hidden = items.length > 0;
    if (this.scale === null && items.length) this.fit();
    this.draw();
  }

  // A first scale at which a few lanes fit from evidence to deadline.
  fit() {
    let span = 4;
    for (const item of this.items.slice(0, 50)) {
      const row = item.row ?? item.rows[0];
      const times = [...row.because, ...row.needs].map((text) => timeOfFact(text).from);
      times.push(startOf(row), timeNumber(row.decided_by));
      const known = times.filter((time) => time !== null);
      if (known.length) span = Math.max(span, Math.max(...known) - Math.min(...known));
    }
    this.scale = this.width / (span * 2.5);
    this.setNow(this.now);
  }

  zoom(factor) {
    if (this.scale === null) return;
    const middle = this.following && this.now !== null ? this.now : this.left + this.width / 2 / this.scale;
    const at = (middle - this.left) * this.scale;
    this.scale *= factor;
    this.left = middle - at / this.scale;
    this.redrawAll();
  }

  pan(share) {
    if (this.scale === null) return;
    this.follow(false);
    this.left += (share * this.width) / this.scale;
    this.draw();
  }

  follow(on) {
    this.following = on;
    this.onFollow?.(on);
    if (on) this.setNow(this.now);
  }

  setNow(now) {
    this.now = now;
    if (now === null || this.scale === null) {
      this.nowLine.hidden = true;
      return;
    }
    if (this.following) {
      const left = now - (this.width * NOW_AT) / this.scale;
      if (Math.abs(left - this.left) * this.scale >= 0.5) {
        this.left = left;
        this.shift();
      }
    }
    const x = (now - this.left) * this.scale;
    this.nowLine.hidden = x < 0 || x > this.width;
    this.nowLine.style.transform = `translateX(${this.labelWidth + x}px)`;
  }

  redrawAll() {
    for (const lane of this.drawn.values()) lane.shown = null;
    this.base = this.left;
    this.draw();
    if (this.now !== null) this.setNow(this.now);
  }

  // Moves what is drawn to where it belongs now, without drawing it again.
  shift() {
    if (Math.abs(this.left - this.base) * this.scale > FAR) {
      this.redrawAll();
      return;
    }
    const move = `translate(${((this.base - this.left) * this.scale).toFixed(1)} 0)`;
    for (const lane of this.drawn.values()) {
      // Group lanes are drawn a screen beyond the edges.
      if (lane.item.row === undefined && Math.abs(this.left - lane.left) * this.scale > this.width) this.fillGroup(lane, lane.item);
      lane.drawing.setAttribute("transform", move);
    }
    this.drawAxis();
  }

  x(time) {
    return (time - this.base) * this.scale;
  }

  draw() {
    if (this.scale === null || this.width <= 0) return;
    const first = Math.max(0, Math.floor(this.lanes.scrollTop / this.rowHeight) - SPARE);
    const end = Math.min(this.items.length, Math.ceil((this.lanes.scrollTop + this.height) / this.rowHeight) + SPARE);
    const wanted = new Set();
    for (let place = first; place < end; place++) wanted.add(this.items[place].key);
    for (const [key, lane] of this.drawn) {
      if (wanted.has(key)) continue;
      if (lane.node.contains(document.activeElement)) this.lanes.focus({ preventScroll: true });
      lane.node.remove();
      this.drawn.delete(key);
    }
    for (let place = first; place < end; place++) this.drawLane(this.items[place], place);
    this.arrange(first, end);
    this.shift();
  }

  // People who listen or use the tab key meet the lanes in the order in which they are seen.
  arrange(first, end) {
    const held = document.activeElement;
    let next = null;
    for (let place = end - 1; place >= first; place--) {
      const { node } = this.drawn.get(this.items[place].key);
      if (node.nextSibling !== next || node.parentNode !== this.lanes) this.lanes.insertBefore(node, next);
      next = node;
    }
    if (held !== document.activeElement && held.isConnected) held.focus({ preventScroll: true });
  }

  drawLane(item, place) {
    let lane = this.drawn.get(item.key);
    if (lane === undefined) {
      lane = this.makeLane(item);
      this.drawn.set(item.key, lane);
    }
    lane.place = place;
    lane.node.style.transform = `translateY(${place * this.rowHeight}px)`;
    lane.node.classList.toggle("chosen", item.key === this.chosen);
    lane.node.setAttribute("aria-setsize", this.items.length);
    lane.node.setAttribute("aria-posinset", place + 1);
    const content = item.row ?? item;
    if (lane.shown === content) return;
    lane.shown = content;
    lane.item = item;
    if (item.row) this.fillLane(lane, item.row);
    else this.fillGroup(lane, item);
  }

  makeLane(item) {
    const drawing = svg("g");
    const picture = svg("svg", { "aria-hidden": "true" });
    picture.append(drawing);
    const button = element("button", { type: "button" });
    const node = element("div", { class: "lane fresh", role: "listitem" }, button, picture);
    const lane = { node, button, drawing, picture, item, shown: null };
    const choose = () => this.choose(lane.item);
    button.addEventListener("click", choose);
    picture.addEventListener("click", () => {
      if (!this.dragged) choose();
    });
    return lane;
  }

  fillLane({ node, button, drawing }, row) {
    node.dataset.answer = row.answer;
    node.dataset.status = row.status;
    node.className = `lane ${row.status} ${row.answer === this.chosen ? "chosen" : ""}`;
    button.replaceChildren(glyph(row.status), element("span", { class: "name", text: row.answer }));
    button.title = row.answer;
    button.setAttribute("aria-label", describe(row));
    drawing.replaceChildren(...this.marks(row));
    drawing.style.opacity = row.status === "possible" && row.confidence !== null ? 0.4 + 0.6 * row.confidence : 1;
  }

  // One answer: its status above, at its time; below what arrived and what is needed, up to the deadline.
  marks(row) {
    const made = [];
    const upper = this.rowHeight * 0.3;
    const lower = this.rowHeight * 0.7;
    const was = row.was ?? row;
    const facts = [
      ...was.because.map((text) => ({ text, full: true, ...timeOfFact(text) })),
      ...was.needs.map((text) => ({ text, full: false, ...timeOfFact(text) })),
    ].filter((fact) => fact.from !== null);
    const deadline = timeNumber(was.decided_by);
    const start = startOf(row);
    const arrived = facts.filter((fact) => fact.full).map((fact) => fact.to ?? fact.from);
    const ends = [...facts.map((fact) => fact.to ?? fact.from), ...(deadline === null ? [] : [deadline])];
    if (facts.length && ends.length) {
      const begin = Math.min(...facts.map((fact) => fact.from));
      const middle = arrived.length ? Math.max(...arrived) : begin;
      made.push(svg("line", { x1: this.x(begin), x2: this.x(middle), y1: lower, y2: lower, class: "span" }));
      made.push(svg("line", { x1: this.x(middle), x2: this.x(Math.max(...ends)), y1: lower, y2: lower, class: "span rest" }));
    }
    if (deadline !== null) made.push(deadlineMark(this.x(deadline), lower - 7, lower + 7));
    for (const fact of facts) {
      const mark = factMark(this.x(fact.from), lower, isAbsence(fact.text), fact.full);
      const title = svg("title");
      title.textContent = `${fact.text}: ${fact.full ? "arrived" : row.was ? "was needed" : "still needed"}`;
      mark.append(title);
      made.push(mark);
    }
    if (row.was) for (const mark of made) mark.classList.add("over");
    if (start !== null) {
      const end = "to" in row ? timeNumber(row.to) : start;
      if (end !== start) {
        const width = end === null ? FAR * 2 : Math.max(2, this.x(end) - this.x(start));
        made.push(svg("rect", { x: this.x(start), y: upper - 5, width, height: 10, rx: 3, class: "holds" }));
      }
      made.push(statusShape(row.status, this.x(start), upper, 5));
    }
    return made;
  }

  fillGroup(lane, group) {
    const { node, button, drawing } = lane;
    lane.left = this.left;
    node.dataset.group = group.name;
    node.className = `lane group ${group.key === this.chosen ? "chosen" : ""}`;
    const counts = element("span", { class: "counts" });
    const said = [];
    for (const status of STATUSES) {
      if (!group.counts[status]) continue;
      counts.append(element("span", {}, glyph(status), showBriefly(group.counts[status])));
      said.push(`${group.counts[status]} ${status}`);
    }
    button.replaceChildren(element("span", { class: "name", text: group.title }), counts);
    button.title = group.title;
    button.setAttribute("aria-label", `${group.title}: ${said.join(", ")}`);
    drawing.replaceChildren(...this.bins(group));
  }

  // Many answers in one lane: how many of each status at which times.
  bins(group) {
    const found = new Map();
    for (const row of group.rows) {
      const start = startOf(row);
      if (start === null) continue;
      const from = (start - this.left) * this.scale;
      if (from < -this.width || from > 2 * this.width) continue;
      const bin = Math.floor(this.x(start) / BIN);
      const counts = found.get(bin) ?? {};
      counts[row.status] = (counts[row.status] ?? 0) + 1;
      found.set(bin, counts);
    }
    const made = [];
    const room = this.rowHeight - 8;
    const sums = [...found.values()].map((counts) => Object.values(counts).reduce((a, b) => a + b, 0));
    const most = Math.max(1, ...sums);
    for (const [bin, counts] of found) {
      const total = Object.values(counts).reduce((a, b) => a + b, 0);
      if (total === 1) {
        const [status] = Object.keys(counts);
        const holder = svg("g", { class: status });
        holder.append(statusShape(status, bin * BIN + BIN / 2, this.rowHeight / 2, 4));
        made.push(holder);
        continue;
      }
      let bottom = this.rowHeight - 4;
      for (const status of STATUSES) {
        if (!counts[status]) continue;
        const height = Math.max(3, (room * counts[status]) / most);
        bottom -= height;
        // Hollow is open, full is confirmed, thin is refuted.
        const inset = status === "refuted" ? BIN / 2 - 1 : 1.5;
        made.push(svg("rect", { x: bin * BIN + inset, y: bottom + 1, width: BIN - 2 * inset, height: height - 1.5, class: `bin ${status}` }));
      }
    }
    return made;
  }

  drawAxis() {
    const step = niceStep(90 / this.scale);
    const made = [];
    const first = Math.ceil(this.left / step);
    const end = Math.floor((this.left + this.width / this.scale) / step);
    for (let place = first; place <= end; place++) {
      const time = place * step;
      if (time < 0) continue;
      const x = this.labelWidth + (time - this.left) * this.scale;
      made.push(svg("line", { x1: x, x2: x, y1: 22, y2: 30 }));
      const label = svg("text", { x, y: 18, "text-anchor": "middle" });
      label.textContent = showTime(time, step);
      made.push(label);
    }
    this.axis.replaceChildren(...made);
  }

  choose(item) {
    this.chosen = item.key;
    for (const [key, lane] of this.drawn) lane.node.classList.toggle("chosen", key === item.key);
    this.onChoose(item);
  }

  clearChoice() {
    const before = this.chosen;
    this.chosen = null;
    for (const lane of this.drawn.values()) lane.node.classList.remove("chosen");
    this.drawn.get(before)?.button.focus();
  }

  // Arrows go from lane to lane, also to those that are not drawn yet.
  onKey(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    if (!(event.key in steps) || !this.items.length) return;
    event.preventDefault();
    const held = [...this.drawn.values()].find((lane) => lane.node.contains(document.activeElement));
    const from = held ? held.place : steps[event.key] > 0 ? -1 : 0;
    const place = Math.min(this.items.length - 1, Math.max(0, from + steps[event.key]));
    const top = place * this.rowHeight;
    if (top < this.lanes.scrollTop) this.lanes.scrollTop = top;
    else if (top + this.rowHeight > this.lanes.scrollTop + this.height) this.lanes.scrollTop = top + this.rowHeight - this.height;
    this.draw();
    this.drawn.get(this.items[place].key)?.button.focus({ preventScroll: true });
  }

  enableDragging() {
    let from = null;
    this.lanes.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.target.closest("svg") && this.scale !== null) from = { x: event.clientX, left: this.left };
    });
    this.lanes.addEventListener("pointermove", (event) => {
      if (from === null || (event.buttons === 0 && event.pointerType === "mouse")) return;
      const moved = event.clientX - from.x;
      if (!this.dragged && Math.abs(moved) < 6) return;
      this.dragged = true;
      this.follow(false);
      this.left = from.left - moved / this.scale;
      this.draw();
      this.setNow(this.now);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      this.lanes.addEventListener(end, () => {
        from = null;
      });
    }
    this.frame.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
      },
      { passive: false },
    );
  }
}

// 1, 2 or 5 times a power of ten, at least as long as given.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * 0.999);
}
