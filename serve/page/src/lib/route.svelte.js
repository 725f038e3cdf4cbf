// Each state of the page has an address: #/heart@4/rules?rule=b51b4dae&show=strike

export const screens = ["data", "learn", "rules", "case", "picture", "versions", "live", "court"];

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const screen = screens.includes(parts.at(-1)) ? parts.pop() : "";
  const [name = "", version = ""] = (parts[0] || "").split("@");
  return { name, version: Number(version) || 0, screen, query: Object.fromEntries(new URLSearchParams(query)) };
}

function format({ name, version, screen, query }) {
  const ref = name && encodeURIComponent(name) + (version ? "@" + version : "");
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const text = new URLSearchParams(kept).toString();
  return "#/" + [ref, screen].filter(Boolean).join("/") + (text ? "?" + text : "");
}

export const route = $state(parse(location.hash));
let seen = location.hash;
// arrive takes over an address that was gone to, also before the event says so.
function arrive() {
  if (location.hash === seen) return;
  seen = location.hash;
  Object.assign(route, parse(seen));
}
addEventListener("hashchange", arrive);

// stays says whether a screen is still the one in view: work that ends later does
// not take a person away from where they went meanwhile.
export function stays(screen) {
  arrive();
  return route.screen === screen;
}

// address is where changes of the present state lead.
export function address(changes) {
  const same = !("screen" in changes) || changes.screen === route.screen;
  const query = changes.query ? { ...(same ? route.query : {}), ...changes.query } : same ? route.query : {};
  return format({ name: route.name, version: route.version, screen: route.screen, ...changes, query });
}

// go changes the state; quiet leaves no step to go back to.
export function go(changes, quiet = false) {
  arrive();
  const hash = address(changes);
  if (hash === location.hash) return;
  if (quiet) history.replaceState(null, "", hash);
  else location.hash = hash;
  arrive();
}
