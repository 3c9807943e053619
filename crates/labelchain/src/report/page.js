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
