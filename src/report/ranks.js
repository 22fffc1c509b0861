/* Ranks of an MPI program: where the time of each went, who sent how much to
 * whom, and MPI's calls. */

const rankKinds = [["messages", "waits for messages"],
	["collectives", "waits in collectives"],
	["calls", "calls of the interface"], ["tests", "tests"],
	["own", "MPI's own time"], ["computing", "computing"]];

/* The ranks of a schedule that the data contain: {name, time, last}, where last
 * is the operation that ended last. */
function scheduledRanks(run) {
	const c = run.calls, ranks = new Map();

	for (let i = 0; i < c.from.length; i++) {
		const name = run.call_names[c.name[i]];
		const as = name.match(/^replaying a schedule as (rank \d+)/);

		if (as && c.to[i] >= 0)
			ranks.set(c.row[i], { name: as[1], time: c.to[i]
				- c.from[i], until: c.to[i], last: null,
			end: 0 });
	}
	for (let i = 0; i < c.from.length; i++) {
		const rank = ranks.get(c.row[i]);
		const name = run.call_names[c.name[i]];

		if (rank && c.to[i] >= rank.end && c.to[i] <= rank.until
			&& !/^replaying /.test(name))
			Object.assign(rank, { last: name, end: c.to[i] });
	}
	return [...ranks.values()];
}

/* Where the slowest rank of an MPI program spent its time, and the rank that it
 * waited for longest. */
function sayRankParts(run, i) {
	const r = run.ranks, p = run.pairs;
	const parts = rankKinds.map(([key, text]) => [r[key][i] / r.time[i],
		text.replace(/^waits/, "waiting")]).sort((a, b) => b[0] - a[0])
		.slice(0, 2).filter(x => x[0] >= 0.01);
	let most = -1;

	for (let k = 0; k < p.from.length; k++)
		if (p.from[k] === i && p.waited[k] > (most < 0 ? 0
			: p.waited[most]))
			most = k;
	return (parts.length ? ", spent " + listOf(parts.map(([part, text],
		k) => percent(part) + (k ? " " : " of its time ") + (/^wait|^comp/
		.test(text) ? text : "in " + text))) : "") + (most < 0 ? ""
		: `; it waited longest for ${run.rank_names[p.to[most]]} (${
			time(p.waited[most])})`);
}

/* How long ranks took, and the slowest of them. */
function sayRanks(run) {
	const own = [...run.ranks.time].map((t, i) => ({ name:
		run.rank_names[i], time: t, i }));
	const ranks = own.length ? own : scheduledRanks(run);

	if (!ranks.length)
		return [];
	const slow = ranks.reduce((a, r) => r.time > a.time ? r : a);
	const least = ranks.reduce((a, r) => Math.min(a, r.time), slow.time);
	const part = !own.length && ranks.length === mostRows ? "first " : "";

	return [` ${ranks.length === 1 ? "Its rank" : `Its ${part}${count(
		ranks.length)} ranks`} took ${least < slow.time ? time(least)
		+ " to " : ""}${time(slow.time)}. `, make("b", null,
		`The slowest, ${slow.name}`), own.length
		? sayRankParts(run, slow.i) + "." : slow.last
			? `, ended with ${slow.last}.` : `, took ${time(
				slow.time)}.`];
}

function rankCards(run) {
	if (!run.ranks.time.length)
		return [];
	return [card("Time of ranks", "Every picosecond of each rank, from the "
		+ "end of MPI_Init to the end of MPI_Finalize.", rankChart(run),
	keys(usedKinds(run).map(k => ({ name: rankKinds[k][1],
		colour: thing(k) })))),
	make("div", { class: "two" }, matrixCard(run), calledCard(run))];
}

function usedKinds(run) {
	return rankKinds.map((d, k) => k).filter(k => run.ranks[rankKinds[k][0]]
		.some(v => v > 0));
}

