// A plain list of models. Text from data is only ever set as text.
const state = document.getElementById("state");
const list = document.getElementById("models");
try {
  const answer = await fetch("/v1/models", { headers: { Accept: "application/json" } });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.detail + (found.remedy ? ". " + found.remedy : ""));
  state.textContent = found.models.length === 0 ? "There is no model yet. Make one: accrete learn votes" : "";
  for (const m of found.models) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = "/v1/models/" + encodeURIComponent(m.model) + "/rules";
    link.textContent = m.model;
    const about = document.createElement("small");
    about.textContent = `${m.learner}, ${m.rows.toLocaleString("en")} rows, version ${m.versions}` + (m.target ? `, predicts ${m.target}` : "");
    item.append(link, about);
    list.append(item);
  }
} catch (problem) {
  state.textContent = problem.message;
}
