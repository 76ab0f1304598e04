#!/bin/sh
# What can be said of the files for packages without the programs that they are for.
set -eu
cd "$CUBIND_ROOT"
failed=0
result() {
    [ "$1" = ok ] || failed=1
    echo "$1 $2 - $3"
}

if out=$(python3 packaging/workflow.py --check 2>&1); then
    result ok 1 "$out"
elif [ "$out" = "PyYAML (python3-yaml) is not installed" ]; then
    result ok 1 "the workflow file # SKIP $out"
else
    echo "$out"
    result "not ok" 1 "the workflow file"
fi

# vcpkg itself is a download; its functions are stood in for, and say what they were given
if command -v cmake >/dev/null; then
    cat >"$TMPDIR/port.cmake" <<'END'
foreach(name vcpkg_configure_meson vcpkg_install_meson vcpkg_copy_tools vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig
        vcpkg_install_copyright)
    cmake_language(EVAL CODE "function(${name})\n message(STATUS \"${name} \${ARGN}\")\n endfunction()")
endforeach()
set(CURRENT_PACKAGES_DIR "$ENV{TMPDIR}/packages")
include("${ROOT}/packaging/vcpkg/ports/cubind/portfile.cmake")
if(NOT EXISTS "${SOURCE_PATH}/meson.build")
    message(FATAL_ERROR "${SOURCE_PATH} is not the source")
endif()
END
    if cmake -DROOT="$CUBIND_ROOT" -P "$TMPDIR/port.cmake" >"$TMPDIR/log" 2>&1 &&
        [ "$(grep -c '^-- vcpkg_' "$TMPDIR/log")" = 6 ]; then
        result ok 2 "the vcpkg port"
    else
        cat "$TMPDIR/log"
        result "not ok" 2 "the vcpkg port"
    fi
else
    result ok 2 "the vcpkg port # SKIP cmake is not installed"
fi

rc=0
python3 packaging/recipe.py >"$TMPDIR/steps" 2>&1 || rc=$?
case $rc in
0) sh -n "$TMPDIR/steps" && result ok 3 "the conda recipe" ;;
77) result ok 3 "the conda recipe # SKIP $(cat "$TMPDIR/steps")" ;;
*)
    cat "$TMPDIR/steps"
    result "not ok" 3 "the conda recipe"
    ;;
esac
if command -v mkdocs >/dev/null; then
    # `./dev site` puts the examples where links to them lead
    if mkdocs build --site-dir "$TMPDIR/site" >"$TMPDIR/log" 2>&1 && [ -s "$TMPDIR/site/index.html" ] &&
        [ -s "$TMPDIR/site/how-to-embed.html" ] && ! grep WARNING "$TMPDIR/log" | grep -v "'../examples/"; then
        result ok 4 "the documents as a site"
    else
        cat "$TMPDIR/log"
        result "not ok" 4 "the documents as a site"
    fi
else
    result ok 4 "the documents as a site # SKIP mkdocs is not installed"
fi
exit $failed
