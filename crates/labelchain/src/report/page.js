"use strict";
// A table is sorted by the column whose button is pressed; rows that sum up stay below.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const column = head.cellIndex;
    const body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => {
      const cell = row.cells[column];
      return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
    };
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      // Numbers come before what is none, whichever way.
      if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
      const order = typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true });
      return up ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  });
}
// What is wider than the page says so, and its edge is shaded as long as there is more.
const edge = (part) => {
  const rest = part.scrollWidth - part.clientWidth;
  part.parentElement.classList.toggle("wide", rest > 1);
  part.parentElement.classList.toggle("more", rest - part.scrollLeft > 1);
};
const sizes = new ResizeObserver((entries) => entries.forEach((entry) => edge(entry.target)));
for (const part of document.querySelectorAll(".scroll")) {
  sizes.observe(part);
  part.addEventListener("scroll", () => edge(part), { passive: true });
}
// What is folded must not be missing where a link leads or on paper.
const unfold = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
