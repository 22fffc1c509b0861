/* Load over time, a row for each kind of link. */

/*
 * Rows by direction or stage, or by the place along a direction as well:
 * [{name, n}], n links of each, and of[link], the number of its row.  Links
 * are many, kinds of them few, so names are made once for each kind.
 */
function heatRows(run, isSplit) {
	const way = run.nDims ? directions(run) : null, kinds = new Map();
	const letters = run.nDims ? dimLetters(run) : [], rows = new Map();
	const of = new Uint16Array(run.nLinks), l = run.links;

	for (let i = 0; i < run.nLinks; i++) {
		const to = way && way[l.port[i]];
		const place = to && isSplit ? coordinate(run, l.site[i], to.dim)
			: 0;
		const kind = (to ? l.port[i] + 65536 : l.wire[i]) * 65536 + place;
		let row = kinds.get(kind);

		if (!row) {
			const { key, name } = rowName(run, to, letters, l.wire[i],
				isSplit, place);

			row = rows.get(key) || { key, name, n: 0,
				number: rows.size };
			rows.set(key, row);
			kinds.set(kind, row);
		}
		row.n++;
		of[i] = row.number;
	}
	return sortRows([...rows.values()], of, run.nDims > 0);
}

function rowName(run, to, letters, wire, isSplit, place) {
	let name = run.wire_names[wire], key = name;

	if (to) {
		name = letters[to.dim] + (to.sign > 0 ? "+" : "\u2212");
		key = " " + to.dim + (to.sign > 0 ? "a" : "b");
		if (isSplit) {
			name += " at " + place;
			key += String(place).padStart(4, "0");
		}
	}
	return { key, name };
}

function sortRows(rows, of, isSorted) {
	const place = new Uint16Array(rows.length);

	if (isSorted)
		rows.sort((a, b) => a.key < b.key ? -1 : 1);
	rows.forEach((row, k) => {
		place[row.number] = k;
	});
	for (let i = 0; i < of.length; i++)
		of[i] = place[of[i]];
	return { rows, of };
}

/* Step by step, as the numbers lie in memory. */
function fillRows(run, { rows, of }, quantity) {
	const q = quantities[quantity], steps = run.load.steps;
	const list = q.bytes(run), n = run.nLinks;
	const sum = new Float64Array(rows.length);
	const most = new Uint8Array(rows.length);

	for (const row of rows) {
		row.mean = new Float32Array(steps);
		row.most = new Float32Array(steps);
	}
	for (let t = 0, at = 0; t < steps; t++) {
		sum.fill(0);
		most.fill(0);
		for (let i = 0; i < n; i++, at++) {
			const v = list[at], k = of[i];

			sum[k] += q.table[v];
			if (v > most[k])
				most[k] = v;
		}
		rows.forEach((row, k) => {
			row.mean[t] = sum[k] / row.n;
			row.most[t] = q.table[most[k]];
		});
	}
}

class Heat {
	constructor(run, quantity, onTime) {
		this.run = run;
		this.quantity = quantity;
		this.onTime = onTime;
		this.measure = "mean";
		this.step = -1;
		this.canvas = make("canvas", { class: "heat", role: "img",
			"aria-label": quantities[quantity].title
				+ " by kind of link over time" });
		this.setSplit(false);
		this.listen();
	}

	setSplit(isSplit) {
		const all = heatRows(this.run, isSplit);

		fillRows(this.run, all, this.quantity);
		this.rows = all.rows;
		this.rowHeight = this.rows.length > 24 ? 11
			: this.rows.length > 12 ? 17 : 23;
	}

	draw() {
		const width = this.canvas.clientWidth || 560;
		const ratio = window.devicePixelRatio || 1;
		const height = this.rows.length * this.rowHeight + 22;
		const g = this.canvas.getContext("2d");

		this.canvas.style.height = height + "px";
		this.canvas.width = width * ratio;
		this.canvas.height = height * ratio;
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.font = Math.min(12.5, this.rowHeight) + "px system-ui";
		this.left = 10 + Math.max(...this.rows.map(
			r => g.measureText(r.name).width));
		this.width = width - this.left - 8;
		this.drawRows(g);
		this.drawAxis(g, height);
	}

	top() {
		let most = 0.05;

		if (this.quantity === "use")
			return 1;
		for (const row of this.rows)
			most = row[this.measure].reduce(
				(a, b) => Math.max(a, b), most);
		return most;
	}

	drawRows(g) {
		const table = shades(), steps = this.run.load.steps;
		const top = this.top(), cell = this.width / steps;
		const soft = css("--soft");

		this.rows.forEach((row, k) => {
			const y = k * this.rowHeight;

			g.fillStyle = soft;
			g.textAlign = "right";
			g.textBaseline = "middle";
			g.fillText(row.name, this.left - 8,
				y + this.rowHeight / 2);
			for (let t = 0; t < steps; t++) {
				g.fillStyle = table[shadeOf(
					row[this.measure][t] / top)];
				g.fillRect(this.left + t * cell, y, cell + 0.5,
					this.rowHeight - (this.rowHeight > 12
						? 2 : 0.5));
			}
		});
	}

	drawAxis(g, height) {
		const end = this.run.load.end_ps;
		const cell = this.width / this.run.load.steps;

		g.textBaseline = "alphabetic";
		g.fillStyle = css("--soft");
		g.font = "12px system-ui";
		for (const t of this.width < 300 ? [0, 1]
			: [0, 0.25, 0.5, 0.75, 1]) {
			g.textAlign = t === 0 ? "left" : t === 1 ? "right"
				: "center";
			g.fillText(t ? time(t * end) : "0", this.left
				+ t * this.width, height - 4);
		}
		if (this.step >= 0) {
			g.strokeStyle = css("--accent");
			g.lineWidth = 2;
			g.strokeRect(this.left + this.step * cell, 0, cell,
				height - 21);
		}
	}

	legend() {
		const top = this.top();

		return make("span", { class: "legend" }, "0",
			legend("use", this.run).querySelector("canvas"),
			quantities[this.quantity].text(top));
	}

	at(event) {
		const box = this.canvas.getBoundingClientRect();
		const steps = this.run.load.steps;

		return { row: Math.floor((event.clientY - box.top)
			/ this.rowHeight), step: Math.floor((event.clientX
			- box.left - this.left) / this.width * steps) };
	}

	listen() {
		this.canvas.addEventListener("mousemove", event => {
			const { row, step } = this.at(event);
			const r = this.rows[row], q = quantities[this.quantity];

			if (!r || !(step >= 0) || step >= this.run.load.steps)
				return hideTip();
			return showTip(event, r.name + " at " + time((step + 0.5)
				* stepLength(this.run)) + ": " + q.text(
				r.mean[step]) + " on average, at most "
				+ q.text(r.most[step]));
		});
		this.canvas.addEventListener("mouseleave", hideTip);
		this.canvas.addEventListener("click", event => {
			const { step } = this.at(event);

			if (step >= 0 && step < this.run.load.steps)
				this.onTime(step);
		});
	}
}
