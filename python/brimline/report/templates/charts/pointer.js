// Owns what a pointer does: near a point its figures are shown; a drag of a mouse zooms, a double click shows all again.
(function (charts) {
  "use strict";
  var NEAR_PX = 24;
  var DRAG_PX = 8;
  var LINE_PX = 16;

  // What a template says of one point, as lines; the last is the name of what was hit.
  charts.told = function (trace, index) {
    var template = trace.hovertemplate || "%{x}: %{y}<extra>" + trace.name + "</extra>";
    var values = { x: trace.x[index], y: trace.y[index], text: trace.text ? trace.text[index] : "" };
    var text = template.replace(/%\{(x|y|text)(?::([^}]*))?\}/g, function (_, key, form) {
      return typeof values[key] === "number" ? charts.number(values[key], form) : String(values[key]);
    });
    var parts = /^([^]*?)<extra>([^]*)<\/extra>$/.exec(text) || [text, text, ""];
    return parts[1].split("<br>").concat(parts[2] || []).map(function (line) { return line.replace(/^<b>([^]*)<\/b>$/, "$1"); });
  };

  // `redraw` draws the chart anew with other ranges.
  charts.listen = function (plot, current, redraw) {
    var start = null;
    function place(event) {
      var box = plot.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    }
    plot.addEventListener("pointermove", function (event) {
      var at = place(event);
      if (start) { select(current(), start, at); } else { show(current(), at); }
    });
    plot.addEventListener("click", function (event) { show(current(), place(event)); });
    plot.addEventListener("pointerleave", function () { if (!start) { clear(current(), "hover"); } });
    plot.addEventListener("pointerdown", function (event) {
      // On a touch screen a drag scrolls the page.
      if (event.pointerType !== "mouse" || event.button !== 0) { return; }
      start = place(event);
      plot.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    plot.addEventListener("pointerup", function (event) {
      if (!start) { return; }
      var from = start, to = place(event);
      start = null;
      clear(current(), "selection");
      if (Math.abs(to.x - from.x) > DRAG_PX || Math.abs(to.y - from.y) > DRAG_PX) { redraw(zoomed(current(), from, to)); }
    });
    plot.addEventListener("pointercancel", function () { start = null; clear(current(), "selection"); });
    plot.addEventListener("dblclick", function () { redraw({}); });
  };

  function clear(chart, name) {
    chart.svg.querySelectorAll("." + name).forEach(function (each) { each.remove(); });
  }

  // The vertical axis of the part that was pointed at; none between the parts.
  function partAt(chart, y) {
    return Object.keys(chart.axes).find(function (name) {
      var scale = chart.axes[name];
      return name !== "xaxis" && scale.axis.visible !== false && y >= scale.to - DRAG_PX && y <= scale.from + DRAG_PX;
    });
  }

  // A drag along one direction leaves the other as it is.
  function chosen(chart, from, to) {
    var name = partAt(chart, from.y);
    return {
      name: name,
      across: Math.abs(to.x - from.x) > DRAG_PX,
      along: Boolean(name) && Math.abs(to.y - from.y) > 2 * DRAG_PX
    };
  }

  function select(chart, from, to) {
    clear(chart, "hover");
    clear(chart, "selection");
    var part = chosen(chart, from, to), scale = chart.axes[part.name];
    var xs = part.across ? [from.x, to.x] : [chart.left, chart.right];
    var ys = part.along ? [from.y, to.y] : scale ? [scale.to, scale.from] : [chart.top, chart.bottom];
    charts.element(chart.svg, "rect", {
      "class": "selection", x: Math.min(xs[0], xs[1]), y: Math.min(ys[0], ys[1]),
      width: Math.abs(xs[1] - xs[0]), height: Math.abs(ys[1] - ys[0]), fill: "#14477e", "fill-opacity": 0.12
    });
  }

  function zoomed(chart, from, to) {
    var part = chosen(chart, from, to), zoom = Object.assign({}, chart.zoom);
    function between(scale, ends) {
      return ends.map(function (end) {
        return Math.max(scale.range[0], Math.min(scale.position(end), scale.range[1]));
      }).sort(function (a, b) { return a - b; });
    }
    if (part.across) { zoom.xaxis = between(chart.axes.xaxis, [from.x, to.x]); }
    if (part.along) { zoom[part.name] = between(chart.axes[part.name], [from.y, to.y]); }
    return zoom;
  }

  function show(chart, at) {
    clear(chart, "hover");
    var nearest = null, least = NEAR_PX;
    chart.hoverable.forEach(function (point) {
      var box = point.box;
      var within = box && at.x >= box.x && at.x <= box.x + box.width && at.y >= box.y && at.y <= box.y + box.height;
      var distance = within ? 0 : Math.hypot(point.x - at.x, point.y - at.y);
      var seen = point.x >= chart.left - 1 && point.x <= chart.right + 1;
      if (seen && distance < least) { nearest = point; least = distance; }
    });
    if (nearest) { label(chart, nearest, charts.told(nearest.trace, nearest.index)); }
  }

  function label(chart, point, lines) {
    var width = Math.max.apply(null, lines.map(function (line) { return charts.textWidth(line, chart.size, chart.family); })) + 16;
    var height = lines.length * LINE_PX + 8;
    var x = point.x + 10 + width > chart.width ? point.x - 10 - width : point.x + 10;
    var left = Math.max(1, Math.min(x, chart.width - width - 1));
    var top = Math.max(1, Math.min(point.y - height / 2, chart.height - height - 1));
    var hover = charts.element(chart.svg, "g", { "class": "hover", "pointer-events": "none" });
    charts.element(hover, "circle", { cx: point.x, cy: point.y, r: 4, fill: "none", stroke: "#1f2933", "stroke-width": 1.4 });
    charts.element(hover, "rect", { x: left, y: top, width: width, height: height, rx: 4, fill: "#ffffff", stroke: "#c6ccd4" });
    lines.forEach(function (line, index) {
      charts.element(hover, "text", { x: left + 8, y: top + 15 + index * LINE_PX }, line);
    });
  }
})(charts);
