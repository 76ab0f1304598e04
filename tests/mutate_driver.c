/* Runs stored links and changed copies with one place of the sources changed (mutate_switch.py),
 * each in a process of its own.
 *
 *     driver JOBS
 *
 * JOBS: a job per line, its words apart by tabs: `L FOLDER RESULT,... TRACED WORD...` is a command
 * line of the program beside FOLDER/in, `C FILE NUMBER` is a changed copy.  Commands come from
 * stdin, a line each: `b JOB` prints a digest of what it does and the places that it meets; `k
 * PLACE JOB DIGEST ...` prints the first of these jobs that does something else when this place is
 * changed, or -1. */
#define main changed_main
#include "../tests/fuzz/changed.c"
#undef main

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PLACES = 1 << 16, WORDS = 4096, SECONDS = 2, PATH_BYTES = 4096 };

uint32_t cbi_mutant;
static uint8_t alone[PLACES];
uint8_t *cbi_places_met = alone;

int cbi_tool_main(int argc, char **argv);

typedef struct job {
    char **words;
    int count;
} job;

typedef struct shared {
    uint64_t digest;
    uint8_t met[PLACES];
} shared;

static job *jobs;
static size_t job_count;
static shared *common;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void add_job(const char *line)
{
    char *words[WORDS], *text = strdup(line);
    job j = {.count = 0};
    for (char *w; (w = strsep(&text, "\t")) && j.count < WORDS - 1;)
        words[j.count++] = w;
    words[j.count] = NULL;
    j.words = malloc(((size_t)j.count + 1) * sizeof *words);
    jobs = realloc(jobs, (job_count + 1) * sizeof *jobs);
    if (!jobs || !j.words)
        fail("memory");
    memcpy(j.words, words, ((size_t)j.count + 1) * sizeof *words);
    jobs[job_count++] = j;
}

static void read_jobs(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    if (!f)
        fail(path);
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
        line[n - 1] = 0;
        add_job(line);
    }
    free(line);
    fclose(f);
}

static void redirect(int fd, const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0 || dup2(to, fd) < 0)
        _exit(99);
    close(to);
}

static void run_link(const job *j)
{
    redirect(1, "o");
    redirect(2, "e");
    if (j->words[3][0] == '1') {
        setenv("CUBIND_EDBG", "1", 1);
        setenv("CAN_FINALIZE_DEBUG", "1", 1);
    }
    static char name[] = "cubind";
    char **argv = j->words + 3;
    argv[0] = name;
    exit(cbi_tool_main(j->count - 3, argv));
}

static void run_copy(const job *j)
{
    mutant_seeds seed = {0};
    char *path = j->words[1];
    redirect(1, "o");
    redirect(2, "e");
    mutant_load(&seed, &path, 1);
    common->digest = digest_of_copy(&seed, strtoull(j->words[2], NULL, 0));
    _exit(0);
}

static void run_code(const job *j)
{
    uint64_t first = strtoull(j->words[1], NULL, 0), count = strtoull(j->words[2], NULL, 0);
    redirect(1, "o");
    redirect(2, "e");
    for (uint64_t i = first; i < first + count; i++)
        common->digest = common->digest * 31 + digest_of_code(i);
    _exit(0);
}

static uint64_t digest_of_file(const char *path, uint64_t digest)
{
    static char buffer[1 << 16];
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return digest * 31 + 7;
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        digest = XXH3_64bits_withSeed(buffer, (size_t)n, digest);
    close(fd);
    return digest;
}

static void prepare(const job *j)
{
    char target[PATH_BYTES], list[PATH_BYTES];
    unlink("in");
    if (j->words[0][0] != 'L')
        return;
    snprintf(target, sizeof target, "%s/in", j->words[1]);
    if (symlink(target, "in"))
        fail("symlink");
    snprintf(list, sizeof list, "%s", j->words[2]);
    for (char *rest = list, *w; (w = strsep(&rest, ","));)
        unlink(w);
}

static uint64_t results(const job *j, int status)
{
    uint64_t digest =
        digest_of_file("e", digest_of_file("o", (uint64_t)status * 31 + common->digest));
    char list[PATH_BYTES];
    if (j->words[0][0] != 'L')
        return digest;
    snprintf(list, sizeof list, "%s", j->words[2]);
    for (char *rest = list, *w; (w = strsep(&rest, ","));)
        digest = digest_of_file(w, digest);
    return digest;
}

static uint64_t run_job(const job *j, uint32_t place)
{
    prepare(j);
    common->digest = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (!pid) {
        const struct rlimit memory = {UINT64_C(4) << 30, UINT64_C(4) << 30}, none = {0, 0};
        setrlimit(RLIMIT_AS, &memory);
        setrlimit(RLIMIT_CORE, &none);
        alarm(SECONDS);
        if (!place)
            cbi_places_met = common->met;
        cbi_mutant = place;
        if (j->words[0][0] == 'L')
            run_link(j);
        if (j->words[0][0] == 'S')
            run_code(j);
        run_copy(j);
    }
    int status;
    waitpid(pid, &status, 0);
    return results(j, status);
}

static void base(char *line)
{
    const job *j = &jobs[strtoul(line, NULL, 10)];
    memset(common->met, 0, sizeof common->met);
    uint64_t digest = run_job(j, 0);
    printf("%016llx", (unsigned long long)digest);
    for (size_t i = 0; i < PLACES; i++)
        if (common->met[i])
            printf(" %zu", i);
    printf("\n");
}

static void kill_by(char *line)
{
    uint32_t place = (uint32_t)strtoul(line, &line, 10);
    for (;;) {
        char *end;
        size_t number = strtoul(line, &end, 10);
        if (end == line)
            break;
        uint64_t digest = strtoull(end, &line, 16);
        if (run_job(&jobs[number], place) != digest) {
            printf("%zu\n", number);
            return;
        }
    }
    printf("-1\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED)
        fail("mmap");
    read_jobs(argv[1]);
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 'b')
            base(line + 1);
        else if (line[0] == 'j') {
            add_job(line + 2);
            printf("%zu\n", job_count - 1);
        } else
            kill_by(line + 1);
        fflush(stdout);
    }
    free(line);
    return 0;
}
