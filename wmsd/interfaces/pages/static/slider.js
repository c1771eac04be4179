// A slider over the past of a quantity.
"use strict";

for (const slider of document.querySelectorAll("[data-moment]")) { // writes into a field of moments: in minutes, UTC
  const field = document.getElementById(slider.dataset.moment);
  slider.parentElement.hidden = slider.min === slider.max;
  const write = () => {
    const isNow = slider.value === slider.max;
    field.value = isNow ? "" : new Date(slider.value * 60_000).toISOString().slice(0, 16);
    slider.setAttribute("aria-valuetext", isNow ? slider.dataset.now : field.value.replace("T", " "));
  };
  slider.addEventListener("input", write);
  slider.addEventListener("pointerup", () => slider.form.requestSubmit()); // by keyboard: Enter
  slider.addEventListener("keydown", (event) => event.key === "Enter" && slider.form.requestSubmit());
}
