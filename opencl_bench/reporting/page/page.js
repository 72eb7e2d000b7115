"use strict";
// The page reads without this. What it adds: a filter that is kept in the address, and sorting.

const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const GROUPS = ["devices", "kernels"];

// --- The filter ---

const boxes = (group) => all("#" + group + " input:not([data-all])");
const checked = (group) => boxes(group).filter((box) => box.checked).map((box) => box.value);

function showAll() {
  const devices = new Set(checked("devices")), kernels = new Set(checked("kernels"));
  for (const element of all("main [data-kernel], main [data-place], main [data-places]")) {
    const { kernel, place, places } = element.dataset;
    const isThere = (!kernel || kernels.has(kernel)) && (!place || devices.has(place))
      && (!places || places.split(" ").some((each) => devices.has(each)));
    element.toggleAttribute("hidden", !isThere);
  }
  document.getElementById("nothing").hidden = devices.size > 0 && kernels.size > 0;
  for (const group of GROUPS) {
    const own = boxes(group), count = checked(group).length, whole = document.querySelector("#" + group + " [data-all]");
    whole.checked = count === own.length;
    whole.indeterminate = count > 0 && count < own.length;
  }
  document.getElementById("shown").textContent = "Shown: " + GROUPS
    .map((group) => checked(group).length + " of " + boxes(group).length + " " + group).join(", ");
}

function keepInAddress(anchor) {
  const parts = GROUPS.filter((group) => checked(group).length < boxes(group).length)
    .map((group) => group + "=" + checked(group).join(","));
  if (anchor) parts.push("at=" + anchor);
  history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
}

function readAddress() {
  const text = location.hash.slice(1);
  if (!text.includes("=")) return text;
  const wanted = new URLSearchParams(text);
  for (const group of GROUPS) {
    const chosen = wanted.has(group) ? new Set(wanted.get(group).split(",")) : null;
    for (const box of boxes(group)) box.checked = !chosen || chosen.has(box.value);
  }
  return wanted.get("at") || "";
}

function goTo(anchor) {
  const target = document.getElementById(anchor);
  if (!target) return;
  target.setAttribute("tabindex", "-1");
  target.scrollIntoView();
  target.focus({ preventScroll: true });
}

function startFilter() {
  const form = document.getElementById("filter");
  if (!form) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    const box = event.target;
    if (box.hasAttribute("data-all")) for (const each of boxes(box.closest("fieldset").id)) each.checked = box.checked;
    showAll();
    keepInAddress("");
  });
  if (matchMedia("(max-width: 60rem)").matches) form.querySelector("details").open = false;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const anchor = link.getAttribute("href").slice(1);
    goTo(anchor);
    keepInAddress(anchor);
  });
  const follow = () => { const anchor = readAddress(); showAll(); goTo(anchor); };
  addEventListener("hashchange", follow);
  follow();
}

// --- Sorting ---

function valueOf(row, column) {
  const text = row.cells[column].dataset.value || "";
  return text !== "" && isFinite(text) ? Number(text) : text.toLowerCase();
}

function compare(one, other) {
  if (typeof one === "string" && typeof other === "string") return one.localeCompare(other, "en", { numeric: true });
  if (typeof one === typeof other) return one - other;
  return typeof one === "number" ? -1 : 1;
}

function sortBy(table, heading) {
  const headings = all("thead th", table), column = headings.indexOf(heading), body = table.tBodies[0];
  const rows = Array.from(body.rows), was = heading.getAttribute("aria-sort");
  const isNumber = rows.some((row) => typeof valueOf(row, column) === "number");
  const order = was ? (was === "ascending" ? "descending" : "ascending") : (isNumber ? "descending" : "ascending");
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((one, other) => sign * compare(valueOf(one, column), valueOf(other, column)));
  for (const each of headings) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  body.append(...rows);
}

function startSorting() {
  for (const table of all("table.sortable")) {
    for (const heading of all("thead th", table)) {
      const button = heading.querySelector("button");
      button.disabled = false;
      button.addEventListener("click", () => sortBy(table, heading));
    }
  }
}

startSorting();
startFilter();
