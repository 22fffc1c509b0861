/* The page: a tab for each file, and one for all where there are several. */

function runPage(run) {
	unpack(run);
	run.heats = [];
	const parts = [make("h1", null, run.meta.machine_name + " \u00b7 "
		+ run.meta.workload), make("p", { class: "command" },
		run.meta.command), answer(run), tiles(run),
	run.nLinks ? machineCard(run) : null, ...heatCards(run),
	make("div", { class: "spaced" }, ...latencyCards([run])),
	courseCards([run]), blockedCard(run), ...budgetCards(run),
	counterCard(run)];

	return parts;
}

function counterCard(run) {
	const list = [...Object.entries(run.figures).map(([k, v]) => [
		figureTitle(k), round(v, 6)]), ...Object.entries(run.counters)
		.map(([k, v]) => [k.replace(/_/g, " "), count(v)])];
	const rows = list.map(([k, v]) => make("tr", null, make("td", null, k),
		make("td", { class: "number" }, v)));

	return card("Figures", `Digest ${run.meta.digest || "none"}, seed `
		+ `${run.meta.seed}, weft ${run.meta.weft}; weft rerun `
		+ `${run.file} repeats the run.`, make("table", null, ...rows));
}

/* --- several runs --- */

function comparePage(runs) {
	runs.forEach(unpack);
	const names = [...new Set(runs.flatMap(r => Object.keys(r.figures)))];
	const cell = v => v === undefined ? "" : round(v, 5);

	return [make("h1", null, runs.length + " runs side by side"),
		...runs.map(r => make("div", null, make("h3", null, r.label),
			answer(r))),
		card("Figures", null, make("div", { class: "scroll" },
			make("table", null, make("tr", null, make("th", null,
				""), ...runs.map(r => make("th", { class:
				"number" }, r.label))), make("tr", null,
				make("td", null, "ending"), ...runs.map(r =>
					make("td", { class: "number" },
						r.meta.ending))),
			...names.map(k => make("tr", null, make("td", null,
				figureTitle(k)), ...runs.map(r => make("td",
				{ class: "number" }, cell(r.figures[k])))))))),
		...latencyCards(runs), courseCards(runs),
		card("Links", "The mean load of each kind of link.", linkTable(
			runs)), budgetTable(runs)];
}

function linkTable(runs) {
	const loads = runs.map(r => new Map(loadOf(r).rows.map(
		row => [row.name, row.mean])));
	const names = [...new Set(loads.flatMap(l => [...l.keys()]))];

	return make("table", null, ...names.map(k => make("tr", null, make("td",
		null, k), ...loads.map(l => make("td", { class: "number" },
		l.has(k) ? percent(l.get(k)) : "")))));
}

function budgetTable(runs) {
	const some = runs.filter(r => Object.keys(r.causes || {}).length);

	if (!some.length)
		return null;
	return card("What time was spent on", null, make("table", null,
		...some.map(r => {
			const parts = Object.entries(r.causes);

			return make("tr", null, make("td", null, r.label),
				make("td", { style: { width: "70%" } },
					stack(parts, parts.reduce((sum, p) =>
						sum + p[1], 0))));
		})), causeKeys([...new Map(some.flatMap(r => Object.entries(
		r.causes)))]));
}

/* --- sweeps --- */

const usualFigures = ["throughput_GBps_per_node", "latency_mean_ns",
	"latency_p99_ns", "fraction_of_peak", "one_way_ns", "total_MBps",
	"rate_Mps", "time_ns", "rate_GBps"];

function sweepPage(sweep) {
	const has = new Set(sweep.points.map(p => p.figure));
	const names = [...usualFigures.filter(f => has.has(f)),
		...[...has].filter(f => !usualFigures.includes(f)
			&& /^latency_p50|_GBps$/.test(f))];
	const first = sweep.points[0];
	const x = first && first.x ? first.group.slice(first.curve.length + 1)
		.split("=")[0] : "";
	const curves = [...new Set(sweep.points.map(p => p.curve))];
	const cards = names.slice(0, 6).map(f => sweepCard(sweep, f, x, curves));
	const rows = [];

	for (let i = 0; i < cards.length; i += 2)
		rows.push(make("div", { class: "two gap" }, cards[i],
			cards[i + 1] || null));
	return [make("h1", null, "Sweep of " + sweep.what), make("p", { class:
		"answer" }, sweepAnswer(sweep, curves, x)), ...rows,
	sweepTable(sweep, names.slice(0, 4), x)];
}

function sweepAnswer(sweep, curves, x) {
	const best = curves.map(c => {
		const p = sweep.points.filter(q => q.curve === c
			&& q.figure === "throughput_GBps_per_node");
		const top = p.reduce((a, q) => !a || q.mean > a.mean ? q : a,
			null);
		const full = p.filter(q => !q.finished && q.x !== "").map(
			q => Number(q.x)).sort((a, b) => a - b)[0];

		return top && `${c} delivers up to ${round(top.mean, 4)} GB/s `
			+ `per node` + (full !== undefined ? ` and saturates `
			+ `at ${x} ${full}` : "");
	}).filter(t => t);

	return best.length ? listOf(best).replace(/^./,
		c => c.toUpperCase()) + "." : count(sweep.points.length)
		+ " figures of " + curves.length + " curves.";
}

