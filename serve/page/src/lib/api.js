// The server's interface: JSON over HTTP, problems as errors, jobs as promises.

// Problem is what the server says went wrong (RFC 9457), with what to do.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || "The server did not answer.");
    this.status = status;
    this.remedy = body.remedy || "";
  }
}

// call asks for a path. Bodies that are not text or files are sent as JSON.
export async function call(method, path, body, { signal, version, type, wait } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined && type !== "") headers["Content-Type"] = type || "application/json"; // a form has its own
  if (wait != null) headers.Prefer = `wait=${wait}`; // seconds, for what is found out once for each version
  if (version) headers["If-Match"] = String(version);
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: body === undefined || type !== undefined ? body : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server cannot be reached.", remedy: "Nothing was changed. See whether accrete serve still runs." });
  }
  const text = await answer.text();
  let json = {};
  try {
    json = text ? JSON.parse(text) : {};
  } catch {
    json = { detail: text };
  }
  if (!answer.ok) throw new Problem(answer.status, json);
  return json;
}

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body = {}, options) => call("POST", path, body, options);

// model is the path of a model's routes; a version may follow its name.
export const model = (ref, rest = "") => `/v1/models/${encodeURIComponent(ref)}${rest}`;

// job starts long work and waits for its result; watch hears of its progress.
export async function job(path, body, watch = () => {}) {
  const started = await post(path, body);
  if (!started.job) return started;
  watch({ job: started.job });
  return follow(started.job, watch);
}

// follow waits for a job that runs, also after the page was loaded again.
export function follow(id, watch = () => {}) {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  return new Promise((resolve, reject) => {
    const events = new EventSource(path + "/events");
    const end = (how, value) => {
      events.close();
      how(value);
    };
    events.addEventListener("progress", (e) => watch({ job: id, ...JSON.parse(e.data) }));
    events.addEventListener("result", (e) => end(resolve, JSON.parse(e.data)));
    events.addEventListener("problem", (e) => {
      const p = JSON.parse(e.data);
      end(reject, new Problem(p.status || 500, p));
    });
    events.onerror = async () => {
      if (events.readyState !== EventSource.CLOSED) return; // it tries again by itself
      try {
        const j = await get(path);
        if (j.state === "done") end(resolve, j.result);
        else end(reject, new Problem(500, j.problem || { detail: "The work was cancelled." }));
      } catch (problem) {
        end(reject, problem);
      }
    };
  });
}

// latest makes a caller of which only the newest call counts: an older answer
// never overwrites a newer one.
export function latest() {
  let control;
  return async (ask) => {
    control?.abort();
    const mine = (control = new AbortController());
    try {
      const value = await ask(mine.signal);
      return mine.signal.aborted ? undefined : value;
    } catch (problem) {
      if (mine.signal.aborted) return undefined;
      throw problem;
    }
  };
}
