/* Where the time of messages and packets went, and what they waited for. */

/* --- what packets wait for --- */

/* "A+" and "A+3" are links in dimension A. */
function wayName(run, name) {
	const m = run.nDims && name.match(/^([A-Za-z])([+-])\d*$/);

	return m ? m[1] : name.replace(/ ?\d+$/, "");
}

/* {names, wants, at: Map of "came\nwants" to packets, sums of came} */
function blockedOf(run) {
	const at = new Map(), sums = new Map(), wants = new Set();

	for (const [came, wanted, packets] of run.blocked) {
		const from = wayName(run, came), to = wayName(run, wanted);
		const key = from + "\n" + to;

		at.set(key, (at.get(key) || 0) + packets);
		sums.set(from, (sums.get(from) || 0) + packets);
		wants.add(to);
	}
	const names = [...sums.keys()].sort();

	return { names, at, sums, wants: [...names.filter(n => wants.has(n)),
		...[...wants].filter(n => !sums.has(n)).sort()] };
}

function blockedRow(b, from) {
	const table = shades(), sum = b.sums.get(from);

	return make("tr", null, make("th", null, from), ...b.wants.map(to => {
		const part = (b.at.get(from + "\n" + to) || 0) / sum;
		const k = shadeOf(part);

		return make("td", { style: { background: table[k], color:
			(k > nShades * 0.45) === isDark() ? "#111" : k
				> nShades * 0.45 ? "#fff" : css("--ink") } },
		part ? percent(part) : "");
	}), make("td", null, round(sum, 4)));
}

/* The links that most packets in the network wait for: {name, part, others},
 * where others are links whose buffers these packets also block. */
function topWanted(b) {
	const sums = b.wants.map(to => [to, b.names.reduce((sum, from) => sum
		+ (b.at.get(from + "\n" + to) || 0), 0)]);
	const all = sums.reduce((sum, s) => sum + s[1], 0);
	const [name, most] = sums.sort((x, y) => y[1] - x[1])[0];

	return { name, part: most / all, others: b.names.filter(n => n !== name
		&& (b.at.get(n + "\n" + name) || 0) > 0.4 * b.sums.get(n)) };
}

/* "A and B links, links up and links of nodes" */
function linksOf(names) {
	const special = { up: "links up", down: "links down",
		link: "links of nodes" };
	const plain = names.filter(n => !special[n]);

	return listOf([...plain.length ? [listOf(plain) + " links"] : [],
		...names.filter(n => special[n]).map(n => special[n])]);
}

function sayBlocked(b) {
	const top = topWanted(b);

	return top.name === "reception"
		? "Most packets in the network are waiting to be received."
		: `${percent(top.part)} of the packets in the network are `
			+ `waiting for ${linksOf([top.name])}`
			+ (top.others.length ? "; they also block buffers of "
				+ linksOf(top.others) : "") + ".";
}

function blockedCard(run) {
	const b = blockedOf(run);

	if (!b.names.length)
		return null;
	return card("Links that packets wait for", "Packets at the head of a buffer: "
		+ "the link they arrived on (rows) and the link they wait for "
		+ "(columns). " + sayBlocked(b), make("div", { class: "scroll" },
		make("table", { class: "matrix", id: "blocked" }, make("tr",
			null, make("th", null, "arrived on"), ...b.wants.map(w =>
				make("th", null, w)), make("th", null,
				"packets")), ...b.names.map(n => blockedRow(b,
			n)))));
}

/* --- the budget --- */

function classBars(run) {
	const names = ["the fast half", "the slow half", "the slowest 1 %"];
	const rows = names.map((name, k) => {
		const parts = run.classes.filter(c => c.class === k);

		return { name, parts: parts.map(c =>
			[run.cause_names[c.cause] || c.cause, c.ps]),
			total: parts.reduce((sum, c) => sum + c.ps, 0) };
	}).filter(r => r.total > 0);

	return make("table", null, ...rows.map(r => make("tr", null,
		make("td", null, r.name), make("td", { class: "number" },
			time(r.total)), make("td", { style: { width: "60%" } },
			stack(r.parts, r.total)))));
}

