const SAFE_LINK = /^(#|\/artifact\/)/;
const READ_ALOUD = new Set(["alt", "title", "aria-label"]);

// Makes an element; `properties` are attributes, "on…" are listeners, children are nodes or plain text.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "href" && !SAFE_LINK.test(value)) continue;
    else element.setAttribute(name, value === true ? "" : READ_ALOUD.has(name) ? visible(value) : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

function drawn(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, visible(value));
  for (const child of children) element.append(child instanceof Node ? child : visible(child));
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

function say(text) {
  document.getElementById("news").textContent = visible(text);
}
