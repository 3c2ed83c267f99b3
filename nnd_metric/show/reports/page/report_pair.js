// The pairs as they were packed, what is asked of them, and one pair with all that is known of it.
"use strict";
const VERDICTS = { p: ["✓", "passed"], f: ["✗", "failed"], t: ["=", "tied"], d: ["≡", "undecidable: the same tokens"], u: ["?", "unscored"] };
const TITLES = {
  error_category: "Error category", error_group: "Error group", aspect: "Aspect",
  category: "Context category", system_high: "Better one by", system_low: "Worse one by",
};

async function unpackPairs(packed) {
  const letters = atob(packed), bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at); // from() takes a second
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readPairs(JSON.parse(await new Response(stream).text()));
}

// Models and pairs are numbers: places in their lists.
function readPairs(data) {
  const letter = (model, pair) => data.scores[model].verdicts[pair].toLowerCase();
  const isClose = (model, pair) => data.scores[model].verdicts[pair] < "a"; // capitals
  const margin = (model, pair) => {
    const { high, low } = data.scores[model];
    return high[pair] === null || low[pair] === null ? null : high[pair] - low[pair];
  };
  const valueOf = (column, pair) => {
    const { values, places } = data.columns[column];
    return places[pair] < 0 ? null : values[places[pair]];
  };
  return { ...data, letter, isClose, margin, valueOf };
}

// Places count characters, of which one may be two units in JavaScript.
function surprisingTokens(candidate, tokens, marked) {
  const MOST = 10, FULL = 90; // nats from which the colour is full, and its share: text stays legible
  const characters = Array.from(candidate), parts = [];
  let at = 0;
  for (const [start, end, surprisal] of tokens) {
    if (start < at) continue; // a character of several tokens has the colour of the first
    if (at < start) parts.push(clean(characters.slice(at, start).join("")));
    const isMarked = marked.some(([first, last]) => start < last && end > first);
    const token = element("span", {
      className: isMarked ? "token marked" : "token", title: surprisal.toFixed(2),
      textContent: clean(characters.slice(start, end).join("")),
    });
    token.style.setProperty("--surprise", `${Math.round(FULL * Math.min(Math.max(surprisal, 0) / MOST, 1))}%`);
    parts.push(token);
    at = end;
  }
  return [...parts, clean(characters.slice(at).join(""))];
}

// Returns the elements that show a pair; `chosenModel` stands out.
function drawPair(data, pair, chosenModel) {
  const { letter, isClose, margin, valueOf } = data;
  const heading = (text) => element("h3", { textContent: text });

  function contextOf() {
    const text = data.contexts[data.context[pair]];
    if (data.texts && text === "") return [heading("No context")];
    const shownText = element("div", { className: `text context${data.texts ? "" : " id"}`, textContent: clean(text), dir: "auto", tabIndex: 0 });
    return [heading("Context"), shownText];
  }

  function side(name, title, column, parts) {
    const writer = data.columns[column] ? valueOf(column, pair) : null;
    const head = heading(title);
    if (writer !== null) head.append(" (", isolated(writer.replaceAll("|", ", ")), ")");
    const text = element("div", { className: `text${data.texts ? "" : " id"}`, dir: "auto" },
      ...parts.map(([part, marked]) => (marked ? element("mark", { textContent: clean(part) }) : clean(part))));
    if (data.texts && !parts.some(([part]) => part)) text.append(element("i", { textContent: "(empty)" }));
    return element("div", { className: name }, head, text);
  }

  function scores() {
    const head = element("tr", {}, ...["model", "better", "worse", "margin", ""].map((text, at) =>
      element("th", { textContent: text, scope: "col", className: at && at < 4 ? "number" : "" })));
    const body = data.models.map((name, model) => {
      const what = letter(model, pair), { high, low } = data.scores[model];
      const [sign, word] = VERDICTS[what];
      return element("tr", { className: model === chosenModel ? "strong" : "" },
        element("th", { scope: "row", title: brief(data.whole_names[model]) }, isolated(name)),
        ...[number(high[pair]), number(low[pair]), signed(margin(model, pair))].map((text) =>
          element("td", { className: "number", textContent: text })),
        element("td", { className: `verdict is-${what}`, textContent: `${sign} ${word}${isClose(model, pair) ? ", close" : ""}` }));
    });
    return element("div", { className: "scroll" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
  }

  // Both texts as a model read them: the more surprising a token, the stronger its colour.
  function surprise() {
    const tokens = data.tokens?.[chosenModel];
    if (!tokens || !(tokens.high[pair].length || tokens.low[pair].length)) return [];
    const text = (name, title, candidate, marked) => element("div", { className: name }, heading(title),
      element("div", { className: "text", dir: "auto" }, ...surprisingTokens(candidate, tokens[name][pair], marked)));
    return [
      heading(`Surprise of ${brief(data.models[chosenModel])}`),
      element("div", { className: "sides surprise" },
        text("high", "Better", high, []), text("low", "Worse", low, data.marked[pair])),
      element("p", { className: "aside", textContent: "The stronger the colour of a token, the less likely it is to the model; point at it for −log P." +
        (data.marked[pair].length ? " The error is underlined." : "") }),
    ];
  }

  function facts() {
    const told = Object.keys(data.columns).filter((name) => !name.startsWith("system_"))
      .map((name) => [TITLES[name], valueOf(name, pair)]).filter(([, value]) => value !== null)
      .map(([title, value]) => [title, spoken(value)]);
    told.push(["Context", data.context_id.values[data.context_id.places[pair]] ?? null], ["Pair", data.pair_id[pair]]);
    const line = element("p", { className: "facts" });
    for (const [title, value] of told.filter(([, text]) => text !== null)) {
      line.append(line.childNodes.length ? " · " : "", `${title.toLowerCase()} `, isolated(value));
    }
    return line;
  }

  const high = data.candidates[data.high[pair]], low = data.candidates[data.low[pair]];
  const [left, right] = data.texts ? wordDifferences(high, low) : [[[high, false]], [[low, false]]];
  return [
    ...contextOf(),
    element("div", { className: "sides" },
      side("high", "Better, say people", "system_high", left),
      side("low", "Worse, say people", "system_low", right)),
    heading("Log-likelihoods"), scores(), ...surprise(), facts(),
  ];
}
