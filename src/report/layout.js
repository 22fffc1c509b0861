/*
 * Where sites and links stand in the picture of a machine.  A layout has, in
 * units of its own: width, height; sx, sy, sr of sites; x1, y1, x2, y2 of links;
 * labels [{x, y, text}].
 */

function newLayout(run) {
	const sites = run.sites.length, links = run.nLinks;

	return { width: 1, height: 1, unit: 1, labels: [],
		sx: new Float32Array(sites), sy: new Float32Array(sites),
		sr: new Float32Array(sites),
		x1: new Float32Array(links), y1: new Float32Array(links),
		x2: new Float32Array(links), y2: new Float32Array(links) };
}

function layoutOf(run, plane) {
	const numbers = run.sites.map(s => s.match(/^switch (\d+)\.(\d+)$/));
	const groups = run.sites.map(s => s.match(/^switch g(\d+)\.r(\d+)$/));

	if (run.nDims)
		return layTorus(run, plane);
	if (numbers.some(m => m))
		return layTree(run, numbers);
	return layGroups(run, groups);
}

/* --- tori --- */

function coordinate(run, site, dim) {
	return run.place["x" + dim][site];
}

function dimSizes(run) {
	const size = [];

	for (let d = 0; d < run.nDims; d++)
		size.push(1 + run.place["x" + d].reduce(
			(most, x) => Math.max(most, x), 0));
	return size;
}

/* "A+" leads up dimension 0; "x-3" is a parallel link. */
function dimLetters(run) {
	const names = new Set();
	const letters = [];

	for (const p of run.port_names) {
		const m = p.match(/^([A-Za-z])[+-]\d*$/);

		if (m)
			names.add(m[1]);
	}
	letters.push(...[...names].sort());
	while (letters.length < run.nDims)
		letters.push("x" + letters.length);
	return letters;
}

/* The way that a port leads: its dimension and sign, or null. */
function directions(run) {
	const letters = dimLetters(run);

	return run.port_names.map(p => {
		const m = p.match(/^([A-Za-z])([+-])\d*$/);
		const dim = m ? letters.indexOf(m[1]) : -1;

		return dim < 0 || dim >= run.nDims ? null
			: { dim, sign: m[2] === "+" ? 1 : -1 };
	});
}

/* Dimensions outside the plane make more planes, to the right or below, so
 * that the picture is about twice as wide as high. */
function nestDims(run, plane) {
	const size = dimSizes(run);
	const pitch = new Array(run.nDims).fill(0);
	const isDown = new Array(run.nDims).fill(false);
	let w = size[plane[0]], h = plane.length > 1 ? size[plane[1]] : 1;

	pitch[plane[0]] = 1;
	if (plane.length > 1) {
		pitch[plane[1]] = 1;
		isDown[plane[1]] = true;
	}
	for (let d = 0, level = 0; d < run.nDims; d++) {
		if (plane.includes(d))
			continue;
		const right = Math.abs(Math.log(w * size[d] / h / 1.9));
		const down = Math.abs(Math.log(w / (h * size[d]) / 1.9));

		isDown[d] = down < right;
		level++;
		if (isDown[d]) {
			pitch[d] = h + 0.8 + 0.3 * level;
			h = pitch[d] * size[d];
		} else {
			pitch[d] = w + 0.5 + 0.3 * level;
			w = pitch[d] * size[d];
		}
	}
	return { size, pitch, isDown, w, h };
}

