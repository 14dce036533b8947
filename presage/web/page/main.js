// Puts the page together: what the run tells, what people do, what is to be seen.

import { answerDetails, groupDetails } from "./details.js";
import { Editor } from "./editor.js";
import { setWords } from "./highlight.js";
import { readLink, writeLink } from "./links.js";
import { fillGlyphs } from "./marks.js";
import { Minimap } from "./minimap.js";
import { Model, grouping, lanesOf, select } from "./model.js";
import { fillNewest, fillUrgent } from "./overview.js";
import { connect } from "./source.js";
import { storyOf } from "./story.js";
import { Table } from "./table.js";
import { STATUSES, describe, element, readFact, readTime, setClock, showCount, showTime, showsClock, timeNumber } from "./text.js";
import { Timeline } from "./timeline.js";

const at = (id) => document.getElementById(id);
const ANNOUNCE = 2000; // milliseconds between two announcements to people who listen
const SELECT_AGAIN = 200; // milliseconds between two looks at all answers, or more where these take long
const MAP_AGAIN = 1000; // and between two drawings of the whole run
const narrow = matchMedia("(max-width: 760px)");

const source = connect();
let about = { queries: [], keys: [], facts: 0, words: [] };
let aboutVersion = "0,0"; // what is known of queries may grow, and runs take one another's place
let state = null;
let heardAt = 0; // when the state came, on the page's own clock
const live = new Model();
let past = null; // { step, model, state } while looking back
let filter = null; // what is to be seen, as the fields say
let unheard = [];
let opened = null; // the key of the answer whose details are open
let editor = null;
const openGroups = new Set();
let wanted = readLink(); // what the address asks for, until it is shown

const toneOf = (row) => about.words?.[row?.query]?.tone ?? "";

fillGlyphs();
filter = readFilter();
const timeline = new Timeline(
  { frame: at("timeline"), axis: at("axis"), lanes: at("lanes"), space: at("space"), nowLine: at("now") },
  { onChoose: openItem, onToggle: toggleGroup, toneOf },
);
const minimap = new Minimap(at("minimap"), timeline, toneOf);
timeline.onFollow = (on) => at("follow").setAttribute("aria-pressed", on);
timeline.onView = () => {
  minimap.draw();
  rememberView();
};
const table = new Table(
  { body: at("table-body"), where: at("page-where"), before: at("page-before"), after: at("page-after") },
  (row) => openAnswer(row.key),
  toneOf,
);

// -- what the run tells ----------------------------------------------------------------------------

async function begin() {
  await learn();
  source.listen(onBatch, () => {
    at("connection").textContent = "connection lost";
  });
}

async function learn() {
  about = await source.about();
  const file = about.program.split(/[\\/]/).at(-1);
  at("title").textContent = about.title || file;
  at("program").textContent = about.title && about.title !== file ? file : "";
  at("program").title = about.program;
  document.title = `${about.title || file} – Presage`;
  at("home").hidden = !about.home;
  if (about.home) at("home").href = about.home;
  at("share").hidden = source.recorded;
  at("share").href = "api/share";
  setClock(about.tick_milliseconds, about.start, about.shows_clock);
  setWords([...about.language.keywords, ...about.language.types]);
  at("speed-unit").textContent = about.tick_milliseconds === null ? "units/s" : "ticks/s";
  at("query-label").hidden = about.queries.length < 2;
  choices("filter-query", [["", "all"], ...about.queries.map((text, place) => [String(place), text])]);
  const lanes = [["auto", "automatic"], ["single", "one for each answer"], ...about.keys.map((key) => [key, `by ${key}`]), ["query", "by query"]];
  choices("lanes-by", lanes);
  const tones = new Set(about.words.map((each) => each.tone).filter(Boolean));
  at("legend-tones").textContent = tones.size ? [tones.has("bad") ? "red: bad" : "", tones.has("good") ? "green: good" : ""].filter(Boolean).join(", ") : "";
  for (const tile of document.querySelectorAll(".tile")) {
    tile.classList.remove("bad", "good");
    if (tones.size === 1 && about.words.every((each) => each.tone)) tile.classList.add([...tones][0]);
  }
  at("story").replaceChildren(...storyOf(about, () => showTab("workbench")));
  showEditor();
  filter = readFilter();
}

