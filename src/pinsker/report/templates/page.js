"use strict";
// The page computes nothing: every text and every place was made with it.
(() => {
  const { order, current, own, sets, states, marks } = JSON.parse(document.getElementById("following").textContent);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const slider = document.getElementById("slider");
  const reset = document.getElementById("reset");
  const verdict = document.getElementById("verdict");
  const sentences = document.getElementById("sentences");
  const plots = all("#chart-increase svg.plot");

  const setAt = (position) => sets.findLast((set) => set.first <= position);

  const showTexts = (state) => {
    for (const place of all("[data-slot]")) {
      place.textContent = state[place.dataset.slot];
      if (place.classList.contains("caution")) place.hidden = !state.caution;
    }
    verdict.className = `verdict ${state.verdict_class}`;
    for (const part of ["label", "value", "about"]) {
      all(`[data-tile=${part}]`).forEach((place, i) => { place.textContent = state.tiles[i][part]; });
    }
    sentences.replaceChildren(...state.sentences.map((sentence) => {
      const line = document.createElement("p");
      line.textContent = sentence;
      return line;
    }));
  };

  const showFeatures = (set) => {
    const staying = new Set(set.features ?? order.slice(0, set.size));
    for (const item of all("[data-feature]")) {
      const stays = staying.has(Number(item.dataset.feature));
      item.classList.toggle("stays", stays);
      item.classList.toggle("goes", !stays);
      const state = item.querySelector(".state");
      if (state) state.textContent = stays ? "stays" : "goes";
      const cell = item.querySelector("td.stay");
      if (cell) cell.textContent = stays ? "yes" : "no";
    }
  };

  const place = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  };

  const showPlots = (position, set, search) => {
    for (const plot of plots) {
      const layout = marks[plot.dataset.layout];
      const at = position === null ? layout.own : layout.sets[sets.indexOf(set)];
      const line = plot.querySelector(".budget-line");
      const level = position === null ? "hidden" : "visible";
      place(line, { transform: `translate(0 ${layout.budgets[position] ?? 0})`, visibility: level });
      const mark = plot.querySelector(".chosen-mark");
      place(mark, { visibility: at.y === null ? "hidden" : "visible" });
      if (at.y !== null) {
        place(mark.querySelector(".whisker"), { x1: at.x, x2: at.x, y1: at.low, y2: at.high });
        place(mark.querySelector(".ring"), { cx: at.x, cy: at.y });
      }
    }
    for (const series of all("#chart-increase [data-search]")) {
      const chosen = series.dataset.search === search;
      series.classList.toggle("chosen", chosen);
      if (chosen && series.matches(".series")) series.parentNode.append(series);
    }
  };

  // A position of the slider, or null: the selector's own choice, which need not be a budget's.
  const show = (position) => {
    const state = position === null ? own.state : states[position];
    const set = position === null ? own.set : setAt(position);
    showTexts(state);
    showFeatures(set);
    showPlots(position, set, state.search);
    slider.setAttribute("aria-valuetext", `${state.budget}, ${state.headline}, ${state.verdict}`);
    reset.hidden = position === current;
  };

  if (slider) {
    slider.disabled = false;
    slider.addEventListener("input", () => show(Number(slider.value)));
    reset.addEventListener("click", () => {
      slider.value = current ?? 0;
      show(current);
      slider.focus();
    });
    show(current);
  }

  // Paper cannot be opened: print what is folded, and fold it again.
  const folded = all("details");
  let open = [];
  window.addEventListener("beforeprint", () => {
    open = folded.filter((item) => item.open);
    folded.forEach((item) => { item.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((item) => { item.open = open.includes(item); });
  });
})();
