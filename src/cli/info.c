#include "cli/cli.h"

int cli_show(int argc, char **argv, struct err *e){(void)argc;(void)argv;return err_set(e,"later");}
int cli_check(int argc, char **argv, struct err *e){(void)argc;(void)argv;return err_set(e,"later");}
int cli_machines(int argc, char **argv, struct err *e){(void)argc;(void)argv;return err_set(e,"later");}
int cli_params(int argc, char **argv, struct err *e){(void)argc;(void)argv;return err_set(e,"later");}
