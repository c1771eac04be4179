// A slider over the history of a quantity.
"use strict";

for (const slider of document.querySelectorAll("[data-moment]")) { // writes a date and time, in the time zone of the page
  const field = document.getElementById(slider.dataset.moment);
  slider.parentElement.hidden = slider.min === slider.max;
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: slider.dataset.zone, dateStyle: "short", timeStyle: "short" }); // ISO 8601
  const write = () => {
    const isNow = slider.value === slider.max;
    field.value = isNow ? "" : clock.format(slider.value * 60_000).replace(" ", "T");
    slider.setAttribute("aria-valuetext", isNow ? slider.dataset.now : field.value.replace("T", " "));
  };
  slider.addEventListener("input", write);
  slider.addEventListener("pointerup", () => slider.form.requestSubmit()); // with the keyboard, Enter sends the form
  slider.addEventListener("keydown", (event) => event.key === "Enter" && slider.form.requestSubmit());
}
