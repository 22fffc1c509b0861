/* The answer, in words: how long, how close to the peak, what limited it. */

const fullLink = 0.9;

/* The kinds of links that are full on average, and the mean of all links. */
function loadOf(run) {
	const { rows, of } = heatRows(run, false), use = run.links.use;
	const sum = new Float64Array(rows.length);
	let full = 0, whole = 0;

	for (let i = 0; i < run.nLinks; i++) {
		sum[of[i]] += use[i];
		whole += use[i];
		full += use[i] >= fullLink;
	}
	return { rows: rows.map((row, k) => ({ name: row.name, n: row.n,
		mean: sum[k] / row.n })), full, top: run.byLoad[0],
		mean: whole / Math.max(1, run.nLinks) };
}

function listOf(words) {
	return words.length < 2 ? words.join("")
		: words.slice(0, -1).join(", ") + " and "
			+ words[words.length - 1];
}

function sayWhat(run) {
	const m = run.meta;
	const ends = { finished: "and finished", saturated: "and saturated "
		+ "the network: more was offered than it can carry",
	deadlocked: "until it deadlocked", stopped: "until it was stopped",
	stalled: "until it stalled", timeout: "until its time limit",
	failed: "until it failed" };

	return [`On ${m.machine_name} (${m.shape}, ${count(m.nodes)} `
		+ `node${m.nodes === 1 ? "" : "s"}) ${m.workload} ran `
		+ (m.end_ps ? `for ${time(m.end_ps)} ` : "")
		+ `${ends[m.ending] || m.ending}`
		+ (m.error ? ": " + m.error : "") + "."];
}

function sayHowMuch(run) {
	const f = run.figures;
	const out = [];

	if (f.throughput_GBps_per_node !== undefined) {
		out.push(" It delivered ", make("b", null,
			round(f.throughput_GBps_per_node, 4)
				+ " GB/s per node"));
		if (f.fraction_of_peak !== undefined)
			out.push(", ", make("b", null,
				percent(f.fraction_of_peak) + " of the peak"));
		if (f.offered_GBps_per_node !== undefined)
			out.push("; " + round(f.offered_GBps_per_node, 4)
				+ " GB/s were offered");
		out.push(".");
	} else if (f.one_way_ns !== undefined) {
		out.push(" A message took ", make("b", null,
			time(1000 * f.one_way_ns)), " one way.");
	} else if (f.rate_GBps !== undefined) {
		out.push(" It moved ", make("b", null, round(f.rate_GBps, 4)
			+ " GB/s"), ".");
	}
	if (f.latency_mean_ns !== undefined)
		out.push(` Packets took ${time(1000 * f.latency_mean_ns)} on `
			+ `average (median ${time(1000 * f.latency_p50_ns)}, `
			+ `99 % below ${time(1000 * f.latency_p99_ns)}).`);
	return out;
}

/* Whether undelivered packets are left that no figure counts: more was offered
 * than was delivered, or as much as the network took. */
function isOverloaded(run) {
	const f = run.figures, got = f.throughput_GBps_per_node;
	const offered = f.offered_GBps_per_node;

	return run.meta.ending === "saturated" || got !== undefined
		&& (offered === undefined ? f.warmup_ns !== undefined
			: got < 0.9 * offered);
}

/* The share of packets waiting for links that have not left their source, and
 * the kind of links that most packets wait for; null if none wait. */
function queuesOf(run) {
	const { rows, of } = heatRows(run, false), l = run.links;
	const sums = new Float64Array(rows.length);
	const { is_node: isNode } = run.place;
	const isDirect = isNode[isNode.length - 1];
	let all = 0, outside = 0, inside = 0;

	for (let i = 0; i < run.nLinks; i++) {
		sums[of[i]] += l.wanted[i];
		all += l.wanted[i];
		inside += l.waiting[i];
		outside += isNode[l.site[i]] ? l.wanted[i] : 0;
	}
	if (!(all > 0))
		return null;
	if (isDirect) /* nodes forward packets, too */
		outside = Math.max(0, all - inside);
	const most = sums.reduce((a, sum, k) => sum > sums[a] ? k : a, 0);

	return { atSource: outside / all, name: rows[most].name,
		part: sums[most] / all };
}

function sayQueues(run) {
	const q = isOverloaded(run) && run.nLinks ? queuesOf(run) : null;

	return q ? [" Of the packets that wait for a link, ", make("b", null,
		percent(q.atSource) + " are still at their source"), ` and ${
		percent(q.part)} wait for ${q.name} links.`] : [];
}

/* The kind of links, of both directions, that carries far more than the rest:
 * {name, mean, rest}, or null. */
function leader(rows) {
	const top = rows.reduce((a, r) => !a || r.mean > a.mean ? r : a, null);
	const kind = r => r.name.replace(/[+\u2212]$/, "");
	const own = top ? rows.filter(r => kind(r) === kind(top)) : [];
	const others = rows.filter(r => !own.includes(r));
	const mean = list => list.reduce((sum, r) => sum + r.mean * r.n, 0)
		/ list.reduce((sum, r) => sum + r.n, 0);

	return others.length && mean(own) >= 0.5
		&& mean(own) > 1.5 * mean(others)
		? { name: kind(top), mean: mean(own), rest: mean(others) } : null;
}

function sayBusiestKind(rows) {
	const top = rows.reduce((a, r) => r.mean > a.mean ? r : a);

	return ` The ${top.name} links are the busiest kind, `
		+ `${percent(top.mean)} on average.`;
}

