/* The page of a sweep: its curves, and what they say. */

const usualFigures = ["throughput_GBps_per_node", "price_per_Gbps",
	"latency_mean_ns", "latency_p99_ns", "fraction_of_peak", "one_way_ns", "total_MBps",
	"rate_Mps", "time_ns", "rate_GBps"];

/* What is drawn along x: its name, and the unit of its numbers. */
function sweepAxis(sweep) {
	const first = sweep.points[0];
	const name = first && first.x ? first.group.slice(first.curve.length + 1)
		.split("=")[0] : "";
	const unit = sweep.points.map(p => p.unit).find(u => u) || "";

	return { name, unit: name === "load" && unit ? unit + " per node"
		: unit };
}

function sweepPage(sweep) {
	const has = new Set(sweep.points.map(p => p.figure));
	const names = [...usualFigures.filter(f => has.has(f)),
		...[...has].filter(f => !usualFigures.includes(f)
			&& /^latency_p50|_GBps$/.test(f))];
	const x = sweepAxis(sweep);
	const curves = nameCurves([...new Set(sweep.points.map(p => p.curve))]);
	const all = summarize(sweep, curves, x);
	const cards = names.slice(0, 6).map(f => sweepCard(sweep, f, x, curves));
	const rows = [];

	for (let i = 0; i < cards.length; i += 2)
		rows.push(make("div", { class: "two gap" }, cards[i],
			cards[i + 1] || null));
	return [make("h1", null, "Sweep of " + sweep.what), make("p", { class:
		"answer" }, sweepAnswer(sweep, all)), sweepSummary(sweep, all), ...rows,
	sweepTable(sweep, names.slice(0, 4), x.name, curves)];
}

/* The least x at which a curve is saturated, in words; "" where none is. */
function saturatesAt(points, x) {
	const full = points.filter(p => p.saturated && p.x !== "");
	const first = full.filter(p => p.number !== null).reduce((a, p) => !a
		|| p.number < a.number ? p : a, null);

	if (!full.length)
		return "";
	return `${x.name} ` + (first
		? round(first.number, 4) + (x.unit ? " " + x.unit : "")
		: full[0].x);
}

/* The machines' files without folder and ending, and --faults in words: names
 * that are read, unless two of them would become one. */
