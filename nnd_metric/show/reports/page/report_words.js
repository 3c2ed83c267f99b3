// Which words of two texts differ: [text, marked] stretches of each.
"use strict";
const wordDifferences = (() => {
  const MOST_STEPS = 4e6; // beyond, all that is between equal ends is marked

  const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter("und", { granularity: "word" }) : null;

  function words(text) {
    if (text.length > 20000) return text.match(/\s+|[^\s]{1,200}/gu) ?? []; // huge: no finer than blanks
    return segmenter ? Array.from(segmenter.segment(text), (each) => each.segment) : text.match(/\s+|\w+|[^\s\w]/gu) ?? [];
  }

  // Marks the words that are not in the longest common subsequence; blanks decide nothing.
  function differences(a, b) {
    const x = words(a), y = words(b);
    const solid = (all) => all.filter((word) => word.trim());
    const [keptX, keptY] = common(solid(x), solid(y));
    return [marked(x, keptX), marked(y, keptY)];
  }

  function common(x, y) {
    const keptX = new Uint8Array(x.length), keptY = new Uint8Array(y.length);
    let start = 0, end = 0;
    while (start < x.length && start < y.length && x[start] === y[start]) {
      keptX[start] = keptY[start] = 1;
      start++;
    }
    while (end < Math.min(x.length, y.length) - start && x.at(-1 - end) === y.at(-1 - end)) {
      end++;
      keptX[x.length - end] = keptY[y.length - end] = 1;
    }
    const n = x.length - start - end, m = y.length - start - end;
    if (!n || !m || n * m > MOST_STEPS) return [keptX, keptY];
    const width = m + 1, longest = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        longest[i * width + j] = x[start + i] === y[start + j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < n && j < m;) {
      if (x[start + i] === y[start + j]) keptX[start + i++] = keptY[start + j++] = 1;
      else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
      else j++;
    }
    return [keptX, keptY];
  }

  // Returns stretches of text, marked or not; a blank is marked between two words that are.
  function marked(all, kept) {
    let at = 0;
    const flags = all.map((word) => (word.trim() ? !kept[at++] : null));
    const stretches = [];
    all.forEach((word, place) => {
      const flag = flags[place] ?? Boolean(flags[place - 1] && flags[place + 1]);
      const last = stretches.at(-1);
      if (last && last[1] === flag) last[0] += word;
      else stretches.push([word, flag]);
    });
    return stretches;
  }

  return differences;
})();
