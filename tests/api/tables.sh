#!/bin/sh
# docs/format-tables.md says what the tables of the program say.
set -eu
"$CUBIND_BUILD/docs/format_tables" >"$TMPDIR/tables.md"
diff "$CUBIND_ROOT/docs/format-tables.md" "$TMPDIR/tables.md" || {
    echo "run ./dev docs"
    exit 1
}
