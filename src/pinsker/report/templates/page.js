"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const { path, choices, n_features: total } = read("summary");
  const slider = document.getElementById("slider");
  const value = document.getElementById("slider-value");
  const text = document.getElementById("slider-text");
  const chips = [...document.querySelectorAll("#chips li")];
  const views = [];
  const short = (x) => String(Number(x.toPrecision(6)));
  const NAMED = 8;

  const setAt = (position) => choices.sets.findLast((set) => set.first <= position);
  const featuresOf = (set) => set.features ?? path.order.slice(0, set.size);

  const sentence = (budget, set, features) => {
    const order = new Map(path.order.map((feature, rank) => [feature, rank]));
    const sorted = [...features].sort((a, b) => (order.get(a) ?? Infinity) - (order.get(b) ?? Infinity));
    const named = sorted.slice(0, NAMED).map((feature) => path.names[feature]).join(", ");
    const rest = sorted.length > NAMED ? ` and ${sorted.length - NAMED} more` : "";
    const verb = set.size === 1 ? "stays" : "stay";
    return `${set.size} of ${total} features ${verb} at a budget of ${short(budget)}: ${named}${rest}.`;
  };

  const show = (position) => {
    const budget = choices.budgets[position];
    const set = setAt(position);
    const features = featuresOf(set);
    const staying = new Set(features);
    for (const chip of chips) {
      const state = staying.has(Number(chip.dataset.feature)) ? "stays" : "goes";
      if (chip.className !== state) {
        chip.className = state;
        chip.querySelector(".state").textContent = state;
      }
    }
    value.textContent = short(budget);
    text.textContent = sentence(budget, set, features);
    slider.setAttribute("aria-valuetext", `${short(budget)}, ${set.size} of ${total} features`);
    const chosen = { size: set.size, information: set.information, increase: set.increase_upper ?? set.bound, budget };
    for (const view of views) {
      view.data("chosen", [chosen]).runAsync();
    }
  };

  // Until it is moved the page shows the selector's own choice, which need not be a budget's.
  let moved = Boolean(slider) && choices.current !== null;
  const refresh = () => { if (moved) show(Number(slider.value)); };
  if (slider) {
    slider.disabled = false;
    slider.addEventListener("input", () => { moved = true; refresh(); });
  }
  refresh();

  const draw = async (name, spec) => {
    const place = document.getElementById(`chart-${name}`);
    // ast: expressions are interpreted and not compiled, as the page's policy forbids eval.
    const options = { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } };
    const { view } = await window.vegaEmbed(place, spec, options);
    views.push(view);
  };
  const fallBack = (name) => {
    const place = document.getElementById(`chart-${name}`);
    place.classList.add("empty");
    place.textContent = "This chart could not be drawn; the table below has its figures.";
  };
  if (window.vegaEmbed) {
    for (const [name, spec] of Object.entries(read("charts"))) {
      draw(name, spec).then(
        refresh,
        (error) => { fallBack(name); console.error(error); },
      );
    }
  } else {
    Object.keys(read("charts")).forEach(fallBack);
  }

  // Paper cannot be opened: print what is folded, and fold it again.
  const folded = [...document.querySelectorAll("details")];
  let open = [];
  window.addEventListener("beforeprint", () => {
    open = folded.filter((item) => item.open);
    folded.forEach((item) => { item.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((item) => { item.open = open.includes(item); });
  });
})();
