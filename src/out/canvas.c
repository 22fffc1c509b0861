#include "out/canvas.h"

#include <string.h>

static const struct canvas_format *const formats[] = { &canvas_svg, &canvas_pdf,
	&canvas_png };

const struct canvas_format *canvas_format_of(const char *path, struct err *e)
{
	const char *name = path ? strrchr(path, '/') : NULL, *dot;

	name = name ? name + 1 : path;
	dot = name ? strrchr(name, '.') : NULL;
	if (!dot || !strncmp(path, "/dev/", 5))
		return &canvas_svg;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(dot + 1, formats[i]->ending))
			return formats[i];
	err_set(e, "%s: pictures are .svg, .pdf or .png", path);
	return NULL;
}

int canvas_dash(unsigned kind)
{
	static const int lengths[] = { 6, 2, 12 };

	return kind ? lengths[(kind - 1) % 3] : 0;
}
