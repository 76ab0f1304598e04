#!/usr/bin/env python3
"""Checks the conda recipe, and prints its steps, build and test, as a shell script for a clone of the repository.

The script wants $PREFIX, where it installs, and $PYTHON.  Skips (77) without PyYAML and Jinja, which conda-build reads recipes with."""

import os
import re
import sys

try:
    import jinja2
    import yaml
except ImportError as missing:
    print(missing)
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "packaging/conda")
KNOWN = {"package": {"name", "version"}, "source": {"path"}, "build": {"number", "skip", "script"},
         "requirements": {"build", "host", "run"}, "test": {"commands"}, "about": {"summary", "license", "license_file"}}


def load_file_regex(load_file, regex_pattern, from_recipe_dir):
    with open(os.path.join(FOLDER if from_recipe_dir else ROOT, load_file)) as f:
        return re.search(regex_pattern, f.read(), re.M)


with open(os.path.join(FOLDER, "meta.yaml")) as f:
    text = re.sub(r"^.*# *\[not linux\]$", "", f.read(), flags=re.M)
recipe = yaml.safe_load(jinja2.Template(text, undefined=jinja2.StrictUndefined).render(
    load_file_regex=load_file_regex, compiler=lambda language: language + "-compiler"))
for section, members in recipe.items():
    if section not in KNOWN or not set(members) <= KNOWN[section]:
        sys.exit("packaging/conda/meta.yaml: '%s' has what means nothing there: %s" % (section, set(members) - KNOWN.get(section, set())))
for path in (os.path.join(FOLDER, recipe["source"]["path"], "meson.build"), os.path.join(ROOT, recipe["about"]["license_file"])):
    if not os.path.isfile(path):
        sys.exit("packaging/conda/meta.yaml: there is no " + path)
print("\n".join(["set -eu", "export PATH=\"$PREFIX/bin:$PATH\"", *recipe["build"]["script"], *recipe["test"]["commands"]]))
