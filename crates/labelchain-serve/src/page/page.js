"use strict";
// The page keeps a row, what is known of its labels, and an aim; whenever one of them changes, it asks the
// service to explain the row, and shows the answer. All text is set as text, never as markup: names come from
// files of strangers.

const $ = (id) => document.getElementById(id);
const make = (name, properties = {}, ...children) => {
  const { dataset, ...rest } = properties;
  const element = Object.assign(document.createElement(name), rest);
  Object.assign(element.dataset, dataset);
  element.append(...children);
  return element;
};
const minus = (text) => text.replace("-", "−");
const three = (number) => minus(number.toFixed(3));
// JSON has no infinity: what is certain comes as 1e308.
const isCertain = (number) => Math.abs(number) > 1e300;
const signed = (number) => minus((number < 0 ? "-" : "+") + (isCertain(number) ? "∞" : Math.abs(number).toFixed(3)));
const short = (number) => String(Number(number.toPrecision(5)));

let model;
const row = new Map(); // what stands in the field of each column
const known = new Map(); // of each label that is known, whether it is relevant
let opened = []; // rows that were pasted or opened

// Asking the service.

let token = sessionStorage.getItem("labelchain-token");

const askForToken = (again) => new Promise((resolve) => {
  $("ask-text").textContent = again ? "That was not the word." : "Whoever runs it has the word in a file.";
  $("ask").showModal();
  $("ask-form").onsubmit = () => {
    token = $("token").value.trim();
    sessionStorage.setItem("labelchain-token", token);
    $("token").value = "";
    resolve();
  };
});

// What went wrong, with the row it is about and what to do.
class Refused extends Error {
  constructor(answer) {
    super(answer.error);
    this.row = answer.row;
    this.help = answer.help;
  }
}

async function ask(path, body, signal) {
  for (let again = false; ; again = true) {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, cache: "no-store" });
    if (response.status === 401) {
      await askForToken(again && token);
      continue;
    }
    const answer = await response.json();
    if (!response.ok) throw new Refused(answer);
    return answer;
  }
}

function complain(error) {
  $("problem").replaceChildren(make("b", { textContent: error instanceof TypeError ? "The service does not answer. " : "" }),
    error instanceof TypeError ? "Is it still running?" : [error.message, error.help].filter(Boolean).join(". "));
  $("problem").hidden = false;
}

// The row, as a form.

const MOST_FIELDS = 200;

// A cell as JSON: a number where the column has numbers and the text is one, and nothing where it is missing.
function cell(column, text) {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "?" || trimmed === "NA") return null;
  if (column.kind !== "numeric") return text;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
}

function rowAsJson(values) {
  const cells = {};
  for (const column of model.columns) {
    const value = cell(column, values.get(column.name) ?? "");
    if (value !== null) cells[column.name] = value;
  }
  return cells;
}

function field(column, at) {
  const id = `field-${at}`;
  const part = make("div", { className: "field" }, make("label", { htmlFor: id, textContent: column.name, title: column.name }));
  const change = (text) => {
    row.set(column.name, text);
    $("taken").textContent = "";
    explainSoon();
  };
  const text = row.get(column.name) ?? "";
  if (column.kind === "text" || column.kind === "date") {
    const box = column.kind === "text"
      ? make("textarea", { id, rows: 5, value: text, placeholder: "missing" })
      : make("input", { id, value: text, placeholder: "2024-02-29 or 2024-02-29T17:30", autocomplete: "off" });
    part.classList.toggle("wide", column.kind === "text");
    box.addEventListener("input", () => change(box.value));
    part.append(box);
    return part;
  }
  if (column.kind !== "numeric") {
    const select = make("select", { id }, make("option", { value: "", textContent: "missing" }),
      ...column.values.map((value) => make("option", { value, textContent: value })));
    select.value = text;
    select.addEventListener("change", () => change(select.value));
    part.append(select);
    return part;
  }
  const input = make("input", { id, inputMode: "decimal", value: text, placeholder: "missing", autocomplete: "off" });
  part.append(input);
  const check = () => input.setAttribute("aria-invalid", typeof cell(column, input.value) === "string");
  input.addEventListener("input", () => {
    check();
    if (slider) slider.value = input.value;
    change(input.value);
  });
  check();
  // Most cells lie within three deviations of the mean. A slider is for the mouse; arrow keys do the same.
  const spread = column.deviation > 0 ? 3 * column.deviation : 0;
  let slider;
  if (spread) {
    const [least, greatest] = [column.mean - spread, column.mean + spread];
    slider = make("input", { type: "range", min: least, max: greatest, step: "any", tabIndex: -1 });
    slider.setAttribute("aria-hidden", "true");
    slider.value = text === "" ? column.mean : text;
    const set = (number) => {
      input.value = short(number);
      check();
      change(input.value);
    };
    slider.addEventListener("input", () => set(Number(slider.value)));
    input.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      set((Number(input.value) || 0) + step * column.deviation / 10);
      slider.value = input.value;
    });
    part.append(slider);
  }
  return part;
}