function showEditor() {
  at("tab-workbench").hidden = document.querySelector("[data-tab=workbench]").hidden = !about.editable;
  if (!about.editable) return;
  editor ??= new Editor(at("workbench"), { check: (text) => source.check(text), run: runOther, language: about.language });
  editor.load(about.source, about.program);
}

async function runOther(text, goOn) {
  await source.run(text, goOn);
}

// Fills a choice; what was chosen stays chosen.
function choices(id, options) {
  const chosen = at(id).value;
  at(id).replaceChildren(...options.map(([value, text]) => element("option", { value, text })));
  if (options.some(([value]) => value === chosen)) at(id).value = chosen;
}

function onBatch(batch) {
  at("connection").textContent = "";
  live.apply(batch);
  if (String(batch.about) !== aboutVersion) {
    const another = String(batch.about).split(",")[0] !== aboutVersion.split(",")[0];
    aboutVersion = String(batch.about);
    learn().then(() => setState(state));
    if (another) beginAnew();
  }
  if (!batch.reset) note(batch.rows);
  setState(batch.state);
  changed = true;
  if (opened !== null && past === null && batch.rows.some((row) => row.key === opened)) openAnswer(opened, false);
  if (wanted !== null && !batch.more) showWanted();
}

// Another run took the place of the one that was shown.
function beginAnew() {
  past = null;
  unheard = [];
  fitWhenDrawn = false;
  timeline.scale = null;
  timeline.follow(true);
}

let busy = ""; // what the next step waits for, as the page says

function setState(given) {
  const ended = given.finished && state !== null && !state.finished;
  state = given;
  heardAt = performance.now();
  const counts = (past ? past.state : given).statuses;
  const counted = about.facts !== null; // answers from elsewhere say nothing of facts
  at("count-facts").textContent = counted ? `${showCount((past ? past.state : given).facts)} / ${showCount(about.facts)}` : "–";
  at("count-rate").textContent = counted ? showCount(given.facts_per_second) : "–";
  at("count-changes").textContent = showCount(given.changes_per_second);
  at("count-open").textContent = showCount(counts.possible ?? 0);
  at("count-unsupported").textContent = showCount(counts.unsupported ?? 0);
  at("count-confirmed").textContent = showCount((counts.confirmed ?? 0) + (counts.holds ?? 0));
  at("count-refuted").textContent = showCount(counts.refuted ?? 0);
  for (const seldom of ["unsupported", "inconsistent"]) {
    const tile = document.querySelector(`.tile.${seldom}`);
    tile.hidden = !counts[seldom] && tile.querySelector("input").checked;
  }
  at("count-inconsistent").textContent = showCount(counts.inconsistent ?? 0);
  at("count-late").textContent = counted ? showCount(given.late) : "–";
  at("count-memory").textContent = showCount(given.remembered);
  const over = given.finished && past === null;
  at("play").textContent = over ? (about.again ? "Run again" : "Finished") : given.paused || past ? "Play" : "Pause";
  at("play").disabled = over && !about.again;
  at("play").dataset.finished = given.finished;
  at("again").hidden = !about.again || over;
  at("step").disabled = over;
  at("back").disabled = (past ? past.step : given.step) <= given.first_step;
  at("scrub").min = given.first_step;
  at("scrub").max = given.step;
  if (past === null) at("scrub").value = given.step;
  if (document.activeElement !== at("speed")) at("speed").value = given.speed;
  if (given.problem || given.busy) at("connection").textContent = given.problem || given.busy;
  else if (busy) at("connection").textContent = "";
  busy = given.busy ?? "";
  at("connection").classList.toggle("quiet", Boolean(busy) && !given.problem);
  showWhere();
  if (ended || (given.finished && timeline.following)) fitWhenDrawn = true;
}

