// Owns one whole chart: room for its labels, axes with their grid, then what stands in it.
(function (charts) {
  "use strict";
  var NARROW_PX = 600;
  var TICK_PX = 4;
  var TICK_ROOM_PX = 30;
  var context = document.createElement("canvas").getContext("2d");

  charts.textWidth = function (text, size, family) {
    context.font = size + "px " + family;
    return context.measureText(text).width;
  };

  // The figure as SVG of that size in `plot`; `zoom` has ranges by the name of an axis.
  charts.draw = function (plot, figure, width, height, zoom) {
    var layout = figure.layout, narrow = width < NARROW_PX;
    var chart = {
      id: plot.id, width: width, height: height, family: layout.font.family, size: narrow ? 11 : layout.font.size, zoom: zoom,
      top: layout.margin.t, right: width - (narrow ? 10 : layout.margin.r), hoverable: [], axes: {}, clipped: {}, hatchId: plot.id + "-hatch"
    };
    var names = Object.keys(layout).filter(function (name) { return /^yaxis\d*$/.test(name); });
    var shown = names.filter(function (name) { return layout[name].visible !== false; });
    chart.bottom = height - layout.margin.b;
    var labels = shown.map(function (name) { return verticalTicks(chart, figure, layout, name); });
    var widest = Math.max.apply(null, labels.map(function (each) { return each.widest; }));
    var titled = shown.some(function (name) { return layout[name].title.text; });
    var aligned = shown.some(function (name) { return layout[name].automargin === false; });
    var room = widest + TICK_PX + 6 + (titled ? 20 : 0);
    chart.left = aligned ? (narrow ? 68 : layout.margin.l) : Math.max(narrow ? 46 : layout.margin.l, room);
    chart.axes.xaxis = charts.scale(layout.xaxis, valuesOf(figure, null, "x"), chart.left, chart.right, marked(figure), zoom.xaxis);
    var below = horizontalTicks(chart);
    chart.bottom -= below.extra;
    names.forEach(function (name) { chart.axes[name] = verticalScale(chart, figure, layout, name); });
    paint(chart, plot, figure, shown, below);
    return chart;
  };

  function marked(figure) {
    return figure.data.some(function (trace) { return /markers/.test(trace.mode); });
  }

  function valuesOf(figure, axis, key) {
    return figure.data.filter(function (trace) { return axis === null || charts.axisName(trace.yaxis) === axis; }).reduce(
      function (all, trace) { return all.concat(trace[key]); }, []);
  }

  function verticalScale(chart, figure, layout, name) {
    var axis = layout[name];
    var domain = axis.overlaying ? layout[charts.axisName(axis.overlaying)].domain : axis.domain;
    domain = domain || [0, 1];
    var height = chart.bottom - chart.top;
    return charts.scale(axis, valuesOf(figure, name, "y"), chart.bottom - domain[0] * height, chart.bottom - domain[1] * height,
      marked(figure), chart.zoom[name]);
  }

  function verticalTicks(chart, figure, layout, name) {
    var scale = verticalScale(chart, figure, layout, name);
    var lines = charts.ticks(scale, Math.floor(Math.abs(scale.to - scale.from) / TICK_ROOM_PX)).map(function (tick) { return wrapped(chart, tick.text); });
    return { widest: Math.max.apply(null, [0].concat(lines.map(function (each) {
      return Math.max.apply(null, each.map(function (line) { return charts.textWidth(line, chart.size, chart.family); }));
    }))) };
  }

  // Names that would leave no room for the plot stand in several lines.
  function wrapped(chart, text) {
    var most = 0.4 * chart.width, lines = [""];
    (text.match(/[^\s\u2e80-\uffff]+\s?|[\u2e80-\uffff]\s?|\s/g) || [text]).forEach(function (word) {
      var longer = lines[lines.length - 1] + word;
      if (lines[lines.length - 1] && charts.textWidth(longer.trim(), chart.size, chart.family) > most) { lines.push(word); } else { lines[lines.length - 1] = longer; }
    });
    return lines.map(function (line) { return line.trim(); });
  }

  function horizontalTicks(chart) {
    var scale = chart.axes.xaxis, width = chart.right - chart.left;
    var ticks = charts.ticks(scale, chart.width < NARROW_PX ? 5 : Math.max(2, Math.floor(width / 85)));
    ticks.forEach(function (tick) { tick.width = charts.textWidth(tick.text, chart.size, chart.family); });
    var widest = Math.max.apply(null, [0].concat(ticks.map(function (tick) { return tick.width; })));
    if (scale.categories && ticks.length && widest > width / ticks.length - 6) {
      // Names that would touch lean.
      return { ticks: ticks, leaning: true, extra: Math.min(0.5 * widest, chart.height / 3) };
    }
    var free = -Infinity;
    ticks.forEach(function (tick) {
      tick.centre = Math.max(tick.width / 2 + 2, Math.min(tick.at, chart.width - tick.width / 2 - 2));
      tick.left_out = tick.centre - tick.width / 2 < free;
      if (!tick.left_out) { free = tick.centre + tick.width / 2 + 6; }
    });
    return { ticks: ticks, leaning: false, extra: 0 };
  }

  function paint(chart, plot, figure, shown, below) {
    var layout = figure.layout, element = charts.element;
    var svg = element(document.createDocumentFragment(), "svg", {
      "class": "chart-drawing", width: chart.width, height: chart.height, viewBox: "0 0 " + chart.width + " " + chart.height,
      "font-family": chart.family, "font-size": chart.size, fill: layout.font.color, "aria-hidden": "true"
    });
    var grid = element(svg, "g", { "class": "grid" });
    chart.below = element(svg, "g", {});
    Object.keys(chart.axes).forEach(function (name) {
      if (name === "xaxis") { return; }
      var id = chart.id + "-" + name, scale = chart.axes[name];
      var clip = element(svg, "clipPath", { id: id });
      element(clip, "rect", { x: chart.left, y: scale.to, width: chart.right - chart.left, height: scale.from - scale.to });
      chart.clipped[name] = element(svg, "g", { "clip-path": "url(#" + id + ")" });
    });
    chart.above = element(svg, "g", {});
    chart.unclipped = element(svg, "g", {});
    shown.forEach(function (name) { drawVertical(chart, svg, grid, name); });
    drawHorizontal(chart, svg, grid, shown, below);
    (layout.shapes || []).forEach(function (shape) { charts.drawShape(chart, shape); });
    var before = null;
    figure.data.forEach(function (trace) { before = charts.drawTrace(chart, trace, before); });
    (layout.annotations || []).forEach(function (annotation) { charts.drawAnnotation(chart, annotation); });
    chart.svg = svg;
    plot.replaceChildren(svg);
  }

  function drawVertical(chart, svg, grid, name) {
    var scale = chart.axes[name], axis = scale.axis, element = charts.element, widest = 0;
    charts.ticks(scale, Math.floor((scale.from - scale.to) / TICK_ROOM_PX)).forEach(function (tick) {
      element(grid, "path", { d: "M" + chart.left + " " + tick.at + "H" + chart.right, stroke: axis.gridcolor });
      element(grid, "path", { d: "M" + (chart.left - TICK_PX) + " " + tick.at + "h" + TICK_PX, stroke: axis.tickcolor });
      wrapped(chart, tick.text).forEach(function (line, index, lines) {
        widest = Math.max(widest, charts.textWidth(line, chart.size, chart.family));
        element(svg, "text", {
          x: chart.left - TICK_PX - 3, y: tick.at + 0.35 * chart.size + (index - (lines.length - 1) / 2) * 1.1 * chart.size,
          "text-anchor": "end", fill: axis.tickfont.color
        }, line);
      });
    });
    element(svg, "path", { d: "M" + chart.left + " " + scale.to + "V" + scale.from, stroke: axis.linecolor });
    if (axis.zeroline) { zeroLine(chart, scale, "M" + chart.left + " " + scale.at(0) + "H" + chart.right); }
    if (axis.title.text) {
      var x = Math.max(chart.size, chart.left - TICK_PX - widest - 12), y = (scale.from + scale.to) / 2;
      var half = charts.textWidth(axis.title.text, chart.size, chart.family) / 2;
      y = Math.max(half + 2, Math.min(y, chart.height - half - 2));
      element(svg, "text", { transform: "translate(" + x + " " + y + ") rotate(-90)", "text-anchor": "middle", fill: axis.title.font.color }, axis.title.text);
    }
  }

  function drawHorizontal(chart, svg, grid, shown, below) {
    var scale = chart.axes.xaxis, axis = scale.axis, element = charts.element;
    below.ticks.forEach(function (tick) {
      shown.forEach(function (name) {
        element(grid, "path", { d: "M" + tick.at + " " + chart.axes[name].to + "V" + chart.axes[name].from, stroke: axis.gridcolor });
      });
      element(grid, "path", { d: "M" + tick.at + " " + chart.bottom + "v" + TICK_PX, stroke: axis.tickcolor });
      if (below.leaning) {
        element(svg, "text", {
          transform: "translate(" + tick.at + " " + (chart.bottom + 14) + ") rotate(-30)", "text-anchor": "end", fill: axis.tickfont.color
        }, tick.text);
      } else if (!tick.left_out) {
        element(svg, "text", { x: tick.centre, y: chart.bottom + 17, "text-anchor": "middle", fill: axis.tickfont.color }, tick.text);
      }
    });
    element(svg, "path", { d: "M" + chart.left + " " + chart.bottom + "H" + chart.right, stroke: axis.linecolor });
    if (axis.zeroline) { zeroLine(chart, scale, "M" + scale.at(0) + " " + chart.top + "V" + chart.bottom); }
    if (axis.title.text) {
      charts.label(svg, chart, axis.title.text, {
        x: (chart.left + chart.right) / 2, y: chart.bottom + below.extra + 37, anchor: "middle", size: chart.size, color: axis.title.font.color
      });
    }
  }

  function zeroLine(chart, scale, d) {
    if (scale.inside(0)) { charts.element(chart.below, "path", { d: d, stroke: scale.axis.zerolinecolor }); }
  }
})(charts);
