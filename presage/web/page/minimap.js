// The whole run in a strip: how many answers of each status at which times, and which part of it is in sight.

import { geometry } from "./model.js";

const BINS = 260;
const ORDER = ["confirmed", "holds", "possible", "unsupported", "refuted", "inconsistent"];

export class Minimap {
  constructor(canvas, timeline, toneOf) {
    Object.assign(this, { canvas, timeline, toneOf });
    this.bins = [];
    this.extent = null;
    this.colours = new Map();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours.clear();
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    this.enableDragging();
  }

  setRows(rows, now) {
    const extent = this.timeline.extent;
    this.extent = extent === null ? null : { low: extent.low, high: Math.max(extent.high, now ?? extent.high, extent.low + 1e-6) };
    this.bins = Array.from({ length: BINS }, () => ({}));
    if (this.extent === null) return this.draw();
    const each = BINS / (this.extent.high - this.extent.low);
    for (const row of rows) {
      const { start, end, low, grows } = geometry(row);
      const from = start ?? low;
      if (from === null) continue;
      const look = `${row.status} ${this.toneOf(row)}`;
      const first = place(from, this.extent, each);
      const last = grows || end === null ? (start === null ? first : BINS - 1) : place(end ?? from, this.extent, each);
      for (let bin = first; bin <= last; bin++) this.bins[bin][look] = (this.bins[bin][look] ?? 0) + 1;
    }
    this.draw();
  }

  colour(look) {
    if (!this.colours.has(look)) {
      const probe = document.createElement("span");
      probe.className = look;
      document.body.append(probe);
      this.colours.set(look, getComputedStyle(probe).getPropertyValue("--status").trim() || "gray");
      probe.remove();
    }
    return this.colours.get(look);
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (this.extent === null) return;
    const left = this.timeline.labelWidth;
    const room = width - left;
    let most = 1;
    for (const bin of this.bins) most = Math.max(most, Object.values(bin).reduce((a, b) => a + b, 0));
    this.bins.forEach((bin, number) => {
      let y = height - 3;
      for (const [look, count] of Object.entries(bin).sort(([a], [b]) => ORDER.indexOf(a.split(" ")[0]) - ORDER.indexOf(b.split(" ")[0]))) {
        const tall = Math.max(2, (count / most) * (height - 8));
        pen.fillStyle = this.colour(look);
        pen.globalAlpha = look.startsWith("refuted") ? 0.45 : 1;
        const from = Math.round(left + (number / BINS) * room);
        const to = Math.round(left + ((number + 1) / BINS) * room);
        pen.fillRect(from, y - tall, Math.max(1.5, to - from), tall);
        y -= tall;
      }
    });
    pen.globalAlpha = 1;
    this.drawView(pen, left, room, height);
  }

  drawView(pen, left, room, height) {
    const view = this.timeline.view();
    if (view === null) return;
    const span = this.extent.high - this.extent.low;
    const from = left + Math.min(1, Math.max(0, (view.from - this.extent.low) / span)) * room;
    const to = left + Math.min(1, Math.max(0, (view.to - this.extent.low) / span)) * room;
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    pen.fillStyle = accent;
    pen.globalAlpha = 0.12;
    pen.fillRect(from, 0, Math.max(3, to - from), height);
    pen.globalAlpha = 1;
    pen.strokeStyle = accent;
    pen.strokeRect(from + 0.5, 0.5, Math.max(3, to - from) - 1, height - 1);
  }

  enableDragging() {
    let held = false;
    const go = (event) => {
      if (this.extent === null) return;
      const box = this.canvas.getBoundingClientRect();
      const left = this.timeline.labelWidth;
      const share = Math.min(1, Math.max(0, (event.clientX - box.left - left) / (box.width - left)));
      this.timeline.centre(this.extent.low + share * (this.extent.high - this.extent.low));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      held = true;
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this.canvas.addEventListener("pointermove", (event) => held && go(event));
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => (held = false));
  }
}

const place = (time, extent, each) => Math.min(BINS - 1, Math.max(0, Math.floor((time - extent.low) * each)));
