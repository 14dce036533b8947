// The timeline: lanes one below the other, of which only those in sight are drawn.

import { deadlineMark, factMark, glyph, rangeMark, statusShape, stretchMark, svg } from "./marks.js";
import { geometry, startOf } from "./model.js";
import { STATUSES, cutName, describe, element, niceStep, setExtent, showBriefly, showFact, showTime, showWritten, splitFact } from "./text.js";

const SPARE = 4; // lanes drawn beyond the edges, so that scrolling finds them there
const NOW_AT = 0.62; // where now is while it is followed, as a share of the width
const BIN = 9; // pixels of time that a group lane sums up
const MOST_MARKS = 120; // a group of more answers is summed up
const FAR = 20000; // pixels after which drawings start anew, before numbers get too large for SVG
const MARGIN = 26; // pixels left free beside what is fitted
const MOST_FOR_LABELS = 0.32; // of the width, where names are long
const LABELS_LOOKED_AT = 100;

export class Timeline {
  constructor(places, { onChoose, onToggle, toneOf }) {
    Object.assign(this, places); // frame, axis, lanes, space, nowLine
    Object.assign(this, { onChoose, onToggle, toneOf });
    this.items = [];
    this.drawn = new Map();
    this.chosen = null;
    this.scale = null; // pixels for a unit of time
    this.left = 0; // the time at the left edge
    this.base = 0; // the time from which drawings count
    this.following = true;
    this.now = null;
    this.wantedRems = 0; // how wide the labels would be if there were room
    this.extent = null; // from when to when there is something to see
    this.lanes.addEventListener("scroll", () => this.draw(), { passive: true });
    this.lanes.addEventListener("keydown", (event) => this.onKey(event));
    this.enableDragging();
    new ResizeObserver(() => this.measure()).observe(this.frame);
    this.measure();
  }

  measure() {
    const style = getComputedStyle(document.documentElement);
    this.rowHeight = parseFloat(style.getPropertyValue("--row"));
    this.labelWidth = this.labelRems(style) * parseFloat(style.fontSize);
    const before = this.width;
    this.width = Math.max(40, this.lanes.clientWidth - this.labelWidth);
    // The same stretch of time stays in sight.
    if (before && this.scale !== null) this.scale *= this.width / before;
    this.height = this.lanes.clientHeight;
    this.redrawAll();
  }

  // How wide labels are: as the style says, or as names and times need where the picture has room for them.
  labelRems(style) {
    const root = document.documentElement;
    root.style.removeProperty("--label");
    const usual = parseFloat(style.getPropertyValue("--label"));
    const most = (this.lanes.clientWidth * MOST_FOR_LABELS) / parseFloat(style.fontSize);
    const rems = Math.max(usual, Math.min(this.wantedRems, most));
    if (rems > usual) root.style.setProperty("--label", `${rems}rem`);
    return rems;
  }

  // Labels grow with the names they are given and stay so wide, so that nothing moves to and fro.
  makeRoomForNames() {
    const names = this.items.slice(0, LABELS_LOOKED_AT).map((item) => (item.row ? labelRems(item.row) : 0));
    const wanted = Math.ceil(Math.max(this.wantedRems, ...names));
    if (wanted === this.wantedRems) return;
    this.wantedRems = wanted;
    this.measure();
  }

  setLanes(items, rows) {
    this.items = items;
    this.makeRoomForNames();
    this.space.style.height = `${items.length * this.rowHeight}px`;
    this.extent = extentOf(rows);
    if (setExtent(this.extent)) for (const lane of this.drawn.values()) lane.shown = null;
    if (this.scale === null && items.length) this.firstScale();
    this.draw();
  }

  // A first scale at which a few lanes fit from evidence to deadline.
  firstScale() {
    let span = 4;
    for (const item of this.items.slice(0, 50)) {
      const { low, high } = geometry(item.row ?? item.rows[0]);
      if (low !== null) span = Math.max(span, high - low);
    }
    this.scale = this.width / (span * 2.5);
    this.setNow(this.now);
  }

  // All there is, from the first evidence to the last deadline.
  fitAll() {
    if (this.extent === null) return;
    const low = this.extent.low;
    const high = Math.max(this.extent.high, this.now ?? -Infinity);
    this.look(low, high);
  }

