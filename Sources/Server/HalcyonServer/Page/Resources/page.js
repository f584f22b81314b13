"use strict";

const form = document.getElementById("controls");
const byId = (id) => document.getElementById(id);
const token = document.querySelector("meta[name=page-token]").content;
const accept = "image/avif,image/webp,image/apng,image/*,application/json;q=0.9,*/*;q=0.8";
const numbers = new Intl.NumberFormat("en");
const samples = [...document.querySelectorAll("#samples a")];
// Of the codes of errors.
const words = JSON.parse(byId("words").textContent);

// What is under way: a newer change ends it.
let work = null;
// The same of the table of formats.
let comparison = null;
let timer = null;
let shown = null;
let sourceBytes = null;
// What is said of the picture that is shown.
let facts = null;

// The state is in the page's query, without what is empty.
function query() {
  const state = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") state.set(name, value);
  return state;
}

function restore() {
  const state = new URLSearchParams(location.search);
  for (const control of form.elements) {
    if (!control.name) continue;
    const value = state.get(control.name) ?? "";
    if (control.type === "checkbox" || control.type === "radio") control.checked = control.value === value;
    else control.value = value;
  }
  for (const group of form.querySelectorAll("details")) {
    group.open ||= [...group.querySelectorAll("[name]")].some((control) => state.has(control.name));
  }
}

function post(path, body, signal) {
  return fetch(path, { method: "POST", body, signal, headers: { "X-Page-Token": token, Accept: "application/json" } });
}

// What an answer that is no picture says.
async function problem(answer) {
  const { status } = answer;
  const text = await answer.text();
  try {
    const { code, message, requestId } = JSON.parse(text);
    // Before the reason, if that is told, stands a summary.
    return { status, code, requestId, reason: message.replace(/^[^:]*(: |$)/, "") };
  } catch {
    return { status, reason: text.slice(0, 200) };
  }
}

function inWords({ code, status }) {
  return words[code] ?? (status ? `The server has answered with ${status}` : "The server cannot be reached");
}

function tell(problem) {
  facts = null;
  const [name, reason] = ["strong", "span"].map((tag) => document.createElement(tag));
  name.textContent = inWords(problem);
  reason.textContent = problem.reason;
  byId("status").replaceChildren(name, " ", reason);
  const { code, status, requestId } = problem;
  showDetails([code, status, requestId && `request ${requestId}`].filter(Boolean).join(" · "));
}

function showDetails(text) {
  byId("raw").hidden = !text;
  byId("raw").querySelector("code").textContent = text ?? "";
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => update(true), 150);
}

async function update(isNew) {
  clearTimeout(timer);
  work?.abort();
  comparison?.abort();
  const own = (work = new AbortController());
  const state = query();
  if (isNew && `?${state}` !== location.search) history.pushState(null, "", state.size ? `?${state}` : "./");
  markSample();
  if (!state.has("source")) return;
  byId("stage").classList.add("waiting");
  try {
    const answer = await post("sign", state, own.signal);
    if (!answer.ok) return tell(await problem(answer));
    const urls = await answer.json();
    if (own.signal.aborted) return;
    showURLs(urls);
    showSource(urls);
    await showPicture(urls, own.signal);
  } catch (error) {
    if (error.name !== "AbortError" && own === work) tell({ reason: error.message });
  } finally {
    if (own === work) byId("stage").classList.remove("waiting");
  }
}

function showURLs(urls) {
  for (const id of ["url", "iiif", "html", "curl"]) byId(id).value = urls[id] ?? "";
  byId("iiif").parentElement.hidden = document.querySelector("label[for=iiif]").hidden = !urls.iiif;
  byId("formats").hidden = true;
  byId("compare-formats").onclick = () => writeFormats(urls.formats);
}

async function showPicture(urls, signal) {
  const start = performance.now();
  const answer = await fetch(urls.path, { signal, headers: { Accept: accept } });
  if (!answer.ok) return tell(await problem(answer));
  const bytes = await answer.blob();
  const time = Math.round(performance.now() - start);
  const next = new Image();
  next.src = URL.createObjectURL(bytes);
  await next.decode().catch(() => {});
  if (signal.aborted) return URL.revokeObjectURL(next.src);
  const picture = byId("picture");
  if (shown) URL.revokeObjectURL(shown);
  shown = next.src;
  picture.alt = "The result";
  picture.width = next.naturalWidth;
  picture.height = next.naturalHeight;
  picture.src = shown;
  picture.dataset.bytes = bytes.size;
  picture.dataset.path = urls.path;
  const size = next.naturalWidth
    ? `${next.naturalWidth} × ${next.naturalHeight}` : "This browser cannot show the format";
  facts = { size, format: bytes.type.replace("image/", ""), bytes: bytes.size, time: `${time} ms` };
  describe();
  const cache = answer.headers.get("Cache-Status");
  showDetails(cache && `Cache-Status: ${cache}`);
}

// Called again when it is known how large the source is.
function describe() {
  if (!facts) return;
  const share = sourceBytes ? `${Math.round((facts.bytes / sourceBytes) * 100)} % of the source` : "";
  const bytes = `${numbers.format(facts.bytes)} bytes`;
  byId("status").textContent =
    [facts.size, facts.format, bytes, facts.time, share].filter(Boolean).join(" · ");
}

