/* libcudadevrt, which takes part in a link only if it is needed. */
#include "modules.h"

static void say_functions(const linked *l, char *text, size_t room)
{
    for (uint32_t i = 1; i < l->object.symbol_count; i++)
        if (CBI_ST_TYPE(l->object.symbols[i].info) == STT_FUNC)
            say_more(text, room, "%s%s", *text ? " " : "", l->object.symbols[i].name);
}

/* libcudadevrt takes part when a function is missing by then. */
static void device_runtime(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"needed", {"kernel k calls=f; extern func f", "@cudadevrt func f; kernel g"}, "k f g"},
        {"not needed", {"kernel k calls=f; func f", "@cudadevrt func f; kernel g"}, "k f"},
        {"a variable does not count",
         {"kernel k uses=v; extern global v", "@cudadevrt global v size=4"},
         "Undefined reference to 'v' in 'm0.cubin'\n"},
        {"what the driver has does not count",
         {"kernel k calls=vprintf; extern func vprintf", "@cudadevrt kernel g"},
         "k vprintf"},
        {"nothing may stand behind it when it is not needed",
         {"kernel k", "@cudadevrt func f", "func g"},
         "unexpected object after cudadevrt\n"},
    };
    link_table(rows, CBI_COUNT(rows), say_functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(device_runtime)};
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
