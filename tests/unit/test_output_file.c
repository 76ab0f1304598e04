/* Result files: all or nothing, mode and links kept, nothing left beside them. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"

static char folder[512];

static const char *in_folder(const char *name)
{
    static char paths[4][1024];
    static int at;
    at = (at + 1) % 4;
    snprintf(paths[at], sizeof paths[at], "%s/%s", folder, name);
    return paths[at];
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/unit-output-XXXXXX", base ? base : ".");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
            remove(in_folder(e->d_name));
    closedir(d);
    return rmdir(folder);
}

static int count_files(void)
{
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return count;
}

static void expect_content(const char *path, const char *text)
{
    cbi_span got = unit_read_file(path);
    assert_int_equal(got.size, strlen(text));
    assert_memory_equal(got.data, text, got.size);
    free((void *)got.data);
}

static void new_files_follow_the_mask(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    assert_int_equal(cbi_write_output(in_folder("new"), "one", 3), CBI_OUTPUT_OK);
    umask(mask);
    expect_content(in_folder("new"), "one");
    struct stat st;
    assert_int_equal(stat(in_folder("new"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(count_files(), 1);
}

static void old_files_keep_their_mode(void **state)
{
    (void)state;
    assert_int_equal(chmod(in_folder("new"), 0600), 0);
    assert_int_equal(cbi_write_output(in_folder("new"), "second", 6), CBI_OUTPUT_OK);
    expect_content(in_folder("new"), "second");
    struct stat st;
    assert_int_equal(stat(in_folder("new"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(count_files(), 1);
}

static void links_stay_links(void **state)
{
    (void)state;
    assert_int_equal(symlink("new", in_folder("link")), 0);
    assert_int_equal(cbi_write_output(in_folder("link"), "3", 1), CBI_OUTPUT_OK);
    struct stat st;
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    expect_content(in_folder("new"), "3");

    assert_int_equal(link(in_folder("new"), in_folder("hard")), 0);
    assert_int_equal(cbi_write_output(in_folder("hard"), "four", 4), CBI_OUTPUT_OK);
    expect_content(in_folder("new"), "four");

    assert_int_equal(symlink("target", in_folder("dangling")), 0);
    assert_int_equal(cbi_write_output(in_folder("dangling"), "5", 1), CBI_OUTPUT_OK);
    expect_content(in_folder("target"), "5");
    assert_int_equal(count_files(), 5);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    int before = count_files();
    assert_int_equal(cbi_write_output(in_folder("no/such/folder"), "x", 1), CBI_OUTPUT_NOT_OPENED);
    assert_int_equal(cbi_write_output(folder, "x", 1), CBI_OUTPUT_NOT_OPENED);
    assert_int_equal(cbi_write_output("", "x", 1), CBI_OUTPUT_NOT_OPENED);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(cbi_write_output("/dev/full", "x", 1), CBI_OUTPUT_NOT_WRITTEN);
    assert_int_equal(cbi_write_output("/dev/null", "x", 1), CBI_OUTPUT_OK);
    assert_int_equal(count_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_files_follow_the_mask),
        cmocka_unit_test(old_files_keep_their_mode),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests_name("output_file", tests, make_folder, remove_folder);
}