function nameCurves(curves) {
	const short = curves.map(c => c.replace(/^\S*\//, "")
		.replace(/^(\S+)\.yaml/, "$1").replace(/ faults=none\b/, "")
		.replace(/ faults=(?:\S*\/)?(\S+?)(?:\.yaml)?(?= |$)/, ", $1"));

	return new Map(curves.map((c, i) => [c, new Set(short).size
		=== curves.length ? short[i] : c]));
}

/* Curves that differ only by their plan of faults have one colour; the second
 * one and further ones are dashed. */
function styleCurves(curves) {
	const base = c => c.replace(/ faults=\S+/, "");
	const first = [...new Set(curves.map(base))];

	return new Map(curves.map((c, i) => [c, {
		colour: thing(first.indexOf(base(c))),
		dashes: curves.slice(0, i).filter(d => base(d) === base(c))
			.length }]));
}

/* The points of a curve that have a figure. */
function pointsOf(sweep, curve, figure) {
	return sweep.points.filter(p => p.curve === curve
		&& p.figure === figure);
}

const most = points => points.reduce((a, p) => !a || p.mean > a.mean ? p : a,
	null);
const least = points => points.reduce((a, p) => !a || p.mean < a.mean ? p : a,
	null);

/* What each curve reaches at most, and what that costs. */
function summarize(sweep, names, x) {
	return [...names].map(([curve, name]) => {
		const rates = pointsOf(sweep, curve,
			"throughput_GBps_per_node");

		return { name, top: most(rates), full: saturatesAt(rates, x),
			price: most(pointsOf(sweep, curve, "price")),
			each: least(pointsOf(sweep, curve,
				"price_per_Gbps")) };
	}).filter(s => s.top);
}

/* One sentence for a few curves; for many the extremes, and a table. */
function sweepAnswer(sweep, all) {
	const cheap = least(all.filter(s => s.each).map(s => ({ ...s,
		mean: s.each.mean })));
	const fast = most(all.map(s => ({ ...s, mean: s.top.mean })));

	if (!all.length)
		return count(sweep.points.length) + " figures.";
	if (all.length < 4 && !cheap)
		return listOf(all.map(s => `${s.name} delivers up to `
			+ `${round(s.top.mean, 4)} GB/s per node` + (s.full
			? " and saturates at " + s.full : ""))).replace(/^./,
			c => c.toUpperCase()) + ".";
	return `Most is delivered by ${fast.name}, ${round(fast.mean, 4)} GB/s `
		+ "per node" + (cheap ? "; cheapest for what it delivers is "
		+ `${cheap.name}, ${round(cheap.mean, 4)} per Gb/s.` : ".");
}

/* Money: whole, where it is much. */
const sum = x => x < 1000 ? String(round(x, 4)) : count(x);

function sweepSummary(sweep, all) {
	const hasPrice = all.some(s => s.price), hasFull = all.some(s => s.full);
	const money = sweep.currency ? ", " + sweep.currency : "";
	const number = text => make("td", { class: "number" }, text);

	if (all.length < 2)
		return null;
	return card("At most", hasPrice ? "The price of a Gb/s is that of the "
		+ "payload which all nodes together receive." : null,
	make("div", { class: "scroll" }, make("table", null, make("tr", null,
		make("th", null, "curve"), ...["GB/s per node", hasFull
			&& "saturates at", hasPrice && "price" + money,
			hasPrice && "price per Gb/s" + money].filter(t => t).map(t => make("th",
			{ class: "number" }, t))),
	...all.map(s => make("tr", null, make("td", null, s.name),
		number(round(s.top.mean, 4)), hasFull ? number(s.full) : null,
		hasPrice ? number(s.price ? sum(s.price.mean) : "") : null,
		hasPrice ? number(s.each ? round(s.each.mean, 4) : "")
			: null)))));
}

/* Words such as "max" have no place among numbers, so they are left to the
 * table. */
function sweepPoints(sweep, figure, curve) {
	const own = pointsOf(sweep, curve, figure);
	const isNumeric = sweep.points.some(p => p.x !== ""
		&& p.number !== null);

	return own.map((p, k) => [isNumeric ? p.number : k, p.mean, p.half,
		!p.finished]).filter(p => p[0] !== null)
		.sort((a, b) => a[0] - b[0]);
}

/* What hollow points are; null where there are none. */
function sayHollow(points) {
	const some = points.filter(p => !p.finished);

	return some.length ? make("p", { class: "sub" }, "Hollow points are "
		+ (some.every(p => p.saturated) ? "saturated."
			: "saturated or ended early.")) : null;
}

function sweepCard(sweep, figure, x, curves) {
	const styles = styleCurves([...curves.keys()]);

	return card(figureTitle(figure), null, chart({ title: figure,
		xLabel: x.name + (x.unit ? ", " + x.unit : ""), height: 300,
		series: [...curves].map(([c, name]) => ({ name, hasDots: true,
			...styles.get(c), points: sweepPoints(sweep, figure,
				c) })) }),
	sayHollow(sweep.points.filter(p => p.figure === figure)));
}

function sweepTable(sweep, names, x, curves) {
	const groups = [...new Set(sweep.points.map(p => p.group))];
	const at = new Map(sweep.points.map(p => [p.group + "\n" + p.figure,
		p]));
	const cell = p => !p ? "" : round(p.mean, 5) + (p.half > 0 ? " \u00b1 "
		+ round(p.half, 2) : "");

	return card("Points", "Means over seeds, with the half width of a 95 % "
		+ "confidence interval.", make("div", { class: "scroll" },
		make("table", null, make("tr", null, make("th", null, "curve"),
			make("th", { class: "number" }, x), ...names.map(f =>
				make("th", { class: "number" },
					figureTitle(f)))), ...groups.map(g => {
			const p = sweep.points.find(q => q.group === g);

			return make("tr", null, make("td", null,
				curves.get(p.curve)),
				make("td", { class: "number" }, p.x),
				...names.map(f => make("td", { class:
					"number" }, cell(at.get(g + "\n"
					+ f)))));
		}))));
}
