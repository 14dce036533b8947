// The list of examples: a link each, to the page on which it runs.

import { inline } from "./story.js";

const list = document.getElementById("examples");

for (const { name, title, about } of await (await fetch("api/examples")).json()) {
  const picture = document.createElement("img");
  picture.src = `pictures/${name}.svg`;
  picture.alt = "";
  const [head, tail] = title.split(/: (.*)/s);
  const heading = document.createElement("h2");
  heading.textContent = head;
  const text = document.createElement("p");
  text.append(...inline(tail ? `${tail[0].toUpperCase()}${tail.slice(1)}. ${about}` : about));
  const link = document.createElement("a");
  link.href = `${name}/`;
  link.append(picture, heading, text);
  const item = document.createElement("li");
  item.append(link);
  list.append(item);
}
