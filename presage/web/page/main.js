// Puts the page together: what the server tells, what people do, what is to be seen.

import { answerDetails, groupDetails } from "./details.js";
import { fillGlyphs, glyph } from "./marks.js";
import { Model, grouping, lanesOf, select } from "./model.js";
import { Table } from "./table.js";
import { STATUSES, describe, element, setClock, showCount, showTime, timeNumber } from "./text.js";
import { Timeline } from "./timeline.js";

const at = (id) => document.getElementById(id);
const ANNOUNCE = 2000; // milliseconds between two announcements to people who listen
const NEWEST = 6;
const SELECT_AGAIN = 200; // milliseconds between two looks at all answers, or more where these take long

let about = { queries: [], keys: [], facts: 0 };
let aboutVersion = 0; // what is known of queries may grow where answers come from elsewhere
let state = null;
let heardAt = 0; // when the state came, on the page's own clock
const live = new Model();
let past = null; // { step, model, state } while looking back
let filter = null; // what is to be seen, as the fields say
let unheard = [];
let opened = null; // the answer whose details are open

fillGlyphs();
at("filters-box").open = !matchMedia("(max-width: 760px)").matches;
filter = readFilter();
const timeline = new Timeline(
  { frame: at("timeline"), axis: at("axis"), lanes: at("lanes"), space: at("space"), nowLine: at("now"), nothing: at("nothing") },
  openItem,
);
timeline.onFollow = (on) => at("follow").setAttribute("aria-pressed", on);
const table = new Table(
  { body: at("table-body"), where: at("page-where"), before: at("page-before"), after: at("page-after") },
  (row) => openAnswer(row.answer),
);

// -- what the server tells -----------------------------------------------------------------------

async function begin() {
  await learn();
  listen();
}

async function learn() {
  about = await (await fetch("api/program")).json();
  at("program").textContent = about.program;
  document.title = `${about.program} – Presage`;
  setClock(about.tick_milliseconds, about.start);
  at("speed-unit").textContent = about.tick_milliseconds === null ? "units/s" : "ticks/s";
  at("query-label").hidden = about.queries.length < 2;
  at("inconsistent-label").hidden = !about.several_models;
  choices("filter-query", [["", "all"], ...about.queries.map((text, place) => [String(place), text])]);
  const lanes = [["auto", "automatic"], ["single", "one for each answer"], ...about.keys.map((key) => [key, `by ${key}`]), ["query", "by query"]];
  choices("lanes-by", lanes);
  filter = readFilter();
}

// Fills a choice; what was chosen stays chosen.
function choices(id, options) {
  const chosen = at(id).value;
  at(id).replaceChildren(...options.map(([value, text]) => element("option", { value, text })));
  if (options.some(([value]) => value === chosen)) at(id).value = chosen;
}

function listen() {
  const stream = new EventSource("api/events");
  stream.addEventListener("batch", (event) => {
    at("connection").textContent = "";
    const batch = JSON.parse(event.data);
    live.apply(batch);
    if (batch.about !== aboutVersion) {
      aboutVersion = batch.about;
      learn().then(() => setState(state));
    }
    if (!batch.reset) note(batch.rows);
    setState(batch.state);
    changed = true;
    if (opened !== null && past === null && batch.rows.some((row) => row.answer === opened)) openAnswer(opened);
  });
  stream.addEventListener("error", () => {
    at("connection").textContent = "connection lost";
  });
}

function setState(given) {
  state = given;
  heardAt = performance.now();
  const counts = given.statuses;
  const counted = about.facts !== null; // answers from elsewhere say nothing of facts
  at("count-facts").textContent = counted ? `${showCount(given.facts)} / ${showCount(about.facts)}` : "–";
  at("count-rate").textContent = counted ? showCount(given.facts_per_second) : "–";
  at("count-changes").textContent = showCount(given.changes_per_second);
  at("count-open").textContent = showCount((counts.possible ?? 0) + (counts.unsupported ?? 0));
  at("count-confirmed").textContent = showCount(counts.confirmed ?? 0);
  at("count-refuted").textContent = showCount(counts.refuted ?? 0);
  at("count-late").textContent = counted ? showCount(given.late) : "–";
  at("count-memory").textContent = showCount(given.remembered);
  at("play").textContent = given.finished ? "Finished" : given.paused || past ? "Play" : "Pause";
  at("play").disabled = given.finished && past === null;
  at("step").disabled = given.finished && past === null;
  at("back").disabled = (past ? past.step : given.step) <= given.first_step;
  at("scrub").min = given.first_step;
  at("scrub").max = given.step;
  if (past === null) at("scrub").value = given.step;
  if (document.activeElement !== at("speed")) at("speed").value = given.speed;
  if (given.problem) at("connection").textContent = given.problem;
  showWhere();
}

