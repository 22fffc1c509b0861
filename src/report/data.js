/* What the file holds, as typed arrays; and how numbers read. */

const data = JSON.parse(document.getElementById("data").textContent);

function bytesOf(text) {
	const s = atob(text);
	const b = new Uint8Array(s.length);

	for (let i = 0; i < s.length; i++)
		b[i] = s.charCodeAt(i);
	return b;
}

const types = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array,
	f32: Float32Array, f64: Float64Array };

/* [type, text], or [type, text of one, how many] where all are the same. */
function column([type, text, n]) {
	const list = new types[type](bytesOf(text).buffer);

	return n ? new types[type](n).fill(list[0]) : list;
}

/* Those of an object; what is no column stays as it is. */
function columns(from) {
	return Object.fromEntries(Object.entries(from).map(([name, value]) =>
		[name, Array.isArray(value) ? column(value) : value]));
}

/* A run, its arrays unpacked when it is first looked at. */
function unpack(run) {
	if (run.isUnpacked || run.kind !== "run")
		return run;
	run.isUnpacked = true;
	for (const name of ["latency", "course", "place", "links", "channels",
		"calls", "ranks", "pairs"])
		run[name] = columns(run[name]);
	run.nLinks = run.links.site.length;
	if (run.load) {
		for (const name of ["use", "waiting", "wanted"])
			run.load[name] = column(run.load[name]);
		for (const name of ["token_wait", "retries"])
			if (run.load[name])
				run.load[name] = columns(run.load[name]);
		run.load.channels = run.load.channels.map(columns);
	}
	run.byLoad = busiest(run.links.use, 16);
	run.nDims = countDims(run);
	return run;
}

/* The first few links in order of their load. */
function busiest(use, n) {
	const list = [];

	for (let i = 0; i < use.length; i++) {
		let k = list.length;

		if (k === n && use[i] <= use[list[k - 1]])
			continue;
		while (k && use[list[k - 1]] < use[i])
			k--;
		list.splice(k, 0, i);
		list.length = Math.min(list.length, n);
	}
	return list;
}

function countDims(run) {
	let n = 0;

	while (n < 6 && run.sites.length && run.place["x" + n][0] >= 0)
		n++;
	return n;
}

/* Of a link at a step of time, or over the whole run where that is -1. */
function useAt(run, link, step) {
	return step < 0 ? run.links.use[link]
		: run.load.use[step * run.nLinks + link] / 255;
}

const waitingTable = Float32Array.from({ length: 256 },
	(_, i) => (Math.pow(2, i * 16 / 255) - 1) / data.scales.waiting);

function waitingAt(run, link, step) {
	return step < 0 ? run.links.waiting[link]
		: waitingTable[run.load.waiting[step * run.nLinks + link]];
}

/* Packets that wait for a link, wherever they are. */
function wantedAt(run, link, step) {
	return step < 0 ? run.links.wanted[link]
		: waitingTable[run.load.wanted[step * run.nLinks + link]];
}

/* Token waits or retries of a link, which few have: of each step, or null. */
function rareOf(run, name, link) {
	const of = run.load[name], steps = run.load.steps;
	const k = of ? of.links.indexOf(link) : -1;

	return k < 0 ? null : Array.from(of[name].subarray(k * steps,
		(k + 1) * steps), v => Math.pow(2, v * 16 / 255) - 1);
}

/* The channels of a link that used several: of each the bytes of its steps. */
function channelsOf(run, link) {
	const steps = run.load.steps, out = [];

	for (const c of run.load.channels) {
		const k = c.links.indexOf(link);

		if (k >= 0)
			out.push({ name: c.channel, use: c.use.subarray(
				k * steps, (k + 1) * steps), waiting:
				c.waiting.subarray(k * steps, (k + 1) * steps) });
	}
	return out.length > 1 ? out : [];
}

const useTable = Float32Array.from({ length: 256 }, (_, i) => i / 255);

