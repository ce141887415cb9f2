// Draws the figures of the data block; nothing is fetched, and what can't be drawn says so where it should be.
(function (charts) {
  "use strict";
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var PRINT_WIDTH_PX = 690;
  // Flatter on paper, so that two charts share a page.
  var PRINT_HEIGHT = 0.72;
  var printing = false;
  var drawn = charts.drawn = {};

  function draw(id, width, zoom) {
    var plot = document.getElementById("chart-" + id);
    var height = Number(plot.dataset.height) * (printing ? PRINT_HEIGHT : 1);
    try {
      drawn[id] = charts.draw(plot, figures[id], width || plot.clientWidth, height, zoom || {});
    } catch (error) {
      plot.textContent = document.body.dataset.undrawn + ": " + error.message;
      throw error;
    }
  }

  function drawAll(width) {
    Object.keys(figures).forEach(function (id) { draw(id, width, drawn[id] && drawn[id].zoom); });
  }

  // Charts have a fixed width, so they are drawn anew when their column changes its own: a turned phone, a window resized.
  var column = document.querySelector("main");
  var drawnWidth = column.clientWidth;
  var pending = 0;
  new ResizeObserver(function () {
    window.clearTimeout(pending);
    pending = window.setTimeout(function () {
      if (!printing && column.clientWidth !== drawnWidth) {
        drawnWidth = column.clientWidth;
        drawAll();
      }
    }, 100);
  }).observe(column);
  window.addEventListener("beforeprint", function () { printing = true; drawAll(PRINT_WIDTH_PX); });
  window.addEventListener("afterprint", function () { printing = false; drawAll(); });

  drawAll();
  Object.keys(figures).forEach(function (id) {
    charts.listen(document.getElementById("chart-" + id), function () { return drawn[id]; }, function (zoom) { draw(id, 0, zoom); });
  });
  document.documentElement.dataset.charts = "drawn";
})(charts);
