// What every screen knows: who looks, the models, the one that is looked at,
// and the words that people use for its columns.
import { get, model as at, post } from "./api.js";
import { go, route } from "./route.svelte.js";
import { base, count } from "./words.js";

export const app = $state({
  me: null, // {name, scope}
  models: null, // the list
  model: null, // the one in the address, as the server describes it
  words: {}, // its names for people
  problem: null, // why nothing can be shown: nobody is signed in, or the server is gone
  missing: null, // why the model in the address cannot be shown
  formal: false, // rules in the rule language
  done: null, // what was just done: {text, undo}
  table: false, // charts as tables
  conflicts: 0,
  court: [], // the disagreements themselves
  unseen: [], // tables that were sent, and that the model has not learnt from
  newer: null, // a version that came meanwhile: {model, version, kind, by}
  focus: null, // the class that has a colour of its own where there are more than four
});

// who is how somebody is named to the one who looks.
export const who = (by) => (by && by === app.me?.name ? "you" : by || "the command line");

export const may = (scope) => {
  if (app.me?.read_only && scope !== "read") return false; // the server changes nothing
  const order = ["read", "write", "admin"];
  return order.indexOf(app.me?.scope) >= order.indexOf(scope);
};

export const ref = () => route.name + (route.version ? "@" + route.version : "");
// frozen is the version that can be corrected: of a model that learns all the while
// the last that was kept, whose rules stay as they are while somebody reads them.
export const frozen = () => route.name + (route.version || app.model?.since ? "@" + (route.version || app.model.version) : "");

export async function refresh() {
  try {
    app.me = await get("/v1/whoami");
    app.models = (await get("/v1/models")).models || [];
    app.problem = null;
  } catch (problem) {
    app.problem = problem;
    app.models ??= [];
  }
}

// show loads the model in the address.
export async function show() {
  if (!route.name) {
    app.model = app.missing = null;
    app.words = {};
    return;
  }
  try {
    const found = await get(at(ref()), { wait: 0 });
    const words = found.words ?? (await get(at(route.name, "/words")).catch(() => ({})));
    app.words = words || {};
    // Known before anything is judged on them.
    const learnt = new Set((found.versions || []).map((v) => base(v.source)));
    app.unseen = (found.judge_on ?? []).filter((name) => !learnt.has(name));
    app.model = found;
    app.missing = null;
    settle(found, 12);
    const c = await get(at(route.name, "/conflicts")).catch(() => ({}));
    app.court = c.conflicts || [];
    app.conflicts = app.court.length;
  } catch (problem) {
    app.missing = problem;
    app.model = null;
  }
}

// follow hears of versions that others make, while somebody looks; what is looked
// at stays until they ask for the new one. A page that nobody sees holds no
// connection, of which a browser has few.
export function follow() {
  let events = null;
  const hear = (v) => {
    if (v.model === route.name) app.newer = v;
    else if (!app.models?.some((m) => m.model === v.model)) refresh();
  };
  function turn() {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource("/v1/events");
      events.addEventListener("version", (e) => hear(JSON.parse(e.data)));
    }
  }
  function back() {
    turn();
    if (events && route.name) get(at(route.name, "?plain=1")).then((m) => hear({ ...m, ...m.versions?.at(-1) }), () => {});
  }
  turn();
  document.addEventListener("visibilitychange", back);
  return () => {
    events?.close();
    document.removeEventListener("visibilitychange", back);
  };
}

// settle asks again for how often a model is right, which is found out beside
// other work, once for each version.
function settle(of, times) {
  if (of.accuracy != null || of.rmse != null || of.target == null || times === 0) return;
  setTimeout(async () => {
    if (app.model?.model !== of.model || app.model.version !== of.version || app.model.accuracy != null) return;
    const found = await get(at(ref())).catch(() => null);
    if (!found || app.model?.model !== found.model || app.model.version !== found.version) return;
    for (const key of ["accuracy", "low", "high", "rmse", "usual", "how", "finds"]) app.model[key] = found[key];
    settle(found, times - 1);
  }, 100);
}

export const column = (name) => app.model?.columns?.find((c) => c.name === name);
export const target = () => column(app.model?.target);
export const classes = () => (target()?.kind === "nominal" ? target().values || [] : []);
// numeric says whether a number is predicted: there are no classes then.
export const numeric = () => target()?.kind === "numeric";
export const noun = () => app.words.row || "row";
const plain = (s) => (/^\p{L}[\p{L}\p{N}]*(_[\p{L}\p{N}]+)*$/u.test(s) ? s.replaceAll("_", " ") : s);
export const label = (name) => app.words.columns?.[name]?.label || plain(name);
export const unit = (name) => app.words.columns?.[name]?.unit || "";
export const valueLabel = (name, value) => app.words.columns?.[name]?.values?.[value] ?? plain(String(value));
export const className = (value) => (app.model?.target ? valueLabel(app.model.target, value) : value);

// isUsual says whether a rule tells only how frequent an answer is: that is the
// tick beside the others.
export const isUsual = (r) => r.if?.length === 0 && /^(IF ALWAYS|ELSE)\b/.test(r.text) && !r.then?.times && r.then?.column === app.model?.target;
// counted says whether a rule is about an answer and how often it held is known.
export const counted = (r) => r.then?.column === app.model?.target && classes().includes(r.then.value) && (r.told || r.state || r.worth || (r.covered != null ? r.correct != null : r.probability != null));

// glyphs stand for classes beside their colour; with more than four, the class
// in focus has one of its own.
const glyphs = ["●", "◆", "▲", "■"];
export function look(value, focus) {
  const all = classes(), i = all.indexOf(value);
  if (all.length > 4) return value === (focus ?? app.focus ?? all[0]) ? { glyph: "◆", of: 1 } : { glyph: "●", of: 3 };
  return { glyph: glyphs[Math.max(0, i)], of: Math.max(0, i) };
}

// saidFor ends what was said last of a change.
let saidFor;

// write changes the model, says what came of it, and shows the new version.
export async function write(path, body, options) {
  const answer = await post(path, body, options);
  const version = answer.version ?? answer.effect?.version;
  const changed = answer.effect?.changed ?? answer.changed;
  app.done = {
    text: `Version ${version} is live.` + (changed == null ? "" : changed === 1 ? " 1 answer changed." : ` ${count(changed)} answers changed.`),
    undo: may("write") && !path.endsWith("/undo"), // another one would take back what was done before
  };
  clearTimeout(saidFor);
  saidFor = setTimeout(() => (app.done = null), 10_000);
  go({ version: 0, query: { show: "", rule: "", keep: "", because: "", should: "" } }, true);
  await Promise.all([refresh(), show()]);
  return answer;
}

export async function undo() {
  app.done = null;
  await write(at(route.name, "/undo"), {});
}
