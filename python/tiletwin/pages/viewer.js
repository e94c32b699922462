"use strict";
// The viewer of one recording. State is (program, step, variable); `draw` makes the page follow it.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const state = { program: 0, step: 0, variable: null, pinned: false, masks: true, scope: 1, drawn: 0 };
const { rising: STOPS, diverging: DIVERGING, nan: NAN_COLOUR, infinite: INFINITE, masked: MASKED } = data.palette;
const SEVERAL = [125, 125, 132], UNTOUCHED = [150, 150, 156, 60];
const ARRAYS = { u1: Uint8Array, i4: Int32Array, i8: BigInt64Array, u8: BigUint64Array, f4: Float32Array, f8: Float64Array };

const steps = () => data.programs[state.program].steps;
const launch = () => data.launches[data.programs[state.program].launch];
const here = () => steps()[state.step];

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// ---- values ----

async function unpack(row) {
  if (row.array) return row.array;
  const bytes = Uint8Array.from(atob(row.z), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  row.array = new ARRAYS[row.d](buffer);
  return row.array;
}

// Variables of the current call after the current step: name -> number of a value, and the step that wrote it.
function variables() {
  const found = new Map(), frame = here().r;
  for (let n = 0; n <= state.step; ++n) {
    const step = steps()[n];
    if (step.r !== frame || !step.v) continue;
    for (const [name, value] of Object.entries(step.v)) {
      if (value === null || (name === "(return)" && n !== state.step)) found.delete(name);
      else found.set(name, { value, step: n });
    }
  }
  return found;
}

// ---- stepping ----

function go(number) {
  const last = steps().length - 1;
  state.step = Math.min(Math.max(number, 0), Math.max(last, 0));
  return draw();
}

// A program that failed is opened where it did.
function begin() {
  return go(steps().findIndex((s) => s.e));
}

function find(direction, wanted) {
  for (let n = state.step + direction; n >= 0 && n < steps().length; n += direction)
    if (wanted(steps()[n], n)) return go(n);
}

function iteration(direction) {
  const now = here(), loops = now.i;
  if (!loops.length) return;
  const outer = JSON.stringify(loops.slice(0, -1)), [line, count] = loops[loops.length - 1];
  for (let n = state.step + direction; n >= 0 && n < steps().length; n += direction) {
    const other = steps()[n];
    if (other.r !== now.r) continue;
    if (JSON.stringify(other.i.slice(0, loops.length - 1)) !== outer) return;
    const own = other.i[loops.length - 1];
    if (other.i.length === loops.length && own[0] === line && own[1] !== count && other.k === "next iteration") return go(n);
  }
}

function whoWrote() {
  const frame = here().r, name = state.variable;
  let last = variables().get(name)?.step;
  if (last === undefined) return;
  if (last === state.step)
    for (last = state.step - 1; last >= 0; --last) {
      const step = steps()[last];
      if (step.r === frame && step.v && name in step.v) break;
    }
  if (last >= 0) go(last);
}

function choose(direction) {
  const names = [...at("variables").rows].map((row) => row.dataset.name);
  const index = names.indexOf(state.variable) + direction;
  if (index >= 0 && index < names.length) { state.variable = names[index]; state.pinned = true; draw(); }
}

const KEYS = {
  n: () => find(1, (s) => s.d <= here().d) ?? go(state.step + 1),
  b: () => find(-1, (s) => s.d <= here().d) ?? go(state.step - 1),
  s: () => go(state.step + 1),
  S: () => go(state.step - 1),
  "]": () => iteration(1),
  "[": () => iteration(-1),
  ".": () => find(1, (s) => s.l === here().l && s.f === here().f && !s.c),
  ",": () => find(-1, (s) => s.l === here().l && s.f === here().f && !s.c),
  g: () => go(0),
  G: () => go(steps().length - 1),
  e: () => { const n = steps().findIndex((s) => s.e); if (n >= 0) go(n); },
  w: whoWrote,
  f: () => { state.pinned = false; draw(); },
  m: () => { state.masks = !state.masks; draw(); },
  1: () => { state.scope = 0; draw(); },
  2: () => { state.scope = 1; draw(); },
  3: () => { state.scope = 2; draw(); },
  "?": () => at("help").showModal(),
  ArrowRight: () => go(state.step + 1),
  ArrowLeft: () => go(state.step - 1),
  ArrowDown: () => choose(1),
  ArrowUp: () => choose(-1),
};

// ---- drawing ----

function drawSource() {
  const step = here(), source = data.functions[step.f], table = at("source");
  const ran = new Set(steps().filter((s) => s.f === step.f).map((s) => s.l));
  table.replaceChildren(...source.lines.map((text, index) => {
    const number = source.first + index, row = element("tr");
    row.append(element("td", number, "number"), element("td", text, "text"));
    if (ran.has(number)) {
      row.className = "ran";
      row.onclick = () => { const n = steps().findIndex((s) => s.f === step.f && s.l === number && !s.c); if (n >= 0) go(n); };
    }
    if (number === step.l) row.className += step.e ? " failed here" : " here";
    return row;
  }));
  table.querySelector(".here")?.scrollIntoView({ block: "nearest" });
  const sites = (step.s || []).map((n) => {
    const caller = steps()[n], f = data.functions[caller.f];
    return `called from ${f.file.split("/").pop()}:${caller.l}  ${(f.lines[caller.l - f.first] || "").trim()}`;
  });
  at("callers").textContent = [...sites.reverse(), ...launch().origins].join("\n");
}

function drawVariables() {
  const found = variables(), changed = here().v || {};
  const names = [...found.keys()].sort((a, b) => found.get(b).step - found.get(a).step);  // arguments come last
  if (!state.pinned || !names.includes(state.variable)) {
    const tile = names.find((n) => n in changed && data.values[found.get(n).value].s);
    const kept = names.includes(state.variable) ? state.variable : names[0];
    state.variable = tile ?? names.find((n) => n in changed) ?? kept ?? null;
  }
  at("variables").replaceChildren(...names.map((name) => {
    const value = data.values[found.get(name).value], row = element("tr");
    row.dataset.name = name;
    row.append(element("td", name in changed ? "*" : ""), element("td", name), element("td", value.t),
               element("td", value.x.startsWith(value.t) ? value.x.slice(value.t.length).trim() : value.x));
    row.classList.toggle("changed", name in changed);
    row.classList.toggle("chosen", name === state.variable);
    row.onclick = () => { state.variable = name; state.pinned = true; draw(); };
    return row;
  }));
  return found;
}

function colour(place, number, stops = STOPS) {
  if (!(place >= 0)) return Number.isNaN(number) ? NAN_COLOUR : INFINITE;
  const x = Math.min(place, 1) * (stops.length - 1), i = Math.min(Math.floor(x), stops.length - 2), part = x - i;
  return stops[i].map((low, c) => Math.round(low + (stops[i + 1][c] - low) * part));
}

// From numbers to places in 0 .. 1: from the smallest to the largest, or symmetric around zero where both signs occur.
function scaleOf(array) {
  let low = Infinity, high = -Infinity;
  for (const each of array) {
    const n = Number(each);
    if (Number.isFinite(n)) { low = Math.min(low, n); high = Math.max(high, n); }
  }
  const signed = low < 0 && high > 0;
  if (signed) { high = Math.max(-low, high); low = -high; }
  const place = (n) => (!Number.isFinite(n) ? NaN : high > low ? (n / 2 - low / 2) / (high / 2 - low / 2) : 0.5);
  return { low, high, place, stops: signed ? DIVERGING : STOPS };
}

function text(number) {
  if (typeof number === "bigint" || Number.isInteger(number)) return String(number);
  return Number.isFinite(number) ? String(+number.toPrecision(6)) : String(number).toLowerCase().replace("infinity", "inf");
}

// Rows and columns of a tile on the screen: a row of 1-D tiles has at most 64 elements.
function tableOf(shape) {
  const count = shape.reduce((a, b) => a * b, 1);
  const columns = shape.length > 1 ? shape[shape.length - 1] : Math.min(64, count);
  return { rows: Math.ceil(count / columns), columns, count };
}

function maskFor(value) {
  if (!state.masks) return null;
  const access = (here().a || []).find((a) => a.k && JSON.stringify(a.s) === JSON.stringify(value.s));
  return access ? access.k : null;
}

// Labels of rows and columns around a canvas, as many as there is room for.
function drawAxes(canvas, rows, columns, size, rowName, columnName) {
  const plot = canvas.parentNode;
  plot.querySelectorAll(".rows, .columns").forEach((old) => old.remove());
  if (!rows) return;
  const every = (room) => { let step = 1; while (step * size < room) step *= 2; return step; };
  const across = element("div", undefined, "columns"), down = element("div", undefined, "rows");
  let widest = 0;
  for (let c = 0, step = every(36); c < columns; c += step) {
    const label = element("span", columnName(c));
    label.style.left = c * size + "px";
    across.append(label);
  }
  for (let r = 0, step = every(18); rows > 1 && r < rows; r += step) {
    const label = element("span", rowName(r));
    label.style.top = (r + 0.5) * size + "px";
    widest = Math.max(widest, label.textContent.length);
    down.append(label);
  }
  down.style.width = widest + "ch";
  plot.append(across, down);
}

function paint(canvas, rows, columns, size, pixel) {
  canvas.width = columns;
  canvas.height = rows;
  canvas.style.width = columns * size + "px";
  canvas.style.height = rows * size + "px";
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; ++i) {
    const [r, g, b, a = 255] = pixel(i);
    image.data.set([r, g, b, a], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

async function drawTile(value) {
  const canvas = at("tile"), turn = state.drawn;
  at("tile-cell").textContent = "";
  if (!value || !value.s) {
    canvas.width = canvas.height = 0;
    canvas.style.width = canvas.style.height = "0";
    drawAxes(canvas, 0, 0);
    at("legend").replaceChildren();
    at("numbers").replaceChildren();
    at("tile-head").textContent = value ? `${state.variable} = ${value.x}` : "";
    return;
  }
  const array = await unpack(value), masks = maskFor(value), mask = masks ? await unpack(masks) : null;
  if (turn !== state.drawn) return;  // another step is shown by now
  const { rows, columns, count } = tableOf(value.s);
  const scale = scaleOf(array), room = Math.max(200, 0.5 * window.innerHeight);
  const size = Math.max(2, Math.min(14, Math.floor(600 / columns), Math.floor(room / rows)));
  paint(canvas, rows, columns, size, (i) => {
    if (i >= count) return [0, 0, 0, 0];
    if (mask && !mask[i]) return MASKED;
    const n = Number(array[i]);
    return colour(scale.place(n), n, scale.stops);
  });
  const lead = value.s.slice(0, -1);
  drawAxes(canvas, rows, columns, size, (r) => (lead.length ? indexOf(r, lead) : r * columns), (c) => c);
  const where = value.b ? `, offsets into ${value.b}` : "";
  const off = mask ? `  mask: ${mask.reduce((a, b) => a + b, 0)} of ${count}` : "";
  at("tile-head").textContent = `${state.variable}: ${value.t}${where}  (${value.st})${off}`;
  canvas.onmousemove = (event) => {
    const c = Math.floor(event.offsetX / size), r = Math.floor(event.offsetY / size), i = r * columns + c;
    if (i < count) at("tile-cell").textContent = `[${indexOf(i, value.s)}] = ${text(array[i])}${mask && !mask[i] ? "  (masked off)" : ""}`;
  };
  drawLegend(scale, Boolean(mask), array);
  const wide = value.s.length > 1 ? columns : Math.min(16, count);
  drawNumbers(array, mask, Math.ceil(count / wide), wide, count, value.s.length > 1);
}

function indexOf(i, shape) {
  const index = [];
  for (let d = shape.length - 1; d >= 0; --d) { index.unshift(i % shape[d]); i = Math.floor(i / shape[d]); }
  return index.join(", ");
}

function drawLegend(scale, masked, array) {
  const bar = element("span", undefined, "bar");
  bar.style.background = `linear-gradient(to right, ${scale.stops.map((s) => `rgb(${s})`).join(",")})`;
  const parts = [element("span", text(scale.low)), bar, element("span", text(scale.high))];
  const box = (paint, name) => {
    const square = element("span", undefined, "box");
    square.style.background = `rgb(${paint})`;
    parts.push(square, element("span", name));
  };
  if (array.some((n) => Number.isNaN(Number(n)))) box(NAN_COLOUR, "NaN");
  if (array.some((n) => Math.abs(Number(n)) === Infinity)) box(INFINITE, "infinite");
  if (masked) box(MASKED, "masked off");
  at("legend").replaceChildren(...parts);
}

function drawNumbers(array, mask, rows, columns, count, isTable) {
  const table = element("table"), most = Math.min(columns, 16), long = Math.min(rows, 64);
  for (let r = 0; r < long; ++r) {
    const row = table.insertRow();
    row.append(element("th", isTable ? r : r * columns));
    for (let c = 0; c < most && r * columns + c < count; ++c) {
      const i = r * columns + c;
      row.append(element("td", text(array[i]), mask && !mask[i] ? "off" : ""));
    }
    if (columns > most) row.append(element("td", "..."));
  }
  at("numbers").replaceChildren(table);
}

// ---- access maps ----

// What was touched: buffer -> one table of counts for each program of `which`.
async function countsOf(which, scope) {
  const counts = new Map();
  for (const [index, program] of which.entries()) {
    const last = scope === 2 ? program.steps.length - 1 : state.step;
    for (let n = scope === 0 ? state.step : 0; n <= last; ++n)
      for (const access of program.steps[n].a || [])
        for (const part of access.t) {
          if (!counts.has(part.b)) counts.set(part.b, which.map(() => new Map()));
          const table = counts.get(part.b)[index], offsets = await unpack(part.o);
          for (const offset of offsets) table.set(Number(offset), (table.get(Number(offset)) || 0) + 1);
        }
  }
  return counts;
}

async function drawMaps() {
  const turn = state.drawn, box = at("maps");
  const mine = [data.programs[state.program]], all = data.programs.filter((p) => p.launch === mine[0].launch);
  const names = ["this line (1)", "this program up to here (2)", "all programs (3)"];
  let which = state.scope === 2 ? all : mine, name = names[state.scope];
  let counts = await countsOf(which, state.scope);
  if (!counts.size && state.scope === 1) {  // before the first access the whole launch is what there is to see
    which = all;
    name = `${names[2]}; this one has touched nothing yet`;
    counts = await countsOf(which, 2);
  }
  if (turn !== state.drawn) return;
  const parts = [element("div", `access map: ${name}`, "title")];
  const widest = counts.size > 1 ? 220 : 560;  // of several, two lie side by side
  if (counts.size && which.length > 1) parts.push(keyOf(which));
  for (const [number, tables] of counts) parts.push(mapOf(launch().buffers[number], tables, widest));
  if (!counts.size) parts.push(element("div", "no memory of an argument was touched", "title"));
  box.replaceChildren(...parts);
}

function keyOf(programs) {
  const key = element("div", undefined, "key title");
  const add = (colour, text) => {
    const square = element("span", "\u25a0");
    square.style.color = `rgb(${colour})`;
    key.append(square, element("span", text));
  };
  programs.forEach((program, index) => add(launch().colours[index], ` program (${program.id})`));
  add(SEVERAL, " several");
  return key;
}

function mapOf(buffer, tables, widest) {
  let [rows, columns, first, meaning] = buffer.layout;
  let low = 0, high = 0;
  for (const table of tables) for (const offset of table.keys()) { low = Math.min(low, offset); high = Math.max(high, offset); }
  if (low < first || high >= first + rows * columns) {
    first = low;
    rows = Math.ceil((Math.max(high + 1, buffer.size) - low) / columns);
  }
  const cell = [Math.ceil(rows / data.map[0]), Math.ceil(columns / data.map[1])];
  const shown = [Math.ceil(rows / cell[0]), Math.ceil(columns / cell[1])];
  const cells = tables.map((table) => {
    const made = new Float64Array(shown[0] * shown[1]);
    for (const [offset, count] of table) {
      const i = offset - first;
      made[Math.floor(Math.floor(i / columns) / cell[0]) * shown[1] + Math.floor((i % columns) / cell[1])] += count;
    }
    return made;
  });
  let most = 1;
  for (const table of cells) for (const n of table) if (n > most) most = n;
  const room = Math.max(160, 0.3 * window.innerHeight), canvas = element("canvas", undefined, "map");
  const size = Math.max(2, Math.min(12, Math.floor(widest / shown[1]), Math.floor(room / shown[0])));
  canvas.dataset.buffer = buffer.name;
  paint(canvas, shown[0], shown[1], size, (i) => {
    const touched = cells.map((c, index) => [c[i], index]).filter(([n]) => n > 0);
    if (!touched.length) return UNTOUCHED;
    if (tables.length > 1) return touched.length > 1 ? SEVERAL : launch().colours[touched[0][1]];
    return colour(0.35 + (0.65 * touched[0][0]) / most, 0);
  });
  const box = element("div", undefined, widest < 560 ? "half" : "whole"), plot = element("div", undefined, "plot");
  plot.append(canvas);
  const shape = buffer.shape ? ` [${buffer.shape.join(", ")}]` : "";
  const each = cell[0] * cell[1] > 1 ? `; a cell is ${cell[0]} x ${cell[1]} elements` : "";
  box.append(element("div", `${buffer.name}: ${buffer.type || "memory"}${shape}; ${meaning}${each}`, "title"), plot);
  const isTable = first === 0 && buffer.shape && buffer.shape.length > 1 && columns === buffer.shape.at(-1);
  drawAxes(canvas, shown[0], shown[1], size,
           (r) => (isTable ? indexOf(r * cell[0], buffer.shape.slice(0, -1)) : first + r * cell[0] * columns),
           (c) => c * cell[1]);
  canvas.onmousemove = (event) => {
    const c = Math.floor(event.offsetX / size), r = Math.floor(event.offsetY / size);
    const from = first + r * cell[0] * columns + c * cell[1];
    canvas.title = `${buffer.name}[${from}]: ${cells.map((t) => t[r * shown[1] + c] || 0).join(", ")} times`;
  };
  return box;
}

// ---- the page ----

async function draw() {
  state.drawn += 1;
  const program = data.programs[state.program];
  if (!program || !program.steps.length) { at("where").textContent = "nothing was recorded"; return; }
  const step = here(), source = data.functions[step.f];
  const loops = step.i.map(([line, count]) => `iteration ${count} of line ${line}`).join(", ");
  const parts = [`step ${state.step} of ${program.steps.length}`, `${source.file.split("/").pop()}:${step.l} in ${source.name}`];
  at("where").textContent = [...parts, loops, step.k].filter(Boolean).join(" | ");
  at("slider").max = program.steps.length - 1;
  at("slider").value = state.step;
  drawSource();
  const found = drawVariables();
  const lines = (step.a || []).map((a) => element("div", a.x, a.x.includes("** failed") ? "failed" : ""));
  if (step.e) lines.unshift(element("div", program.message, "failed"));
  at("accesses").replaceChildren(...lines);
  const chosen = found.get(state.variable);
  await drawTile(chosen ? data.values[chosen.value] : null);
  await drawMaps();
  document.body.dataset.drawn = `${state.program}:${state.step}:${state.variable}:${state.scope}`;
}

data.programs.forEach((program, index) => {
  const of = data.launches[program.launch];
  at("program").append(new Option(`${of.kernel} [${of.grid.join(", ")}] launch ${of.count}: ${program.text}`, index));
});
at("program").onchange = (event) => { state.program = Number(event.target.value); event.target.blur(); begin(); };
at("slider").oninput = (event) => go(Number(event.target.value));
at("notes").textContent = data.notes.join("; ");
document.querySelectorAll("button[data-key]").forEach((button) => { button.onclick = () => { KEYS[button.dataset.key](); button.blur(); }; });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open || event.target.tagName === "SELECT") return;
  const action = KEYS[event.key];
  if (action) { event.preventDefault(); action(); }
});
window.addEventListener("resize", draw);
begin();
