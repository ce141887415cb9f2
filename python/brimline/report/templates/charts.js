// Draws the figures of the data block; nothing is fetched, and what can't be drawn says so where it should be.
(function () {
  "use strict";
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var PRINT_WIDTH_PX = 690;
  // Flatter on paper, so that two charts share a page.
  var PRINT_HEIGHT = 0.72;
  var NARROW_PX = 600;
  var config = { displayModeBar: false, responsive: false, displaylogo: false, showTips: false, scrollZoom: false };
  var printing = false;
  var finePointer = window.matchMedia("(pointer: fine)").matches;

  function fitted(layout, plot, width) {
    var copy = JSON.parse(JSON.stringify(layout));
    copy.width = width;
    copy.height = Number(plot.dataset.height) * (printing ? PRINT_HEIGHT : 1);
    // On a touch screen a drag scrolls the page.
    copy.dragmode = finePointer ? "zoom" : false;
    if (width < NARROW_PX) {
      copy.font.size = 11;
      // Charts that are aligned with each other keep room for the widest label any of them may have.
      copy.margin.l = copy.yaxis.automargin ? 46 : 68;
      copy.margin.r = 10;
      Object.keys(copy).filter(function (key) { return /^xaxis/.test(key); }).forEach(function (key) {
        copy[key].nticks = 5;
      });
    }
    return copy;
  }

  function draw(id, width) {
    var plot = document.getElementById("chart-" + id);
    var layout = fitted(figures[id].layout, plot, width || plot.clientWidth);
    return Plotly.react(plot, figures[id].data, layout, config).catch(function (error) {
      plot.textContent = document.body.dataset.undrawn + ": " + error.message;
      throw error;
    });
  }

  function drawAll(width) {
    return Promise.all(Object.keys(figures).map(function (id) { return draw(id, width); }));
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

  drawAll().then(function () { document.documentElement.dataset.charts = "drawn"; });
})();
