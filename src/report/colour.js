/* Colours: of load, whose lightness alone says how much, for any eye and in
 * grey; and of things, which most people can tell apart (Okabe and Ito). */

const ramps = {
	light: ["#dfe3e8", "#f3d98c", "#f2a33c", "#d9532c", "#8f1d24",
		"#4a0a1c"],
	dark: ["#2b3446", "#4f3d75", "#96407a", "#d9594f", "#f59f45",
		"#ffef9e"],
};
const things = {
	light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
		"#56b4e9", "#5b5b5b", "#999933", "#882255", "#332288",
		"#44aa99", "#aa4466", "#117733"],
	dark: ["#4ea8de", "#f08a4b", "#35c79a", "#dd9cc0", "#f2c14e",
		"#9ad4f5", "#b0b0b0", "#c4c46a", "#cf6a9b", "#8f86e0",
		"#7ad0c3", "#e08aa0", "#6cc287"],
};
const nShades = 32;

function isDark() {
	return document.documentElement.dataset.theme === "dark";
}

function channel(colour, i) {
	return parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
}

function shadesOf(ramp) {
	return Array.from({ length: nShades }, (_, k) => {
		const at = k / (nShades - 1) * (ramp.length - 1);
		const i = Math.min(Math.floor(at), ramp.length - 2);
		const mix = c => Math.round(channel(ramp[i], c) * (i + 1 - at)
			+ channel(ramp[i + 1], c) * (at - i));

		return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
	});
}

const shadeTables = { light: shadesOf(ramps.light),
	dark: shadesOf(ramps.dark) };

function shades() {
	return shadeTables[isDark() ? "dark" : "light"];
}

/* The number of the shade of a part of the scale. */
function shadeOf(part) {
	return Math.max(0, Math.min(nShades - 1,
		Math.round(part * (nShades - 1))));
}

function thing(i) {
	const list = things[isDark() ? "dark" : "light"];

	return list[i % list.length];
}

/* Causes have the same colour everywhere; waiting is warm, work is cool. */
const causeOrder = ["wire", "token wait", "serialisation", "engine busy",
	"queue", "router", "completion", "retry", "translation",
	"descriptor fetch", "memory read", "arbitration", "memory write",
	"software", "packetisation", "peers", "receiver busy",
	"queue at the card", "link busy", "card input"];

function causeColour(name) {
	const i = causeOrder.indexOf(name);

	return thing(i < 0 ? 6 : i);
}

function css(name) {
	return getComputedStyle(document.documentElement)
		.getPropertyValue(name).trim();
}

function legend(quantity, run) {
	const c = make("canvas", { width: 150, height: 10 });
	const g = c.getContext("2d");
	const top = quantities[quantity].top(run);

	shades().forEach((shade, i) => {
		g.fillStyle = shade;
		g.fillRect(i * 150 / nShades, 0, 150 / nShades + 1, 10);
	});
	return make("span", { class: "legend" }, "0", c,
		quantities[quantity].text(top));
}