function layTorus(run, plane) {
	const l = newLayout(run), nest = nestDims(run, plane);
	const way = directions(run), seen = new Map();

	for (let s = 0; s < run.sites.length; s++) {
		let x = 0.5, y = 0.9;

		for (let d = 0; d < run.nDims; d++) {
			const c = coordinate(run, s, d) * nest.pitch[d];

			if (nest.isDown[d])
				y += c;
			else
				x += c;
		}
		placeSite(run, l, s, x, y, seen);
	}
	l.width = 0.6 + l.sx.reduce((a, b) => Math.max(a, b), 0);
	l.height = 0.6 + l.sy.reduce((a, b) => Math.max(a, b), 0);
	const step = way.map((to, p) => to && stepOf(run, to, p, nest, plane));

	for (let i = 0; i < run.nLinks; i++) {
		const to = step[run.links.port[i]];

		if (to)
			layWay(run, l, i, to);
		else
			layStraight(run, l, i, 0.02);
	}
	if (run.port_names.some(p => /[+-]\d*[1-9]$/.test(p)))
		l.unit = 0.4;
	labelPlanes(run, l, nest, plane);
	return l;
}

/* Nodes of a router stand around it. */
function placeSite(run, l, s, x, y, seen) {
	const isNode = run.place.is_node[s];
	const isAlone = run.place.is_node[run.sites.length - 1];
	const key = x + "," + y, n = seen.get(key) || 0;

	l.sx[s] = x;
	l.sy[s] = y;
	l.sr[s] = 0.14;
	if (isNode && !isAlone) {
		seen.set(key, n + 1);
		l.sx[s] += 0.25 * Math.cos(0.6 + n * 1.2);
		l.sy[s] += 0.25 * Math.sin(0.6 + n * 1.2);
		l.sr[s] = 0.07;
	}
}

/* Parallel links, and the two directions of one, lie beside each other. */
function laneOf(run, port) {
	const m = run.port_names[port].match(/\d+$/);

	return m ? Number(m[0]) : 0;
}

/* What all links of a port have in common. */
function stepOf(run, to, port, nest, plane) {
	const shift = 0.05 + 0.025 * laneOf(run, port);
	let dx, dy, length = 0.84;
	const isInside = plane.includes(to.dim);

	if (isInside) {
		dx = nest.isDown[to.dim] ? 0 : to.sign;
		dy = nest.isDown[to.dim] ? to.sign : 0;
	} else {
		const outside = nest.size.map((_, d) => d)
			.filter(d => !plane.includes(d));
		const k = outside.indexOf(to.dim);
		const angle = Math.PI * (0.17 + 0.16 * (k >> 1))
			* (k % 2 ? -1 : 1) + (k % 2 ? Math.PI : 0);

		dx = to.sign * Math.cos(angle);
		dy = -to.sign * Math.sin(angle);
		length = 0.44;
	}
	return { dx, dy, shift, length, wrapLength: isInside ? 0.48 : length,
		place: run.place["x" + to.dim],
		last: to.sign > 0 ? nest.size[to.dim] - 1 : 0 };
}

function layWay(run, l, i, { dx, dy, shift, length, wrapLength, place, last }) {
	const s = run.links.site[i], from = 0.16;
	const to = place[s] === last ? wrapLength : length;

	l.x1[i] = l.sx[s] + dx * from - dy * shift;
	l.y1[i] = l.sy[s] + dy * from + dx * shift;
	l.x2[i] = l.sx[s] + dx * to - dy * shift;
	l.y2[i] = l.sy[s] + dy * to + dx * shift;
}

function layStraight(run, l, i, shift) {
	const a = run.links.site[i], b = run.links.to_site[i];
	const dx = l.sx[b] - l.sx[a], dy = l.sy[b] - l.sy[a];
	const length = Math.hypot(dx, dy) || 1;
	const ox = -dy / length * shift, oy = dx / length * shift;
	const ra = l.sr[a] / length, rb = l.sr[b] / length;

	l.x1[i] = l.sx[a] + dx * ra + ox;
	l.y1[i] = l.sy[a] + dy * ra + oy;
	l.x2[i] = l.sx[b] - dx * rb + ox;
	l.y2[i] = l.sy[b] - dy * rb + oy;
}

