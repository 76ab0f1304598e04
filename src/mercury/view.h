/* The Mercury view of an object, and where its parts are on the SASS side. */
#ifndef CBI_MERCURY_VIEW_H
#define CBI_MERCURY_VIEW_H

#include "mercury/operations.h"

/* What nvlink does with the schedule of a function, which may have an earlier one's options. */
typedef enum cbi_schedule {
    CBI_SCHEDULE_KEPT,
    CBI_SCHEDULE_MADE, /* for code without one */
    CBI_SCHEDULE_LOST,
    CBI_SCHEDULE_FOLLOWS, /* another function's return addresses and tables of branches */
} cbi_schedule;

/* Indices are those of the object's section table; the view keeps them. */
typedef struct cbi_mercury_view {
    cbi_object file;     /* the object as read */
    uint32_t *sass;      /* view section -> its SASS partner, 0 = none */
    uint32_t *capsule;   /* text -> capsule, 0 = none */
    uint32_t *info;      /* text -> .nv.info.F of the SASS side */
    uint32_t *own_info;  /* the same, whatever the name */
    uint32_t *constant0; /* text -> .nv.constant0.F */
    uint32_t *constant2; /* text -> .nv.constant2.F */
    uint32_t *like;    /* section -> an earlier one of its name, whose contents it has, 0 = none */
    bool *borrowed;    /* per text: its attributes are those of an earlier function of the name */
    uint8_t *schedule; /* per text: cbi_schedule */
    bool *misplaced;   /* per text: its relocations are that function's */
    cbi_sass_reloc **pairs; /* relocation section -> per entry */
    uint32_t *pair_count;   /* per relocation section */
} cbi_mercury_view;

/* Of the two line tables the one that tells statements of PTX apart. */
static inline bool cbi_is_fine_line_section(const char *name)
{
    return strcmp(name, ".nv_debug_line_sass") == 0;
}

/* Sections with line programs. */
static inline bool cbi_is_line_section(const char *name)
{
    return strcmp(name, ".debug_line") == 0 || cbi_is_fine_line_section(name);
}

#endif