function showFields() {
  const wanted = $("filter").value.trim().toLowerCase();
  const found = model.columns.map((column, at) => [column, at]).filter(([column]) => column.name.toLowerCase().includes(wanted));
  $("fields").replaceChildren(...found.slice(0, MOST_FIELDS).map(([column, at]) => field(column, at)));
  $("more").textContent = found.length > MOST_FIELDS ? `${found.length - MOST_FIELDS} other columns: find them by name.` : "";
}

function setRow(cells) {
  row.clear();
  for (const column of model.columns) {
    const value = cells[column.name];
    row.set(column.name, value === undefined || value === null ? "" : String(value));
  }
  showFields();
  explainSoon();
}

const exampleRow = () => {
  const shown = (value) => (typeof value === "number" ? Number(short(value)) : value);
  return Object.fromEntries(model.columns.map((column) => [column.name, shown(column.example)]));
};

// Rows from text: CSV with a header, or JSON as an object, a list of them, one a line, or a request.

function readCsv(text) {
  text = text.replace(/^\ufeff/, "");
  // As the program finds it: a comma, unless the header has none outside of quotes.
  const outside = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const separator = [",", ";", "\t"].find((it) => outside.includes(it)) ?? ",";
  const rows = [];
  let [cells, at] = [[], 0];
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] !== '"') value += text[at];
        else if (text[at + 1] === '"') value += text[++at];
        else break;
      }
      at += 1;
    }
    const rest = at;
    while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at += 1;
    cells.push(value + text.slice(rest, at));
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) cells.push("");
      continue;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    if (cells.length > 1 || cells[0].trim() !== "") rows.push(cells);
    cells = [];
  }
  if (cells.length) rows.push(cells);
  const header = (rows.shift() ?? []).map((name) => name.trim());
  const wrong = rows.findIndex((cells) => cells.length !== header.length);
  if (separator === ";") {
    // Spreadsheets write semicolons where commas are decimal.
    const isNumber = header.map((name) => model.columns.some((column) => column.name === name && column.kind === "numeric"));
    for (const cells of rows) cells.forEach((cell, at) => { if (isNumber[at]) cells[at] = cell.replace(/^(\s*[-+]?\d+),(?=\d)/, "$1."); });
  }
  if (wrong >= 0) throw new Error(`Row ${wrong} has ${rows[wrong].length} cells, and the header has ${header.length}`);
  return { header, rows };
}

function readRows(text) {
  const trimmed = text.trim();
  if (trimmed === "") throw new Error("There is no row in it");
  if (trimmed.startsWith("{") || trimmed.startsWith("[")) {
    let found;
    try {
      found = JSON.parse(trimmed);
    } catch (error) {
      const lines = trimmed.split("\n").filter((line) => line.trim() !== "");
      if (lines.length < 2) throw error;
      found = lines.map((line) => JSON.parse(line));
    }
    found = [found.rows ?? found].flat();
    if (!found.every((cells) => cells && typeof cells === "object")) throw new Error("Expected objects with a value for each column");
    return found;
  }
  const { header, rows } = readCsv(text);
  if (rows.length === 0) throw new Error("There is a header, and no row below it");
  return rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at]])));
}

