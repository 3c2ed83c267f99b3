// Texts of the data as elements: always text nodes, never markup.
"use strict";
const LONGEST = 300; // characters of a text that is in a line

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const option = (value, text) => element("option", { value, textContent: clean(text) });

// Control characters are shown as pictures; line breaks and tabs are what they are.
const clean = (text) =>
  text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f]/g, "\ufffd");
// In a line with other texts, marks of direction must go: one that is never closed reaches beyond <bdi>.
const brief = (text) => clean(text.slice(0, LONGEST)).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "·");
const isolated = (text) => element("bdi", { textContent: brief(text) });

const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const number = (value, digits = 3) =>
  value === null ? "–" : value.toFixed(digits).replace("-", "−");
const signed = (value) => (value > 0 ? "+" : "") + number(value);
const spoken = (value) => value.replaceAll("_", " "); // as in figures