function showWhere() {
  if (state === null) return;
  const looked = past ? past.state : state;
  const time = looked.now === null ? "not started" : `time ${looked.now}`;
  const stamp = about.tick_milliseconds === null || looked.now === null ? "" : ` (${showTime(timeNumber(looked.now), 0.001)})`;
  at("where").textContent = `${past ? "looking back: " : ""}${time}${stamp}, step ${looked.step}${past ? ` of ${state.step}` : ""}`;
  at("live").hidden = past === null;
  at("now").classList.toggle("past", past !== null);
}

async function command(action, more = {}) {
  const answer = await fetch("api/control", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, ...more }),
  });
  const given = await answer.json();
  if (answer.ok) setState(given);
  else at("connection").textContent = given.error;
}

// -- the past --------------------------------------------------------------------------------------

let wantedStep = null;
let headedFor = null; // the step that is shown as soon as the server has told it
let asking = false;

async function lookBack(step) {
  wantedStep = headedFor = Math.max(state.first_step, Math.min(step, state.step));
  if (asking) return;
  asking = true;
  if (!state.paused) await command("pause");
  // Of the places a slider is dragged over, only the last counts.
  while (wantedStep !== null) {
    const step = wantedStep;
    wantedStep = null;
    if (step === state.step) {
      leavePast();
      continue;
    }
    const answer = await fetch(`api/state?step=${step}`);
    const given = await answer.json();
    if (!answer.ok) {
      at("connection").textContent = given.error;
      break;
    }
    const model = new Model();
    model.apply(given);
    past = { step, model, state: given.state };
    if (wantedStep === null) at("scrub").value = step;
  }
  asking = false;
  headedFor = null;
  setState(state);
  refresh();
  if (opened !== null) openAnswer(opened);
}

function leavePast() {
  past = null;
  setState(state);
  refresh();
}

// Who presses faster than the server answers goes on from where they are headed.
const stepShown = () => headedFor ?? (past ? past.step : state.step);
const goStep = () => (past || headedFor !== null ? lookBack(stepShown() + 1) : command("step"));
const goBack = () => lookBack(stepShown() - 1);

async function goPlay() {
  if (past) leavePast();
  await command(state.paused ? "play" : "pause");
}

// -- what is to be seen ----------------------------------------------------------------------------

let changed = false;
let selectedAt = 0;
let selecting = 0; // how long the last look at all answers took
let shownRows = [];