function sweepCard(sweep, figure, x, curves) {
	return card(figureTitle(figure), null, chart({ title: figure, xLabel: x,
		height: 300, series: curves.map((c, i) => ({ name: c,
			hasDots: true, colour: thing(i), points: sweep.points
				.filter(p => p.curve === c
					&& p.figure === figure)
				.map((p, k) => [p.x === "" ? k : parseFloat(p.x),
					p.mean, p.half, !p.finished])
				.sort((a, b) => a[0] - b[0]) })) }),
	sweep.points.some(p => p.figure === figure && !p.finished) ? make("p",
		{ class: "sub" }, "Hollow points are saturated.") : null);
}

function sweepTable(sweep, names, x) {
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

			return make("tr", null, make("td", null, p.curve),
				make("td", { class: "number" }, p.x),
				...names.map(f => make("td", { class:
					"number" }, cell(at.get(g + "\n"
					+ f)))));
		}))));
}

/* --- tabs and theme --- */

let shown = 0, pages = [];

function show(i) {
	shown = i;
	document.getElementById("main").replaceChildren(
		...pages[i].make().filter(part => part));
	for (const [k, tab] of [...document.getElementById("tabs").children]
		.entries())
		tab.setAttribute("aria-selected", String(k === i));
	drawAll();
}

function drawAll() {
	const run = pages[shown].run;

	if (!run || !run.machine)
		return;
	run.machine.resize();
	run.machine.draw();
	run.heats.forEach(heat => heat.redraw());
}

function makePages() {
	const runs = data.files.filter(f => f.kind === "run");

	data.files.forEach(f => {
		f.label = f.file;
	});
	if (runs.length > 1)
		pages.push({ name: "Compare", make: () => comparePage(runs) });
	for (const f of data.files)
		pages.push(f.kind === "run"
			? { name: f.label, run: f, make: () => runPage(f) }
			: { name: f.label, make: () => sweepPage(f) });
}

function start() {
	const tabs = document.getElementById("tabs");

	makePages();
	document.body.append(tip);
	if (pages.length > 1)
		tabs.append(...pages.map((p, i) => make("button", { type:
			"button", role: "tab", onclick: () => show(i) },
		p.name)));
	document.getElementById("theme").addEventListener("click", () => {
		document.documentElement.dataset.theme = isDark() ? "light"
			: "dark";
		show(shown);
	});
	document.getElementById("footer").textContent = "Written by weft "
		+ data.weft + ". Everything is in this file.";
	document.title = (pages[0].run ? pages[0].run.meta.machine_name + " "
		+ pages[0].run.meta.workload : pages[0].name) + " - Weft";
	show(0);
	let timer = null;
	window.addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(drawAll, 100);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
		event => {
			document.documentElement.dataset.theme =
				event.matches ? "dark" : "light";
			show(shown);
		});
	document.documentElement.dataset.ready = Math.round(performance.now());
	if (location.hash.includes("selftest"))
		selfTest();
}

/* For tests: what a click changes on the page of the last run, and how long it
 * takes, as attributes. */
function selfTest() {
	const root = document.documentElement.dataset;
	const page = pages.reduce((last, p, i) => p.run && p.run.kind === "run"
		? i : last, -1);

	root.title = document.querySelector("h1").textContent;
	if (page < 0)
		return;
	show(page);
	root.answer = document.querySelector(".answer").textContent;
	const run = pages[page].run, m = run.machine;

	if (!m)
		return;

	const panel = document.getElementById("detail");
	const [x, y] = m.middle(run.byLoad[0]);
	const box = m.canvas.getBoundingClientRect();
	const before = panel.textContent, picture = m.canvas.toDataURL();
	const began = performance.now();

	m.canvas.dispatchEvent(new MouseEvent("click", { clientX: box.left + x,
		clientY: box.top + y }));
	root.click = Math.round(performance.now() - began);
	root.before = before.slice(0, 80);
	root.after = panel.textContent.slice(0, 80);
	root.curves = panel.querySelectorAll("svg").length;
	root.charts = Array.from(panel.querySelectorAll("h3"),
		h => h.textContent).join("; ");
	const slow = document.querySelector("#slowest button");

	if (slow)
		slow.click();
	root.hops = document.querySelectorAll(".hops tr").length;
	root.blocked = document.querySelectorAll("#blocked tr").length;
	if (run.load) {
		const whole = m.canvas.toDataURL();

		run.slider.value = 0;
		run.slider.dispatchEvent(new Event("input"));
		root.played = m.canvas.toDataURL() !== whole;
		root.clock = run.clock.textContent;
	}
	root.drawn = m.canvas.toDataURL() !== picture;
}
