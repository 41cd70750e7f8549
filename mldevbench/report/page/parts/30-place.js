// Where the reader is lives in the address, so that a link or a reload comes back to it.
function here() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const words = path.split("/").filter(Boolean).map(decoded);
  return { page: words[0] || "summary", words: words.slice(1), query: new URLSearchParams(query || "") };
}

function coded(word) {
  return encodeURIComponent(String(word).replace(LONE, "\ufffd"));
}

function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function address(page, words = [], query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(kept).toString();
  return "#/" + [page, ...words].map(coded).join("/") + (search ? "?" + search : "");
}

// Changes the query of this page without a new entry in the history and without drawing it anew.
function remember(query) {
  const place = here();
  history.replaceState(null, "", address(place.page, place.words, query));
}
