/* Functions and variables that code may name though no input defines them. */
#ifndef CBI_DRIVER_H
#define CBI_DRIVER_H

#include <stdbool.h>

/* Does the driver supply a function of this name when it loads the program? */
bool cbi_driver_supplies(const char *name);
/* The same for a variable. */
bool cbi_driver_supplies_variable(const char *name);

#endif
