"""What a release says of itself, in one place after the other: the part of scripts/release-check that needs no build.

Checks that Cargo.toml, pyproject.toml, CITATION.cff and CHANGELOG.md agree on version and date, that every package that can be
published has complete metadata within the registry's limits, and that what would be uploaded holds a README and both licences.
`--version` prints the version alone. Python's standard library and cargo; offline.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# of the registry's list, those that concern us
CATEGORIES = {"science", "mathematics", "algorithms", "command-line-utilities", "parser-implementations", "visualization", "simulation", "encoding"}
faults = []


def expect(is_so, where, found, expected):
    if not is_so:
        faults.append(f"{where}: found {found}, expected {expected}")


def cargo(*arguments):
    command = ["cargo", *arguments, "--offline"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{answer.stderr}")
    return answer.stdout


def released():
    """Version and date of the newest released section of the changelog, and whether a section for what comes next is above it."""
    sections = re.findall(r"^## (.*)$", Path("CHANGELOG.md").read_text(), re.M)
    dated = [re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})", title) for title in sections]
    newest = next((match for match in dated if match), None)
    expect(newest, "CHANGELOG.md", sections, "a section like '0.1.0 - 2026-11-15'")
    expect(sections[:1] == ["Unreleased"], "CHANGELOG.md", sections[:1], "'Unreleased' as the first section")
    return newest.groups() if newest else (None, None)


def check_versions(version):
    written, date = released()
    expect(written == version, "CHANGELOG.md", f"{written} as the newest release", f"{version}, the version of Cargo.toml")
    citation = dict(re.findall(r"^([a-z-]+): *(\S.*)$", Path("CITATION.cff").read_text(), re.M))
    expect(citation.get("version") == version, "CITATION.cff: version", citation.get("version"), version)
    expect(citation.get("date-released") == date, "CITATION.cff: date-released", citation.get("date-released"), f"{date}, as in CHANGELOG.md")
    project = Path("crates/restive-py/pyproject.toml").read_text().split("[project]")[1].split("\n[")[0]
    project = dict(re.findall(r"^([a-z-]+) = (.+)$", project, re.M))
    is_dynamic = "version" not in project and project.get("dynamic") == '["version"]'
    expect(is_dynamic, "pyproject.toml", project.get("version"), "dynamic = [\"version\"], which is that of Cargo.toml")
    for key in ("description", "readme", "license", "license-files", "requires-python", "keywords", "classifiers", "authors"):
        expect(key in project, "pyproject.toml", f"no {key}", "one")


def check_package(package, version):
    name = package["name"]
    expect(package["version"] == version, f"{name}: version", package["version"], version)
    for key in ("description", "license", "readme", "rust_version", "authors"):
        expect(package[key], f"{name}: {key}", package[key], "something")
    keywords, categories = package["keywords"], package["categories"]
    is_fine = 1 <= len(keywords) <= 5 and all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_+-]{0,19}", word) for word in keywords)
    expect(is_fine, f"{name}: keywords", keywords, "1 to 5 words of at most 20 letters")
    expect(1 <= len(categories) <= 5 and set(categories) <= CATEGORIES, f"{name}: categories", categories, f"1 to 5 of {sorted(CATEGORIES)}")
    for dependency in package["dependencies"]:
        # a dependency without version is left out of the upload; cargo refuses it unless it is a development dependency
        if dependency.get("path") and not (dependency["kind"] == "dev" and dependency["req"] == "*"):
            expect(dependency["req"] == f"^{version}", f"{name}: dependency {dependency['name']}", dependency["req"], f"^{version}")
    files = cargo("package", "--list", "--allow-dirty", "-p", name).split("\n")
    for file in ("Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        expect(file in files, f"{name}: what would be uploaded", f"no {file}", "one")


def main():
    packages = json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))["packages"]
    published = [package for package in packages if package["publish"] != []]
    version = next(package["version"] for package in published if package["name"] == "restive")
    if sys.argv[1:] == ["--version"]:
        return print(version)
    check_versions(version)
    for package in published:
        check_package(package, version)
    if faults:
        sys.exit("\n".join(["not ready to release:", *faults]))
    print(f"restive {version}: {', '.join(sorted(package['name'] for package in published))}")


main()
