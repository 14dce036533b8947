// The list of examples: a link each, to the page on which it runs.

const list = document.getElementById("examples");

for (const { name, title } of await (await fetch("api/examples")).json()) {
  const picture = document.createElement("img");
  picture.src = `pictures/${name}.svg`;
  picture.alt = "";
  const text = document.createElement("p");
  text.textContent = title;
  const link = document.createElement("a");
  link.href = `${name}/`;
  link.append(picture, text);
  const item = document.createElement("li");
  item.append(link);
  list.append(item);
}