// The original, for comparing and for the focus, and what is known of it.
async function showSource(urls) {
  const original = byId("original");
  if (original.dataset.path === urls.original) return;
  original.dataset.path = urls.original;
  sourceBytes = null;
  byId("info").replaceChildren();
  byId("more").hidden = false;
  original.src = byId("before").src = urls.original;
  byId("comparing").hidden = byId("pointing").hidden = byId("before").hidden = false;
  const answer = await fetch(urls.info).catch(() => null);
  if (!answer?.ok || original.dataset.path !== urls.original) return;
  const info = await answer.json();
  sourceBytes = info.size;
  describe();
  const rows = [
    ["Size", `${info.width} × ${info.height}`], ["Format", info.mimeType],
    ["Bytes", numbers.format(info.size)], ["Pages", info.pages], ["Colours", null],
    ["BlurHash", info.blurhash], ["ThumbHash", info.thumbhash], ["dHash", info.dhash], ["pHash", info.phash],
  ];
  for (const [title, text] of rows) {
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = title;
    value.textContent = text ?? "";
    if (title === "Colours") value.append(...(info.palette ?? []).map(swatch));
    byId("info").append(term, value);
  }
}

function swatch(colour) {
  const square = document.createElement("span");
  square.className = "swatch";
  square.title = colour;
  square.style.backgroundColor = colour;
  return square;
}

async function writeFormats(formats) {
  comparison?.abort();
  const { signal } = (comparison = new AbortController());
  const body = byId("formats").tBodies[0];
  body.replaceChildren();
  byId("formats").hidden = false;
  try {
    for (const { name, path } of formats) {
      const row = body.insertRow();
      row.insertCell().textContent = name;
      const start = performance.now();
      const answer = await fetch(path, { signal, headers: { Accept: accept } });
      const text = answer.ok ? numbers.format((await answer.blob()).size) : inWords(await problem(answer));
      row.insertCell().textContent = text;
      row.insertCell().textContent = Math.round(performance.now() - start);
    }
  } catch (error) {
    if (!signal.aborted) tell({ reason: error.message });
  }
}

async function upload(file) {
  if (!file) return;
  const answer = await post("upload", file).catch((error) => ({ error }));
  if (answer.error) return tell({ reason: answer.error.message });
  if (!answer.ok) return tell(await problem(answer));
  choose((await answer.json()).source);
}

function choose(source) {
  byId("source").value = source;
  changed();
}

// The samples are one stop of the tabulator, at the one that is shown or had the focus.
function stopAt(link) {
  for (const other of samples) other.tabIndex = other === link ? 0 : -1;
}

function markSample() {
  for (const link of samples) {
    const isShown = link.dataset.source === byId("source").value;
    if (isShown) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    if (isShown) stopAt(link);
  }
}

function point(x, y) {
  const place = (value) => Math.min(1, Math.max(0, value)).toFixed(2);
  byId("fx").value = place(x);
  byId("fy").value = place(y);
  byId("g-fp").checked = true;
  showPoint();
  changed();
}

function showPoint() {
  const mark = byId("point");
  mark.hidden = !byId("g-fp").checked;
  mark.style.setProperty("--x", `${(byId("fx").value || 0.5) * 100}%`);
  mark.style.setProperty("--y", `${(byId("fy").value || 0.5) * 100}%`);
}

form.addEventListener("input", (event) => {
  if (event.target.id === "file") return;
  showPoint();
  changed();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  update(true);
});
addEventListener("popstate", () => {
  restore();
  showPoint();
  update(false);
});

byId("samples").setAttribute("role", "toolbar");
stopAt(samples[0]);
byId("samples").addEventListener("focusin", (event) => stopAt(event.target));
byId("samples").addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const [now, last] = [samples.indexOf(event.target), samples.length - 1];
  const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  samples[Math.min(Math.max(next, 0), last)].focus();
});
byId("samples").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.source);
});

const drop = byId("drop");
drop.hidden = false;
byId("file").addEventListener("change", (event) => upload(event.target.files[0]));
for (const type of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(type, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", type === "dragover");
    if (type === "drop") upload(event.dataTransfer.files[0]);
  });
}

byId("compare").addEventListener("input", (event) => {
  byId("before").style.setProperty("--share", `${event.target.value}%`);
  byId("stage").classList.toggle("comparing", event.target.value > 0);
});

byId("focus").addEventListener("click", (event) => {
  // The return key clicks, too, and is no place.
  if (event.detail === 0) return;
  const frame = byId("original").getBoundingClientRect();
  point((event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height);
});
byId("focus").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  point(Number(byId("fx").value || 0.5) + step[0] / 50, Number(byId("fy").value || 0.5) + step[1] / 50);
});

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.setAttribute("aria-label", `Copy the ${button.parentElement.previousElementSibling.textContent}`);
  button.addEventListener("click", async () => {
    const field = byId(button.dataset.copies);
    field.select();
    // Without a secure context there is no clipboard; the text is selected for the keyboard.
    const isCopied = navigator.clipboard
      ? await navigator.clipboard.writeText(field.value).then(() => true, () => false) : false;
    byId("status").textContent = isCopied ? "Copied." : "The text is selected: copy it by keyboard.";
  });
}

restore();
showPoint();
update(false);
