/* What programs did over time: a row for each process, in which what it
 * computes, sends, receives and calls have lanes of their own. */

const mostRows = 64; /* that the data have */

const doings = [["computes", /^calc /],
	["sends", /^send |_send\b|^MPI_\w*send\b/i],
	["receives", /^recv |_receive\b|^MPI_\w*(recv|probe)/i],
	["other calls", /^(?!MPI_)/], ["waits and tests", /^MPI_(Wait|Test)/],
	["collectives", new RegExp("^MPI_(I?(barrier|bcast|gather|scatter"
		+ "|reduce|all|scan|exscan|neighbor)|Finalize)", "i")],
	["other calls of MPI", /./]];

/* The calls of a run by row, without what only frames the others. */
function doingsOf(run) {
	const c = run.calls, list = [];
	const kinds = run.call_names.map(n => /^replaying /.test(n) ? -1
		: doings.findIndex(d => d[1].test(n)));

	for (let i = 0; i < c.from.length; i++)
		if (kinds[c.name[i]] >= 0)
			list.push({ row: c.row[i], kind: kinds[c.name[i]],
				from: c.from[i], to: c.to[i] < 0
					? run.meta.end_ps : c.to[i],
				isOpen: c.to[i] < 0,
				name: run.call_names[c.name[i]] });
	return list;
}

function processName(run, i) {
	const [node, process, rank] = run.call_rows[i];

	return rank !== null ? "rank " + rank
		: "node " + node + (process ? "." + process : "");
}

/* Of ranks it is known how many there are. */
function hasMoreRows(run) {
	const n = run.ranks.time.length;

	return n ? n > mostRows : run.call_rows.length === mostRows;
}

function timelineCard(run) {
	const list = doingsOf(run);
	const used = doings.map((d, k) => k).filter(k => list.some(
		x => x.kind === k));

	if (!list.length)
		return null;
	return make("section", { class: "card", id: "timeline" },
		make("h2", null, "Programs over time"),
		make("p", { class: "sub" }, "Each row is a process"
			+ (hasMoreRows(run) ? ", the first "
			+ mostRows + " of them" : "") + ". Calls that never "
			+ "returned last until the end of the run."),
		timeline(run, list, used),
		keys(used.map(k => ({ name: doings[k][0], colour: thing(k) }))));
}

function timeline(run, list, used) {
	const lane = 5, row = lane * used.length + 5, w = 1180, left = 74;
	const rows = run.call_rows.length, h = rows * row + 26;
	const from = list.reduce((t, x) => Math.min(t, x.from), Infinity);
	const to = list.reduce((t, x) => Math.max(t, x.to), from + 1);
	const px = t => left + (t - from) / (to - from) * (w - left - 10);
	const py = x => x.row * row + used.indexOf(x.kind) * lane + 2;
	const root = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img",
		"aria-label": "programs over time" });
	const paths = used.map(() => []);

	for (let i = 0; i < rows; i++)
		root.append(svg("text", { x: left - 8, y: i * row + row / 2 + 4,
			"text-anchor": "end" }, processName(run, i)));
	for (const t of ticks(from, to, 8).filter(t => t >= from && t <= to))
		root.append(svg("line", { class: "grid", x1: px(t), x2: px(t),
			y1: 0, y2: h - 22 }), svg("text", { x: px(t), y: h - 6,
			"text-anchor": "middle" }, time(t)));
	for (const x of list)
		paths[used.indexOf(x.kind)].push(`M${px(x.from).toFixed(1)} `
			+ `${py(x)}h${Math.max(0.6, px(x.to) - px(x.from))
				.toFixed(1)}v${lane - 1}H${px(x.from)
				.toFixed(1)}Z`);
	paths.forEach((p, k) => root.append(svg("path", { d: p.join(""),
		fill: thing(used[k]), "data-what": doings[used[k]][0] })));
	root.addEventListener("mousemove", event => {
		const box = root.getBoundingClientRect(), scale = w / box.width;
		const x = (event.clientX - box.left) * scale;
		const y = (event.clientY - box.top) * scale;
		const at = list.filter(d => x >= px(d.from) - 1
			&& x <= px(d.to) + 1 && y >= py(d)
			&& y < py(d) + lane);

		showTip(event, at.slice(0, 3).map(d => processName(run, d.row) + ": "
			+ d.name + ", " + (d.isOpen ? "since " + time(d.from)
			: time(d.to - d.from) + " from " + time(d.from)))
			.join("; "));
	});
	root.addEventListener("mouseleave", hideTip);
	return root;
}
