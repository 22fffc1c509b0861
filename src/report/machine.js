/* The machine on a canvas: links coloured by load, at one time or over all. */

class Machine {
	constructor(run, onSelect) {
		this.run = run;
		this.onSelect = onSelect;
		this.quantity = "use";
		this.step = -1;
		this.selected = null; /* {link} or {site} */
		this.plane = run.nDims > 1 ? [0, 1] : [0];
		this.canvas = make("canvas", { tabindex: 0, role: "img",
			"aria-label": "the machine; arrow keys move, + and - "
				+ "zoom, 0 shows all" });
		this.picture = document.createElement("canvas");
		this.shade = new Uint8Array(run.nLinks);
		this.order = new Uint32Array(run.nLinks);
		this.listen();
		this.lay();
	}

	lay() {
		this.layout = layoutOf(this.run, this.plane);
		this.view = null;
	}

	/* Pixels of the page; the canvas may have more. */
	resize() {
		const width = this.canvas.clientWidth || 900;
		const l = this.layout;
		const height = Math.max(240, Math.min(620,
			width * l.height / l.width + 8));
		const ratio = window.devicePixelRatio || 1;

		this.canvas.style.height = height + "px";
		this.canvas.width = width * ratio;
		this.canvas.height = height * ratio;
		this.ratio = ratio;
		this.size = [width, height];
		if (!this.view)
			this.fit();
	}

	fit() {
		const l = this.layout, [w, h] = this.size;
		const scale = Math.min((w - 12) / l.width, (h - 8) / l.height);

		this.view = { scale, x: (w - l.width * scale) / 2,
			y: (h - l.height * scale) / 2 };
	}

	zoom(by, x, y) {
		const v = this.view;

		v.x = x - (x - v.x) * by;
		v.y = y - (y - v.y) * by;
		v.scale *= by;
		this.draw();
	}

	/* --- drawing --- */

	/* Links in order of their shade, so that the hottest are on top. */
	sort() {
		const run = this.run, q = quantities[this.quantity];
		const top = q.top(run), first = new Uint32Array(nShades + 1);

		for (let i = 0; i < run.nLinks; i++) {
			this.shade[i] = shadeOf(q.at(run, i, this.step) / top);
			first[this.shade[i] + 1]++;
		}
		for (let k = 0; k < nShades; k++)
			first[k + 1] += first[k];
		this.first = first.slice();
		for (let i = 0; i < run.nLinks; i++)
			this.order[first[this.shade[i]]++] = i;
	}

	/* The picture is kept: what is selected is drawn over it. */
	draw() {
		if (!this.size)
			this.resize();
		this.picture.width = this.canvas.width;
		this.picture.height = this.canvas.height;
		const g = this.picture.getContext("2d"), v = this.view;

		this.sort();
		g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.drawLinks(g, v);
		this.drawSites(g, v);
		this.drawLabels(g, v);
		this.mark();
	}

	mark() {
		const g = this.canvas.getContext("2d");

		g.setTransform(1, 0, 0, 1, 0, 0);
		g.clearRect(0, 0, this.canvas.width, this.canvas.height);
		g.drawImage(this.picture, 0, 0);
		g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.drawSelected(g, this.view);
	}

	drawLinks(g, v) {
		const l = this.layout, table = shades();
		const base = Math.max(0.6, Math.min(3, v.scale * l.unit
			* 0.055));

		g.lineCap = "butt";
		for (let k = 0; k < nShades; k++) {
			if (this.first[k] === this.first[k + 1])
				continue;
			g.beginPath();
			for (let n = this.first[k]; n < this.first[k + 1]; n++) {
				const i = this.order[n];

				g.moveTo(l.x1[i] * v.scale + v.x,
					l.y1[i] * v.scale + v.y);
				g.lineTo(l.x2[i] * v.scale + v.x,
					l.y2[i] * v.scale + v.y);
			}
			g.strokeStyle = table[k];
			g.lineWidth = base * (0.8 + 0.9 * k / nShades);
			g.stroke();
		}
	}

	/* A site has the mean shade of the links that leave it. */
	siteShades() {
		const run = this.run, n = run.sites.length;
		const sum = new Float32Array(n), links = new Uint16Array(n);

		for (let i = 0; i < run.nLinks; i++) {
			sum[run.links.site[i]] += this.shade[i];
			links[run.links.site[i]]++;
		}
		return sum.map((v, s) => links[s] ? Math.round(v / links[s]) : 0);
	}

	drawSites(g, v) {
		const l = this.layout, table = shades();
		const shade = this.siteShades();
		const isSmall = l.sr[0] * v.scale < 1.6;

		g.lineWidth = 1;
		g.strokeStyle = css("--card");
		for (let s = 0; s < shade.length; s++) {
			const x = l.sx[s] * v.scale + v.x;
			const y = l.sy[s] * v.scale + v.y;
			const r = Math.max(0.7, l.sr[s] * v.scale);

			if (x < -r || y < -r || x > this.size[0] + r
				|| y > this.size[1] + r)
				continue;
			g.fillStyle = table[shade[s]];
			if (isSmall) {
				g.fillRect(x - r, y - r, 2 * r, 2 * r);
				continue;
			}
			g.beginPath();
			if (this.run.place.is_node[s])
				g.arc(x, y, r, 0, 7);
			else
				g.rect(x - r, y - r, 2 * r, 2 * r);
			g.fill();
			g.stroke();
		}
	}

