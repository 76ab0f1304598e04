/* One run of the link command: what its steps share. */
#ifndef CUBIND_LINK_RUN_H
#define CUBIND_LINK_RUN_H

#include "base/output_file.h"
#include "input/input.h"
#include "link/link.h"
#include "messages.h"
#include "options.h"

/* Results for the caller instead of files; other results are dropped. */
typedef struct cbi_link_capture {
    cbi_ctx *ctx;          /* whose memory they get */
    cbi_span image;        /* of -o; empty for a virtual target */
    cbi_span registration; /* of --register-link-binaries, shared by the links of all targets */
} cbi_link_capture;

/* What the runs for several targets share. */
typedef struct cbi_link_targets {
    cbi_outputs results; /* of all: they come to their places together */
    bool failed;         /* a run has; only its records, and nvlink's leavings, are left */
    bool listed;         /* --register-link-binaries is among them, */
    bool names_runtime;  /* with libcudadevrt in it */
} cbi_link_targets;

typedef struct cbi_link_run {
    cbi_ctx *ctx;
    cbi_command_line line;
    cbi_messages messages;
    bool as_nvlink; /* called by that name */
    bool parsed;    /* the command line is complete */
    bool refused;   /* results would destroy files */
    int argc;
    char *const *argv;

    const char *target;   /* -arch as given */
    const cbi_arch *arch; /* NULL for a virtual target */
    uint32_t sm;          /* number of the target, virtual or not */
    bool lto;
    cbi_map *elsewhere; /* symbol name -> text; built by the first question */

    const char *several;       /* the target, if it is one of several in a run; '%' in results */
    cbi_ctx *files;            /* reads the inputs for all of these, or NULL */
    cbi_link_targets *targets; /* takes over the results, or NULL */
    cbi_link_capture *capture; /* or NULL */

    const char *aside;   /* folder that gets the results instead of their own places, or NULL */
    const char *archive; /* of --repro, also if that was not given */

    cbi_outputs results; /* prepared, put in place at the end of the run */
    cbi_buf time_rows;   /* for the file of -time */
} cbi_link_run;

/* Runs a link as nvlink would, results going into the folder under the long names of their options.
 * With an archive, that is written besides, as by --repro.  Returns the exit code. */
int cbi_link_aside(int argc, char *const *argv, const char *folder, const char *archive);

/* Links once for each of several targets: -arch=sm_80,sm_90 -o out.%.cubin.  What is read is read
 * once.  False if there is only one target.  *ret_code is the exit code. */
bool cbi_link_several(int argc, char *const *argv, int *ret_code);
/* Puts the target's name into the paths of results, if the run is one of several. */
void cbi_name_results(cbi_link_run *run);
/* The run that the members describe, up to its exit code. */
int cbi_link_perform(cbi_link_run *run);
/* Does the command line ask to behave as another linker? */
bool cbi_wants_emulation(int argc, char *const *argv);

/* Where a result goes; NULL if the option was not given. */
const char *cbi_result_path(const cbi_link_run *run, cbi_opt option);

/* Refuses results that would replace each other or what options name; as nvlink, an output that
 * replaces an input is not refused. */
void cbi_check_collisions(cbi_link_run *run);
/* The same for inputs, libraries and members of thin archives, as far as they have been read: then
 * it is known which files they are. */
void cbi_check_read_files(cbi_link_run *run);

/* Prepares the result of an option, if that was given.  What it consists of must stay.  Failure is
 * fatal. */
void cbi_add_result(cbi_link_run *run, cbi_opt option, const cbi_rope *rope);
void cbi_add_result_bytes(cbi_link_run *run, cbi_opt option, const void *data, size_t size);

/* Checks of the options against each other, in nvlink's order.  A conflict is fatal. */
void cbi_check_options(cbi_link_run *run);

/* Says which of the given options change nothing here. */
void cbi_report_idle_options(cbi_link_run *run);

/* -ghls: writes the host linker script.  Failures are fatal. */
void cbi_write_host_script(cbi_link_run *run);

/* The real target that a virtual one stands for, by number and suffix; or the target. */
const cbi_arch *cbi_input_arch(const cbi_link_run *run);

/* Link-time optimization, if there is LTO-IR among the inputs.  True: the output is written.
 * False: a module made of it was added to the inputs, which are to be linked. */
bool cbi_link_lto(cbi_link_run *run, cbi_inputs *collector, const cbi_ptx_options *ptx,
                  cbi_inputs_result *inputs);

/* -time: opens the table, and begins with its head if the file is new.  Failure is fatal. */
void cbi_start_time_table(cbi_link_run *run);

/* -time: appends a row for each run of a compiler. */
void cbi_write_time_rows(cbi_link_run *run, const cbi_inputs_result *inputs);
void cbi_write_time_row(cbi_link_run *run, const cbi_ptx_run *row);

/* --register-link-binaries: the list for the host's start-up code, shared by the links of several
 * targets: a file that already names libcudadevrt is left alone, and so is any file if this link
 * was given libcudadevrt and does not need it.  Of a whole program that the compiler made nvlink
 * lists the last module first, and nothing of PTX. */
void cbi_write_register_file(cbi_link_run *run, const cbi_inputs_result *inputs, bool last_first,
                             bool device_runtime_used);

/* Searches the images for other targets in all inputs; user is the run. */
const char *cbi_find_elsewhere(void *user, const char *symbol);

/* --repro: prepares an archive of what the link has read so far and of the command.  Called at the
 * end of links that failed too.  Failure is fatal. */
void cbi_write_repro(cbi_link_run *run);

/* What became of a result file: a failure is fatal. */
void cbi_check_written(cbi_ctx *ctx, const char *path, cbi_output_result result);
/* Puts results in their places, all of them or none, unless an input has changed.  Failure is
 * fatal. */
void cbi_put_in_place(cbi_ctx *ctx, cbi_outputs *results);

#endif