/* A column for each rank. */
function rankChart(run) {
	const r = run.ranks, n = r.time.length, used = usedKinds(run);
	const w = 1180, h = 240, left = 74, bottom = 24;
	const most = Math.max(1, r.time.reduce((a, b) => Math.max(a, b), 0));
	const step = (w - left - 10) / n, px = i => left + i * step;
	const py = t => (h - bottom) * (1 - t / most * 0.96);
	const root = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img",
		"aria-label": "time of ranks" });
	const paths = used.map(() => []), base = new Float64Array(n);
	const each = Math.ceil(n / 16);

	for (const t of ticks(0, most, 4).filter(t => t <= most))
		root.append(svg("line", { class: "grid", x1: left, x2: w - 10,
			y1: py(t), y2: py(t) }), svg("text", { x: left - 8,
			y: py(t) + 4, "text-anchor": "end" }, time(t)));
	used.forEach((k, at) => {
		for (let i = 0; i < n; i++) {
			const v = r[rankKinds[k][0]][i], top = base[i] + v;

			if (v > 0)
				paths[at].push(`M${px(i).toFixed(2)} `
					+ `${py(base[i]).toFixed(2)}H${(px(i)
					+ step * 0.86).toFixed(2)}V${py(top)
					.toFixed(2)}H${px(i).toFixed(2)}Z`);
			base[i] = top;
		}
	});
	paths.forEach((p, at) => root.append(svg("path", { d: p.join(""),
		fill: thing(used[at]), "data-what": rankKinds[used[at]][1] })));
	for (let i = 0; i < n; i += each)
		root.append(svg("text", { x: px(i) + step * 0.43, y: h - 6,
			"text-anchor": "middle" }, String(r.rank[i])));
	root.addEventListener("mousemove", event => {
		const box = root.getBoundingClientRect();
		const x = (event.clientX - box.left) * w / box.width;
		const i = Math.floor((x - left) / step);

		showTip(event, i < 0 || i >= n ? "" : run.rank_names[i]
			+ " on node " + r.node[i] + ", " + time(r.time[i])
			+ ": " + used.filter(k => r[rankKinds[k][0]][i] > 0)
			.map(k => rankKinds[k][1] + " " + percent(
				r[rankKinds[k][0]][i] / r.time[i])).join(", "));
	});
	root.addEventListener("mouseleave", hideTip);
	return root;
}

/* In front of the squares of a matrix. */
const matrixLeft = 44, matrixTop = 24;

/* Some ranks' numbers at both sides of a matrix of squares. */
function nameRanks(g, run, cell) {
	const n = run.ranks.rank.length, each = Math.ceil(n / 16);

	g.fillStyle = css("--soft");
	g.font = "12px sans-serif";
	g.textBaseline = "middle";
	for (let i = 0; i < n; i += each) {
		const text = String(run.ranks.rank[i]);

		g.textAlign = "right";
		g.fillText(text, matrixLeft - 8, matrixTop + (i + 0.5) * cell);
		g.textAlign = "center";
		g.fillText(text, matrixLeft + (i + 0.5) * cell, matrixTop - 12);
	}
}

/* A square for each pair; its shade is the logarithm of the bytes. */
function matrixCard(run) {
	const p = run.pairs, n = run.ranks.time.length, side = 480;
	const width = matrixLeft + side, height = matrixTop + side;
	const cell = side / n, c = make("canvas", { width, height,
		role: "img", "aria-label": "bytes between ranks",
		style: { width: "100%", maxWidth: width + "px" } });
	const g = c.getContext("2d"), most = p.bytes.reduce((a, b) =>
		Math.max(a, b), 1), at = new Map();

	nameRanks(g, run, cell);
	g.translate(matrixLeft, matrixTop);
	g.fillStyle = shades()[0];
	g.fillRect(0, 0, side, side);
	for (let i = 0; i < p.from.length; i++) {
		at.set(p.from[i] * n + p.to[i], i);
		if (!p.messages[i])
			continue;
		g.fillStyle = shades()[shadeOf(0.15 + 0.85 * Math.log1p(
			p.bytes[i]) / Math.log1p(most))];
		g.fillRect(p.to[i] * cell, p.from[i] * cell,
			Math.max(1, cell - 0.5), Math.max(1, cell - 0.5));
	}
	c.addEventListener("mousemove", event => {
		const box = c.getBoundingClientRect(), by = width / box.width;
		const to = Math.floor(((event.clientX - box.left) * by
			- matrixLeft) / cell), from = Math.floor(((event.clientY
			- box.top) * by - matrixTop) / cell);
		const i = to < 0 || to >= n ? undefined : at.get(from * n + to);

		showTip(event, i === undefined ? "" : run.rank_names[from]
			+ " to " + run.rank_names[to] + ": " + size(p.bytes[i])
			+ " in " + count(p.messages[i]) + " messages; waited "
			+ time(p.waited[i]) + " for it");
	});
	c.addEventListener("mouseleave", hideTip);
	return card("Bytes between ranks", "Each row is a sender, each column "
		+ "a receiver; the strongest colour stands for "
		+ size(most) + ". The scale is logarithmic.", c);
}

function calledCard(run) {
	const all = run.ranks.time.reduce((a, b) => a + b, 0) || 1;
	const cells = (tag, row) => row.map((text, i) => make(tag,
		i ? { class: "number" } : null, text));

	return card("Calls of MPI", "Of all ranks: how often, and which part "
		+ "of their time.", make("table", { class: "called" },
		make("tr", null, ...cells("th", ["call", "calls", "time",
			"share"])),
		...run.called.map(([name, n, ps]) => make("tr", null, ...cells(
			"td", [name, count(n), time(ps), percent(ps / all)])))));
}
