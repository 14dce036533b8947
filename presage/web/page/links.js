// The view as a link: what is chosen, filtered, looked at and when, behind the # of the address.

const NAMES = ["answer", "step", "find", "query", "lanes", "order", "view", "from", "to", "tab"];

export function readLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
}

let waiting = null;

// Entries that are empty are left out; the address follows the view, without a history of every move.
export function writeLink(view) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const shown = NAMES.filter((name) => view[name] !== undefined && view[name] !== null && view[name] !== "").map((name) => [name, String(view[name])]);
    const hash = shown.length ? `#${new URLSearchParams(shown)}` : " ";
    try {
      history.replaceState(null, "", hash === " " ? location.pathname + location.search : hash);
    } catch {
      // A file may have no address of its own.
    }
  }, 250);
}
