"use strict";
// Keys, the slider, and where the focus is. All else works without.
const on = (name, act) => document.addEventListener(name, act);
const all = (what) => [...document.querySelectorAll(what)];

// What was done, or what went wrong, is where the person is next.
const told = document.querySelector(".problem, #outcome > .outcome");
if (told) {
  const place = told.closest("#outcome") || told;
  place.tabIndex = -1;
  place.focus({ preventScroll: false });
}

for (const each of all(".side [aria-current], .tabs [aria-current]")) each.scrollIntoView({ block: "nearest", inline: "center" });

// The slider says which version it is at, and shows it when it is let go.
const slider = document.querySelector("#step");
if (slider) {
  const times = slider.dataset.times.split("|");
  const output = slider.form.querySelector("output");
  slider.addEventListener("input", () => {
    output.textContent = times[slider.value];
    slider.setAttribute("aria-valuetext", times[slider.value]);
  });
  slider.addEventListener("change", () => {
    sessionStorage.setItem("focus", "step");
    slider.form.submit();
  });
  if (sessionStorage.getItem("focus") === "step") slider.focus();
  sessionStorage.removeItem("focus");
}

// Who has written something is asked before it is gone.
for (const field of all("textarea[id^=text]")) {
  const before = field.value;
  let isSent = false;
  field.form.addEventListener("submit", () => (isSent = true));
  addEventListener("beforeunload", (event) => {
    if (!isSent && field.value !== before) event.preventDefault();
  });
}

// Keys of one letter, which can be switched off.
const keys = document.querySelector("#keys");
keys.closest(".keys").hidden = false;
keys.checked = localStorage.getItem("keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));

// One tick for all that wait of a session.
for (const each of all("[data-all]")) {
  each.closest("[hidden]").hidden = false;
  const own = [...each.closest("fieldset").querySelectorAll("input[name=which]")];
  each.addEventListener("change", () => own.forEach((one) => (one.checked = each.checked)));
  for (const one of own) one.addEventListener("change", () => (each.checked = own.every((other) => other.checked)));
}

let items, at;
const look = () => {
  items = all("[data-item]");
  at = -1;
};
look();
const move = (step) => {
  if (!items.length) return;
  items[at]?.classList.remove("here");
  at = Math.min(items.length - 1, Math.max(0, at + step));
  items[at].classList.add("here");
  items[at].querySelector("a")?.focus();
  items[at].scrollIntoView({ block: "nearest" });
};
on("focusin", (event) => {
  const own = items.indexOf(event.target.closest("[data-item]"));
  if (own < 0 || own === at) return;
  items[at]?.classList.remove("here");
  at = own;
  items[at].classList.add("here");
});
const acts = {
  j: () => move(1),
  k: () => move(-1),
  x: () => items[Math.max(0, at)]?.querySelector("input[type=checkbox]")?.click(),
  "/": () => {
    const search = document.querySelector("input[type=search]");
    search ? search.focus() : location.assign("./facts");
  },
};
// Buttons and links say their key. One that is held, or pressed twice, does nothing to the page that comes next: for
// that long keys rest, and look so.
const SOON = 400;
let isSoon = true;
document.body.classList.add("soon");
setTimeout(() => {
  isSoon = false;
  document.body.classList.remove("soon");
}, SOON);
for (const each of all("[data-key]")) {
  const { key } = each.dataset;
  const hint = document.createElement("kbd");
  hint.textContent = key;
  hint.ariaHidden = "true";
  each.append(" ", hint);
  each.ariaKeyShortcuts = key;
  acts[key] = (event) => {
    if (event.repeat || isSoon) return;
    each.click();
    each.closest("details[open]")?.querySelector("textarea")?.focus();
  };
}
// The list of keys says which do nothing on this page.
const show = () => {
  document.body.classList.toggle("keyless", !keys.checked);
  const ticks = items.some((item) => item.querySelector("input[type=checkbox]"));
  const works = { ...acts, j: items.length, k: items.length, Enter: items.length, x: ticks };
  for (const each of all("[data-keys]")) each.classList.toggle("rests", !works[each.dataset.keys.split(" ")[0]]);
};
keys.addEventListener("change", show);
show();
on("keydown", (event) => {
  if (event.key === "Enter" && keys.checked && event.target === document.body) items[Math.max(0, at)]?.querySelector("a")?.click();
  const isTyping = event.target.closest("textarea, select, input:not([type=checkbox])");
  if (!keys.checked || isTyping || event.ctrlKey || event.metaKey || event.altKey || !(event.key in acts)) return;
  event.preventDefault();
  acts[event.key](event);
});

// The list narrows as somebody types: an answer that is late is not shown, and the field stays as it is.
const PAUSE = 150;
const live = document.querySelector("form[data-live]");
if (live) {
  const [count, found] = ["#count", "#found"].map((name) => document.querySelector(name));
  let timer, asked;
  const rest = () => {
    clearTimeout(timer);
    asked?.abort();
  };
  const ask = async () => {
    asked = new AbortController();
    const address = `${location.pathname}?${new URLSearchParams(new FormData(live))}`;
    try {
      const answer = await fetch(address, { signal: asked.signal });
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const each of [count, found]) each.replaceChildren(...page.getElementById(each.id).childNodes);
      history.replaceState(null, "", address);
      found.ariaBusy = "false";
      look();
      show();
    } catch (error) {
      if (error.name !== "AbortError") count.textContent = "There was no answer: Enter asks again.";
    }
  };
  live.addEventListener("input", () => {
    rest();
    found.ariaBusy = "true";
    timer = setTimeout(ask, PAUSE);
  });
  live.addEventListener("submit", rest);
}
