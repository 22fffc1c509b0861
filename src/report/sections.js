/* The sections of a run. */

/* --- the machine --- */

function machineCard(run) {
	const detail = make("aside", { id: "detail", "aria-live": "polite" });
	const machine = new Machine(run, at => showDetail(run, at, detail));
	const words = run.nDims ? "Planes of a torus: links inside a plane run "
		+ "between nodes, links to other planes are stubs."
		: "Every line is a link; its two directions are side by side.";

	run.machine = machine;
	run.heats = run.heats || [];
	showDetail(run, null, detail);
	return make("section", { class: "card", id: "machine" },
		make("h2", null, "The machine"),
		make("p", { class: "sub" }, words + " Click a link or a node "
			+ "for its own curves; drag to move, + and \u2212 zoom."),
		machineBar(run, machine),
		make("div", { class: "machine" }, machine.canvas, detail));
}

/* Shows a step of time everywhere, or the whole run where it is -1. */
function setTime(run, step) {
	run.machine.step = step;
	run.machine.draw();
	for (const heat of run.heats) {
		heat.step = step;
		heat.draw();
	}
	if (run.slider) {
		run.slider.value = step;
		run.clock.textContent = step < 0 ? "whole run"
			: "at " + time((step + 0.5) * stepLength(run));
	}
}

function machineBar(run, machine) {
	const bar = make("div", { class: "bar" });
	const key = make("span");
	const showKey = () => key.replaceChildren(
		legend(machine.quantity, run));

	if (run.load)
		bar.append(...timeControls(run));
	bar.append(make("label", null, "colour ", make("select", {
		onchange: event => {
			machine.quantity = event.target.value;
			showKey();
			machine.draw();
		} }, ...Object.entries(quantities).map(([name, q]) =>
		make("option", { value: name }, q.title)))));
	if (run.nDims > 2)
		bar.append(planeControl(run, machine));
	bar.append(key, make("span", null,
		button("\u2212", "zoom out", () => machine.onKey({ key: "-",
			preventDefault() {} })), " ",
		button("+", "zoom in", () => machine.onKey({ key: "+",
			preventDefault() {} })), " ",
		button("all", "show all", () => machine.onKey({ key: "0",
			preventDefault() {} }))), searchField(run, machine));
	showKey();
	run.showKey = showKey;
	return bar;
}

function button(text, label, onclick) {
	return make("button", { type: "button", "aria-label": label, title:
		label, onclick }, text);
}

function timeControls(run) {
	const play = make("button", { type: "button", class: "main" },
		"\u25b6 Play");
	let timer = null;
	const stop = () => {
		clearInterval(timer);
		timer = null;
		play.textContent = "\u25b6 Play";
	};

	run.slider = make("input", { type: "range", min: -1, value: -1,
		max: run.load.steps - 1, "aria-label": "time", oninput: () => {
			stop();
			setTime(run, Number(run.slider.value));
		} });
	run.clock = make("output", null, "whole run");
	play.addEventListener("click", () => {
		if (timer)
			return stop();
		play.textContent = "\u275a\u275a Pause";
		timer = setInterval(() => {
			const next = run.machine.step + 1;

			setTime(run, next < run.load.steps ? next : 0);
		}, 160);
		return undefined;
	});
	return [play, run.slider, run.clock];
}

function planeControl(run, machine) {
	const letters = dimLetters(run), size = dimSizes(run);
	const pairs = [];

	for (let a = 0; a < run.nDims; a++)
		for (let b = a + 1; b < run.nDims; b++)
			if (size[a] > 1 && size[b] > 1)
				pairs.push([a, b]);
	return make("label", null, "planes ", make("select", {
		onchange: event => {
			machine.plane = pairs[event.target.value];
			machine.lay();
			machine.resize();
			machine.draw();
		} }, ...pairs.map(([a, b], i) => make("option", { value: i },
		`${letters[a]} \u00d7 ${letters[b]}`))));
}

