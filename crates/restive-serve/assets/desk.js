// What makes pages handier; without it everything works. A slider beside a number field: each follows the other.
"use strict";
for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
  const field = document.getElementById(slider.dataset.for);
  if (!field) continue;
  slider.hidden = false;
  slider.value = field.value;
  slider.addEventListener("input", () => { field.value = slider.value; });
  field.addEventListener("input", () => { if (field.value !== "") slider.value = field.value; });
}
