// A slider over the past of a quantity.
"use strict";

for (const slider of document.querySelectorAll("[data-moment]")) { // writes into a field of moments, by the clocks of the page
  const field = document.getElementById(slider.dataset.moment);
  slider.parentElement.hidden = slider.min === slider.max;
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: slider.dataset.zone, dateStyle: "short", timeStyle: "short" }); // ISO 8601
  const write = () => {
    const isNow = slider.value === slider.max;
    field.value = isNow ? "" : clock.format(slider.value * 60_000).replace(" ", "T");
    slider.setAttribute("aria-valuetext", isNow ? slider.dataset.now : field.value.replace("T", " "));
  };
  slider.addEventListener("input", write);
  slider.addEventListener("pointerup", () => slider.form.requestSubmit()); // by keyboard: Enter
  slider.addEventListener("keydown", (event) => event.key === "Enter" && slider.form.requestSubmit());
}