/* A site by its name or number. */
function searchField(run, machine) {
	return make("input", { type: "search", placeholder: "find a node",
		"aria-label": "find a node or switch", size: 12,
		onchange: event => {
			const text = event.target.value.trim().toLowerCase();
			const at = run.sites.findIndex(s => {
				const name = s.toLowerCase();

				return name === text || name === "node " + text
					|| name.startsWith(text + " ")
					|| name.startsWith("node " + text + " ")
					|| name.includes(text) && text.length > 3;
			});

			machine.select(at < 0 ? null : { site: at });
		} });
}

/* --- what is selected --- */

function showDetail(run, at, panel) {
	if (!at)
		panel.replaceChildren(...hottest(run));
	else if (at.link !== undefined)
		panel.replaceChildren(...linkDetail(run, at.link));
	else
		panel.replaceChildren(...siteDetail(run, at.site));
}

/* Links with their load, to be clicked. */
function linkRows(run, links, name) {
	return links.map(i => make("button", { type: "button", class: "row",
		onclick: () => run.machine.select({ link: i }) },
	make("span", null, name(i)),
	make("span", { class: "meter" }, make("i", { style: { width: 100
		* run.links.use[i] + "%", background: shades()[shadeOf(
		run.links.use[i])] } })),
	make("b", null, percent(run.links.use[i]))));
}

function hottest(run) {
	return [make("h3", null, "Busiest links"),
		...linkRows(run, run.byLoad.slice(0, 12),
			i => linkName(run, i))];
}

function facts(pairs) {
	return make("dl", { class: "facts" }, ...pairs.flatMap(([name, v]) => [
		make("dt", null, name), make("dd", null, v)]));
}

function timeSeries(run, at) {
	const points = [];

	for (let t = 0; t < run.load.steps; t++)
		points.push([(t + 0.5) * stepLength(run), at(t)]);
	return points;
}

function timeChart(run, title, series, yTop, yText) {
	return [make("h3", null, title), chart({ title, series, width: 330,
		height: 130, yTop, yText, xText: time, xRange: [0,
			run.load.end_ps], hasNoKeys: false })];
}

function linkDetail(run, i) {
	const l = run.links, out = [make("h3", null, linkName(run, i)),
		facts([["to", run.sites[l.to_site[i]]],
			["wire", run.wire_names[l.wire[i]]],
			["rate", round(l.rate[i] / 1e9, 4) + " GB/s"],
			["busy", percent(l.use[i])],
			["carried", size(l.bytes[i])],
			["packets", count(l.packets[i])],
			["waiting for it", round(l.wanted[i], 3)
				+ " packets on average"],
			["queued at its receiving end", round(l.waiting[i], 3)
				+ " packets on average"],
			["longest queue there", l.longest[i] + " packets"],
			...l.token_wait[i] < 0 ? [] : [["waits for tokens",
				time(l.token_wait[i])]],
			...l.retries[i] ? [["retransmitted", count(
				l.retries[i])]] : []])];
	const own = [];

	for (let c = 0; c < run.channels.link.length; c++)
		if (run.channels.link[c] === i)
			own.push(["channel " + run.channel_names[
				run.channels.channel[c]], percent(
				run.channels.use[c]) + (run.channels.retries[c]
				? ", retransmitted " + count(
					run.channels.retries[c]) : "")]);
	if (own.length > 1)
		out.push(facts(own));
	if (run.load)
		out.push(...timeChart(run, "Load", [{ name: "load", isArea:
			true, points: timeSeries(run, t => useAt(run, i, t)) }],
		1, v => Math.round(100 * v) + " %"),
		...timeChart(run, "Packets waiting", [{ name: "for it",
			isArea: true, points: timeSeries(run,
				t => wantedAt(run, i, t)) },
		{ name: "at its receiving end", points: timeSeries(run,
			t => waitingAt(run, i, t)) }]),
		...channelCharts(run, i), ...rareCharts(run, i));
	out.push(make("p", null, siteButton(run, l.site[i]), " ",
		siteButton(run, l.to_site[i]), " ",
		button("all links", "busiest links",
			() => run.machine.select(null))));
	return out;
}

