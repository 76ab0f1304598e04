# An overlay port: vcpkg install cubind --overlay-ports=packaging/vcpkg/ports
# It builds the tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_configure_meson(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -Dtests=false
)
vcpkg_install_meson()
vcpkg_copy_tools(TOOL_NAMES cubind AUTO_CLEAN)
vcpkg_cmake_config_fixup(PACKAGE_NAME cubind CONFIG_PATH lib/cmake/cubind)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
