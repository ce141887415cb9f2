// Keeps what is live up to date. Everything is there without it, and reading the page again does the same.
"use strict";

const live = [...document.querySelectorAll("[data-live]")];
const texts = new Map();

// Puts in what the server says now; what was ticked stays ticked, and the keyboard stays where it was.
const put = (place, text) => {
  if (texts.get(place) === text) return false;
  texts.set(place, text);
  const names = place.querySelector("[data-names]")?.dataset.names;
  const ticked = [...place.querySelectorAll("input:checked")].map((each) => each.id);
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  for (const id of ticked) {
    const again = document.getElementById(id);
    if (again) again.checked = true;
  }
  if (focused) document.getElementById(focused)?.focus();
  return names !== undefined && names !== place.querySelector("[data-names]")?.dataset.names;
};

const fetched = async (place) => {
  const answer = await fetch(place.dataset.live, { credentials: "same-origin" });
  return answer.ok ? put(place, await answer.text()) : false;
};

const look = async (place) => {
  try {
    // What ended or began is in the list as well.
    if (!document.hidden && (await fetched(place))) {
      for (const each of live.filter((one) => one.dataset.after)) await fetched(each);
    }
  } catch {
    // The server is gone, or busy; the next look tells.
  }
  setTimeout(() => look(place), Number(place.dataset.every));
};

for (const place of live.filter((each) => each.dataset.every)) setTimeout(() => look(place), Number(place.dataset.every));

// A file goes into the text that is sent: it can be looked at before, and nothing else is uploaded.
for (const chosen of document.querySelectorAll("input[type=file]")) {
  chosen.hidden = false;
  chosen.addEventListener("change", async () => {
    const text = chosen.parentElement.querySelector("textarea");
    if (chosen.files[0] && chosen.files[0].size <= text.maxLength) text.value = await chosen.files[0].text();
  });
}

document.documentElement.dataset.script = "ready";