  keepInSight(time) {
    const view = this.view();
    if (view !== null && time !== null && (time < view.from || time > view.to)) this.centre(time);
  }

  // Brings a stretch of time into sight.
  look(low, high, margin = MARGIN) {
    this.follow(false);
    const span = Math.max(high - low, 1e-6);
    const room = Math.max(40, this.width - 2 * Math.min(margin, this.width / 6));
    this.scale = span < 1e-5 ? (this.scale ?? room / 10) : room / span;
    this.left = (low + high) / 2 - this.width / 2 / this.scale;
    this.redrawAll();
    this.onView?.();
  }

  // The stretch of time in sight.
  view() {
    return this.scale === null ? null : { from: this.left, to: this.left + this.width / this.scale };
  }

  setView({ from, to }) {
    this.look(from, to, 0);
  }

  // Goes to an answer: its lane, and its times if they are out of sight.
  goTo(row) {
    const place = this.items.findIndex((item) => item.row === row || item.key === row.key);
    if (place >= 0) this.scrollTo(place);
    const { low, high } = geometry(row);
    if (low === null || this.scale === null) return;
    this.follow(false);
    const view = this.view();
    const seen = low >= view.from && high <= view.to;
    const wide = (high - low) * this.scale;
    // Near enough to tell its marks apart, with something of what is around.
    if (wide > this.width * 0.9 || (high > low && wide < Math.min(90, this.width / 4))) this.look(low - (high - low), high + (high - low), 40);
    else if (!seen) this.centre((low + high) / 2);
  }

  centre(time) {
    if (this.scale === null) return;
    this.follow(false);
    this.left = time - this.width / 2 / this.scale;
    this.draw();
    this.setNow(this.now);
    this.onView?.();
  }

  scrollTo(place) {
    const top = place * this.rowHeight;
    if (top < this.lanes.scrollTop || top + this.rowHeight > this.lanes.scrollTop + this.height) this.lanes.scrollTop = top - this.height / 3;
    this.draw();
  }

  zoom(factor, around = null) {
    if (this.scale === null) return;
    const middle = around ?? (this.following && this.now !== null ? this.now : this.left + this.width / 2 / this.scale);
    const at = (middle - this.left) * this.scale;
    this.scale *= factor;
    this.left = middle - at / this.scale;
    this.redrawAll();
    this.onView?.();
  }

