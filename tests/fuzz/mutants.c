/* Runs changed copies of sound files through the fuzz targets, without a fuzzer: what changes knows
 * the format.  Two objects of a link disagree about a name, containers lie in containers, records
 * of attributes, notes, call graphs and capsules get other sizes, sections other headers.
 *
 *     mutants [-n COUNT] [-s SEED] [-t TARGET] [-o FOLDER] [-1 NUMBER] FILE...
 *
 * Input NUMBER depends on seed, number and files alone; what ends badly is written to FOLDER (.).
 * Children run the inputs; one that dies, or needs more than 5 seconds of processor time or 4 GiB,
 * is a find.  Prints a line per target and `N passed, N failed`. */
#include "fuzz.h"
#include "mutants.h"

#include "base/sanitize.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 5, SECONDS_OF_WAITING = 60, MAX_FINDS = 100 };

#define MAX_MEMORY ((rlim_t)4 << 30)

typedef struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
    mutant_kind kind;
} target;

#define TARGET(name, kind)                                                                         \
    {                                                                                              \
#name, fuzz_##name, kind                                                                   \
    }
static const target targets[] = {
    TARGET(check, MUTANT_OBJECT),     TARGET(container, MUTANT_CONTAINER),
    TARGET(diff, MUTANT_PAIR),        TARGET(dump, MUTANT_OBJECT),
    TARGET(finalize, MUTANT_OBJECT),  TARGET(input, MUTANT_CONTAINER),
    TARGET(link, MUTANT_PAIR),        TARGET(object, MUTANT_OBJECT),
    TARGET(report, MUTANT_PAIR),      TARGET(size, MUTANT_OBJECT),
    TARGET(slices, MUTANT_CONTAINER),
};

/* Written by the child, read by the parent. */
typedef struct progress {
    uint64_t number;
    uint64_t done[CBI_COUNT(targets)];
} progress;

typedef struct suite {
    uint64_t seed, count;
    const char *folder;
    size_t first, last; /* targets */
    mutant_seeds seeds;
    volatile progress *at;
    uint64_t finds[CBI_COUNT(targets)];
} suite;

static size_t target_of(const suite *s, uint64_t number)
{
    return s->first + number % (s->last - s->first);
}

/* A block of its own, so that a sanitizer sees every byte past the end. */
static uint8_t *make(const suite *s, uint64_t number, size_t *ret_size)
{
    return mutant_make(&s->seeds, s->seed, number, targets[target_of(s, number)].kind, ret_size);
}

static void run_child(const suite *s, uint64_t from)
{
    if (!CBI_SANITIZES_ADDRESSES)
        setrlimit(RLIMIT_AS, &(struct rlimit){MAX_MEMORY, MAX_MEMORY});
    for (uint64_t number = from; number < s->count; number++) {
        size_t which = target_of(s, number), size;
        s->at->number = number;
        uint8_t *data = make(s, number, &size);
        targets[which].run(data, size);
        free(data);
        s->at->done[which]++;
    }
}

/* Time by CLOCK since its start, in seconds; 0 if it is not there. */
static time_t seconds(clockid_t clock)
{
    struct timespec now = {0};
    return clock_gettime(clock, &now) == 0 ? now.tv_sec : 0;
}

/* False: it was stopped.  Its own time counts, as other programs may keep the processors; who
 * waits for something else for much longer is a find, too. */
static bool watch(const suite *s, pid_t child, int *ret_status)
{
    uint64_t last = UINT64_MAX;
    clockid_t own;
    if (clock_getcpuclockid(child, &own) != 0)
        own = CLOCK_MONOTONIC;
    time_t since = 0, since_own = 0;
    for (;;) {
        if (waitpid(child, ret_status, WNOHANG) == child)
            return true;
        if (s->at->number != last) {
            last = s->at->number;
            since = seconds(CLOCK_MONOTONIC);
            since_own = seconds(own);
        }
        if (seconds(own) - since_own > SECONDS ||
            seconds(CLOCK_MONOTONIC) - since > SECONDS_OF_WAITING) {
            kill(child, SIGKILL);
            waitpid(child, ret_status, 0);
            return false;
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

static void keep(suite *s, const char *why)
{
    uint64_t number = s->at->number;
    const target *t = &targets[target_of(s, number)];
    size_t size;
    uint8_t *data = make(s, number, &size);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%llu-%llu", s->folder, t->name, (unsigned long long)s->seed,
             (unsigned long long)number);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size)
        fprintf(stderr, "cannot write %s\n", path);
    if (f)
        fclose(f);
    free(data);
    printf("FAIL %s: %s: %s\n", t->name, why, path);
    fflush(stdout);
    s->finds[target_of(s, number)]++;
}

static void run_all(suite *s)
{
    size_t finds = 0;
    for (uint64_t from = 0; from < s->count && finds < MAX_FINDS;) {
        s->at->number = from;
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            exit(2);
        }
        if (child == 0) {
            run_child(s, from);
            exit(0);
        }
        int status;
        bool in_time = watch(s, child, &status);
        if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return;
        char why[64];
        snprintf(why, sizeof why, "exit status 0x%x", status);
        keep(s, in_time ? why : "more than 5 seconds");
        finds++;
        from = s->at->number + 1;
    }
}

static int report(const suite *s)
{
    uint64_t passed = 0, failed = 0;
    for (size_t i = s->first; i < s->last; i++) {
        printf("%-10s %10llu inputs, %llu finds\n", targets[i].name,
               (unsigned long long)s->at->done[i], (unsigned long long)s->finds[i]);
        passed += s->at->done[i];
        failed += s->finds[i];
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed,
           (unsigned long long)failed);
    return failed != 0;
}

static size_t find_target(const char *name)
{
    for (size_t i = 0; i < CBI_COUNT(targets); i++)
        if (strcmp(targets[i].name, name) == 0)
            return i;
    fprintf(stderr, "there is no target %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    suite s = {.seed = 1, .count = 20000, .folder = ".", .last = CBI_COUNT(targets)};
    uint64_t only = UINT64_MAX;
    for (int option; (option = getopt(argc, argv, "n:s:t:o:1:")) != -1;)
        switch (option) {
        case 'n':
            s.count = strtoull(optarg, NULL, 0);
            break;
        case 's':
            s.seed = strtoull(optarg, NULL, 0);
            break;
        case 't':
            s.first = find_target(optarg);
            s.last = s.first + 1;
            break;
        case 'o':
            s.folder = optarg;
            break;
        case '1':
            only = strtoull(optarg, NULL, 0);
            break;
        default:
            return 2;
        }
    mutant_load(&s.seeds, argv + optind, argc - optind);
    s.at = mmap(NULL, sizeof *s.at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.at == MAP_FAILED || !s.seeds.count) {
        fprintf(stderr, "no files to change\n");
        return 2;
    }
    int failed = 0;
    if (only != UINT64_MAX) {
        s.at->number = only;
        keep(&s, "written");
    } else {
        run_all(&s);
        failed = report(&s);
    }
    mutant_unload(&s.seeds);
    return failed;
}
