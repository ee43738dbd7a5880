// The buttons that begin a class at one of its links, in this tab.
import { begun } from "./presenter_class.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".start"), { items, label } = data;
  root.setAttribute("aria-label", label);
  root.querySelector(".label").textContent = label;
  while (root.children.length > items.length + 1) root.lastElementChild.remove();
  while (root.children.length < items.length + 1) root.append(Object.assign(document.createElement("button"), { type: "button" }));
  items.forEach((item, i) => {
    const button = root.children[i + 1];
    button.textContent = `${i + 1}`;
    button.title = item.title;
    button.setAttribute("aria-label", `${label} ${i + 1}, ${item.title}`);
    button.onclick = () => {
      const url = new URL(item.url, location.href);
      if (url.origin !== location.origin) return;
      begun(sessionStorage, items, i, Date.now());
      location.assign(url);
    };
  });
}