let fitWhenDrawn = false; // the run is over: all of it is shown, as soon as it is there

function showWhere() {
  if (state === null) return;
  const looked = past ? past.state : state;
  const time = looked.now === null ? "not started" : `time ${showsClock() ? showTime(timeNumber(looked.now), 1) : looked.now}`;
  at("where").textContent = `${past ? "looking back: " : ""}${time}, step ${looked.step}${past ? ` of ${state.step}` : ""}`;
  at("live").hidden = past === null;
  at("now").classList.toggle("past", past !== null);
}

async function command(action, more = {}) {
  try {
    setState(await source.command(action, more));
  } catch (problem) {
    at("connection").textContent = problem.message;
  }
}

async function runAgain() {
  if (!about.again) return;
  past = null;
  await command("again");
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
    let given;
    try {
      given = await source.stateAt(step);
    } catch (problem) {
      at("connection").textContent = problem.message;
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
  if (past !== null) timeline.keepInSight(timeNumber(past.state.now));
  if (opened !== null) openAnswer(opened, false);
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
  else if (state.finished) return runAgain();
  if (state.finished) return undefined;
  return command(state.paused ? "play" : "pause");
}

// -- what is to be seen ----------------------------------------------------------------------------

let changed = false;
let selectedAt = 0;
let mappedAt = 0;
let selecting = 0; // how long the last look at all answers took
let shownRows = [];

function readFilter() {
  return {
    words: at("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean),
    query: at("filter-query").value === "" ? null : Number(at("filter-query").value),
    statuses: new Set([...document.querySelectorAll("#tiles input:checked")].map((box) => box.value)),
    confidence: Number(at("filter-confidence").value) || 0,
    lanes: at("lanes-by").value || "auto",
    order: at("order").value,
    only: filter?.only ?? null,
  };
}

const isTable = () => !at("table-view").hidden;
const shownModel = () => (past ? past.model : live);

function refresh() {
  const begun = performance.now();
  const model = shownModel();
  shownRows = select(model, filter);
  const by = grouping(shownRows, filter, about.keys);
  if (isTable()) table.setRows(shownRows);
  else timeline.setLanes(lanesOf(shownRows, by, about.queries, filter.order, openGroups), shownRows);
  const hidden = model.rows.size - shownRows.length;
  at("shown").textContent = `${showCount(shownRows.length)} ${shownRows.length === 1 ? "answer" : "answers"}${by === null || isTable() ? "" : `, by ${by}`}${hidden ? `, ${showCount(hidden)} filtered out` : ""}`;
  sayNothing(model);
  const now = state === null ? null : timeNumber((past ? past.state : state).now);
  fillUrgent(at("urgent"), model, now, toneOf, goToAnswer, state?.finished && past === null);
  fillNewest(at("newest"), model, toneOf, goToAnswer);
  at("answers").dataset.step = model.step;
  changed = false;
  selectedAt = performance.now();
  if (fitWhenDrawn && shownRows.length) {
    fitWhenDrawn = false;
    if (timeline.following && past === null) timeline.fitAll();
  }
  if (past !== null || selectedAt - mappedAt > Math.max(MAP_AGAIN, 10 * selecting)) drawMap(now);
  selecting = performance.now() - begun;
}

function drawMap(now) {
  mappedAt = performance.now();
  minimap.setRows(shownRows, now);
}

// Why there is nothing to see, if there is nothing.
function sayNothing(model) {
  at("nothing").hidden = shownRows.length > 0;
  if (shownRows.length) return;
  const filtered = model.rows.size > 0;
  at("clear").hidden = !filtered;
  let words = "Nothing yet: answers come with the facts.";
  if (filtered) words = filter.words.length ? `No answer matches “${at("filter-text").value}”${model.rows.size ? `, of ${showCount(model.rows.size)}` : ""}.` : "No answer passes the filter.";
  else if (past !== null) words = "Nothing had been said by then.";
  else if (state?.finished && about.several_models) words = "The run is over, and no answer holds in all models. “presage models” lists them one by one.";
  else if (state?.finished) words = "The run is over, and no answer became possible or certain.";
  else if (state?.paused && !state?.step) words = "Press Play, or Step, to begin.";
  else if (!state?.step && about.facts !== null) words = "The first step is being worked out. The very first run on a machine compiles, which takes some seconds.";
  at("nothing-words").textContent = words;
}

function clearFilter() {
  at("filter-text").value = "";
  at("filter-query").value = "";
  at("filter-confidence").value = "0";
  for (const box of document.querySelectorAll("#tiles input")) box.checked = true;
  filter.only = null;
  onFilter();
}

function onFrame() {
  const moment = performance.now();
  if (changed && past === null && moment - selectedAt > Math.max(SELECT_AGAIN, 4 * selecting)) refresh();
  else if (!changed && past === null && shownRows.length && selectedAt > mappedAt && moment - mappedAt > MAP_AGAIN) drawMap(state === null ? null : timeNumber(state.now));
  if (state !== null) timeline.setNow(nowTime(moment));
  requestAnimationFrame(onFrame);
}

// Between two messages time goes on at the known speed, up to the next step.
function nowTime(moment) {
  if (past) return timeNumber(past.state.now);
  if (state.now === null) return null;
  // Whoever stands still sees the time that is said and asked about, not how far the clock was on its way to the next.
  if (state.paused) return timeNumber(state.now);
  if (state.speed === 0) return state.stream_time;
  const reached = state.stream_time + ((moment - heardAt) / 1000) * state.speed;
  return Math.min(reached, Math.max(state.stream_time, timeNumber(state.next) ?? state.stream_time));
}

// -- news ------------------------------------------------------------------------------------------

function note(rows) {
  if (!rows.length) return;
  unheard.push(...rows.slice(-200));
  unheard.total = (unheard.total ?? 0) + rows.length;
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

// -- beside the picture ----------------------------------------------------------------------------

const TABS = ["story", "details", "workbench"];

function showTab(name, focus = true) {
  at("side").hidden = false;
  document.body.classList.add("beside");
  for (const each of TABS) {
    at(each).hidden = each !== name;
    at(`tab-${each}`).setAttribute("aria-selected", each === name);
  }
  if (name === "details" && opened === null && !at("details-body").childElementCount) {
    at("details-body").replaceChildren(element("p", { class: "quiet", text: "Choose an answer to read its ways, its proof and its rules." }));
  }
  if (focus) at(name).focus({ preventScroll: true });
}

function closeSide() {
  opened = null;
  timeline.clearChoice();
  at("details-body").replaceChildren();
  // Where there is room the story stays; elsewhere the picture is alone.
  if (!at("details").hidden && !narrow.matches && at("story").childElementCount) showTab("story", false);
  else hideSide();
  rememberView();
}

function hideSide() {
  at("side").hidden = true;
  at("details").hidden = true;
  document.body.classList.remove("beside");
}

function openItem(item) {
  if (item.row) openAnswer(item.row.key);
  else openGroup(item);
}

function toggleGroup(group) {
  if (!openGroups.delete(group.key)) openGroups.add(group.key);
  refresh();
}

function openGroup(group) {
  opened = null;
  showDetails(groupDetails(group, (row) => goToAnswer(row.key), () => {
    filter.only = { by: group.by, name: group.name, title: group.title };
    filter.lanes = at("lanes-by").value = "auto";
    onFilter();
  }, toneOf));
}

// Goes to where an answer is, and opens it.
function goToAnswer(key) {
  const row = shownModel().rows.get(key);
  if (row === undefined) return openAnswer(key);
  if (isTable()) return openAnswer(key);
  if (!timeline.items.some((item) => item.key === key)) {
    const group = timeline.items.find((item) => item.by && item.by !== "all" && item.rows.includes(row));
    if (group) {
      openGroups.add(group.key);
      refresh();
    }
  }
  timeline.goTo(row);
  timeline.mark(key);
  return openAnswer(key);
}

// On a phone what is beside the picture lies over it.
function showOnTimeline(key) {
  goToAnswer(key);
  if (!narrow.matches) return;
  hideSide();
  at("timeline").scrollIntoView({ block: "start" });
}

async function openAnswer(key, focus = true) {
  opened = key;
  timeline.mark(key);
  rememberView();
  let content;
  try {
    const given = await source.answer(key, past ? past.step : null);
    const row = shownModel().rows.get(key);
    const words = about.words?.[row?.query];
    const onSuppose = about.can_suppose ? (facts) => source.suppose(facts.map((text) => readFact(text, timeline.now ?? 0)), past ? past.step : null) : null;
    content = answerDetails(given, { tone: toneOf(row), means: words?.means ?? "", now: timeNumber((past ? past.state : state).now), onSuppose, onShow: row && !isTable() ? () => showOnTimeline(key) : null });
  } catch (problem) {
    content = [element("h2", { text: key }), element("p", { class: "quiet", text: problem.message })];
  }
  if (opened === key) showDetails(content, focus);
}

function showDetails(content, focus = true) {
  const first = at("details").hidden;
  at("details-body").replaceChildren(...content);
  if (first && !focus) return;
  showTab("details", first && focus);
}

// -- links -----------------------------------------------------------------------------------------

function rememberView() {
  if (wanted !== null) return;
  const view = timeline.following || isTable() ? null : timeline.view();
  const tab = TABS.find((each) => !at(each).hidden && !at("side").hidden);
  writeLink({
    answer: opened,
    step: past ? past.step : null,
    find: at("filter-text").value,
    query: at("filter-query").value,
    lanes: filter.lanes === "auto" ? null : filter.lanes,
    order: filter.order === "newest" ? null : filter.order,
    view: isTable() ? "table" : null,
    from: view ? Number(view.from.toPrecision(8)) : null,
    to: view ? Number(view.to.toPrecision(8)) : null,
    tab: tab === "workbench" ? tab : null,
  });
}

// What the address asks for, once all answers are there.
async function showWanted() {
  const link = wanted;
  wanted = null;
  if (!Object.keys(link).length) return;
  at("filter-text").value = link.find ?? "";
  at("filter-query").value = link.query ?? "";
  if (link.lanes) at("lanes-by").value = link.lanes;
  if (link.order) at("order").value = link.order;
  onFilter();
  if (link.view === "table") showTable(true);
  if (link.step !== undefined && state.step >= Number(link.step)) await lookBack(Number(link.step));
  if (link.from !== undefined && Number(link.to) > Number(link.from)) timeline.setView({ from: Number(link.from), to: Number(link.to) });
  if (link.answer) {
    if (link.from === undefined) goToAnswer(link.answer);
    else openAnswer(link.answer, false).then(() => showTab("details", false));
  } else if (link.tab === "workbench" && about.editable) showTab("workbench", false);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    at("link").textContent = "Copied";
  } catch {
    at("link").textContent = "It is in the address bar";
  }
  setTimeout(() => (at("link").textContent = "Copy link"), 1500);
}

// -- what people do --------------------------------------------------------------------------------

function onFilter() {
  filter = readFilter();
  at("only").hidden = filter.only === null;
  at("only").textContent = filter.only === null ? "" : `only ${filter.only.title} ✕`;
  refresh();
  rememberView();
}

function showTable(on) {
  at("table-view").hidden = !on;
  at("timeline").hidden = at("legend").hidden = on;
  document.querySelector(".zoom").hidden = document.querySelector(".jump").hidden = on;
  at("view-table").setAttribute("aria-pressed", on);
  at("view-timeline").setAttribute("aria-pressed", !on);
  refresh();
  rememberView();
}

function jump() {
  const time = readTime(at("jump").value, timeline.now ?? 0);
  at("jump").setAttribute("aria-invalid", time === null);
  if (time !== null) timeline.centre(time);
}

at("play").addEventListener("click", goPlay);
at("again").addEventListener("click", runAgain);
at("step").addEventListener("click", goStep);
at("back").addEventListener("click", goBack);
at("live").addEventListener("click", leavePast);
at("link").addEventListener("click", copyLink);
at("help-open").addEventListener("click", () => at("help").showModal());
at("scrub").addEventListener("input", () => lookBack(Number(at("scrub").value)));
at("speed").addEventListener("change", () => command("speed", { speed: Number(at("speed").value) }));
at("filters").addEventListener("input", onFilter);
at("filter-text").addEventListener("input", onFilter);
at("tiles").addEventListener("input", onFilter);
at("clear").addEventListener("click", clearFilter);
at("only").addEventListener("click", () => {
  filter.only = null;
  onFilter();
});
at("view-timeline").addEventListener("click", () => showTable(false));
at("view-table").addEventListener("click", () => showTable(true));
at("fit").addEventListener("click", () => timeline.fitAll());
at("follow").addEventListener("click", () => {
  timeline.follow(!timeline.following);
  rememberView();
});
at("zoom-in").addEventListener("click", () => timeline.zoom(1.5));
at("zoom-out").addEventListener("click", () => timeline.zoom(1 / 1.5));
at("earlier").addEventListener("click", () => timeline.pan(-0.4));
at("later").addEventListener("click", () => timeline.pan(0.4));
at("jump").addEventListener("keydown", (event) => event.key === "Enter" && jump());
at("close").addEventListener("click", () => (at("details").hidden ? hideSide() : closeSide()));
for (const each of TABS) at(`tab-${each}`).addEventListener("click", () => { showTab(each); rememberView(); });
for (const button of document.querySelectorAll("[data-tab]")) button.addEventListener("click", () => showTab(button.dataset.tab));
document.querySelector(".tabs").addEventListener("keydown", (event) => {
  const shown = TABS.filter((each) => !at(`tab-${each}`).hidden);
  const place = shown.findIndex((each) => at(`tab-${each}`) === document.activeElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (place < 0 || step === undefined) return;
  event.stopPropagation();
  event.preventDefault();
  const next = shown[(place + step + shown.length) % shown.length];
  showTab(next, false);
  at(`tab-${next}`).focus();
});

const KEYS = {
  " ": goPlay,
  ArrowRight: goStep,
  ArrowLeft: goBack,
  End: leavePast,
  "/": () => at("filter-text").focus(),
  "+": () => timeline.zoom(1.5),
  "=": () => timeline.zoom(1.5),
  "-": () => timeline.zoom(1 / 1.5),
  "?": () => at("help").showModal(),
  a: () => timeline.fitAll(),
  f: () => timeline.follow(!timeline.following),
  g: () => at("jump").focus(),
  r: runAgain,
  s: () => showTab("story"),
  p: () => about.editable && showTab("workbench"),
  t: () => showTable(at("table-view").hidden),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.key === "Escape" && !at("details").hidden) {
    closeSide();
    return;
  }
  // Fields and buttons have keys of their own.
  const kind = event.target.tagName;
  if (kind === "INPUT" || kind === "SELECT" || kind === "TEXTAREA" || (event.key === " " && (kind === "BUTTON" || kind === "SUMMARY"))) return;
  const action = KEYS[event.key];
  if (action && state !== null) {
    event.preventDefault();
    action();
  }
});
// What lies over the picture goes when people turn to something else.
document.addEventListener("pointerdown", (event) => {
  if (at("filters-box").open && !at("filters-box").contains(event.target)) at("filters-box").open = false;
});
addEventListener("hashchange", () => {
  wanted = readLink();
  showWanted();
});

if (narrow.matches) hideSide();
setInterval(announce, ANNOUNCE);
requestAnimationFrame(onFrame);
begin();
