"use strict";
// Filters the tables and draws, when something is opened, what the page has as data. Loads nothing.
const root = document.documentElement;
window.addEventListener("error", (event) => { root.dataset.error = event.message; });

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const WORDS = { A: "circle", AAAA: "diamond", SRV: "square" };
const SHAPES = {
  circle: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
  diamond: "M0-5.6L5.6 0L0 5.6L-5.6 0z",
  square: "M-4.3-4.3h8.6v8.6h-8.6z",
  triangle: "M0-5.2L5.2 4.4H-5.2z",
};

// Every look-up of every job, by its number on the page.
const walks = data.jobs.flatMap((job, place) => job.checks.filter((check) => check.walks).map((check) => ({ check, place })));
walks.forEach((walk, number) => { walk.check.number = number; });

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function drawn(tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

function titled(shape, text) {
  shape.append(drawn("title", {}, text));
  return shape;
}

function mark(type, transport, server, x, y) {
  const tcp = transport === "udp" ? "" : " tcp";
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return drawn("path", { d: SHAPES[WORDS[type] ?? "triangle"], class: `mark q${server}${tcp}`, transform: place });
}

// -- time --

// Milliseconds on a scale that keeps a step of one and a time-out of seconds apart: log(1 + t).
function scale(longest, left, right) {
  const width = right - left;
  const whole = Math.log1p(Math.max(longest, 3));
  return (time) => left + (width * Math.log1p(Math.max(time, 0))) / whole;
}

function ticks(longest) {
  const all = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];
  return all.filter((tick) => tick <= Math.max(longest, 3));
}