function takeRows(text) {
  try {
    const rows = readRows(text);
    const names = Object.keys(rows[0]);
    const found = model.columns.filter((column) => names.includes(column.name)).length;
    if (found === 0) throw new Error("None of the model's columns is in it. CSV needs a header line with their names");
    const ignored = names.filter((name) => !model.columns.some((column) => column.name === name));
    opened = rows;
    $("pick").hidden = rows.length < 2;
    $("which").max = rows.length - 1;
    $("which").value = 0;
    $("which-of").textContent = `of ${rows.length}, counted from 0`;
    const missing = model.columns.length - found;
    $("taken").textContent = [
      `${found} of ${model.columns.length} columns are there${missing ? ", the others are missing" : ""}.`,
      ignored.length ? `Not used: ${ignored.slice(0, 5).join(", ")}${ignored.length > 5 ? ", …" : ""}.` : "",
    ].join(" ");
    setRow(rows[0]);
  } catch (error) {
    $("taken").textContent = `${error.message}.`;
  }
}

const onFiles = (zone, input, take) => {
  const first = (list) => list.length && take(list[0]);
  input.addEventListener("change", () => {
    first(input.files);
    input.value = "";
  });
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    first(event.dataTransfer.files);
  });
};

// The aim.

const aimForm = () => model.aims.find((aim) => aim.name === $("aim").value);
const aimText = () => (aimForm().argument ? `${aimForm().name}=${$("aim-argument").value.trim()}` : aimForm().name);

function showAim() {
  const { argument, about } = aimForm();
  for (const id of ["aim-argument", "aim-argument-label"]) $(id).hidden = !argument;
  if (argument) {
    $("aim-argument-label").textContent = argument === "K" ? "how many" : "share";
    const fits = argument === "K" ? /^[1-9]\d*$/ : /^(0?\.\d+)$/;
    if (!fits.test($("aim-argument").value)) $("aim-argument").value = argument === "K" ? "2" : "0.8";
  }
  $("aim-about").textContent = about;
}

// Asking for an explanation, the last one that was wanted.

let pending;
let timer;
let shown;

function explainSoon() {
  clearTimeout(timer);
  timer = setTimeout(explain, 40);
}

async function explain() {
  pending?.abort();
  pending = new AbortController();
  try {
    const body = { rows: [rowAsJson(row)], known: [Object.fromEntries(known)], aim: aimText() };
    const answer = await ask("v1/explain", body, pending.signal);
    shown = { ...answer, explanation: answer.explanations[0], walk: answer.walks[0] };
    $("problem").hidden = true;
    show();
  } catch (error) {
    if (error.name !== "AbortError") complain(error);
  }
}

// Showing an answer.

function show() {
  const { explanation, notes } = shown;
  const relevant = explanation.relevant;
  const names = relevant.flatMap((name, at) => [at ? ", " : "", make("b", { textContent: name })]);
  $("verdict").replaceChildren(...(relevant.length ? ["Relevant: ", ...names] : ["No label is relevant."]));
  // Of labels that are known there is nothing to explain.
  const differs = ([name, p]) => explanation.known?.[name] === undefined && (p > 0.5) !== relevant.includes(name);
  const byVotes = shown.aim === "votes" && Object.entries(explanation.probabilities ?? {}).some(differs);
  const votes = "Votes are decisions in the light of other labels; a probability is that of one label, whatever the others are. To decide by probabilities, choose the aim hamming.";
  $("notes").textContent = [...notes.map((note) => `${note}.`), byVotes ? votes : ""].join(" ");
  showLabels();
  showWalk();
  showInputs();
  showSimilar();
  document.body.dataset.shown = Number(document.body.dataset.shown ?? 0) + 1;
}

const CHOICES = [["", "?", "unknown", "unknown"], ["1", "✓", "yes", "known to be relevant"], ["0", "✗", "no", "known to be irrelevant"]];

