// Lets a reader zoom into a figure and read its values. The page is complete without it.
"use strict";
(() => {
  const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const dashes = [[], [8, 4], [2, 3], [8, 3, 2, 3], [12, 6]];

  // uPlot wants one column of x and one of y per series, with gaps where a series has no value.
  function columns(figure) {
    const xs = [...new Set(figure.series.flatMap((series) => series.x))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    const ys = figure.series.map((series) => {
      const column = new Array(xs.length).fill(null);
      series.x.forEach((x, i) => { column[place.get(x)] = series.y[i]; });
      return column;
    });
    return [xs, ...ys];
  }

  function looks(series) {
    const isBound = series.style === "bound";
    const options = {
      label: series.name || "fitted",
      stroke: isBound ? "#888888" : palette[series.look % palette.length],
      width: series.style === "joined" ? 1 : 2,
      dash: isBound ? [8, 5] : ["curve", "stairs"].includes(series.style)
        ? dashes[series.look % dashes.length] : [],
      spanGaps: true,
      points: { show: ["marks", "joined"].includes(series.style), size: 7 },
      value: (plot, value) => value == null ? "" : Number(value.toPrecision(5)).toString(),
    };
    if (series.style === "marks") options.paths = () => null;
    if (series.style === "stairs") options.paths = uPlot.paths.stepped({ align: 1 });
    return options;
  }

  // Intervals of the marks, drawn whenever the plot is, so that they stay when a reader zooms.
  function drawIntervals(plot, figure) {
    const context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    context.clip();
    context.lineWidth = devicePixelRatio;
    figure.series.forEach((series, k) => {
      if (!series.low || !plot.series[k + 1].show) return;
      context.strokeStyle = palette[series.look % palette.length];
      series.x.forEach((x, i) => {
        if (!(series.high[i] > series.low[i])) return;
        const at = plot.valToPos(x, "x", true), end = 4 * devicePixelRatio;
        const low = plot.valToPos(figure.y.log && series.low[i] <= 0 ? series.y[i] : series.low[i],
                                  "y", true);
        const high = plot.valToPos(series.high[i], "y", true);
        context.beginPath();
        context.moveTo(at, low);
        context.lineTo(at, high);
        for (const y of [low, high]) {
          context.moveTo(at - end, y);
          context.lineTo(at + end, y);
        }
        context.stroke();
      });
    });
    context.restore();
  }

  // The y axis holds the intervals of the marks that are in view, too.
  function yRange(plot, figure, min, max) {
    if (min == null || max == null) return [min, max];
    const left = plot.scales.x.min ?? -Infinity, right = plot.scales.x.max ?? Infinity;
    for (const series of figure.series) {
      for (const [i, x] of (series.low ? series.x : []).entries()) {
        if (x < left || x > right) continue;
        if (!figure.y.log || series.low[i] > 0) min = Math.min(min, series.low[i]);
        max = Math.max(max, series.high[i]);
      }
    }
    return figure.y.log ? uPlot.rangeLog(min, max, 10, false) : uPlot.rangeNum(min, max, 0.1, true);
  }

  function axis(figure, name, ink, line) {
    return { label: figure[name].title, stroke: ink, grid: { stroke: line, width: 1 },
             ticks: { stroke: line }, size: name === "y" ? 70 : 50,
             values: (plot, places) => places.map((v) => v == null ? ""
               : Math.abs(v) >= 1e5 ? v.toExponential().replace("+", "") : String(v)) };
  }

  function draw(figure, place) {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const line = style.getPropertyValue("--line").trim();
    const scale = (name) => ({ time: false, distr: figure[name].log ? 3 : 1 });
    const y = { ...scale("y"), range: (plot, min, max) => yRange(plot, figure, min, max) };
    return new uPlot({
      width: place.clientWidth, height: Math.max(260, Math.round(place.clientWidth * 0.6)),
      scales: { x: scale("x"), y },
      hooks: { draw: [(plot) => drawIntervals(plot, figure)] },
      axes: [axis(figure, "x", ink, line), axis(figure, "y", ink, line)],
      series: [{ label: figure.x.title,
                 value: (plot, v) => v == null ? "" : Number(v.toPrecision(5)).toString() },
               ...figure.series.map(looks)],
    }, columns(figure), place);
  }

  for (const element of document.querySelectorAll("figure[data-chart]")) {
    const figure = JSON.parse(element.querySelector("script").textContent);
    const image = element.querySelector("img");
    const place = document.createElement("div");
    const button = document.createElement("button");
    const words = { false: "Zoom and read values", true: "Back to the picture" };
    let plot = null;
    place.hidden = true;
    button.type = "button";
    button.textContent = words[false];
    button.addEventListener("click", () => {
      const open = place.hidden;
      place.hidden = !open;
      image.hidden = open;
      button.textContent = words[open];
      button.setAttribute("aria-pressed", String(open));
      if (open && plot === null) plot = draw(figure, place);
    });
    image.after(place);
    element.append(button);
    addEventListener("resize", () => {
      if (plot !== null && !place.hidden)
        plot.setSize({ width: place.clientWidth, height: plot.height });
    });
  }
})();
