// Numbers and names as people read them.

// percent is a share as a whole number of hundredths, never 0 % or 100 % of
// what is only likely.
export function percent(p) {
  if (p == null || Number.isNaN(p)) return "–";
  const x = 100 * p;
  if (x < 1) return x < 0.05 ? "under 0.1\u00a0%" : `${x.toFixed(1)}\u00a0%`;
  if (x > 99) return x > 99.95 ? "over 99.9\u00a0%" : `${x.toFixed(1)}\u00a0%`;
  return `${Math.round(x)}\u00a0%`;
}

// range is an interval of shares: 68–84 %. No line ends within it: after the
// dash stands a word joiner.
export function range(low, high) {
  if (low == null || high == null) return "";
  return `${Math.round(100 * low)}–\u2060${Math.round(100 * high)}\u00a0%`;
}

// points is an interval of differences: −1 to +12 points.
export function points(low, high) {
  // What is nearly nothing keeps its side: a difference that is sure does not reach 0.
  const sign = (x) => (Math.abs(x) < 0.0005 ? "0" : (x < 0 ? "−" : "+") + (Math.abs(x) < 0.005 ? Math.abs(100 * x).toFixed(1) : Math.abs(Math.round(100 * x))));
  return `${sign(low)} to ${sign(high)} points`;
}

export const count = (n) => (n == null ? "–" : Math.round(n).toLocaleString("en"));

// rate says how often a rule held: "in all 47", or "in 80 %".
export function rate(correct, covered, probability) {
  if (covered > 0 && correct === covered) return `in all ${count(covered)}`;
  return `in ${percent(covered > 0 ? correct / covered : probability)}`;
}

// number is a number with as many digits as it needs.
export function number(x) {
  if (typeof x !== "number") return x == null ? "" : String(x);
  const text = Number.isInteger(x) ? x.toLocaleString("en") : Number(x.toPrecision(Math.abs(x) >= 1000 ? 6 : 4)).toLocaleString("en", { maximumFractionDigits: 6 });
  return text.replace("-", "−");
}

// brief is a number in three digits or so, in its unit; by is a difference.
export const brief = (x, unit = "") => number(Number(Number(x).toPrecision(Math.abs(x) >= 1000 ? 4 : 3))) + (unit ? `\u00a0${unit}` : "");
export const by = (low, high, unit = "") => [low, high].map((x) => (x < 0 ? "−" : "+") + brief(Math.abs(x))).join(" to ") + (unit ? ` ${unit}` : "");

// day is a time as people date things.
export const day = (at) => new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
export const moment = (at) => `${day(at)} ${new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;

// plural is a noun for a number of things.
export function plural(n, noun) {
  return n === 1 ? `1 ${noun}` : `${count(n)} ${many(noun)}`;
}
export const many = (noun) => (/[^aeiou]y$/.test(noun) ? noun.slice(0, -1) + "ies" : /(s|x|ch|sh)$/.test(noun) ? noun + "es" : noun + "s");

// base is a file's name without its folders; a table that was sent lies in a
// folder of its name.
export function base(path) {
  const parts = (path || "").split("/");
  return parts.at(-1) === "table" && parts.length > 1 ? parts.at(-2) : parts.at(-1);
}

// called is a table's name as people say it: january.csv is January.
export function called(path) {
  const name = base(path).replace(/\.(csv|tsv|arff|xlsx|parquet|jsonl?|ndjson|txt)?(\.(gz|zst|bz2|xz))?$/i, "").replaceAll("_", " ");
  return cap(name || base(path));
}
export const cap = (s) => (s ? s[0].toUpperCase() + s.slice(1) : "");

// observed is a rate that was counted: "all 60" of what was always so.
export const observed = (right, of) => (of > 0 && right >= of ? `all ${count(of)}` : right <= 0 ? `none of ${count(of)}` : percent(right / of));

// step is how many rows a square stands for, where so many are drawn at most.
export const step = (n, most) => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000, 1000000].find((s) => n / s <= most) ?? 1e7;

// a is a noun with its article.
export const a = (noun) => `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;

// wilson is the 95 % interval of a rate.
export function wilson(right, of) {
  if (!of) return [0, 1];
  const z = 1.96, p = right / of, n = of;
  const middle = p + (z * z) / (2 * n), spread = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [(middle - spread) / (1 + (z * z) / n), (middle + spread) / (1 + (z * z) / n)];
}

// listed is names in a row: a, b and c.
export const listed = (names) => (names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