function causeKeys(parts) {
	return make("ul", { class: "keys" }, ...parts.map(([name]) =>
		make("li", null, make("i", { style: { background:
			causeColour(name) } }), name)));
}

/* Classes of messages: [{name, n, parts}]. */
function kindsOf(run) {
	const kinds = new Map();

	for (const [name, n, cause, ps] of run.kinds) {
		if (!kinds.has(name))
			kinds.set(name, { name, n, parts: [] });
		kinds.get(name).parts.push([run.cause_names[cause], ps]);
	}
	return [...kinds.values()];
}

/* Of all messages, or of a class of them. */
function waterfallCard(run, all) {
	const kinds = kindsOf(run);
	const n = kinds.reduce((sum, k) => sum + k.n, 0);
	const list = [{ name: "all messages", n, parts: all }, ...kinds.length
		> 1 ? kinds : []];
	const place = make("div");
	const draw = i => place.replaceChildren(make("p", { class: "sub" },
		`The average of ${count(list[i].n)} messages.`), waterfall(
		list[i].parts, Math.max(1, list[i].n)));

	draw(0);
	return card("Where the time went", null, list.length < 2 ? null
		: make("div", { class: "bar" }, make("select", { id: "kinds",
			onchange: e => draw(e.target.value) }, ...list.map(
			(k, i) => make("option", { value: i }, k.name)))),
	place);
}

function budgetCards(run) {
	const parts = Object.entries(run.causes || {});

	if (!parts.length)
		return [card("Where the time went", "This run was recorded "
			+ "without --budget, which charges every picosecond of "
			+ "a message to a cause.")];
	return [make("div", { class: "two" }, waterfallCard(run, parts),
		card("Fast and slow messages", "Where their time went.",
			classBars(run), causeKeys(parts))),
	run.slowest.length ? card("The slowest messages", "Click one to see "
		+ "its hops.", make("div", { class: "scroll" }, slowTable(run)))
		: null];
}

/* --- the slowest messages, hop by hop --- */

function slowTable(run) {
	const head = ["message", "from", "to", "began", "took", "spent on"];
	const slow = run.slowest, most = slow[0].end_ps - slow[0].start_ps;

	return make("table", { id: "slowest" }, make("tr", null, ...head.map(
		h => make("th", null, h))), ...slow.map(m => slowRow(run, m,
		most)));
}

function slowRow(run, m, most) {
	const took = m.end_ps - m.start_ps;
	const isShown = () => row.nextSibling
		&& row.nextSibling.className === "way";
	const row = make("tr", { onclick: () => {
		if (isShown()) {
			row.nextSibling.remove();
			row.className = "";
		} else if (m.hops.length) {
			row.after(make("tr", { class: "way" }, make("td", {
				colspan: 6 }, hopTable(run, m))));
			row.className = "open";
		}
	} }, make("td", null, m.hops.length ? button("\u25b8 " + m.node + "."
		+ m.number, "its way", () => {}) : m.node + "." + m.number),
	make("td", null, siteButton(run, m.node)), make("td", null,
		siteButton(run, m.to_node)), make("td", null,
		time(m.start_ps)), make("td", null, time(took)), make("td", {
		style: { width: "45%" } }, make("div", { style: { width: 100
		* took / most + "%" } }, stack(Object.entries(m.causes),
		took))));

	return row;
}

/* Where a message was, from when to when, and why. */
function hopTable(run, m) {
	const whole = m.end_ps - m.start_ps;

	return make("table", { class: "hops" }, ...m.hops.map(
		([from, to, cause, site, what, link, channel]) => {
			const name = run.cause_names[cause];
			const port = link === null ? "" : " " + run.port_names[
				run.links.port[link]];
			const part = v => 100 * v / whole + "%";

			return make("tr", null, make("td", null, run.sites[site]
				+ ", " + what + port + (channel ? ", " + channel
				: "")), make("td", { class: "number" },
				time(from - m.start_ps)), make("td", { class:
				"number" }, "+" + time(to - from)), make("td",
				null, name), make("td", { style: { width:
				"36%" } }, make("div", { class: "stack" },
				make("i", { style: { width: part(from
					- m.start_ps) } }), make("i", { style: {
					width: part(to - from), background:
						causeColour(name) } }))));
		}));
}
