"""The version of the package: that of the library which it belongs to (meson.build)."""

VERSION = "0.1.0"
