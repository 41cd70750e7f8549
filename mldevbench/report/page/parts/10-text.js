// Every piece of text goes through here and into a text node: nothing that an agent wrote can become markup.
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]/g;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const SIGNS = { passed: "✓", failed: "✗", void: "⊘", running: "▶", judging: "◔", owed: "…" };

function named(character) {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : "⟨U+" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
}

function visible(value) {
  return String(value).replace(ACTING, named).replace(LONE, named);
}

function number(value, digits = 0) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function dollars(value) {
  return value === null || value === undefined ? "–" : "$" + value.toFixed(3);
}

function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 100) return value.toFixed(1) + " s";
  return value < 6000 ? (value / 60).toFixed(0) + " min" : (value / 3600).toFixed(1) + " h";
}

function status(word) {
  return (SIGNS[word] || "?") + " " + word;
}
