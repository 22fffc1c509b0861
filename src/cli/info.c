#include "cli/cli.h"

int cli_check(int argc, char **argv, struct err *e){(void)argc;(void)argv;return err_set(e,"later");}