  pan(share) {
    if (this.scale === null) return;
    this.follow(false);
    this.left += (share * this.width) / this.scale;
    this.draw();
    this.setNow(this.now);
    this.onView?.();
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
        this.onView?.();
      }
    }
    const x = (now - this.left) * this.scale;
    this.nowLine.hidden = x < 0 || x > this.width;
    this.nowLine.style.transform = `translateX(${this.labelWidth + x}px)`;
    this.nowLine.classList.toggle("edge", x > this.width - 36);
    for (const lane of this.drawn.values()) for (const bar of lane.growing) bar.rect.setAttribute("width", Math.max(3, this.x(now) - bar.x));
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
      if (lane.item.row) this.pointTo(lane);
    }
    this.drawAxis();
  }

  // A lane whose marks are out of sight says where they are.
  pointTo(lane) {
    const { low, high, start, grows } = geometry(lane.item.row);
    const { from, to } = this.view();
    const time = showTime(start ?? low);
    const off = low === null ? "" : high < from && !grows ? `‹ ${time}` : low > to ? `${time} ›` : "";
    if (lane.off === off) return;
    lane.off = off;
    lane.pointer.textContent = off;
    lane.pointer.hidden = off === "";
    lane.pointer.classList.toggle("later", off.endsWith("›"));
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
    lane.node.classList.toggle("inside", Boolean(item.inside));
    lane.node.setAttribute("aria-setsize", this.items.length);
    lane.node.setAttribute("aria-posinset", place + 1);
    lane.item = item;
    const content = item.row ?? item;
    if (lane.shown === content) return;
    lane.shown = content;
    if (item.row) this.fillLane(lane, item.row);
    else this.fillGroup(lane, item);
  }

  makeLane(item) {
    const drawing = svg("g");
    const picture = svg("svg", { "aria-hidden": "true" });
    picture.append(drawing);
    const button = element("button", { type: "button", class: "label" });
    const pointer = element("button", { type: "button", class: "pointer", tabindex: "-1", "aria-hidden": "true", hidden: "", onclick: () => this.goTo(lane.item.row) });
    const node = element("div", { class: "lane fresh", role: "listitem" }, button, picture, pointer);
    const lane = { node, button, drawing, picture, pointer, item, shown: null, growing: [], toggle: null, off: "" };
    if (item.row === undefined && item.by !== "all") {
      lane.toggle = element("button", { type: "button", class: "toggle", onclick: () => this.onToggle(lane.item) });
      node.prepend(lane.toggle);
    }
    const choose = () => this.choose(lane.item);
    button.addEventListener("click", choose);
    picture.addEventListener("click", () => {
      if (!this.dragged) choose();
    });
    return lane;
  }

  fillLane(lane, row) {
    const { node, button, drawing } = lane;
    const tone = this.toneOf(row);
    node.dataset.answer = row.answer;
    node.dataset.key = row.key;
    node.dataset.status = row.status;
    node.className = `lane ${row.status} ${tone} ${row.key === this.chosen ? "chosen" : ""} ${lane.item.inside ? "inside" : ""}`;
    const [what, when] = splitFact(row.answer);
    const time = element("span", { class: when.length > 8 ? "when long" : "when", text: when === "" ? "" : `@${showWritten(when)}` });
    button.replaceChildren(glyph(row.status, tone), element("span", { class: "name" }, ...cutName(what)), time);
    button.title = showFact(row.answer);
    button.setAttribute("aria-label", describe(row));
    lane.growing = [];
    drawing.replaceChildren(...this.marks(row, lane));
    drawing.style.opacity = row.status === "possible" && row.confidence !== null ? 0.4 + 0.6 * row.confidence : 1;
  }

  // One answer: its status above, at its time; below what arrived and what is needed, up to the deadline.
  marks(row, lane) {
    const made = [];
    const { facts, deadline, start, low } = geometry(row);
    const lower = this.rowHeight * 0.66;
    const placed = facts.filter((fact) => fact.from !== null || fact.to !== null);
    const arrived = placed.filter((fact) => fact.full).map((fact) => fact.to ?? fact.from);
    const ends = [...placed.map((fact) => fact.to ?? fact.from), ...(deadline === null ? [] : [deadline])];
    if (placed.length && ends.length) {
      const begin = Math.min(...placed.map((fact) => fact.from ?? fact.to));
      const middle = arrived.length ? Math.max(...arrived) : begin;
      made.push(svg("line", { x1: this.x(begin), x2: this.x(middle), y1: lower, y2: lower, class: "span" }));
      made.push(svg("line", { x1: this.x(middle), x2: this.x(Math.max(...ends)), y1: lower, y2: lower, class: "span rest" }));
    }
    if (deadline !== null) made.push(deadlineMark(this.x(deadline), lower - 7, lower + 7));
    // What is there and what must be absent at one time are both to be seen.
    const there = new Set(placed.filter((fact) => !fact.absence).map((fact) => fact.from));
    const absent = new Set(placed.filter((fact) => fact.absence).map((fact) => fact.from));
    for (const fact of placed) {
      const shared = !fact.stretch && !fact.open && there.has(fact.from) && absent.has(fact.from);
      made.push(this.factAt(fact, shared ? lower + (fact.absence ? 4.5 : -4.5) : lower, row, deadline ?? low));
    }
    if (row.was) for (const mark of made) mark.classList.add("over");
    made.push(...this.answerAt(row, this.rowHeight * 0.3, lane));
    if (start === null && row.status === "possible") {
      // An open time: where it may lie, by each way.
      made.push(...this.ranges(row, this.rowHeight * 0.3));
    }
    return made;
  }

  factAt(fact, y, row, fallback) {
    const from = this.x(fact.from ?? fact.to ?? fallback);
    const to = fact.to === null ? Math.max(from + 40, this.x(fallback)) : this.x(fact.to);
    let mark;
    if (fact.stretch) mark = stretchMark(from, to, y + 6, fact.absence, fact.full);
    else if (fact.open) {
      mark = rangeMark(from, to, y, 6, "range");
      mark.append(factMark((from + to) / 2, y, fact.absence, fact.full));
    } else mark = factMark(from, y, fact.absence, fact.full);
    if (fact.count && !fact.full) {
      const holder = svg("g");
      const label = svg("text", { x: (fact.open ? (from + to) / 2 : from) + 7, y: y - 4, class: "times" });
      label.textContent = fact.count;
      holder.append(mark, label);
      mark = holder;
    }
    const title = svg("title");
    title.textContent = `${fact.text}: ${fact.full ? (fact.absence ? "stayed absent" : "arrived") : row.was ? "was needed" : "still needed"}`;
    mark.append(title);
    return mark;
  }

  // The answer itself: a shape at its time, a bar over its stretch.
  answerAt(row, y, lane) {
    const { start, end, grows } = geometry(row);
    if (start === null) return [];
    const made = [];
    if (grows || end !== start) {
      const x = this.x(start);
      const width = grows ? Math.max(3, this.x(this.now ?? start) - x) : end === null ? FAR * 2 : Math.max(3, this.x(end) - x);
      const rect = svg("rect", { x, y: y - 6, width, height: 12, rx: 3, class: `holds-bar ${grows ? "grows" : ""}` });
      made.push(rect);
      if (grows && lane) lane.growing.push({ rect, x });
      return made;
    }
    made.push(statusShape(row.status, this.x(start), y, 5));
    return made;
  }

  ranges(row, y) {
    const { ranges, deadline } = geometry(row);
    const made = [];
    for (const range of ranges.length ? ranges : [{}]) {
      const low = Number.isFinite(range.low) ? range.low : (this.now ?? this.left);
      const high = Number.isFinite(range.high) ? range.high : (deadline ?? low + (this.width / this.scale) * 2);
      made.push(rangeMark(this.x(low), this.x(high), y, 10, "range answer"));
      made.push(statusShape(row.status, this.x(low) + 5, y, 4));
    }
    return made;
  }

  fillGroup(lane, group) {
    const { node, button, drawing } = lane;
    lane.left = this.left;
    lane.growing = [];
    node.dataset.group = group.name;
    node.className = `lane group ${group.key === this.chosen ? "chosen" : ""}`;
    const counts = element("span", { class: "counts" });
    const said = [];
    for (const status of STATUSES) {
      if (!group.counts[status]) continue;
      const like = group.rows.length <= MOST_MARKS ? group.rows.find((row) => row.status === status) : group.rows[0];
      counts.append(element("span", {}, glyph(status, this.toneOf(like)), showBriefly(group.counts[status])));
      said.push(`${group.counts[status]} ${status}`);
    }
    button.replaceChildren(element("span", { class: "name" }, element("span", { class: "key", text: group.prefix }), ...cutName(group.title.slice(group.prefix.length))), counts);
    button.title = group.title;
    button.setAttribute("aria-label", `${group.title}: ${said.join(", ")}`);
    if (lane.toggle) {
      lane.toggle.textContent = group.open ? "▾" : "▸";
      lane.toggle.setAttribute("aria-expanded", group.open);
      lane.toggle.setAttribute("aria-label", `Answers of ${group.title}`);
    }
    drawing.replaceChildren(...(group.rows.length > MOST_MARKS ? this.bins(group) : this.together(group, lane)));
  }

  // Some answers in one lane: each at its time, those of one query on one line.
  together(group, lane) {
    const made = [];
    const places = [...new Set(group.rows.map((row) => row.query))].sort((a, b) => a - b);
    const gap = Math.min(11, (this.rowHeight - 14) / Math.max(1, places.length - 1));
    const strongLast = [...group.rows].sort((a, b) => STRENGTH[a.status] - STRENGTH[b.status]);
    for (const row of strongLast) {
      const { start, deadline, low } = geometry(row);
      const y = this.rowHeight / 2 + (places.indexOf(row.query) - (places.length - 1) / 2) * gap;
      const holder = svg("g", { class: `${row.status} ${this.toneOf(row)}` });
      if (row.status === "possible" && low !== null && deadline !== null) holder.append(svg("line", { x1: this.x(low), x2: this.x(deadline), y1: y, y2: y, class: "span rest" }));
      holder.append(...(start === null ? this.ranges(row, y) : this.answerAt(row, y, lane)));
      const title = svg("title");
      title.textContent = `${row.status} ${row.answer}`;
      holder.append(title);
      made.push(holder);
    }
    return made;
  }

  // Many answers in one lane: how many of each status at which times.
  bins(group) {
    const found = new Map();
    const tone = this.toneOf(group.rows[0]);
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
    let most = 1;
    for (const counts of found.values()) most = Math.max(most, sum(counts));
    for (const [bin, counts] of found) {
      if (sum(counts) === 1) {
        const [status] = Object.keys(counts);
        const holder = svg("g", { class: `${status} ${tone}` });
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
        made.push(svg("rect", { x: bin * BIN + inset, y: bottom + 1, width: BIN - 2 * inset, height: Math.max(1, height - 1.5), class: `bin ${status} ${tone}` }));
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
      made.push(svg("line", { x1: x, x2: x, y1: 20, y2: 26 }));
      const label = svg("text", { x, y: 16, "text-anchor": "middle" });
      label.textContent = showTime(time, step, true);
      made.push(label);
    }
    this.axis.replaceChildren(...made);
  }

  choose(item) {
    this.mark(item.key);
    this.onChoose(item);
  }

  mark(key) {
    this.chosen = key;
    for (const [each, lane] of this.drawn) lane.node.classList.toggle("chosen", each === key);
  }

  clearChoice() {
    const before = this.chosen;
    this.mark(null);
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
    const held = new Map(); // the fingers, or the mouse, that drag
    let from = null;
    let spread = 0;
    const begin = () => {
      const xs = [...held.values()];
      from = { x: xs.reduce((a, b) => a + b, 0) / xs.length, left: this.left };
      spread = xs.length > 1 ? Math.max(20, Math.abs(xs[0] - xs[1])) : 0;
    };
    this.lanes.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (!event.target.closest("svg") || event.target.closest("button") || this.scale === null) return;
      held.set(event.pointerId, event.clientX);
      begin();
    });
    this.lanes.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId) || (event.buttons === 0 && event.pointerType === "mouse")) return;
      held.set(event.pointerId, event.clientX);
      const xs = [...held.values()];
      if (xs.length > 1) {
        const apart = Math.max(20, Math.abs(xs[0] - xs[1]));
        const middle = (xs[0] + xs[1]) / 2 - this.lanes.getBoundingClientRect().left - this.labelWidth;
        this.dragged = true;
        this.zoom(apart / spread, this.left + middle / this.scale);
        begin();
        return;
      }
      const moved = xs[0] - from.x;
      if (!this.dragged && Math.abs(moved) < 6) return;
      this.dragged = true;
      this.follow(false);
      this.left = from.left - moved / this.scale;
      this.draw();
      this.setNow(this.now);
      this.onView?.();
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      this.lanes.addEventListener(end, (event) => {
        held.delete(event.pointerId);
        if (held.size) begin();
      });
    }
    this.frame.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey) {
          event.preventDefault();
          const at = event.clientX - this.lanes.getBoundingClientRect().left - this.labelWidth;
          this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, this.following ? null : this.left + at / this.scale);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          event.preventDefault();
          this.pan(((event.deltaX || event.deltaY) / this.width) * 0.7);
        }
      },
      { passive: false },
    );
  }
}

const STRENGTH = { refuted: 0, unsupported: 1, possible: 2, confirmed: 3, holds: 3, inconsistent: 4 };
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

// How wide a label would be with its name and time in full: a mark, two sizes of letters of one width, and what is between.
function labelRems(row) {
  const [what, when] = splitFact(row.answer);
  return 3.4 + 0.5 * what.length + (when === "" ? 0 : 0.6 + 0.475 * showWritten(when).length);
}

function extentOf(rows) {
  let low = Infinity;
  let high = -Infinity;
  for (const row of rows) {
    const places = geometry(row);
    if (places.low === null) continue;
    if (places.low < low) low = places.low;
    if (places.high > high) high = places.high;
  }
  return low === Infinity ? null : { low, high };
}
