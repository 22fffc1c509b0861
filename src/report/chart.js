/* Charts as SVG: lines with error bars, areas, and stacked bars. */

const svgSpace = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text) {
	const e = document.createElementNS(svgSpace, tag);

	for (const name in attributes)
		e.setAttribute(name, attributes[name]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

/* Round numbers that span a range. */
function ticks(from, to, n) {
	const span = to > from ? to - from : 1;
	const unit = Math.pow(10, Math.floor(Math.log10(span / n)));
	const step = unit * [1, 2, 2.5, 5, 10].find(r => unit * r * n >= span
		|| r === 10);
	const list = [];

	for (let v = Math.floor(from / step + 1e-9); list.length < 50; v++) {
		list.push(Number((v * step).toPrecision(12)));
		if (v * step >= to - step * 1e-9)
			break;
	}
	return list;
}

function logTicks(from, to) {
	const decades = Math.log10(to / from);
	const list = [];

	for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(
		Math.log10(to)); e++)
		for (const m of decades > 2.5 ? [1] : decades > 1.2
			? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8])
			if (m * 10 ** e >= from * 0.999
				&& m * 10 ** e <= to * 1.001)
				list.push(m * 10 ** e);
	return list;
}

function extent(series, pick) {
	let low = Infinity, high = -Infinity;

	for (const s of series)
		for (const p of s.points)
			for (const v of pick(p).filter(isFinite)) {
				low = Math.min(low, v);
				high = Math.max(high, v);
			}
	return low <= high ? [low, high] : [0, 1];
}

function scaleX(o) {
	let [low, high] = o.xRange || extent(o.series, p => [p[0]]);

	if (o.isLog && low > 0 && high > low) {
		const a = Math.log(low), b = Math.log(high);

		return { ticks: logTicks(low, high), low, high,
			part: v => (Math.log(v) - a) / (b - a),
			back: t => Math.exp(a + t * (b - a)) };
	}
	if (low > 0 && low < 0.3 * high && !o.xRange)
		low = 0;
	if (high <= low)
		high = low + (low || 1) * 0.1;
	return { ticks: ticks(low, high, isNarrow() ? 3 : 6).filter(
		t => t >= low - 1e-9 && t <= high * (1 + 1e-9)), low, high,
		part: v => (v - low) / (high - low),
		back: t => low + t * (high - low) };
}

function scaleY(o) {
	const [low, high] = extent(o.series,
		p => [p[1] - (p[2] || 0), p[1] + (p[2] || 0)]);
	const list = ticks(Math.min(0, low), o.yTop || high || 1, 5);
	const from = list[0], to = o.yTop || list[list.length - 1];

	return { ticks: list.filter(t => t <= to * 1.0001),
		part: v => (v - from) / (to - from) };
}

/* The part of a chart inside its axes: nothing is drawn outside it but dots at
 * its edge. */
function plotArea(left, top, w, h) {
	const edge = 6;

	return svg("svg", { class: "plot", x: left - edge, y: top - edge,
		width: w + 2 * edge, height: h + 2 * edge,
		viewBox: [left - edge, top - edge, w + 2 * edge, h + 2 * edge]
			.join(" ") });
}

/* o: series [{name, points [[x, y, half]], isArea, colour, dashes}], xLabel, yLabel,
 * xText, yText, isLog, marks [{x, text}], height, tip.  A y that is not finite
 * is a gap. */
function chart(o) {
	const w = o.width || (isNarrow() ? 360 : 600), h = o.height || 240;
	const left = 54, right = 14, top = 14, bottom = o.xLabel ? 42 : 26;
	const x = scaleX(o), y = scaleY(o);
	const px = v => left + x.part(v) * (w - left - right);
	const py = v => h - bottom - y.part(v) * (h - top - bottom);
	const xText = o.xText || (v => round(v, 4));
	const yText = o.yText || (v => round(v, 4));
	const root = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img",
		"aria-label": o.title || o.yLabel || "" });

	for (const t of y.ticks) {
		root.append(svg("line", { class: "grid", x1: left,
			x2: w - right, y1: py(t), y2: py(t) }));
		root.append(svg("text", { x: left - 8, y: py(t) + 4,
			"text-anchor": "end" }, yText(t)));
	}
	for (const t of x.ticks)
		root.append(svg("text", { x: px(t), y: h - bottom + 18,
			"text-anchor": "middle" }, xText(t)));
	if (o.xLabel)
		root.append(svg("text", { class: "x", x: w - right, y: h - 6,
			"text-anchor": "end" }, o.xLabel));
	for (const m of o.marks || [])
		drawMark(root, m, px(m.x), top, h - bottom, w);
	const area = plotArea(left, top, w - left - right, h - top - bottom);

	root.append(area);
	o.series.forEach((s, i) => drawSeries(area, s, s.colour || thing(i),
		px, py, h - bottom));
	watchChart(root, o, x, w, left, right, xText, yText);
	return o.series.length > 1 && !o.hasNoKeys
		? make("div", null, root, keys(o.series)) : root;
}

function drawMark(root, m, x, top, bottom, width) {
	const isLeft = x > 0.8 * width;

	root.append(svg("line", { class: "mark", x1: x, x2: x, y1: top,
		y2: bottom }));
	root.append(svg("text", { class: "strong", x: x + (isLeft ? -5 : 5),
		y: top + 9 + (m.line || 0) * 15, "text-anchor": isLeft ? "end"
			: "start" }, m.text));
}