function labelPlanes(run, l, nest, plane) {
	const letters = dimLetters(run);
	const outside = nest.size.map((_, d) => d)
		.filter(d => !plane.includes(d));
	const n = outside.reduce((p, d) => p * nest.size[d], 1);

	for (let k = 0; k < n && outside.length && n <= 512; k++) {
		let rest = k, x = 0.2, y = 0.42;
		const text = [];

		for (const d of outside) {
			const c = rest % nest.size[d];

			rest = Math.floor(rest / nest.size[d]);
			text.push(letters[d] + c);
			if (nest.isDown[d])
				y += c * nest.pitch[d];
			else
				x += c * nest.pitch[d];
		}
		l.labels.push({ x, y, text: text.join(" "), room: 3 });
	}
}

/* --- trees --- */

function layTree(run, numbers) {
	const l = newLayout(run), levels = [];
	const level = numbers.map(m => m ? Number(m[1]) : 0);

	level.forEach((v, s) => {
		levels[v] = levels[v] || [];
		levels[v].push(s);
	});
	l.width = 100;
	l.height = 46;
	levels.forEach((list, v) => {
		const y = l.height - 3 - v * (l.height - 6)
			/ Math.max(1, levels.length - 1);
		const room = (l.width - 7) / list.length;

		list.forEach((s, k) => {
			l.sx[s] = 6 + (k + 0.5) * room;
			l.sy[s] = y;
			l.sr[s] = Math.min(0.75, room * 0.36);
		});
		l.labels.push({ x: 0.5, y: y + 0.4, room: 1, isFirst: true,
			text: v ? "stage " + v : "nodes" });
	});
	l.unit = Math.min(...l.sr) / 0.14;
	for (let i = 0; i < run.nLinks; i++)
		layStraight(run, l, i, Math.min(0.12, l.unit * 0.04));
	return l;
}

/* --- groups of switches, and anything else --- */

function layGroups(run, groups) {
	const l = newLayout(run), members = new Map();

	l.width = 100;
	l.height = 60;
	run.sites.forEach((_, s) => {
		const g = groups[s] ? Number(groups[s][1]) : 0;

		if (!run.place.is_node[s] || run.place.is_node[
			run.sites.length - 1])
			members.set(g, [...(members.get(g) || []), s]);
	});
	const around = [...members.values()];
	const r = around.length < 2 ? 0 : 23;
	const small = around.length < 2 ? 20
		: Math.min(5, r * 2 * Math.sin(Math.PI / around.length) * 0.36);

	around.forEach((list, g) => {
		const turn = 2 * Math.PI * g / around.length - Math.PI / 2;

		list.forEach((s, k) => {
			const own = turn + 2 * Math.PI * k / list.length;

			l.sx[s] = 50 + 1.7 * r * Math.cos(turn)
				+ small * Math.cos(own);
			l.sy[s] = 30 + r * Math.sin(turn)
				+ small * Math.sin(own);
			l.sr[s] = Math.min(0.7, small / list.length * 1.6);
		});
		if (around.length > 1)
			l.labels.push({ x: 50 + 1.7 * r * Math.cos(turn)
				- 0.8, y: 30.4 + r * Math.sin(turn), room: 2,
			isFirst: true, text: "g" + g });
	});
	placeNodes(run, l, small);
	l.unit = 1.6;
	for (let i = 0; i < run.nLinks; i++)
		layStraight(run, l, i, 0.07);
	return l;
}

/* Nodes that have switches stand around theirs. */
function placeNodes(run, l, small) {
	const home = new Map(), nodes = new Map();

	for (let i = 0; i < run.nLinks; i++) {
		const s = run.links.site[i], to = run.links.to_site[i];

		if (run.place.is_node[s] && !run.place.is_node[to]
			&& !home.has(s)) {
			home.set(s, to);
			nodes.set(to, [...(nodes.get(to) || []), s]);
		}
	}
	for (const [to, list] of nodes)
		list.forEach((s, k) => {
			const turn = 2 * Math.PI * (k + 0.5) / list.length;
			const r = Math.max(small * 0.2, l.sr[to] * 1.9);

			l.sx[s] = l.sx[to] + r * Math.cos(turn);
			l.sy[s] = l.sy[to] + r * Math.sin(turn);
			l.sr[s] = l.sr[to] * 0.36;
		});
}