// A row for each label is made once, so that what has the focus keeps it.
function labelRow(name, at) {
  const fill = make("span", { className: "fill" });
  const tick = make("span", { className: "tick" });
  const track = make("div", { className: "track" }, fill, tick);
  track.setAttribute("role", "img");
  const toggle = make("fieldset", { className: "toggle" }, make("legend", { className: "hidden-text", textContent: `What is known of ${name}` }));
  for (const [value, sign, kind, text] of CHOICES) {
    const input = make("input", { type: "radio", name: `known-${at}`, value, checked: value === "" });
    input.setAttribute("aria-label", text);
    input.addEventListener("change", () => {
      if (value === "") known.delete(name);
      else known.set(name, Number(value));
      $("forget").hidden = known.size === 0;
      explainSoon();
    });
    toggle.append(make("label", { className: kind, title: text }, input, sign));
  }
  const item = make("li", { dataset: { label: name } }, make("span", { className: "name" }, name, make("small")), track,
    make("span", { className: "number" }), toggle);
  return item;
}

const ROWS_OF_LABELS = new Map();

function showLabels() {
  const { explanation, thresholds } = shown;
  const probability = (name, at) => explanation.probabilities?.[name] ?? explanation.votes[at];
  $("key-threshold").hidden = !thresholds;
  const order = model.labels.map((name, at) => [name, probability(name, at)]);
  for (const [name, p] of order) {
    const item = ROWS_OF_LABELS.get(name);
    const isRelevant = explanation.relevant.includes(name);
    const isKnown = explanation.known?.[name] !== undefined;
    const threshold = thresholds?.[name];
    item.className = isRelevant ? "relevant" : "";
    item.querySelector("small").textContent = isKnown ? "known" : thresholds && threshold === null ? "never given" : isRelevant ? "relevant" : "";
    item.querySelector(".fill").style.width = `${100 * p}%`;
    const tick = item.querySelector(".tick");
    tick.hidden = threshold === undefined || threshold === null;
    tick.style.left = `calc(${100 * (threshold ?? 0)}% - 1px)`;
    item.querySelector(".number").textContent = three(p);
    item.querySelector(".track").setAttribute("aria-label", `${explanation.probabilities ? "probability" : "share of votes"} ${three(p)}${tick.hidden ? "" : `, threshold ${three(threshold)}`}, ${isRelevant ? "relevant" : "irrelevant"}`);
  }
  if ($("sorted").checked) order.sort((a, b) => b[1] - a[1]);
  const items = order.map(([name]) => ROWS_OF_LABELS.get(name));
  // Moving an element takes the focus away, so that they are moved only if they have to be.
  if (items.some((item, at) => $("labels").children[at] !== item)) $("labels").replaceChildren(...items);
}

const head = (...cells) => make("thead", {}, make("tr", {}, ...cells.map(([textContent, className]) => make("th", { scope: "col", textContent, className: className ?? "" }))));

