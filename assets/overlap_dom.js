// Nodes of the canvas. Text goes in as text, never as markup; what is already so is left alone.

export const make = (tag, className = "", text = "") => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
};

export const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

export const put = (node, name, value) => {
  const text = value === null || value === false ? null : value === true ? "" : String(value);
  if (node.getAttribute(name) === text) return;
  if (text === null) node.removeAttribute(name);
  else node.setAttribute(name, text);
};

export const dress = (node, attributes) => {
  for (const name of Object.keys(attributes)) put(node, name, attributes[name]);
  return node;
};

/** As many children as items, made by `build(i)` where they lack; then `fill(child, item, i)`. */
export function each(parent, items, build, fill) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  items.forEach((item, i) => {
    if (!parent.children[i]) parent.append(build(i));
    fill(parent.children[i], item, i);
  });
}

const percent = (x) => `${Math.max(0, Math.min(1, x)) * 100}%`;

/** A row of blocks, lengths in proportion: [{kind, share, text}]. */
export function fillRow(row, blocks) {
  each(row, blocks, () => make("span", "block"), (node, { kind, share, text }) => {
    put(node, "data-kind", kind);
    node.style.width = percent(share);
    node.hidden = share <= 0;
    write(node, text);
    put(node, "title", text);
  });
}

/** From below in a bar: where a block begins and how tall it is. */
export function raise(node, from, to) {
  node.style.bottom = percent(from);
  node.style.height = percent(to - from);
}

/** A pin on a track that says where it is to those who do not see it. */
export function pinAt(pin, share, words) {
  pin.style.left = percent(share);
  put(pin, "aria-valuenow", share);
  put(pin, "aria-valuetext", words);
}