function readFilter() {
  return {
    words: at("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean),
    query: at("filter-query").value === "" ? null : Number(at("filter-query").value),
    statuses: new Set([...document.querySelectorAll("#filters fieldset input:checked")].map((box) => box.value)),
    confidence: Number(at("filter-confidence").value) || 0,
    lanes: at("lanes-by").value || "auto",
    order: at("order").value,
    only: filter?.only ?? null,
  };
}

function refresh() {
  const begun = performance.now();
  const model = past ? past.model : live;
  shownRows = select(model, filter);
  const by = grouping(shownRows.length, filter, about.keys);
  const inTable = !at("table-view").hidden;
  if (inTable) table.setRows(shownRows);
  else timeline.setLanes(lanesOf(shownRows, by, about.queries));
  const hidden = model.rows.size - shownRows.length;
  at("shown").textContent = `${showCount(shownRows.length)} answers${by === null || inTable ? "" : `, by ${by}`}${hidden ? `, ${showCount(hidden)} filtered out` : ""}`;
  at("answers").dataset.step = model.step;
  changed = false;
  selectedAt = performance.now();
  selecting = selectedAt - begun;
}

function onFrame() {
  const moment = performance.now();
  if (changed && past === null && moment - selectedAt > Math.max(SELECT_AGAIN, 4 * selecting)) refresh();
  if (state !== null) timeline.setNow(nowTime(moment));
  requestAnimationFrame(onFrame);
}

// Between two messages time goes on at the known speed, up to the next step.
function nowTime(moment) {
  if (past) return timeNumber(past.state.now);
  if (state.now === null) return null;
  if (state.paused || state.speed === 0) return state.stream_time;
  const reached = state.stream_time + ((moment - heardAt) / 1000) * state.speed;
  return Math.min(reached, Math.max(state.stream_time, timeNumber(state.next) ?? state.stream_time));
}

// -- news ------------------------------------------------------------------------------------------

function note(rows) {
  if (!rows.length) return;
  unheard.push(...rows.slice(-200));
  unheard.total = (unheard.total ?? 0) + rows.length;
  const lines = rows.slice(-NEWEST).reverse().map((row) => {
    const more = row.status === "possible" && row.needs.length ? `needs ${row.needs.join(", ")}` : "";
    return element("li", { class: row.status }, glyph(row.status), `${row.now}: ${row.status} ${row.answer}`, element("span", { class: "quiet", text: more }));
  });
  at("newest").prepend(...lines);
  while (at("newest").children.length > NEWEST) at("newest").lastChild.remove();
}

function announce() {
  if (!unheard.length) return;
  if (unheard.total <= 3) {
    at("announcer").textContent = unheard.map(describe).join(". ");
  } else {
    const counts = STATUSES.map((status) => [unheard.filter((row) => row.status === status).length, status]);
    const said = counts.filter(([count]) => count).map(([count, status]) => `${count} ${status}`);
    at("announcer").textContent = `${unheard.total} changes: ${said.join(", ")}. Newest: ${describe(unheard[unheard.length - 1])}`;
  }
  unheard = [];
}

// -- details ---------------------------------------------------------------------------------------

function openItem(item) {
  if (item.row) openAnswer(item.row.answer);
  else openGroup(item);
}

function openGroup(group) {
  opened = null;
  showDetails(groupDetails(group, (row) => openAnswer(row.answer), () => {
    filter.only = { by: group.by, name: group.name, title: group.title };
    filter.lanes = at("lanes-by").value = "auto";
    onFilter();
  }));
}

async function openAnswer(text) {
  opened = text;
  const step = past ? `&step=${past.step}` : "";
  const asked = `api/answer?answer=${encodeURIComponent(text)}${step}`;
  const answer = await fetch(asked);
  const given = await answer.json();
  if (opened !== text) return;
  showDetails(answer.ok ? answerDetails(given) : [element("h2", { text }), element("p", { class: "quiet", text: given.error })]);
}

function showDetails(content) {
  const first = at("details").hidden;
  at("details-body").replaceChildren(...content);
  at("details").hidden = false;
  if (first) at("details").focus({ preventScroll: true });
}

function closeDetails() {
  opened = null;
  at("details").hidden = true;
  timeline.clearChoice();
}

// -- what people do --------------------------------------------------------------------------------

function onFilter() {
  filter = readFilter();
  at("only").hidden = filter.only === null;
  at("only").textContent = filter.only === null ? "" : `only ${filter.only.title} ✕`;
  refresh();
}

function showTable(on) {
  at("table-view").hidden = !on;
  at("timeline").hidden = at("legend").hidden = on;
  document.querySelector(".zoom").hidden = on;
  at("view-table").setAttribute("aria-pressed", on);
  at("view-timeline").setAttribute("aria-pressed", !on);
  refresh();
}

at("play").addEventListener("click", goPlay);
at("step").addEventListener("click", goStep);
at("back").addEventListener("click", goBack);
at("live").addEventListener("click", leavePast);
at("scrub").addEventListener("input", () => lookBack(Number(at("scrub").value)));
at("speed").addEventListener("change", () => command("speed", { speed: Number(at("speed").value) }));
at("filters").addEventListener("input", onFilter);
at("only").addEventListener("click", () => {
  filter.only = null;
  onFilter();
});
at("view-timeline").addEventListener("click", () => showTable(false));
at("view-table").addEventListener("click", () => showTable(true));
at("follow").addEventListener("click", () => timeline.follow(!timeline.following));
at("zoom-in").addEventListener("click", () => timeline.zoom(1.5));
at("zoom-out").addEventListener("click", () => timeline.zoom(1 / 1.5));
at("earlier").addEventListener("click", () => timeline.pan(-0.4));
at("later").addEventListener("click", () => timeline.pan(0.4));
at("close").addEventListener("click", closeDetails);

const KEYS = {
  " ": goPlay,
  ArrowRight: goStep,
  ArrowLeft: goBack,
  End: leavePast,
  "/": () => at("filter-text").focus(),
  "+": () => timeline.zoom(1.5),
  "=": () => timeline.zoom(1.5),
  "-": () => timeline.zoom(1 / 1.5),
  f: () => timeline.follow(!timeline.following),
  t: () => showTable(at("table-view").hidden),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !at("details").hidden) {
    closeDetails();
    return;
  }
  // Fields and buttons have keys of their own.
  const kind = event.target.tagName;
  if (kind === "INPUT" || kind === "SELECT" || (event.key === " " && (kind === "BUTTON" || kind === "SUMMARY"))) return;
  const action = KEYS[event.key];
  if (action && state !== null) {
    event.preventDefault();
    action();
  }
});

setInterval(announce, ANNOUNCE);
requestAnimationFrame(onFrame);
begin();
