#include <string.h>

#include "base/name.h"
#include "out/canvas.h"

/* U+FFFE and U+FFFF are characters of UTF-8, but not of XML. */
static bool is_no_character(const char *s, size_t n)
{
	return n == 3 &&
	       (!memcmp(s, "\xef\xbf\xbe", 3) || !memcmp(s, "\xef\xbf\xbf", 3));
}

void canvas_escape(FILE *f, const char *s)
{
	size_t n;

	for (; *s; s += n ? n : 1) {
		n = name_letter(s);
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else if (n && !is_no_character(s, n))
			fwrite(s, 1, n, f);
		else
			fputc('?', f);
	}
}

static int svg_begin(struct canvas *c, struct err *e)
{
	(void)e;
	fprintf(c->stream,
		"<svg xmlns='http://www.w3.org/2000/svg' "
		"viewBox='0 0 %d %g' width='%g' height='%g' "
		"font-family='sans-serif' font-size='%d'>\n"
		"<rect width='100%%' height='100%%' fill='#fff'/>\n",
		CANVAS_WIDTH, c->height, 1.5 * CANVAS_WIDTH, 1.5 * c->height,
		CANVAS_LETTER);
	return 0;
}

static void write_style(FILE *f, const struct canvas_style *s)
{
	fprintf(f, " fill='%s'", s->fill ? s->fill : "none");
	if (s->fill && s->opacity < 1)
		fprintf(f, " fill-opacity='%g'", s->opacity);
	if (s->stroke)
		fprintf(f, " stroke='%s' stroke-width='%g'", s->stroke,
			s->width);
	if (s->dashes)
		fprintf(f, " stroke-dasharray='%d %d'", canvas_dash(s->dashes),
			CANVAS_GAP);
}

static void svg_path(struct canvas *c, const struct canvas_style *s,
	const struct canvas_point *p, size_t n)
{
	fputs("<path", c->stream);
	write_style(c->stream, s);
	fputs(" d='", c->stream);
	for (size_t i = 0; i < n; i++)
		fprintf(c->stream, "%c%.1f %.1f", i ? 'L' : 'M', p[i].x,
			p[i].y);
	fprintf(c->stream, "%s'/>\n", s->fill ? "Z" : "");
}

static void svg_dot(struct canvas *c, const struct canvas_style *s, double x,
	double y, double radius)
{
	fprintf(c->stream, "<circle cx='%.1f' cy='%.1f' r='%g'", x, y, radius);
	write_style(c->stream, s);
	fputs("/>\n", c->stream);
}

static void svg_text(struct canvas *c, double x, double y,
	enum canvas_align align, bool is_upright, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	if (is_upright)
		fprintf(c->stream,
			"<text transform='translate(%.1f %.1f) rotate(-90)'", x,
			y);
	else
		fprintf(c->stream, "<text x='%.1f' y='%.1f'", x, y);
	fprintf(c->stream, " text-anchor='%s'>", anchors[align]);
	canvas_escape(c->stream, text);
	fputs("</text>\n", c->stream);
}

static void svg_end(struct canvas *c, struct err *e)
{
	(void)e;
	fputs("</svg>\n", c->stream);
}

const struct canvas_format canvas_svg = {
	.ending = "svg",
	.file = &out_picture,
	.begin = svg_begin,
	.path = svg_path,
	.dot = svg_dot,
	.text = svg_text,
	.end = svg_end,
};
