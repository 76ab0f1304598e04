/* The subcommands.  Each takes its own argv (argv[0] = its name) and returns the exit code. */
#ifndef CUBIND_TOOLS_H
#define CUBIND_TOOLS_H

int cbi_tool_link(int argc, char **argv);
int cbi_tool_dump(int argc, char **argv);
int cbi_tool_extract(int argc, char **argv);
int cbi_tool_diff(int argc, char **argv);
int cbi_tool_check(int argc, char **argv);
int cbi_tool_finalize(int argc, char **argv);

#endif