/* Of a link that used several. */
function channelCharts(run, i) {
	const list = channelsOf(run, i);

	if (!list.length)
		return [];
	return [...timeChart(run, "Load by channel", list.map(c => ({
		name: c.name, points: timeSeries(run, t => useTable[
			c.use[t]]) })), 1, v => Math.round(100 * v) + " %"),
	...timeChart(run, "Packets waiting by channel", list.map(c => ({
		name: c.name, points: timeSeries(run, t => waitingTable[
			c.waiting[t]]) })))];
}

/* Of a link that has any. */
function rareCharts(run, i) {
	const waits = rareOf(run, "token_wait", i);
	const again = rareOf(run, "retries", i), out = [];

	if (waits)
		out.push(...timeChart(run, "Packets waiting for its tokens", [{
			name: "waiting", isArea: true, points: timeSeries(run,
				t => waits[t] / data.scales.token_wait) }]));
	if (again)
		out.push(...timeChart(run, "Retransmitted packets", [{ name:
			"retransmitted", isArea: true, points: timeSeries(run,
			t => again[t]) }]));
	return out;
}

function siteButton(run, s) {
	return make("button", { type: "button",
		onclick: () => run.machine.select({ site: s }) },
	run.sites[s].replace(/ \(.*/, ""));
}

function siteDetail(run, s) {
	const leave = [], come = [];

	for (let i = 0; i < run.nLinks; i++) {
		if (run.links.site[i] === s)
			leave.push(i);
		if (run.links.to_site[i] === s)
			come.push(i);
	}
	const mean = (list, t, at) => list.reduce((sum, i) => sum
		+ at(run, i, t), 0);
	const out = [make("h3", null, run.sites[s])];

	leave.sort((a, b) => run.links.use[b] - run.links.use[a]);
	if (run.load)
		out.push(...timeChart(run, "Load, mean of its links", [
			{ name: "out", points: timeSeries(run, t => mean(leave,
				t, useAt) / Math.max(1, leave.length)) },
			{ name: "in", points: timeSeries(run, t => mean(come,
				t, useAt) / Math.max(1, come.length)) }], 1,
		v => Math.round(100 * v) + " %"),
		...timeChart(run, "Packets waiting in it", [{ name: "waiting",
			isArea: true, points: timeSeries(run, t => mean(come,
				t, waitingAt)) }]));
	out.push(make("h3", null, "Links out of it"), ...linkRows(run,
		leave.slice(0, 16), i => run.port_names[run.links.port[i]]
			+ " to " + run.sites[run.links.to_site[i]]),
	make("p", null, button("all links", "busiest links",
		() => run.machine.select(null))));
	return out;
}

/* --- heat maps --- */

function heatCards(run) {
	if (!run.load)
		return [];
	return [make("div", { class: "two" }, heatCard(run, "use"),
		heatCard(run, "wanted"))];
}

function heatCard(run, name) {
	const heat = new Heat(run, name, step => setTime(run, step));
	const key = make("span");
	const redraw = () => {
		heat.draw();
		key.replaceChildren(heat.legend());
	};
	const bar = make("div", { class: "bar" }, make("label", null, "show ",
		make("select", { onchange: event => {
			heat.measure = event.target.value;
			redraw();
		} }, make("option", { value: "mean" }, "mean"),
		make("option", { value: "most" }, "busiest"))));

	if (run.nDims)
		bar.append(make("label", null, make("input", { type: "checkbox",
			onchange: event => {
				heat.setSplit(event.target.checked);
				redraw();
			} }), "by position"));
	bar.append(key);
	run.heats.push(heat);
	heat.redraw = redraw;
	return card(name === "use" ? "Load of links over time"
		: "Packets waiting over time", name === "use"
		? "Fraction of time that links are busy, by kind of link."
		: "Packets waiting for a link, in buffers whose first packet "
			+ "may take it or in injection FIFOs, by kind of link.",
	bar, heat.canvas);
}

/* --- curves --- */

/* Buckets of the histogram put together to few that are equally wide. */
function bins(run, n) {
	const l = run.latency, last = l.to.length - 1;

	if (last < 0)
		return null;
	const low = Math.max(1, l.from[0]), high = Math.max(l.to[last] + 1,
		low * 1.2);
	const isLog = high / low > 3;
	const at = isLog ? v => Math.log(v / low) / Math.log(high / low)
		: v => (v - low) / (high - low);
	const back = isLog ? t => low * Math.pow(high / low, t)
		: t => low + t * (high - low);
	const sums = new Float64Array(n);
	let total = 0;

	for (let i = 0; i <= last; i++) {
		const middle = Math.max(low, (l.from[i] + l.to[i]) / 2);

		sums[Math.min(n - 1, Math.floor(at(middle) * n))] += l.count[i];
		total += l.count[i];
	}
	return { sums, total, back, isLog, low, high, n };
}

function histogram(run) {
	const b = bins(run, 48), points = [];

	for (let k = 0; b && k < b.n; k++)
		points.push([b.back(k / b.n), b.sums[k] / b.total],
			[b.back((k + 1) / b.n), b.sums[k] / b.total]);
	return points;
}

function cdf(run) {
	const l = run.latency, points = [];
	const total = l.count.reduce((a, b) => a + b, 0);
	let sum = 0;

	for (let i = 0; i < l.to.length; i++) {
		if (!i)
			points.push([l.from[i], 0]);
		sum += l.count[i];
		if (i % Math.ceil(l.to.length / 400) === 0
			|| i === l.to.length - 1)
			points.push([l.to[i], sum / total]);
	}
	return points;
}

function latencyCards(runs) {
	const some = runs.filter(r => r.latency.count.length);
	const f = runs.length === 1 ? runs[0].figures : {};
	const marks = [["latency_p50_ns", "median"], ["latency_p99_ns", "99 %"]]
		.filter(m => f[m[0]] !== undefined)
		.map(([k, text], line) => ({ x: 1000 * f[k], text, line }));
	const both = (title, sub, make_, yTop) => card(title, sub, chart({
		title, series: some.map((r, i) => ({ name: r.label, colour:
			runs.length > 1 ? thing(i) : undefined, isArea:
			some.length === 1, points: make_(r) })), isLog: true,
		xText: time, yText: v => round(100 * v, 3) + " %", yTop, marks,
		height: 250 }));

	if (!some.length)
		return [];
	return [make("div", { class: "two" }, both("Latency", "Share of "
		+ "packets, on a logarithmic scale of time.", histogram),
	both("Latency, cumulative", "Share of packets with at most this "
		+ "latency.", cdf, 1))];
}

/* Samples put together to at most n steps. */
function courseOf(run, key, n) {
	const c = run.course, points = [];
	const group = Math.ceil(c.to.length / n);

	for (let i = 0; i < c.to.length; i += group) {
		const end = Math.min(c.to.length, i + group) - 1;
		let sum = 0;

		for (let k = i; k <= end; k++)
			sum += c[key][k];
		points.push([(c.from[i] + c.to[end]) / 2,
			sum / (c.to[end] - c.from[i]) * 1e6]);
	}
	return points;
}

/* The mean latency in each step. */
function latencyOverTime(run, n) {
	const packets = courseOf(run, "timed", n);

	return courseOf(run, "latency", n).map(([x, v], i) => [x,
		packets[i][1] ? v / packets[i][1] : NaN]);
}

function courseCards(runs) {
	const some = runs.filter(r => r.course.to.length > 1);
	const isOne = some.length === 1;
	const warm = isOne && some[0].figures.warmup_ns;
	const course = (title, sub, series, yText) => card(title, sub, chart({
		title, series, xText: time, yText, height: 230, marks: warm
			? [{ x: 1000 * warm, text: "measured from here" }]
			: [] }));
	const each = of => some.map((r, i) => ({ name: r.label, colour:
		thing(i), points: of(r) }));

	if (!some.length)
		return null;
	return make("div", { class: "two" }, course("Throughput over time",
		"Packets per microsecond, of the whole machine.", isOne
			? [{ name: "delivered", isArea: true, points: courseOf(
				some[0], "delivered", 100) }, { name:
				"injected", points: courseOf(some[0],
				"injected", 100) }]
			: each(r => courseOf(r, "delivered", 100))),
	course("Latency over time", "Mean latency of packets since "
		+ "their generation.", isOne
		? [{ name: "latency", isArea: true, points: latencyOverTime(
			some[0], 100) }]
		: each(r => latencyOverTime(r, 100)), time));
}