// A bar from zero in the middle to a number, of which the number beside it says as much.
function balance(number, most) {
  const share = Math.min(1, Math.abs(number) / most) / 2;
  const fill = make("span", { className: "fill" });
  fill.style.width = `${100 * share}%`;
  fill.style.left = `${100 * (number < 0 ? 0.5 - share : 0.5)}%`;
  const bar = make("div", { className: number < 0 ? "balance minus" : "balance" }, fill);
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

// Three digits; what would round to 0 and is not 0 is said to be small.
const digits = (value) => (value > 0 && value < 0.0005 ? "<0.001" : three(value));
const quantityText = (quantity, value) => (quantity.is_percent ? `${(100 * value).toFixed(0)} %` : digits(value));

function showWalk() {
  const { explanation, walk } = shown;
  const member = explanation.members[walk.member];
  const { labels } = model;
  $("how").textContent = model.members === 1 ? `The labels were ${walk.how}:`
    : `Of ${model.members} members, number ${walk.member} agrees most with the answer, on ${walk.agreed} of ${labels.length} labels. They were ${walk.how}:`;
  const order = member.order ?? labels.map((_, at) => at);
  const isKnownLabel = (label) => explanation.known?.[labels[label]] !== undefined;
  const most = Math.max(1e-9, ...order.filter((label) => !isKnownLabel(label) && !isCertain(member.support[label])).map((label) => Math.abs(member.support[label])));
  let anyChanged = false;
  const rows = order.map((label, place) => {
    const isKnown = isKnownLabel(label);
    const changed = !isKnown && (member.support[label] > 0) !== (walk.alone[label] > 0);
    anyChanged ||= changed;
    const decision = member.decisions[label] ? "relevant" : "irrelevant";
    return make("tr", {}, make("td", { textContent: place + 1 }), make("th", { scope: "row", textContent: labels[label] }),
      ...walk.quantities.map((quantity) => make("td", { textContent: quantityText(quantity, quantity.values[label]) })),
      make("td", { textContent: signed(walk.alone[label]) }),
      make("td", { textContent: isKnown ? "known" : signed(member.support[label]) }),
      make("td", { className: "picture" }, isKnown ? "" : balance(member.support[label], most)),
      make("td", { className: `words ${decision}`, textContent: decision + (changed ? " *" : "") }));
  });
  $("walk").replaceChildren(
    head([""], ["label", "words"], ...walk.quantities.map((quantity) => [quantity.title]), ["alone"], ["support"], ["", "picture"], ["decision", "words"]),
    make("tbody", {}, ...rows));
  const legend = [
    ["alone", "how strongly the inputs alone speak for the label; relevant if above 0"],
    ["support", member.order ? "the same after what known labels and earlier decisions added" : "the same, for no decision changes another"],
    ...walk.quantities.map((quantity) => [quantity.title, quantity.help]),
    ...(anyChanged ? [["*", "alone, it would have been decided otherwise"]] : []),
  ];
  $("walk-legend").replaceChildren(...legend.flatMap(([term, text]) => [make("dt", { textContent: term }), make("dd", { textContent: text })]));
  $("why").textContent = walk.why;
}

const MOST_INPUTS = 8;

function showInputs() {
  const { explanation } = shown;
  $("inputs-part").hidden = !explanation.inputs;
  if (!explanation.inputs) return;
  const likely = (name) => explanation.probabilities?.[name] ?? 0;
  const chosen = $("inputs-of").dataset.chosen;
  const first = [...(explanation.relevant.length ? explanation.relevant : model.labels)].sort((a, b) => likely(b) - likely(a))[0];
  $("inputs-of").value = chosen ?? first;
  const label = $("inputs-of").value;
  const inputs = explanation.inputs.filter((input) => input.label === label);
  const start = explanation.base_values[label];
  const sum = inputs.reduce((sum, input) => sum + input.contribution, start);
  $("inputs-sum").textContent = `Before any decision, the ${explanation.unit} of ${label} is ${three(start)} in general and ${three(sum)} for this row.`;
  const most = Math.max(1e-9, ...inputs.map((input) => Math.abs(input.contribution)));
  const line = (text, contribution, className) => make("li", { className }, make("span", { textContent: text }),
    balance(contribution, most), make("span", { className: "number", textContent: signed(contribution) }));
  const isWord = (name) => model.columns.some((column) => column.kind === "text" && name.startsWith(`${column.name}: `));
  const text = ({ name, value }) => {
    if (value === null) return `${name} is missing`;
    if (isWord(name)) return value === 0 ? `${name} (not there)` : name;
    return `${name} = ${typeof value === "number" ? minus(short(value)) : value}`;
  };
  const rest = inputs.slice(MOST_INPUTS);
  const others = rest.reduce((sum, input) => sum + input.contribution, 0);
  $("inputs").replaceChildren(...inputs.slice(0, MOST_INPUTS).map((input) => line(text(input), input.contribution, "")),
    ...(rest.length ? [line(`${rest.length} other input${rest.length > 1 ? "s" : ""}`, others, "rest")] : []));
}

const MOST_ROWS = 6;

function showSimilar() {
  const all = shown.explanation.neighbours ?? [];
  $("similar-part").hidden = all.length === 0;
  const greatest = Math.max(1e-9, ...all.map((one) => one.weight));
  const rest = all.slice(MOST_ROWS);
  const percent = (weight) => `${(100 * weight).toFixed(1)} %`;
  const weightBar = (weight) => {
    const fill = make("span", { className: "fill" });
    fill.style.width = `${100 * weight / greatest}%`;
    return make("span", { className: "weight", ariaHidden: "true" }, fill);
  };
  // By name where they have one, and by number otherwise.
  const [heading] = Object.keys(all.find((one) => one.id)?.id ?? { row: 0 });
  const nameOf = (one) => one.id ? one.id[heading] : one.row;
  const rows = all.slice(0, MOST_ROWS).map((one) => make("tr", {}, make("th", { scope: "row", textContent: nameOf(one) }),
    make("td", {}, percent(one.weight), weightBar(one.weight)),
    make("td", { className: "words", textContent: one.labels.length ? one.labels.join(", ") : "none" })));
  if (rest.length) {
    const weight = rest.reduce((sum, one) => sum + one.weight, 0);
    rows.push(make("tr", {}, make("th", { scope: "row" }), make("td", { textContent: percent(weight) }),
      make("td", { className: "words", textContent: `${rest.length} other rows` })));
  }
  $("similar").replaceChildren(head([heading, "words"], ["weight"], ["labels", "words"]), make("tbody", {}, ...rows));
}

// Many rows, in parts.

let batch;
const NAMES_A_SPREADSHEET_WOULD_RUN = /^[=+\-@\t\r]/;
const escaped = (name) => (NAMES_A_SPREADSHEET_WOULD_RUN.test(name) ? `'${name}` : name);
const csvCell = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
const csvLine = (cells) => `${cells.map(csvCell).join(",")}\n`;

// As many rows from `start` on as the service takes at a time.
function part(rows, start, objects) {
  const encoder = new TextEncoder();
  let [end, bytes] = [start, 100];
  while (end < rows.length && end - start < model.limits.rows) {
    bytes += encoder.encode(JSON.stringify(objects(rows[end]))).length + 2;
    if (end > start && bytes > model.limits.body) break;
    end += 1;
  }
  return rows.slice(start, end);
}

async function label(file) {
  batch?.abort();
  batch = new AbortController();
  const { signal } = batch;
  const say = (text) => { $("batch-text").textContent = text; };
  $("batch-state").hidden = false;
  $("download").hidden = true;
  $("batch-stop").hidden = false;
  $("batch-table").replaceChildren();
  $("batch-progress").value = 0;
  let start = 0;
  try {
    say(`Reading ${file.name} …`);
    const { header, rows } = readCsv(await file.text());
    const places = new Map(header.map((name, at) => [name, at]));
    const columns = model.columns.filter((column) => places.has(column.name));
    if (columns.length === 0) throw new Error("None of the model's columns is in the file; its first line must name them");
    const kept = header.map((name, at) => [name, at]).filter(([name]) => !model.labels.includes(name));
    const useKnown = $("batch-known").checked;
    const cells = (line) => Object.fromEntries(columns.map((column) => [column.name, cell(column, line[places.get(column.name)])]));
    const knownOf = (line) => Object.fromEntries(model.labels.filter((name) => places.has(name))
      .map((name) => [name, line[places.get(name)].trim()]).filter(([, text]) => text !== "")
      .map(([name, text]) => [name, /^[01]$/.test(text) ? Number(text) : text]));
    const request = (line) => [cells(line), useKnown ? knownOf(line) : 0];
    const parts = [];
    let preview;
    while (start < rows.length) {
      const some = part(rows, start, request);
      const body = { rows: some.map(cells), aim: aimText() };
      if (useKnown) body.known = some.map(knownOf);
      const { predictions } = await ask("v1/predict", body, signal);
      const probable = predictions[0].probabilities !== null;
      if (!parts.length) {
        const names = [...kept.map(([name]) => name), ...model.labels.map(escaped), ...(probable ? model.labels.map((name) => escaped(`${name}:probability`)) : [])];
        parts.push(csvLine(names));
        preview = some.slice(0, 8).map((line, at) => [line, predictions[at]]);
        showBatch(kept, preview);
      }
      parts.push(predictions.map(({ relevant, probabilities }, at) => csvLine([
        ...kept.map(([, place]) => some[at][place]),
        ...model.labels.map((name) => (relevant.includes(name) ? 1 : 0)),
        ...(probable ? model.labels.map((name) => probabilities[name]) : []),
      ])).join(""));
      start += some.length;
      $("batch-progress").value = start / rows.length;
      say(`${start} of ${rows.length} rows`);
    }
    if (!rows.length) throw new Error("The file has a header and no rows");
    const link = $("download");
    if (link.href) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    link.download = `${file.name.replace(/\.[^.]*$/, "")}-labelled.csv`;
    link.textContent = `Download ${link.download}`;
    link.hidden = false;
    say(`${rows.length} rows of ${file.name} are labelled.`);
  } catch (error) {
    if (error.name === "AbortError") say("Stopped.");
    else {
      const place = error.row === undefined ? error.message : error.message.replace(/^row \d+/, `Row ${start + error.row}`);
      say([place, error.help].filter(Boolean).join(". "));
    }
  }
  $("batch-stop").hidden = true;
}

function showBatch(kept, preview) {
  const few = kept.slice(0, 3);
  const rows = preview.map(([line, { relevant }]) => make("tr", {},
    ...few.map(([, place]) => make("td", { className: Number.isNaN(Number(line[place])) ? "words" : "", textContent: line[place] })),
    make("td", { className: "words", textContent: relevant.length ? relevant.join(", ") : "none" })));
  $("batch-table").replaceChildren(make("caption", { className: "help", textContent: "The first rows" }),
    head(...few.map(([name], at) => [name, rows[0]?.cells[at].className]), ["labels", "words"]), make("tbody", {}, ...rows));
}

// Tabs, as a keyboard expects them.

const TABS = [$("tab-one"), $("tab-batch")];

function select(tab) {
  for (const other of TABS) {
    const isSelected = other === tab;
    other.setAttribute("aria-selected", isSelected);
    other.tabIndex = isSelected ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !isSelected;
  }
}

for (const tab of TABS) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!to) return;
    const next = TABS[(TABS.indexOf(tab) + to + TABS.length) % TABS.length];
    select(next);
    next.focus();
  });
}

