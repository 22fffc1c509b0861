/* The page: a tab for each file, and one for all where there are several. */

function runPage(run) {
	unpack(run);
	run.heats = [];
	const head = [make("h1", null, run.meta.machine_name + " \u00b7 "
		+ run.meta.workload), make("p", { class: "command" },
		run.meta.command), caveat(run), answer(run)];
	/* of jobs and ranks, packets are only the details */
	const programs = [jobsCard(run), ...rankCards(run), exposedCard(run)];
	const packets = [tiles(run),
		run.nLinks ? machineCard(run) : null, ...heatCards(run),
		make("div", { class: "spaced" }, ...latencyCards([run])),
		courseCards([run])];
	const isRanks = run.ranks.time.length || scheduledRanks(run).length;

	return [...head, ...programs, isRanks ? timelineCard(run) : null,
		...packets, isRanks ? null : timelineCard(run),
		blockedCard(run), ...budgetCards(run), counterCard(run)];
}

/* Limits of the machine's model, if its file names any. */
function caveat(run) {
	const text = run.meta.machine_caveat;

	return text ? make("p", { class: "sub", id: "caveat" },
		"Limits of this model: " + text + ".") : null;
}

/* Each job's figures beside those that it had alone: their names are
 * job.figure and job.alone.figure. */
function jobsCard(run) {
	const f = run.figures, rows = [];
	let last = "";

	for (const name in f) {
		const at = name.indexOf(".alone.");

		if (at < 0)
			continue;
		const job = name.slice(0, at), figure = name.slice(at + 7);
		const now = f[job + "." + figure], alone = f[name];

		if (now === undefined)
			continue;
		rows.push(make("tr", null, make("td", null,
			job === last ? "" : job), make("td", null,
			figureTitle(figure)), ...[round(now, 5), round(alone,
			5), alone > 0 ? (now < alone ? "" : "+") + round(100
			* (now / alone - 1), 3) + " %" : ""].map(text =>
			make("td", { class: "number" }, text))));
		last = job;
	}
	return rows.length ? card("Jobs", "Each job's figures together with "
		+ "the others, and alone on the same nodes.", make("table",
		{ class: "jobs" }, make("tr", null, make("th", null, "job"),
			make("th", null, "figure"), ...["together", "alone",
				"change"].map(text => make("th", { class:
				"number" }, text))), ...rows)) : null;
}

/* How long ranks of a schedule waited, by what they waited for. */
function exposedCard(run) {
	const rows = run.exposed.map(x => make("tr", null, ...[x.job || "",
		x.operation + (x.algorithm ? " by " + x.algorithm : "")].map(
		text => make("td", null, text)), ...[x.members === null ? ""
		: count(x.members), x.bytes === null ? "" : count(x.bytes),
	time(x.mean), time(x.max)].map(text => make("td", { class: "number" },
		text))));

	return rows.length ? card("Exposed communication", "How long ranks "
		+ "computed nothing, by what they waited for: the mean of all "
		+ "ranks, and the rank that waited longest.", make("table",
		{ class: "exposed" }, make("tr", null, make("th", null, "job"),
			make("th", null, "operation"), ...["ranks", "bytes",
				"mean", "max"].map(text => make("th", { class:
				"number" }, text))), ...rows)) : null;
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
	return card("Where the time went", null, make("table", null,
		...some.map(r => {
			const parts = Object.entries(r.causes);

			return make("tr", null, make("td", null, r.label),
				make("td", { style: { width: "70%" } },
					stack(parts, parts.reduce((sum, p) =>
						sum + p[1], 0))));
		})), causeKeys([...new Map(some.flatMap(r => Object.entries(
		r.causes)))]));
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

/* Paper is white. */
function printLight() {
	const root = document.documentElement.dataset;
	let was = root.theme;
	const change = theme => {
		if (root.theme === theme)
			return;
		root.theme = theme;
		show(shown);
	};

	window.addEventListener("beforeprint", () => {
		was = root.theme;
		change("light");
	});
	window.addEventListener("afterprint", () => change(was));
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
	printLight();
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

/* Charts whose curves are not numbers, or leave the area inside the axes. */
function badCharts() {
	return [...document.querySelectorAll("svg .plot")].filter(area => {
		const [x, y, w, h] = area.getAttribute("viewBox").split(" ")
			.map(Number);

		return [...area.children].some(e => {
			const b = e.getBBox(), d = e.getAttribute("d") || "";

			return /NaN|Infinity/.test(d) || b.x < x || b.y < y
				|| b.x + b.width > x + w
				|| b.y + b.height > y + h;
		});
	}).map(area => area.parentNode.getAttribute("aria-label"));
}

/* For tests, of every page: charts that are wrong, pages wider than the window,
 * texts with numbers that are none; what it says, and the names of axes. */
function testPages() {
	const root = document.documentElement;
	const wrong = [], says = [], jobs = [];
	let charts = 0;

	pages.forEach((page, i) => {
		show(i);
		charts += document.querySelectorAll("svg .plot").length;
		for (const name of badCharts())
			wrong.push(`${page.name}: curves of ${name}`);
		if (root.scrollWidth > root.clientWidth)
			wrong.push(`${page.name}: ${root.scrollWidth} of `
				+ root.clientWidth + " pixels");
		for (const e of document.querySelectorAll("p, text, td"))
			if (/NaN|undefined|Infinity/.test(e.textContent))
				wrong.push(page.name + ": " + e.textContent);
		for (const e of document.querySelectorAll(".answer, .x"))
			says.push(e.textContent);
		for (const e of document.querySelectorAll(".jobs tr"))
			jobs.push([...e.children].map(c => c.textContent)
				.join("|"));
	});
	root.dataset.pictures = charts;
	root.dataset.wrong = wrong.join("; ");
	root.dataset.jobs = jobs.join("; ");
	root.dataset.says = [...new Set(says)].join("; ");
	show(0);
}

/* For tests: what a click changes on the page of the last run, and how long it
 * takes, as attributes. */
function selfTest() {
	const root = document.documentElement.dataset;

	testPages();
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
	root.curves = panel.querySelectorAll(":not(svg) > svg").length;
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
	root.timeline = Array.from(document.querySelectorAll("#timeline text, "
		+ "#timeline li"), e => e.textContent).join("; ");
	root.ranks = Array.from(document.querySelectorAll("[aria-label='time "
		+ "of ranks'] path"), p => p.dataset.what + " "
		+ (p.getAttribute("d").split("M").length - 1)).join("; ");
	root.called = Array.from(document.querySelectorAll(".called tr"),
		r => r.cells[0].textContent + " " + r.cells[1].textContent)
		.join("; ");
	root.bars = Array.from(document.querySelectorAll("#timeline path"),
		p => p.dataset.what + " " + p.getAttribute("d").split("M").length)
		.join("; ");
}