/* Points in a row without a gap between them. */
function stretches(points) {
	const list = [];
	let last = null;

	for (const p of points) {
		if (!isFinite(p[0]) || !isFinite(p[1])) {
			last = null;
			continue;
		}
		if (!last)
			list.push(last = []);
		last.push(p);
	}
	return list;
}

function drawSeries(area, s, colour, px, py, floor) {
	for (const points of stretches(s.points)) {
		drawLine(area, points, s, colour, px, py, floor);
		for (const p of s.hasDots || points.length === 1 ? points : [])
			drawDot(area, p, colour, px(p[0]), py);
	}
}

/* Lengths of dashes by kind, where 0 is a solid line. */
function dashOf(series) {
	const kind = series.dashes || 0;

	return kind ? { "stroke-dasharray": [6, 2, 12][(kind - 1) % 3] + " 3" }
		: {};
}

function drawLine(area, points, series, colour, px, py, floor) {
	const line = points.map((p, k) => (k ? "L" : "M")
		+ px(p[0]).toFixed(1) + " " + py(p[1]).toFixed(1)).join("");

	if (series.isArea)
		area.append(svg("path", { fill: colour, "fill-opacity": 0.22,
			d: line + `L${px(points[points.length - 1][0])} ${floor}`
				+ `L${px(points[0][0])} ${floor}Z` }));
	area.append(svg("path", { d: line, fill: "none", stroke: colour,
		"stroke-width": 2, "stroke-linejoin": "round",
		...dashOf(series) }));
}

/* p: [x, y, half, isHollow] */
function drawDot(area, p, colour, x, py) {
	if (p[2] > 0)
		area.append(svg("path", { stroke: colour, fill: "none",
			"stroke-width": 1.5, d: `M${x - 4} ${py(p[1] - p[2])}`
				+ `h8m-4 0V${py(p[1] + p[2])}m-4 0h8` }));
	area.append(svg("circle", { cx: x, cy: py(p[1]), r: 3.5,
		fill: p[3] ? css("--card") : colour, stroke: colour,
		"stroke-width": 2 }));
}

function keys(series) {
	const fill = (s, colour) => s.dashes ? "repeating-linear-gradient("
		+ `90deg, ${colour} 0 4px, transparent 4px 7px)` : colour;

	return make("ul", { class: "keys" }, ...series.map((s, i) =>
		make("li", null, make("i", { style: {
			background: fill(s, s.colour || thing(i)) } }),
		s.name)));
}

function nearest(points, x) {
	let best = null;

	for (const p of points)
		if (isFinite(p[0]) && isFinite(p[1]) && (!best
			|| Math.abs(p[0] - x) < Math.abs(best[0] - x)))
			best = p;
	return best;
}

function watchChart(root, o, x, w, left, right, xText, yText) {
	root.addEventListener("mousemove", event => {
		const box = root.getBoundingClientRect();
		const at = x.back(((event.clientX - box.left) / box.width * w
			- left) / (w - left - right));
		const rows = o.series.map(s => {
			const p = nearest(s.points, at);

			return p && (o.series.length > 1 ? s.name + ": " : "")
				+ yText(p[1]) + (p[2] > 0 ? " \u00b1 "
				+ yText(p[2]) : "") + (o.series.length > 1
				? "" : " at " + xText(p[0]));
		});

		showTip(event, rows.filter(r => r).join("; "));
	});
	root.addEventListener("mouseleave", hideTip);
}

/* A bar of parts: [[name, value]]. */
function stack(parts, total) {
	return make("div", { class: "stack" }, ...parts.map(([name, v]) =>
		make("i", { style: { width: 100 * v / total + "%",
			background: causeColour(name) },
		onmousemove: e => showTip(e, name + ": " + time(v) + ", "
			+ percent(v / total)),
		onmouseleave: hideTip })));
}

/* Each cause begins where the one before it ended. */
function waterfall(parts, n) {
	const row = 26, left = 124, w = isNarrow() ? 400 : 600, right = 128;
	const total = parts.reduce((sum, p) => sum + p[1], 0);
	const px = v => left + v / total * (w - left - right);
	const root = svg("svg", { viewBox: `0 0 ${w} ${row
		* (parts.length + 1) + 8}`, role: "img",
	"aria-label": "time by cause" });
	let at = 0;

	[...parts, ["in all", total]].forEach(([name, v], i) => {
		const isSum = i === parts.length;
		const from = isSum ? 0 : at, y = i * row + 4;

		root.append(svg("text", { class: "strong", x: left - 10,
			y: y + 15, "text-anchor": "end" }, name));
		root.append(svg("rect", { x: px(from), y: y + 3, rx: 3,
			width: Math.max(1.5, px(v) - px(0)), height: row - 8,
			fill: isSum ? css("--faint") : causeColour(name) }));
		root.append(svg("text", { x: px(from + v) + 8, y: y + 15 },
			time(v / n) + (isSum ? "" : ", " + percent(v / total))));
		at += v;
		if (!isSum && i < parts.length - 1)
			root.append(svg("line", { class: "mark", x1: px(at),
				x2: px(at), y1: y + row - 5, y2: y + row + 3 }));
	});
	return root;
}