async function start() {
  model = await ask("v1/model");
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  document.title = `${model.method} · labelchain`;
  $("title").replaceChildren(make("small", { textContent: "labelchain" }), model.method);
  $("about").textContent = `${model.base[0].toUpperCase()}${model.base.slice(1)}: ${model.strategy}. ${plural(model.labels.length, "label")}, ${plural(model.columns.length, "column")}, ${plural(model.members, "member")}, trained on ${plural(model.rows, "row")}.`;
  $("footer").textContent = `Trained by labelchain ${model.version}, seed ${model.seed}. Programs ask POST /v1/predict and POST /v1/explain.`;
  $("aim").replaceChildren(...model.aims.map((aim) => make("option", { value: aim.name, textContent: aim.name })));
  const [name, argument] = model.aim.split("=");
  $("aim").value = name;
  if (argument) $("aim-argument").value = argument;
  showAim();
  $("search").hidden = model.columns.length <= 24;
  model.labels.forEach((label, at) => ROWS_OF_LABELS.set(label, labelRow(label, at)));
  $("inputs-of").replaceChildren(...model.labels.map((label) => make("option", { value: label, textContent: label })));
  setRow(exampleRow());
}

$("fields").addEventListener("submit", (event) => event.preventDefault());
$("filter").addEventListener("input", showFields);
$("example").addEventListener("click", () => {
  $("pick").hidden = true;
  $("taken").textContent = "";
  setRow(exampleRow());
});
$("take").addEventListener("click", () => takeRows($("text").value));
$("which").addEventListener("change", () => {
  const at = Math.min(Math.max(0, Math.trunc($("which").valueAsNumber || 0)), opened.length - 1);
  $("which").value = at;
  setRow(opened[at]);
});
$("aim").addEventListener("change", () => {
  showAim();
  explainSoon();
});
$("aim-argument").addEventListener("change", explainSoon);
$("sorted").addEventListener("change", () => shown && showLabels());
$("inputs-of").addEventListener("change", () => {
  $("inputs-of").dataset.chosen = $("inputs-of").value;
  showInputs();
});
$("forget").addEventListener("click", () => {
  known.clear();
  $("forget").hidden = true;
  for (const input of document.querySelectorAll(".toggle input[value='']")) input.checked = true;
  explainSoon();
});
onFiles(document.querySelector(".form"), $("file"), async (file) => takeRows(await file.text()));
onFiles($("drop"), $("batch-file"), label);
$("batch-stop").addEventListener("click", () => batch?.abort());
start().catch(complain);
