#!/usr/bin/env python3
"""The jobs of .github/workflows/ci.yml, checked, and as shell scripts.

usage: workflow.py --check     is the file one that a forge takes, as far as can be said without one?
       workflow.py JOB         prints a script that takes the steps of the job in a clone of the repository

In the script a step is run as a forge does in a container: `sh -e`, the first failure ends the job.  Of actions
there is `checkout`, which makes git content with a copy of a clone, and `upload-artifact`, which here only looks whether the files exist.
Output and exit status of each step come to $LOGS as NN.log and NN.rc, its words to NN.step."""

import os
import shlex
import sys

try:
    import yaml
except ImportError:
    print("PyYAML (python3-yaml) is not installed")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = ".github/workflows/ci.yml"
WORKFLOW_KEYS = {"name", "on", "permissions", "jobs", "env", "defaults", "concurrency"}
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule", "release"}
JOB_KEYS = {"name", "runs-on", "container", "timeout-minutes", "steps", "env", "needs", "strategy", "if"}
STEP_KEYS = {"name", "id", "if", "env", "run", "uses", "with", "shell", "working-directory", "timeout-minutes"}
ACTIONS = {"actions/checkout": set(), "actions/upload-artifact": {"name", "path"}}


class Loader(yaml.SafeLoader):
    """Keeps `on` a word, as forges do, and refuses what is given twice."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.YAMLError("line %d: given twice: %s" % (node.start_mark.line + 1, ", ".join(twice)))
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def unknown(place, mapping, known):
    return ["%s: '%s' means nothing there" % (place, key) for key in mapping if key not in known]


def step_mistakes(place, step):
    found = unknown(place, step, STEP_KEYS)
    if ("run" in step) == ("uses" in step):
        return found + [place + ": a step either runs something or uses an action"]
    if "uses" not in step:
        return found
    action, _, version = step["uses"].partition("@")
    if action not in ACTIONS or not version:
        return found + ["%s: no action that is known here, with a version: %s" % (place, step["uses"])]
    missing = ACTIONS[action] - set(step.get("with", {}))
    return found + ["%s: %s wants '%s'" % (place, action, key) for key in sorted(missing)]


def mistakes(workflow):
    found = unknown(PATH, workflow, WORKFLOW_KEYS)
    found += unknown(PATH + ": on", workflow.get("on") or {}, EVENTS)
    if not workflow.get("on") or not workflow.get("jobs"):
        found.append(PATH + ": 'on' and 'jobs' are needed")
    for name, job in (workflow.get("jobs") or {}).items():
        place = "%s: job %s" % (PATH, name)
        found += unknown(place, job, JOB_KEYS)
        if "runs-on" not in job or not job.get("steps"):
            found.append(place + ": 'runs-on' and 'steps' are needed")
        for number, step in enumerate(job.get("steps") or [], 1):
            found += step_mistakes("%s, step %d" % (place, number), step)
    return found


def command(step):
    """What stands for the step in a clone."""
    if "run" in step:
        return step["run"]
    if step["uses"].startswith("actions/upload-artifact"):
        return "\n".join("ls -l " + pattern for pattern in step["with"]["path"].split())
    # the clone was copied: until git has looked at the files again, it takes them for changed
    return "git -c safe.directory='*' update-index -q --refresh"


def script(job):
    lines = ["cd \"$CLONE\"", "export GITHUB_WORKSPACE=\"$CLONE\" GITHUB_ACTIONS=true CI=true", "mkdir -p \"$LOGS\""]
    for number, text in enumerate(map(command, job["steps"]), 1):
        at = '"$LOGS"/%02d' % number
        lines += ["printf '%%s\\n' %s >%s.step" % (shlex.quote(text.strip()), at),
                  "rc=0; sh -e -c %s >%s.log 2>&1 </dev/null || rc=$?" % (shlex.quote(text), at),
                  "echo $rc >%s.rc; [ $rc = 0 ] || exit 0" % at]
    lines.append("echo done >\"$LOGS\"/done")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(os.path.join(ROOT, PATH)) as f:
        workflow = yaml.load(f, Loader)
    found = mistakes(workflow)
    for line in found:
        print(line, file=sys.stderr)
    if found:
        sys.exit(1)
    jobs = workflow["jobs"]
    if sys.argv[1] == "--check":
        print("%s: %d jobs, %d steps" % (PATH, len(jobs), sum(len(job["steps"]) for job in jobs.values())))
    elif sys.argv[1] in jobs:
        print(script(jobs[sys.argv[1]]))
    else:
        sys.exit("no job '%s'; there are %s" % (sys.argv[1], ", ".join(jobs)))


main()