const quantities = {
	use: { title: "load", at: useAt, top: () => 1, table: useTable,
		bytes: run => run.load.use, text: v => percent(v) },
	wanted: { title: "packets waiting for it", at: wantedAt,
		top: run => topOf(run, "wanted"), table: waitingTable,
		bytes: run => run.load.wanted,
		text: v => round(v, 3) + " packets" },
	waiting: { title: "packets at its receiving end", at: waitingAt,
		top: run => topOf(run, "waiting"), table: waitingTable,
		bytes: run => run.load.waiting,
		text: v => round(v, 3) + " packets" },
};

/* The longest queue that the scale shows. */
function topOf(run, name) {
	const key = "top_" + name;

	if (run[key] === undefined) {
		let most = 0.1;

		for (let i = 0; i < run.nLinks; i++)
			most = Math.max(most, run.links[name][i]);
		let byte = 0;

		for (const v of run.load ? run.load[name] : [])
			if (v > byte)
				byte = v;
		run[key] = Math.max(most, waitingTable[byte]);
	}
	return run[key];
}

function stepLength(run) {
	return run.load.end_ps / run.load.steps;
}

/* "node 5 (1,1,0) B+" */
function linkName(run, i) {
	const port = run.port_names[run.links.port[i]];
	const site = run.sites[run.links.site[i]];

	return port === "link" ? site + ", its link" : site + ", " + port;
}

/* --- numbers --- */

function round(v, digits) {
	if (!isFinite(v))
		return "-";
	if (v !== 0 && (Math.abs(v) >= 1e6 || Math.abs(v) < 1e-3))
		return v.toExponential(digits - 1);
	return String(Number(v.toPrecision(digits)));
}

function percent(v) {
	return (100 * v).toFixed(v > 0.9995 || v === 0 ? 0 : 1)
		+ "\u00a0%";
}

function time(ps) {
	const units = [[1e12, "s"], [1e9, "ms"], [1e6, "\u00b5s"], [1e3, "ns"]];

	for (const [size, name] of units)
		if (Math.abs(ps) >= size * 0.99999)
			return round(ps / size, 4) + "\u00a0" + name;
	return ps ? round(ps, 4) + "\u00a0ps" : "0";
}

function count(n) {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function size(bytes) {
	const units = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

	for (const [by, name] of units)
		if (bytes >= by)
			return round(bytes / by, 4) + " " + name;
	return bytes + " B";
}

/* "throughput_GBps_per_node": a title, and its unit. */
function figureTitle(name) {
	return name.replace(/_per_Gbps$/, " per Gb/s")
		.replace(/_GBps_per_node$/, ", GB/s per node")
		.replace(/_GBps$/, ", GB/s").replace(/_MBps$/, ", MB/s")
		.replace(/_Mps$/, ", million per s").replace(/_ns$/, ", ns")
		.replace(/_pct$/, ", %").replace(/_/g, " ");
}

/* --- elements --- */

function make(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const name in attributes || {}) {
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), attributes[name]);
		else if (name === "style")
			Object.assign(e.style, attributes.style);
		else
			e.setAttribute(name, attributes[name]);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}

/* Tables may be wider than the window, so they scroll on their own. */
function card(title, sub, ...children) {
	return make("section", { class: "card" }, make("h2", null, title),
		sub ? make("p", { class: "sub" }, sub) : null,
		...children.map(c => c && c.tagName === "TABLE"
			? make("div", { class: "scroll" }, c) : c));
}

/* Charts are drawn for small screens, where they would be scaled down until
 * nobody can read them. */
function isNarrow() {
	return innerWidth < 600;
}

const tip = make("div", { class: "tip", role: "status" });

function showTip(event, text) {
	tip.textContent = text;
	tip.style.display = text ? "block" : "none";
	tip.style.left = Math.min(event.clientX + 14,
		innerWidth - tip.offsetWidth - 8) + "px";
	tip.style.top = Math.min(event.clientY + 14,
		innerHeight - tip.offsetHeight - 8) + "px";
}

function hideTip() {
	tip.style.display = "none";
}
