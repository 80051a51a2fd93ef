"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const FIELDS = ["program", "kind", "outcome", "verdict", "words"];
  let rows = [], filters = null, count = null, open = null;

  const wanted = () => Object.fromEntries(FIELDS.map((name) => [name, filters.elements[name].value]));

  function filter() {
    const { words, ...exact } = wanted();
    const needle = words.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = Object.entries(exact).every(([name, value]) => !value || row.dataset[name] === value)
        && (!needle || row.textContent.toLowerCase().includes(needle));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} samples`;
  }

  function preset(pairs) {
    for (const name of FIELDS) filters.elements[name].value = "";
    for (const [name, value] of new URLSearchParams(pairs)) {
      if (FIELDS.includes(name)) filters.elements[name].value = value;
    }
    filter();
  }

  function neighbors(page) {
    const listed = rows.filter((row) => !row.hidden).map((row) => row.dataset.page);
    const at = listed.indexOf(page.id);
    for (const [name, step] of [["previous", -1], ["next", 1]]) {
      const link = page.querySelector(`a.${name}`);
      const other = at < 0 ? undefined : listed[at + step];
      link.hidden = !other;
      if (other) link.href = `#${other}`;
    }
  }

  function route() {
    const hash = location.hash.slice(1);
    const cut = hash.indexOf("&");
    const name = cut < 0 ? hash : hash.slice(0, cut);
    if (name === "samples" && cut >= 0) preset(hash.slice(cut + 1));
    const target = name ? document.getElementById(name) : null;
    const page = target && target.closest(".page");
    if (open) open.classList.remove("open");
    root.classList.toggle("reading", Boolean(page));
    open = page;
    if (page) {
      page.classList.add("open");
      neighbors(page);
    }
    if (target === page && page) {
      scrollTo(0, 0);
      page.querySelector("h1").focus({ preventScroll: true });
    } else if (target) {
      target.scrollIntoView();
    }
    document.title = page ? page.querySelector("h1").textContent.trim() : root.dataset.title;
  }

  document.addEventListener("DOMContentLoaded", () => {
    rows = [...document.querySelectorAll("#list tbody tr")];
    filters = document.getElementById("filters");
    count = document.getElementById("count");
    root.dataset.title = document.title;
    filters.addEventListener("input", filter);
    filters.addEventListener("reset", () => setTimeout(filter));
    filters.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", route);
    filter();
    route();
  });
})();