	drawLabels(g, v) {
		const isFew = this.layout.labels.some(t => t.isFirst);
		const shade = css("--shade"), soft = css("--soft");

		if (!isFew && v.scale < 11)
			return;

		g.font = (isFew ? 11.5 : Math.max(8, Math.min(12, v.scale
			* 0.38))) + "px system-ui, sans-serif";
		for (const t of this.layout.labels) {
			const x = t.x * v.scale + v.x, y = t.y * v.scale + v.y;
			const width = g.measureText(t.text).width;

			if (!t.isFirst && width > t.room * v.scale)
				continue;
			g.fillStyle = shade;
			if (t.isFirst)
				g.fillRect(x - 2, y - 11, width + 4, 14);
			g.fillStyle = soft;
			g.fillText(t.text, x, y);
		}
	}

	drawSelected(g, v) {
		const l = this.layout, at = this.selected;

		if (!at)
			return;
		g.strokeStyle = css("--accent");
		g.lineWidth = 2;
		g.beginPath();
		if (at.site !== undefined) {
			g.arc(l.sx[at.site] * v.scale + v.x,
				l.sy[at.site] * v.scale + v.y,
				l.sr[at.site] * v.scale + 4, 0, 7);
		} else {
			const [x, y] = this.middle(at.link);
			const dx = (l.x2[at.link] - l.x1[at.link]) * v.scale;
			const dy = (l.y2[at.link] - l.y1[at.link]) * v.scale;

			g.ellipse(x, y, Math.hypot(dx, dy) / 2 + 4, 5,
				Math.atan2(dy, dx), 0, 7);
		}
		g.stroke();
	}

	middle(i) {
		const l = this.layout, v = this.view;

		return [(l.x1[i] + l.x2[i]) / 2 * v.scale + v.x,
			(l.y1[i] + l.y2[i]) / 2 * v.scale + v.y];
	}

	/* --- what is where --- */

	find(x, y) {
		const l = this.layout, v = this.view;
		let best = null, near = 7;

		for (let i = 0; i < this.run.nLinks; i++) {
			const d = distance(x, y, l.x1[i] * v.scale + v.x,
				l.y1[i] * v.scale + v.y, l.x2[i] * v.scale + v.x,
				l.y2[i] * v.scale + v.y);

			if (d < near) {
				near = d;
				best = { link: i };
			}
		}
		for (let s = 0; s < l.sx.length; s++) {
			const d = Math.hypot(x - l.sx[s] * v.scale - v.x,
				y - l.sy[s] * v.scale - v.y)
				- l.sr[s] * v.scale;

			if (d < Math.min(1, near)) {
				near = d;
				best = { site: s };
			}
		}
		return best;
	}

	select(at) {
		this.selected = at;
		this.mark();
		this.onSelect(at);
	}

	listen() {
		const c = this.canvas;
		let drag = null;
		const spot = e => {
			const box = c.getBoundingClientRect();

			return [e.clientX - box.left, e.clientY - box.top];
		};

		c.addEventListener("pointerdown", e => {
			drag = { at: spot(e), from: { ...this.view },
				moved: false };
		});
		c.addEventListener("pointermove", e => {
			const [x, y] = spot(e);

			if (drag && Math.hypot(x - drag.at[0], y - drag.at[1])
				> 4)
				drag.moved = true;
			if (drag && drag.moved) {
				this.view.x = drag.from.x + x - drag.at[0];
				this.view.y = drag.from.y + y - drag.at[1];
				this.draw();
			} else {
				showTip(e, this.describe(this.find(x, y)));
			}
		});
		c.addEventListener("pointerleave", () => {
			drag = null;
			hideTip();
		});
		c.addEventListener("pointerup", () => setTimeout(
			() => { drag = null; }));
		c.addEventListener("click", e => {
			if (!(drag && drag.moved))
				this.select(this.find(...spot(e)));
		});
		c.addEventListener("wheel", e => {
			if (!e.ctrlKey && document.activeElement !== c)
				return;
			e.preventDefault();
			this.zoom(Math.exp(-e.deltaY * 0.002), ...spot(e));
		}, { passive: false });
		c.addEventListener("keydown", e => this.onKey(e));
	}

	onKey(e) {
		const [w, h] = this.size;
		const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0],
			ArrowUp: [0, 60], ArrowDown: [0, -60] };

		if (moves[e.key]) {
			this.view.x += moves[e.key][0];
			this.view.y += moves[e.key][1];
			this.draw();
		} else if (e.key === "+" || e.key === "=") {
			this.zoom(1.3, w / 2, h / 2);
		} else if (e.key === "-") {
			this.zoom(1 / 1.3, w / 2, h / 2);
		} else if (e.key === "0") {
			this.fit();
			this.draw();
		} else {
			return;
		}
		e.preventDefault();
	}

	describe(at) {
		const run = this.run, q = quantities[this.quantity];

		if (!at)
			return "";
		return at.site !== undefined ? run.sites[at.site]
			: linkName(run, at.link) + ": "
				+ q.text(q.at(run, at.link, this.step));
	}
}

/* Of a point from a line between two others. */
function distance(x, y, x1, y1, x2, y2) {
	const dx = x2 - x1, dy = y2 - y1;
	const along = ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1);
	const t = Math.max(0, Math.min(1, along));

	return Math.hypot(x - x1 - t * dx, y - y1 - t * dy);
}
