// Owns what stands in a chart: SVG of lines, areas, marks, bars with their errors, bands, and labels.
(function (charts) {
  "use strict";
  var NAMESPACE = "http://www.w3.org/2000/svg";
  var DASHES = { dash: "7 5", dot: "2 3" };

  charts.element = function (parent, name, attributes, text) {
    var made = document.createElementNS(NAMESPACE, name);
    Object.keys(attributes || {}).forEach(function (key) {
      if (attributes[key] !== undefined && attributes[key] !== null) { made.setAttribute(key, attributes[key]); }
    });
    if (text !== undefined) { made.textContent = text; }
    parent.appendChild(made);
    return made;
  };

  // All points of a trace in pixels; NaN where there is none.
  charts.points = function (trace, x, y) {
    return trace.x.map(function (value, index) { return { x: x.at(value), y: y.at(trace.y[index]), index: index }; });
  };

  charts.drawTrace = function (chart, trace, before) {
    var x = chart.axes.xaxis, y = chart.axes[charts.axisName(trace.yaxis)];
    var points = charts.points(trace, x, y);
    var into = trace.cliponaxis === false ? chart.unclipped : chart.clipped[charts.axisName(trace.yaxis)];
    var layer = charts.element(into, "g", { "class": "trace" });
    if (trace.type === "bar") { drawBars(layer, chart, trace, points, x, y); }
    if (trace.fill) { drawArea(layer, chart, trace, points, before); }
    if (trace.error_x) { drawErrors(layer, trace, trace.error_x, points, x, true); }
    if (trace.error_y) { drawErrors(layer, trace, trace.error_y, points, y, false); }
    var mode = trace.type === "bar" ? "" : trace.mode || "lines";
    if (mode.indexOf("lines") >= 0 && trace.line.width !== 0) {
      charts.element(layer, "path", {
        d: path(points, trace.line.shape === "hv"), fill: "none", stroke: trace.line.color, "stroke-width": trace.line.width,
        "stroke-dasharray": DASHES[trace.line.dash], "stroke-linejoin": "round"
      });
    }
    if (mode.indexOf("markers") >= 0) {
      points.filter(visible).forEach(function (point) { drawMark(layer, trace, point); });
    }
    if (mode.indexOf("text") >= 0) {
      points.filter(visible).forEach(function (point) { drawPointText(layer, chart, trace, point); });
    }
    if (trace.hoverinfo !== "skip") {
      points.filter(visible).forEach(function (point) { chart.hoverable.push({ x: point.x, y: point.y, index: point.index, trace: trace, box: point.box }); });
    }
    return points;
  };

  charts.axisName = function (reference) { return (reference || "y").replace(/^([xy])/, "$1axis"); };

  function visible(point) { return isFinite(point.x) && isFinite(point.y); }

  function path(points, stepped) {
    var text = "", before = null;
    points.forEach(function (point) {
      if (!visible(point)) { before = null; return; }
      var place = point.x.toFixed(1) + " " + point.y.toFixed(1);
      text += before === null ? "M" + place : stepped ? "H" + point.x.toFixed(1) + "V" + point.y.toFixed(1) : "L" + place;
      before = point;
    });
    return text;
  }

  function drawArea(layer, chart, trace, points, before) {
    var outline = trace.fill === "tonexty" ? points.concat(before.slice().reverse()) : points;
    var fill = trace.fillcolor;
    if (trace.fillpattern) {
      fill = "url(#" + chart.hatchId + ")";
      var pattern = chart.hatched ? document.createDocumentFragment() : layer;
      chart.hatched = true;
      pattern = charts.element(pattern, "pattern", { id: chart.hatchId, width: 7, height: 7, patternUnits: "userSpaceOnUse" });
      charts.element(pattern, "rect", { width: 7, height: 7, fill: trace.fillpattern.bgcolor });
      charts.element(pattern, "path", { d: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6", stroke: trace.fillpattern.fgcolor, "stroke-width": 0.8 });
    }
    charts.element(layer, "path", { d: path(outline.filter(visible)) + "Z", fill: fill });
  }

  function drawErrors(layer, trace, error, points, scale, horizontal) {
    var half = error.width === undefined ? 4 : error.width;
    points.filter(visible).forEach(function (point) {
      var value = (horizontal ? trace.x : trace.y)[point.index];
      var high = scale.at(value + error.array[point.index]), low = scale.at(value - error.arrayminus[point.index]);
      if (!isFinite(high) || !isFinite(low) || high === low) { return; }
      var d = horizontal
        ? "M" + low + " " + point.y + "H" + high + "M" + low + " " + (point.y - half) + "v" + 2 * half + "M" + high + " " + (point.y - half) + "v" + 2 * half
        : "M" + point.x + " " + low + "V" + high + "M" + (point.x - half) + " " + low + "h" + 2 * half + "M" + (point.x - half) + " " + high + "h" + 2 * half;
      charts.element(layer, "path", { d: d, stroke: error.color, "stroke-width": error.thickness, fill: "none", "class": "error" });
    });
  }

  function drawBars(layer, chart, trace, points, x, y) {
    var horizontal = trace.orientation === "h";
    var size = 0.8 * Math.abs(horizontal ? y.pixel(1) - y.pixel(0) : x.pixel(1) - x.pixel(0));
    points.filter(visible).forEach(function (point) {
      var zero = horizontal ? x.at(0) : y.at(0);
      point.box = horizontal
        ? { x: Math.min(zero, point.x), y: point.y - size / 2, width: Math.abs(point.x - zero), height: size }
        : { x: point.x - size / 2, y: Math.min(zero, point.y), width: size, height: Math.abs(point.y - zero) };
      charts.element(layer, "rect", Object.assign({ fill: trace.marker.color, "class": "mark" }, point.box));
    });
  }

  // By name, in units of half the mark's size.
  var SYMBOLS = {
    circle: function (r) { return "M" + -r + " 0a" + r + " " + r + " 0 1 0 " + 2 * r + " 0a" + r + " " + r + " 0 1 0 " + -2 * r + " 0Z"; },
    x: function (r) { return "M" + -r + " " + -r + "L" + r + " " + r + "M" + r + " " + -r + "L" + -r + " " + r; },
    cross: function (r) { return "M0 " + -r + "V" + r + "M" + -r + " 0H" + r; },
    diamond: function (r) { r *= 1.3; return "M0 " + -r + "L" + r + " 0L0 " + r + "L" + -r + " 0Z"; },
    square: function (r) { return "M" + -r + " " + -r + "H" + r + "V" + r + "H" + -r + "Z"; },
    "triangle-right": function (r) { return "M" + -r + " " + -r + "L" + r + " 0L" + -r + " " + r + "Z"; },
    "triangle-up": function (r) { return "M" + -r + " " + r + "L0 " + -r + "L" + r + " " + r + "Z"; }
  };

  function drawMark(layer, trace, point) {
    var marker = trace.marker || {};
    var symbol = marker.symbol || "circle";
    var name = symbol.replace(/-thin|-open/g, "");
    var color = marker.color || trace.line.color;
    var strokes = /-open$/.test(symbol) || name === "x";
    charts.element(layer, "path", {
      "class": "mark", transform: "translate(" + point.x.toFixed(1) + " " + point.y.toFixed(1) + ")",
      d: SYMBOLS[name]((marker.size || 6) / (name === "x" ? 2.6 : 2)),
      fill: strokes ? "none" : color, stroke: strokes ? color : "none",
      "stroke-width": name === "x" ? 3 : (marker.line && marker.line.width) || 2
    });
  }

  function drawPointText(layer, chart, trace, point) {
    var above = /^top/.test(trace.textposition), left = /left$/.test(trace.textposition);
    charts.label(layer, chart, trace.text[point.index], {
      x: point.x + (left ? -6 : 0), y: point.y + (above ? -8 : 18), anchor: left ? "end" : "middle",
      size: trace.textfont.size, color: trace.textfont.color
    });
  }

  charts.drawShape = function (chart, shape) {
    var xs = [shape.x0, shape.x1].map(function (value) { return horizontal(chart, shape.xref, value); });
    var ys = [shape.y0, shape.y1].map(function (value) { return vertical(chart, shape.yref, value); });
    var into = shape.layer === "below" ? chart.below : chart.above;
    if (shape.type === "line") {
      charts.element(into, "path", {
        d: "M" + xs[0] + " " + ys[0] + "L" + xs[1] + " " + ys[1], stroke: shape.line.color, "stroke-width": shape.line.width,
        "stroke-dasharray": DASHES[shape.line.dash]
      });
    } else {
      charts.element(into, "rect", {
        x: Math.min(xs[0], xs[1]), y: Math.min(ys[0], ys[1]), width: Math.abs(xs[1] - xs[0]), height: Math.abs(ys[1] - ys[0]),
        fill: shape.fillcolor
      });
    }
  };

  // On a logarithmic axis a label is placed by the logarithm, a shape by the value.
  charts.drawAnnotation = function (chart, annotation) {
    var scale = annotation.xref === "x" ? chart.axes.xaxis : null;
    var x = scale ? scale.pixel(annotation.x) : horizontal(chart, annotation.xref, annotation.x);
    var y = annotation.yref === "paper" ? vertical(chart, "paper", annotation.y) : chart.axes[charts.axisName(annotation.yref)].pixel(annotation.y);
    if (x < chart.left - 1 || x > chart.right + 1 || y < chart.top - 1 || y > chart.bottom + 1) { return; }
    charts.label(chart.above, chart, annotation.text, {
      x: x + (annotation.xanchor === "left" ? 3 : annotation.xanchor === "right" ? -3 : 0), y: y - 4,
      anchor: { left: "start", right: "end" }[annotation.xanchor] || "middle",
      size: annotation.font.size, color: annotation.font.color, background: annotation.bgcolor
    });
  };

  // One line of text that stays within the chart.
  charts.label = function (into, chart, text, place) {
    var width = charts.textWidth(text, place.size, chart.family);
    var left = place.x - (place.anchor === "end" ? width : place.anchor === "middle" ? width / 2 : 0);
    left = Math.max(2, Math.min(left, chart.width - width - 2));
    var y = Math.max(place.y, place.size);
    if (place.background) {
      charts.element(into, "rect", { x: left - 2, y: y - place.size, width: width + 4, height: place.size + 3, fill: place.background });
    }
    charts.element(into, "text", { x: left, y: y, fill: place.color, "font-size": place.size }, text);
  };

  function horizontal(chart, reference, value) {
    return reference === "x" ? chart.axes.xaxis.at(value) : chart.left + value * (chart.right - chart.left);
  }

  function vertical(chart, reference, value) {
    return reference === "paper" ? chart.bottom + value * (chart.top - chart.bottom) : chart.axes[charts.axisName(reference)].at(value);
  }
})(charts);