function axis(picture, longest, x, top, bottom, labelled = true) {
  for (const tick of ticks(longest)) {
    picture.append(drawn("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    if (labelled) picture.append(drawn("text", { x: x(tick), y: bottom + 13, "text-anchor": "middle" }, tick < 1000 ? (tick ? `${tick}` : "0 ms") : `${tick / 1000} s`));
  }
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function milliseconds(time) {
  return time < 1000 ? `${time.toFixed(time < 10 ? 1 : 0)} ms` : `${(time / 1000).toFixed(2)} s`;
}

// -- timelines --

function shortened(text, width) {
  const room = Math.max(Math.floor(width / 7), 8);
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

function times(walk) {
  const first = walk.asked.length ? walk.asked[0][0] : 0;
  return walk.asked.map((asked) => asked[0] - first);
}

function lanes(picture, names, layout) {
  names.forEach((name, lane) => {
    const y = layout.y(lane);
    picture.append(drawn("line", { class: "lane", x1: layout.left - 8, x2: layout.width, y1: y, y2: y }));
    const label = layout.narrow ? { x: 0, y: y - 9 } : { x: 0, y: y + 4 };
    picture.append(titled(drawn("text", { class: "name", ...label }, shortened(name, layout.room)), name));
  });
}

function layoutOf(names, width) {
  const narrow = width < 620;
  const longest = Math.max(...names.map((name) => name.length), 8);
  const room = narrow ? width : Math.min(longest * 7 + 8, width * 0.45);
  const left = narrow ? 12 : room + 18;
  const step = narrow ? 34 : 20;
  const y = (lane) => (narrow ? 26 : 14) + lane * step;
  return { narrow, room, left, width, y, bottom: y(names.length - 1) + 12 };
}

// Where the marks go: in time, and beside one another in a lane.
function places(walk, x, layout) {
  const last = new Map();
  return times(walk).map((time, index) => {
    const [, lane, type, transport] = walk.asked[index];
    const at = Math.min(Math.max(x(time), (last.get(lane) ?? -Infinity) + 11), layout.width - 6);
    last.set(lane, at);
    return { x: at, y: layout.y(lane), lane, type, transport, time };
  });
}

function timeline(names, walk, server, longest, width, withAxis) {
  const layout = layoutOf(names, width);
  const height = layout.bottom + (withAxis ? 18 : 0);
  const picture = drawn("svg", { class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  const x = scale(longest, layout.left, width - 22);
  axis(picture, longest, x, 4, layout.bottom, withAxis);
  lanes(picture, names, layout);
  const found = places(walk, x, layout);
  const steps = found.map((place, index) => (index ? `H${place.x.toFixed(1)}V${place.y}` : `M${place.x.toFixed(1)} ${place.y}`));
  picture.append(drawn("path", { class: "path", d: steps.join("") || "M0 0" }));
  found.forEach((place, index) => {
    const words = `${index + 1}. ${names[place.lane]} ${place.type}, ${place.transport}, ${milliseconds(place.time)}`;
    picture.append(titled(mark(place.type, place.transport, server, place.x, place.y), words));
  });
  return picture;
}

function panel(check, name, longest, width, withAxis) {
  const server = data.servers.indexOf(name);
  const walk = check.walks.seen[name];
  const passed = times(walk);
  const head = element("p", { class: `server s${server}` });
  const said = element("span", { class: "small" }, `${counted(passed.length, "question")} in ${milliseconds(passed.at(-1) ?? 0)}`);
  head.append(element("span", {}, element("i"), data.called[name]), said, element("span", { class: "got" }, `→ ${walk.got}`));
  const made = element("div", { class: "panel" }, head);
  if (passed.length) made.append(timeline(check.walks.names, walk, server, longest, width, withAxis));
  return made;
}

function faults(check) {
  return Object.entries(check.faults ?? {}).map(([server, texts]) => element("pre", {}, `${data.called[server]}: ${texts.join("\n")}`));
}

function drawWalk(details) {
  const { check } = walks[details.dataset.walk];
  const seen = data.servers.filter((server) => check.walks.seen[server]);
  const longest = Math.max(1, ...seen.flatMap((server) => times(check.walks.seen[server])));
  const width = Math.max(details.clientWidth, 280);
  const panels = seen.map((server) => panel(check, server, longest, width, server === seen.at(-1)));
  details.querySelector(".drawing").replaceChildren(...panels, ...faults(check));
  details.dataset.width = width;
}

function walkRow(check) {
  const got = Object.values(check.walks.seen)[0]?.got ?? "";
  const right = element("span", { class: "right small got" }, shortened(got, 280));
  const text = check.text && !check.place.startsWith(check.text) ? ` — ${check.text}` : "";
  const summary = element("summary", {}, check.place, element("span", { class: "about" }, text), right);
  const failed = check.faults ? " failed" : "";
  const made = element("details", { class: `walk${failed}`, id: `walk-${check.number}`, "data-walk": check.number });
  made.append(summary, element("div", { class: "drawing" }));
  made.addEventListener("toggle", () => { if (made.open) drawWalk(made); });
  return made;
}

// -- lists that are made when they are opened --

function fillResolver(details) {
  const words = document.getElementById("find-walk").value;
  const checks = data.jobs[details.dataset.job].checks.filter((check) => check.walks && holds(walkText(check), words));
  details.querySelector(".rows").replaceChildren(...checks.map(walkRow));
}

function walkText(check) {
  const got = Object.values(check.walks.seen).map((walk) => walk.got);
  return [check.place, check.text, ...(check.tags ?? []), ...check.walks.names, ...got].join(" ");
}

function checkRow(check) {
  const judged = data.servers.filter((server) => (check.judged ?? []).includes(server));
  const failed = check.faults ? " failed" : "";
  const row = element("div", { class: `check${failed}` }, element("span", {}, check.faults ? "✗" : "✓"), element("code", {}, check.place));
  row.append(element("span", {}, check.text ?? ""));
  for (const tag of check.tags ?? []) row.append(element("a", { class: "tag", href: `#${tag}` }, tag));
  for (const name of check.differences ?? []) row.append(element("span", { class: "tag" }, name));
  if (judged.length < data.servers.length) row.append(element("span", { class: "small" }, `${judged.map((server) => data.called[server]).join(", ") || "nobody"} alone`));
  row.append(...faults(check));
  return row;
}

function fillJob(details) {
  const checks = data.jobs[details.dataset.job].checks;
  details.querySelector(".rows").replaceChildren(...checks.map(checkRow));
}

// -- changes --

function changeRow(picture, check, y, x, layout) {
  const found = data.servers.map((server) => check.settled[server]);
  const known = found.filter((time) => time !== undefined);
  const label = layout.narrow ? { x: 0, y: y - 9 } : { x: 0, y: y + 4 };
  picture.append(titled(drawn("text", { class: "name", ...label }, shortened(check.label, layout.room)), check.label));
  picture.append(drawn("line", { class: "lane", x1: layout.left - 8, x2: layout.width, y1: y, y2: y }));
  picture.append(drawn("line", { class: "link", x1: x(Math.min(...known)), x2: x(Math.max(...known)), y1: y, y2: y }));
  found.forEach((time, server) => {
    if (time === undefined) return;
    picture.append(titled(mark("A", "udp", server, x(time), y), `${data.called[data.servers[server]]}: ${milliseconds(time)}`));
  });
}

const changed = data.jobs.flatMap((job) => job.checks.filter((check) => check.settled)
  .map((check) => ({ ...check, label: `${job.name}: ${check.text}` })));
const slowest = Math.max(1, ...changed.flatMap((check) => Object.values(check.settled)));

function sheet(labels, place) {
  const width = Math.max(place.clientWidth, 280);
  const layout = layoutOf(labels, width);
  const height = layout.bottom + 20;
  const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  const x = scale(slowest, layout.left, width - 22);
  axis(picture, slowest, x, 4, layout.bottom);
  place.replaceChildren(picture);
  return { picture, layout, x };
}

// All changes in a lane for each server.
function drawStrip(place) {
  const servers = data.servers.filter((server) => changed.some((check) => check.settled[server] !== undefined));
  const names = servers.map((server) => data.called[server]);
  const { picture, layout, x } = sheet(names, place);
  lanes(picture, names, layout);
  for (const check of changed) {
    for (const [server, time] of Object.entries(check.settled)) {
      const dot = mark("A", "udp", data.servers.indexOf(server), x(time), layout.y(servers.indexOf(server)));
      dot.setAttribute("opacity", 0.45);
      picture.append(titled(dot, `${check.label}: ${milliseconds(time)}`));
    }
  }
}

// A lane for each change, the servers side by side.
function drawEach(place) {
  const { picture, layout, x } = sheet(changed.map((check) => check.label), place);
  changed.forEach((check, row) => changeRow(picture, check, layout.y(row), x, layout));
}

function drawChanges() {
  if (!changed.length) return;
  drawStrip(document.getElementById("strip"));
  if (document.getElementById("each").open) drawEach(document.getElementById("plot"));
}

// -- finding --

function holds(text, words) {
  const low = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

// Requirements that no job had to do with are shown when they are asked for.
function fold(body) {
  const button = body.querySelector(".unfold");
  if (!button) return;
  button.closest("tr").hidden = false;
  for (const row of body.querySelectorAll("[data-idle]")) row.hidden = button.ariaExpanded !== "true";
}

function unfold(button, open) {
  button.ariaExpanded = String(open);
  fold(button.closest("tbody"));
}

function filterRequirements() {
  const words = document.getElementById("find-requirement").value;
  const state = document.querySelector(".chips [aria-pressed=true]").dataset.state;
  let shown = 0;
  for (const body of document.querySelectorAll(".requirements tbody")) {
    const rows = [...body.querySelectorAll(".requirement")];
    for (const row of rows) row.hidden = !(holds(row.textContent, words) && row.dataset.states.includes(state && `|${state}|`));
    if (!words && !state) fold(body);
    else body.querySelector(".more")?.setAttribute("hidden", "");
    const left = rows.filter((row) => !row.hidden).length;
    body.hidden = left === 0 && !body.querySelector(".more:not([hidden])");
    shown += !body.hidden;
  }
  document.getElementById("no-requirement").hidden = shown > 0;
}

function filterWalks() {
  const words = document.getElementById("find-walk").value;
  for (const details of document.querySelectorAll(".resolver")) {
    const checks = data.jobs[details.dataset.job].checks.filter((check) => check.walks);
    const left = checks.filter((check) => holds(walkText(check), words)).length;
    details.hidden = left === 0;
    details.querySelector(".found").textContent = left === checks.length ? counted(left, "look-up") : `${left} of ${counted(checks.length, "look-up")}`;
    if (details.open) fillResolver(details);
  }
}

function filterJobs() {
  const words = document.getElementById("find-job").value;
  for (const area of document.querySelectorAll(".area")) {
    const jobs = [...area.querySelectorAll(".job")];
    for (const job of jobs) job.hidden = !holds(job.querySelector("summary").textContent, words);
    area.hidden = jobs.every((job) => job.hidden);
    if (words) area.open = !area.hidden;
  }
}

function press(button) {
  for (const other of document.querySelectorAll(".chips button")) other.setAttribute("aria-pressed", other === button);
  filterRequirements();
}

// -- links: #R11, #walk-17, #job:kubernetes/ptr --

function follow() {
  const name = decodeURIComponent(location.hash.slice(1));
  const number = name.match(/^walk-(\d+)$/)?.[1];
  if (number && walks[number]) {
    const resolver = document.querySelector(`.resolver[data-job="${walks[number].place}"]`);
    resolver.open = true;
    fillResolver(resolver);
  }
  const target = document.getElementById(name);
  if (target?.hidden && "idle" in target.dataset) unfold(target.closest("tbody").querySelector(".unfold"), true);
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target?.dataset.walk) drawWalk(target);
  if (target?.classList.contains("job")) fillJob(target);
  target?.scrollIntoView();
}

function legend() {
  const place = document.getElementById("legend");
  const entries = [["A", "udp"], ["AAAA", "udp"], ["SRV", "udp"], ["other types", "udp"], ["A", "tcp"]];
  for (const [type, transport] of entries) {
    const picture = drawn("svg", { width: 14, height: 14, class: "mark" });
    picture.append(mark(type, transport, 0, 7, 7));
    place.append(element("span", {}, picture, transport === "tcp" ? "hollow: over TCP" : type));
  }
}

function listen(id, heard) {
  document.getElementById(id)?.addEventListener("input", heard);
}

function redraw() {
  drawChanges();
  for (const details of document.querySelectorAll(".walk[open]")) drawWalk(details);
}

function start() {
  for (const details of document.querySelectorAll(".resolver")) details.addEventListener("toggle", () => { if (details.open && !details.querySelector(".walk")) fillResolver(details); });
  for (const details of document.querySelectorAll(".job")) details.addEventListener("toggle", () => { if (details.open) fillJob(details); });
  for (const button of document.querySelectorAll(".chips button")) button.addEventListener("click", () => press(button));
  for (const button of document.querySelectorAll(".unfold")) button.addEventListener("click", () => unfold(button, button.ariaExpanded !== "true"));
  listen("find-requirement", filterRequirements);
  listen("find-walk", filterWalks);
  listen("find-job", filterJobs);
  if (document.getElementById("legend")) legend();
  document.getElementById("each")?.addEventListener("toggle", drawChanges);
  redraw();
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
  addEventListener("hashchange", follow);
  follow();
  root.dataset.ready = "yes";
}

start();
