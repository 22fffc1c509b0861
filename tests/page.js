/* node page.js PAGE...: what pages of reports say, without a browser: their
 * answers, and the titles of their cards in order. */
"use strict";
const fs = require("fs"), vm = require("vm");

class Element {
	constructor(tag) {
		Object.assign(this, { tagName: tag.toUpperCase(), style: {},
			children: [], dataset: {}, attributes: {} });
		this.classList = { add() {}, remove() {}, toggle() {} };
		this.clientWidth = this.clientHeight = 0;
	}
	append(...list) {
		this.children.push(...list);
	}
	replaceChildren(...list) {
		this.children = list;
	}
	setAttribute(name, value) {
		this.attributes[name] = value;
	}
	addEventListener() {}
	getContext() {
		return new Proxy({}, { get: (o, key) => key in o ? o[key]
			: () => ({ width: 0, addColorStop() {} }), set(o, key,
			value) {
			o[key] = value;
			return true;
		} });
	}
	get textContent() {
		return this.text || this.children.map(c => c && c.textContent
			!== undefined ? c.textContent : String(c)).join("");
	}
	set textContent(text) {
		this.text = text;
	}
}

function elements(e, test, list = []) {
	if (test(e))
		list.push(e);
	for (const c of e.children || [])
		if (c)
			elements(c, test, list);
	return list;
}

for (const path of process.argv.slice(2)) {
	const html = fs.readFileSync(path, "utf8");
	const data = html.match(/<script[^>]*id="data">([^]*?)<\/script>/)[1];
	const scripts = html.match(/"use strict";([^]*?)\nstart\(\);/)[1];
	const make = tag => new Element(tag);
	const world = { console, atob, performance, location: { hash: "" },
		navigator: {}, devicePixelRatio: 1, innerWidth: 1280, setTimeout() {},
		addEventListener() {}, matchMedia: () => ({ matches: false,
			addEventListener() {} }), getComputedStyle: () => ({
			getPropertyValue: () => "#000000" }), ResizeObserver:
			class { observe() {} }, document: { createElement: make,
			createElementNS: (ns, tag) => make(tag),
			documentElement: make("html"), body: make("body"),
			addEventListener() {}, getElementById: id =>
				Object.assign(make("div"), id === "data"
					? { text: data } : {}) } };

	world.window = world;
	vm.createContext(world);
	vm.runInContext(scripts + `
for (const run of data.files.filter(f => f.kind === "run"))
	window.say(runPage(run).filter(part => part));`, Object.assign(world, {
		say(parts) {
			const all = new Element("main");

			all.append(...parts);
			for (const e of elements(all, x => x.attributes
				&& x.attributes.class === "answer"))
				console.log("answer: " + e.textContent);
			for (const e of elements(all, x => x.tagName === "H2"))
				console.log("card: " + e.textContent);
		} }));
}