function sayWhichLink(run) {
	const load = loadOf(run);
	const full = load.rows.filter(r => r.mean >= fullLink);
	const use = run.links.use[load.top];

	const lead = leader(load.rows);

	if (!run.nLinks)
		return [" It ended before its links were recorded."];
	if (full.length)
		return [" ", make("b", null, `The ${listOf(full.map(
			r => r.name))} links are full`), ` (${percent(
			Math.max(...full.map(r => r.mean)))} busy on average): `
			+ "the network itself is the limit."];
	if (lead)
		return [" ", make("b", null, `The ${lead.name} links are the `
			+ "busiest"), `, ${percent(lead.mean)} on average, while `
			+ `the others are at ${percent(lead.rest)}; the `
			+ "busiest is ", linkButton(run, load.top), ` (${percent(
			use)}).`];
	const kind = isOverloaded(run) ? sayBusiestKind(load.rows) : "";

	if (use >= fullLink && load.full <= run.nLinks / 10)
		return [kind + " ", make("b", null, load.full === 1
			? "One link is the bottleneck" : `${load.full} of `
				+ `${count(run.nLinks)} links are full`),
		load.full === 1 ? ": " : "; the busiest is ",
		linkButton(run, load.top),
		` (to ${run.sites[run.links.to_site[load.top]]}), busy `
			+ `${percent(use)} of the time, while the average link `
			+ `is at ${percent(load.mean)}.`];
	if (use >= fullLink)
		return [`${kind} ${count(load.full)} of ${count(run.nLinks)} links `
			+ "are full; the busiest is ", linkButton(run, load.top),
		` (${percent(use)}).`];
	return [kind + " No link is full: the busiest, ", linkButton(run, load.top),
		`, is busy ${percent(use)} of the time.`];
}

/* Phrases for the time of messages by cause; "in ..." for all others. */
const causePhrases = { "router": "in routers", "wire": "on wires",
	"queue": "in queues", "queue at the card": "in queues at the card",
	"token wait": "waiting for tokens", "link busy":
	"waiting for busy links", "receiver busy": "waiting for the receiver",
	"engine busy": "waiting for an engine", "peers":
	"waiting for other nodes", "retry": "in retransmissions" };

function sayCauses(run) {
	const parts = Object.entries(run.causes || {});
	const total = parts.reduce((sum, p) => sum + p[1], 0);
	const best = parts.sort((a, b) => b[1] - a[1]).slice(0, 2)
		.filter(p => p[1] > 0.2 * total);

	if (!best.length)
		return [];
	return [(isOverloaded(run) ? " Delivered messages" : " Messages")
		+ " spent ", make("b", null, listOf(best.map(([name, ps], i) =>
		percent(ps / total) + (i ? " " : " of their time ")
			+ (causePhrases[name] || "in " + name)))), "."
		+ (isOverloaded(run) ? " Undelivered messages are not "
			+ "included." : "")];
}

/* A link's name that selects it in the picture. */
function linkButton(run, i) {
	const name = linkName(run, i);

	return make("a", { href: "#machine", onclick: event => {
		event.preventDefault();
		if (pages[shown].run !== run)
			show(pages.findIndex(p => p.run === run));
		run.machine.select({ link: i });
		run.machine.canvas.scrollIntoView({ block: "center" });
	} }, name);
}

/* If most packets in the network wait for links of one kind. */
function sayWaiting(run) {
	const b = blockedOf(run);

	if (!b.names.length)
		return [];
	const top = topWanted(b);

	return top.part < 0.5 || top.name === "reception" ? []
		: [" " + sayBlocked(b)];
}

function answer(run) {
	return make("p", { class: "answer" }, ...sayWhat(run),
		...sayRanks(run), ...sayHowMuch(run), ...sayQueues(run),
		...sayWhichLink(run), ...sayWaiting(run), ...sayCauses(run));
}

/* --- the figures as tiles --- */

function tile(name, value, note, part) {
	return make("div", { class: "tile" },
		make("div", { class: "name" }, name),
		make("div", { class: "value" }, value),
		part === undefined ? null : make("div", { class: "meter" },
			make("i", { style: { width: Math.min(100, 100 * part)
				+ "%" } })),
		note ? make("div", { class: "note" }, note) : null);
}

function tiles(run) {
	const f = run.figures, list = [], top = run.byLoad[0];

	if (f.throughput_GBps_per_node !== undefined)
		list.push(tile("Throughput per node", round(
			f.throughput_GBps_per_node, 4) + " GB/s",
		f.fraction_of_peak === undefined ? null : percent(
			f.fraction_of_peak) + " of " + round(
			f.peak_GBps_per_node, 4), f.fraction_of_peak));
	for (const [key, name] of [["one_way_ns", "One way"],
		["latency_mean_ns", "Latency, mean"], ["latency_p50_ns",
			"Latency, median"], ["latency_p99_ns",
			"Latency, 99 %"]])
		if (f[key] !== undefined)
			list.push(tile(name, time(1000 * f[key]),
				key === "latency_p99_ns" ? "longest "
					+ time(1000 * f.latency_max_ns) : null));
	if (run.nLinks)
		list.push(tile("Busiest link", percent(run.links.use[top]),
			linkName(run, top), run.links.use[top]));
	list.push(tile("Simulated", time(run.meta.end_ps || 0), count(
		run.meta.packets || 0) + " packets, " + count(
		run.meta.packet_hops || 0) + " hops"));
	return make("div", { class: "tiles" }, ...list);
}
