/* Load over time, a row for each kind of link. */

/* Rows by direction or stage, or by the place along a direction as well:
 * [{name, links}]. */
function heatRows(run, isSplit) {
	const rows = new Map(), way = run.nDims ? directions(run) : null;
	const letters = run.nDims ? dimLetters(run) : [];

	for (let i = 0; i < run.nLinks; i++) {
		const to = way && way[run.links.port[i]];
		let name = run.wire_names[run.links.wire[i]], key = name;

		if (to) {
			name = letters[to.dim] + (to.sign > 0 ? "+" : "\u2212");
			key = " " + to.dim + (to.sign > 0 ? "a" : "b");
			if (isSplit) {
				const x = coordinate(run, run.links.site[i],
					to.dim);

				name += " at " + x;
				key += String(x).padStart(4, "0");
			}
		}
		if (!rows.has(key))
			rows.set(key, { key, name, links: [] });
		rows.get(key).links.push(i);
	}
	return [...rows.values()].sort((a, b) => !run.nDims ? 0
		: a.key < b.key ? -1 : 1);
}

function fillRows(run, rows, quantity) {
	const q = quantities[quantity], steps = run.load.steps;

	for (const row of rows) {
		row.mean = new Float32Array(steps);
		row.most = new Float32Array(steps);
		for (let t = 0; t < steps; t++) {
			let sum = 0, most = 0;

			for (const i of row.links) {
				const v = q.at(run, i, t);

				sum += v;
				most = Math.max(most, v);
			}
			row.mean[t] = sum / row.links.length;
			row.most[t] = most;
		}
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
		this.rows = heatRows(this.run, isSplit);
		fillRows(this.run, this.rows, this.quantity);
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

		this.rows.forEach((row, k) => {
			const y = k * this.rowHeight;

			g.fillStyle = css("--soft");
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
		[0, 0.25, 0.5, 0.75, 1].forEach((t, i) => {
			g.textAlign = i === 0 ? "left" : i === 4 ? "right"
				: "center";
			g.fillText(t ? time(t * end) : "0", this.left
				+ t * this.width, height - 4);
		});
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
