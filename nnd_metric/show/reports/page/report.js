// The browser of pairs: which are shown, in what order, and how people move among them.
"use strict";
(() => {
  const HEIGHT = 68; // of a row, as in report.css
  const SPARE = 8; // rows drawn beyond what is seen
  const FILTERS = { all: "all", p: "passed", f: "failed", t: "tied", d: "undecidable", u: "unscored", close: "close" };
  const find = (id) => document.getElementById(id);
  const list = find("list"), rows = find("rows"), pane = find("pair"), search = find("search");
  const narrow = matchMedia("(max-width: 52rem)");

  const packed = document.querySelectorAll(".packed"), unpacked = []; // one for each dataset
  let data, lower;
  let shown = []; // numbers of the pairs that the filters let through, in order
  let chosen = -1; // place in `shown`
  let open = false;
  const state = { dataset: 0, model: 0, verdict: "all", order: "given", words: "", columns: {} };

  // ---- which pairs

  function choosePairs() {
    const { model, verdict, words } = state;
    const columns = Object.entries(state.columns).filter(([, value]) => value >= 0)
      .map(([name, value]) => [data.columns[name].places, value]);
    const known = words ? match(words) : null;
    const counts = { all: 0, p: 0, f: 0, t: 0, d: 0, u: 0, close: 0 };
    shown = [];
    for (let pair = 0; pair < data.pair_id.length; pair++) {
      if (!columns.every(([places, value]) => places[pair] === value)) continue;
      if (known && !known(pair)) continue;
      const what = data.letter(model, pair), close = data.isClose(model, pair);
      counts.all++;
      counts[what]++;
      if (close) counts.close++;
      if (verdict === "all" || verdict === what || (verdict === "close" && close)) shown.push(pair);
    }
    sort();
    tell(counts);
  }

  function match(words) {
    // Lowering every text takes time, so it is done when somebody first searches.
    lower ??= { contexts: data.contexts.map((t) => t.toLowerCase()), candidates: data.candidates.map((t) => t.toLowerCase()) };
    const wanted = words.toLowerCase();
    const contexts = lower.contexts.map((text) => text.includes(wanted));
    const candidates = lower.candidates.map((text) => text.includes(wanted));
    return (pair) => contexts[data.context[pair]] || candidates[data.high[pair]] ||
      candidates[data.low[pair]] || data.pair_id[pair].toLowerCase().startsWith(wanted);
  }

  function sort() {
    if (state.order === "given") return;
    const key = {
      worst: (value) => value, best: (value) => -value, closest: (value) => Math.abs(value),
    }[state.order];
    const keys = new Map(shown.map((pair) => {
      const value = data.margin(state.model, pair);
      return [pair, value === null ? Infinity : key(value)]; // without a margin: last
    }));
    shown.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  }

  function tell(counts) {
    for (const label of find("verdicts").querySelectorAll("label")) {
      const name = label.firstChild.value;
      label.lastChild.textContent = counts[name].toLocaleString("en");
      label.hidden = !counts[name] && ["t", "d", "u", "close"].includes(name) && state.verdict !== name;
      label.style.display = label.hidden ? "none" : "";
    }
    find("count").textContent = `${shown.length.toLocaleString("en")} of ${plural(data.pair_id.length, "pair")}`;
  }

  function refresh() {
    choosePairs();
    chosen = shown.length ? 0 : -1;
    list.scrollTop = 0;
    rows.style.height = `${shown.length * HEIGHT}px`;
    drawRows();
    showPair();
  }

  // Whoever searches sees what is found: the field at the top of the window, the list below it.
  function startSearch() {
    search.focus({ preventScroll: true });
    search.closest("label").scrollIntoView({ block: "start" });
  }

  // ---- the list: only the rows in sight are drawn

  function drawRows() {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - SPARE);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + SPARE);
    const drawn = [];
    for (let place = first; place < last; place++) drawn.push(drawRow(place));
    rows.replaceChildren(...drawn);
    if (chosen >= 0) list.setAttribute("aria-activedescendant", `row-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function drawRow(place) {
    const pair = shown[place], what = data.letter(state.model, pair);
    const [sign, word] = VERDICTS[what];
    const category = ["error_category", "category", "aspect"].filter((name) => data.columns[name])
      .map((name) => data.valueOf(name, pair)).find((value) => value !== null) ?? "";
    const row = element("div", { className: "row", id: `row-${place}` },
      element("div", { className: "top" },
        element("span", { className: `verdict is-${what}` }, `${sign} ${signed(data.margin(state.model, pair))}`,
          element("span", { className: "unseen", textContent: ` ${word}` })),
        element("span", { className: "what" }, isolated(spoken(category)))),
      element("div", { className: "high" }, isolated(data.candidates[data.high[pair]])),
      element("div", { className: "low" }, isolated(data.candidates[data.low[pair]])));
    row.style.transform = `translateY(${place * HEIGHT}px)`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", place === chosen);
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", shown.length);
    row.addEventListener("click", () => { move(place); openPair(); });
    return row;
  }

  function move(place) {
    if (!shown.length) return;
    chosen = Math.max(0, Math.min(shown.length - 1, place));
    const top = chosen * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    drawRows();
    if (open) showPair();
  }

  // ---- one pair

  function openPair() {
    if (chosen < 0) return;
    open = true;
    showPair();
    if (narrow.matches) pane.querySelector("button").focus();
  }

  function closePair() {
    open = false;
    showPair();
    list.focus({ preventScroll: true });
  }

  function showPair() {
    const seen = open && chosen >= 0;
    pane.classList.toggle("open", seen);
    document.body.style.overflow = seen && narrow.matches ? "hidden" : "";
    if (!seen) {
      pane.replaceChildren(element("p", { className: "aside", textContent: shown.length ? "Choose a pair." : "No pair matches the filters." }));
      return;
    }
    const close = element("button", { className: "close", type: "button", textContent: "Close" });
    close.addEventListener("click", closePair);
    pane.replaceChildren(close, ...drawPair(data, shown[chosen], state.model));
    pane.scrollTop = 0;
  }

  // ---- controls

  async function chooseDataset(number) {
    data = unpacked[number] ??= await unpackPairs(packed[number].textContent);
    lower = undefined;
    Object.assign(state, { dataset: number, model: 0, columns: {} });
    if (find("dataset")) find("dataset").value = number;
    makeChoices();
  }

  // What can be chosen of the dataset that is shown.
  function makeChoices() {
    find("model").replaceChildren(...data.models.map((name, at) => Object.assign(option(at, brief(name)), { title: brief(data.whole_names[at]) })));
    find("categories").replaceChildren();
    for (const name of Object.keys(data.columns)) {
      const { values } = data.columns[name];
      if (name.startsWith("system_") || values.length < 2) continue;
      const order = values.map((_, at) => at).sort((a, b) => (values[a] < values[b] ? -1 : 1));
      const select = element("select", { id: `column-${name}` }, option(-1, "all"), ...order.map((at) => option(at, brief(spoken(values[at])))));
      state.columns[name] = -1;
      select.addEventListener("change", () => { state.columns[name] = Number(select.value); refresh(); });
      find("categories").append(element("label", {}, `${TITLES[name]} `, select));
    }
  }

  function makeControls() {
    const model = find("model"), dataset = find("dataset");
    model.addEventListener("change", () => { state.model = Number(model.value); refresh(); });
    dataset?.addEventListener("change", async () => { await chooseDataset(Number(dataset.value)); refresh(); });
    for (const [name, text] of Object.entries(FILTERS)) {
      const input = element("input", { type: "radio", name: "verdict", value: name, checked: name === "all" });
      input.addEventListener("change", () => { state.verdict = name; refresh(); });
      find("verdicts").append(element("label", {}, input, element("span", { textContent: text }), element("span", {})));
    }
    find("order").addEventListener("change", (event) => { state.order = event.target.value; refresh(); });
    let waiting;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        state.words = search.value.trim();
        refresh();
        if (list.getBoundingClientRect().top > innerHeight / 2) startSearch();
      }, 120);
    });
    find("tools").addEventListener("submit", (event) => event.preventDefault());
    list.addEventListener("scroll", drawRows, { passive: true });
    new ResizeObserver(drawRows).observe(list);
    narrow.addEventListener("change", showPair);
  }

  function listenToKeys() {
    const page = () => Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1);
    const moves = {
      ArrowDown: () => chosen + 1, ArrowUp: () => chosen - 1, Home: () => 0, End: () => shown.length - 1,
      PageDown: () => chosen + page(), PageUp: () => chosen - page(),
    };
    list.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) move(moves[event.key]());
      else if (event.key === "Enter" || event.key === " ") openPair();
      else return;
      event.preventDefault();
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "ArrowDown") { list.focus(); event.preventDefault(); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (document.activeElement === search) list.focus();
        else if (open) closePair();
        return;
      }
      if (event.target.closest("input, select, textarea")) return;
      if (event.key === "/") startSearch();
      else if (event.key === "j" || event.key === "k") {
        const reading = narrow.matches && open; // the pair covers the list
        if (!reading) list.focus({ preventScroll: find("browser").contains(document.activeElement) });
        move(chosen + (event.key === "j" ? 1 : -1));
        if (reading) pane.querySelector("button").focus();
      } else return;
      event.preventDefault();
    });
  }

  // A mark of a figure leads to the pairs behind it.
  function linkFigures() {
    document.body.classList.add("linked");
    document.addEventListener("click", async (event) => {
      const mark = event.target.closest(".mark[data-model]");
      if (!mark || mark.dataset.column === "slice") return;  // no column holds its pairs
      const dataset = Number(mark.closest("[data-dataset]")?.dataset.dataset ?? 0);
      if (dataset !== state.dataset) await chooseDataset(dataset);
      state.model = Number(mark.dataset.model);
      find("model").value = state.model;
      for (const name of Object.keys(state.columns)) {
        const wanted = name === mark.dataset.column ? data.columns[name].values.indexOf(mark.dataset.value) : -1;
        state.columns[name] = wanted;
        find(`column-${name}`).value = wanted;
      }
      state.words = search.value = "";
      state.verdict = "all";
      find("verdicts").querySelector("input").checked = true;
      refresh();
      find("pairs").scrollIntoView();
    });
  }

  // On paper nothing can be unfolded.
  function printWhole() {
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open], figcaption *)")];
      for (const each of folded) each.open = true;
    });
    addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
  }

  async function start() {
    printWhole();
    find("status").textContent = "Unpacking the pairs …";
    try {
      await chooseDataset(0);
    } catch (error) {
      find("status").textContent = `The pairs cannot be shown: ${error.message}. A browser of 2023 or later is required.`;
      return;
    }
    find("status").hidden = true;
    find("browser").hidden = false;
    makeControls();
    listenToKeys();
    linkFigures();
    open = !narrow.matches;
    refresh();
  }

  start();
})();
