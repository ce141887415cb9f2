// Owns the axes of a chart: from values to pixels, where ticks stand, what is written at them.
var charts = {};
(function (charts) {
  "use strict";
  var THIN_SPACE = "\u202f";

  function grouped(text) {
    var parts = text.replace("-", "\u2212").split(".");
    parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
    return parts.join(".");
  }

  // As d3 writes numbers, of what templates ask for: ".1f", ",.0f", ",.4~g".
  charts.number = function (value, form) {
    var asked = /^(,?)\.(\d+)(~?)([fg])$/.exec(form || ",.6~g");
    var digits = Number(asked[2]);
    var text = asked[4] === "f" ? value.toFixed(digits) : Number(value).toPrecision(digits);
    text = asked[3] ? String(Number(text)) : text;
    return asked[1] ? grouped(text) : text.replace("-", "\u2212");
  };

  // An axis between two pixels. Its positions are indices of categories, logarithms, or the values themselves.
  charts.scale = function (axis, values, from, to, padded, zoom) {
    var categories = axis.type === "category" ? (axis.categoryarray || []).slice() : null;
    if (categories) {
      values.forEach(function (value) { if (typeof value === "string" && categories.indexOf(value) < 0) { categories.push(value); } });
    }
    function position(value) {
      if (value === null || value === undefined) { return NaN; }
      if (categories && typeof value === "string") { return categories.indexOf(value); }
      return axis.type === "log" ? Math.log10(value) : Number(value);
    }
    var range = zoom || axis.range || automatic();
    function automatic() {
      if (categories) { return [-0.5, categories.length - 0.5]; }
      var known = values.map(position).filter(isFinite);
      var low = known.reduce(function (a, b) { return Math.min(a, b); }, Infinity);
      var high = known.reduce(function (a, b) { return Math.max(a, b); }, -Infinity);
      if (low > high) { return [0, 1]; }
      if (axis.rangemode === "tozero") { low = Math.min(0, low); }
      var room = low === high ? 0.5 : padded ? 0.05 * (high - low) : 0;
      return [low - (axis.rangemode === "tozero" && low === 0 ? 0 : room), high + room];
    }
    function pixel(place) { return from + (place - range[0]) / (range[1] - range[0]) * (to - from); }
    return {
      axis: axis, from: from, to: to, range: range, categories: categories,
      pixel: pixel,
      at: function (value) { return pixel(position(value)); },
      position: function (pixel_) { return range[0] + (pixel_ - from) / (to - from) * (range[1] - range[0]); },
      inside: function (place) { return place >= range[0] - 1e-9 && place <= range[1] + 1e-9; },
      logarithm: axis.type === "log"
    };
  };

  // {at: pixel, text} of every tick within the range; about `count` of them where the axis names none.
  charts.ticks = function (scale, count) {
    var axis = scale.axis;
    if (scale.categories) {
      return scale.categories.map(function (text, index) { return { place: index, text: text }; }).filter(shown).map(drawn);
    }
    if (axis.tickvals) {
      return axis.tickvals.map(function (value, index) {
        return { place: scale.logarithm ? Math.log10(value) : value, text: axis.ticktext ? axis.ticktext[index] : charts.number(value) };
      }).filter(shown).map(drawn);
    }
    return (scale.logarithm ? logarithmic() : linear()).filter(shown).map(drawn);

    function shown(tick) { return scale.inside(tick.place); }
    function drawn(tick) { return { at: scale.pixel(tick.place), text: tick.text }; }
    function linear() {
      var rough = (scale.range[1] - scale.range[0]) / Math.max(1, Math.min(count, axis.nticks || count));
      var power = Math.pow(10, Math.floor(Math.log10(rough)));
      var step = [1, 2, 5, 10].map(function (each) { return each * power; }).find(function (each) { return each >= rough * 0.999; });
      var decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      var ticks = [];
      for (var each = Math.ceil(scale.range[0] / step - 1e-9); each * step <= scale.range[1] + step * 1e-9; each += 1) {
        ticks.push({ place: each * step, text: charts.number(each * step || 0, ",." + decimals + "f") });
      }
      return ticks;
    }
    function logarithmic() {
      var steps = scale.range[1] - scale.range[0] < 1.5 ? [1, 2, 5] : [1];
      var every = Math.max(1, Math.ceil((scale.range[1] - scale.range[0]) / Math.max(1, count)));
      var ticks = [];
      for (var decade = Math.floor(scale.range[0]); decade <= scale.range[1]; decade += every) {
        steps.forEach(function (step) {
          ticks.push({ place: decade + Math.log10(step), text: charts.number(step * Math.pow(10, decade), ",.12~g") });
        });
      }
      return ticks;
    }
  };
})(charts);
