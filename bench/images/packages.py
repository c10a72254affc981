# SPDX-License-Identifier: Apache-2.0
"""Table I over real files: what programs of official images share between two versions, as Debian packages them.

The official images cannot be had here, nor lists of their files. For those whose program Debian 12 has in two versions, its packages stand in: one
layer of what installing them adds, for each version, in the two newest that apt knows (the release and its security suite, or a point release).
The base below is no part of it (`figures` has a pair of it), nor are dependencies. Packages are fetched by apt-get download and are not kept in the tree;
each has its licence in its /usr/share/doc.
"""
import functools
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile

from figures import layers_of, percent_shared
from refactor import run_once
from result import Skipped, say
from update import download, make_layer, versions

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/behaviour"))
from image_kit import Layout  # noqa: E402

DOC = "what two versions of a program share, before and after: Debian's packages for official images"
# The official image: what stands in for what is above its base.
FAMILIES = {
    "haproxy": ("haproxy",),
    "httpd": ("apache2-bin", "apache2-data", "apache2-utils", "apache2"),
    "mariadb": ("mariadb-server", "mariadb-server-core", "mariadb-client", "mariadb-client-core", "mariadb-common"),
    "memcached": ("memcached",),
    "nginx": ("nginx", "nginx-common"),
    "node": ("nodejs", "libnode108"),
    "openjdk": ("openjdk-17-jre-headless",),
    "perl": ("perl", "perl-base", "perl-modules-5.36", "libperl5.36"),
    "php": ("php8.2-cli", "php8.2-common", "php8.2-opcache", "php8.2-readline"),
    "postgres": ("postgresql-15", "postgresql-client-15"),
    "python": ("python3.11", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    "redis": ("redis-server", "redis-tools"),
    "ruby": ("ruby3.1", "libruby3.1"),
    "tomcat": ("tomcat10-common", "libtomcat10-java", "tomcat10"),
}
MISSING = ("ghost", "mysql", "wordpress", "golang", "rabbitmq", "mongo")  # one version in Debian 12, or none
QUICK = ("haproxy", "memcached", "nginx")


def files_of(tar):
    """path -> (what has to be equal, bytes) of all but directories."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(tar)) as t:
        for m in t:
            if not m.isdir():
                digest = hashlib.sha256(t.extractfile(m).read()).hexdigest() if m.isreg() else ""
                files[m.name] = (m.type, m.mode, m.uid, m.gid, digest, m.linkname), m.size if m.isreg() else 0
    return files


def potential(old, new):
    """Percent of the files, and of their bytes, of the new version that the old one has at the same path with the same rights."""
    same = [p for p, (what, _) in new.items() if p in old and old[p][0] == what]
    return 100 * len(same) / len(new), 100 * sum(new[p][1] for p in same) / max(1, sum(size for _, size in new.values()))


def one(plan, results, layout, family, packages):
    found = {p: versions(p) for p in packages}
    tars = [make_layer([download(plan.work / "debs", p, v[age]) for p, v in found.items()]) for age in (0, 1)]
    for age, tar in zip(("old", "new"), tars):
        layout.image(f"{family}-{age}", [tar])
    written = plan.work / "packages-written"
    subprocess.run(["rm", "-rf", str(written)], check=True)
    run_once(plan, [f"oci:{layout.directory}:{family}-{age}" for age in ("old", "new")], "--to", f"oci:{written}", "--gain-threshold", "1", "--layer-threshold", "1")
    old, new = (layers_of(written, f"{family}-{age}") for age in ("old", "new"))
    files = [files_of(t) for t in tars]
    before = 100.0 if tars[0] == tars[1] else 0.0  # of one layer
    row = {"files": (before, percent_shared(new, old, 0)), "compressed bytes": (before, percent_shared(new, old, 1))}
    bound = dict(zip(("files", "file bytes"), potential(*files)))
    labels = {"variant": "packages", "figure": "table1", "family": family}
    for of, (was, now) in row.items():
        results.add("shareable_percent", {**labels, "of": of, "when": "before"}, "%", was)
        results.add("shareable_percent", {**labels, "of": of, "when": "after"}, "%", now)
    for of, percent in bound.items():
        results.add("shareable_percent", {**labels, "of": of, "when": "at most"}, "%", percent)
    first = next(iter(found.values()))
    say(f"  {family:10} {first[0]} to {first[1]}: {len(files[1])} files, before {before:.1f} %, after {row['files'][1]:.1f} %, at most {bound['files']:.1f} %; "
        f"bytes after {row['compressed bytes'][1]:.1f} %, at most {bound['file bytes']:.1f} %")
    return row["files"][1], bound["files"]


def run(plan, results):
    if subprocess.run(["which", "apt-get", "apt-cache", "dpkg-deb"], stdout=subprocess.DEVNULL).returncode:
        raise Skipped("no packages of Debian here")
    work = plan.work / "packages"
    subprocess.run(["rm", "-rf", str(work)], check=True)
    layout, rows = Layout(work), []
    for family, packages in FAMILIES.items():
        if plan.quick and family not in QUICK:
            continue
        try:
            rows.append(one(plan, results, layout, family, packages))
        except (OSError, Skipped, subprocess.SubprocessError) as e:
            say(f"  without {family}: {e}")
    if not rows:
        raise Skipped("no package could be fetched")
    after, most = (functools.reduce(lambda a, r: a + r[i], rows, 0) / len(rows) for i in (0, 1))
    say(f"  average of {len(rows)} families: {after:.1f} % of files after, {most:.1f} % at most; missing: {', '.join(MISSING)}")
    subprocess.run(["rm", "-rf", str(work), str(plan.work / "packages-written")], check=True)
