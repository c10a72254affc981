# SPDX-License-Identifier: Apache-2.0
"""What a directory tree holds, for comparing trees; and random stacks of layers."""
import hashlib
import os
import stat

TIME = 1700000000


def snapshot(root, dir_times=True, has_ghosts=False):
    """
    {path: facts}; paths are bytes. Hard links are named by the first path of their group. has_ghosts: leave names out that
    are listed and do not exist; overlayfs lists a whiteout so where it is below a directory that hides the lower layers.
    """
    root = os.fsencode(root)
    seen, groups = {}, {}

    def note(path, shown):
        st = os.lstat(path)
        kind = stat.S_IFMT(st.st_mode)
        facts = {"type": kind, "mode": stat.S_IMODE(st.st_mode), "owner": (st.st_uid, st.st_gid), "mtime": st.st_mtime_ns}
        if kind == stat.S_IFREG:
            facts["size"] = st.st_size
            with open(path, "rb") as f:
                facts["content"] = hashlib.sha256(f.read()).hexdigest()
        elif kind == stat.S_IFLNK:
            facts["target"] = os.readlink(path)
            facts.pop("mode")
        elif kind in (stat.S_IFCHR, stat.S_IFBLK):
            facts["device"] = st.st_rdev
        elif kind == stat.S_IFDIR and not dir_times:
            facts.pop("mtime")
        facts["xattrs"] = {n: os.getxattr(path, n, follow_symlinks=False) for n in os.listxattr(path, follow_symlinks=False)
                           if "overlay." not in n}
        if kind != stat.S_IFDIR and st.st_nlink > 1:
            facts["links"] = groups.setdefault((st.st_dev, st.st_ino), shown)
        seen[shown] = facts

    note(root, b"")
    for at, dirs, files in os.walk(root):
        dirs.sort()
        for name in sorted(dirs + files):
            path = os.path.join(at, name)
            if has_ghosts and not os.path.lexists(path):
                continue
            note(path, os.path.relpath(path, root))
    # the first by its bytes, whatever the order of the walk
    first = {}
    for path in sorted(seen):
        if "links" in seen[path]:
            first.setdefault(seen[path]["links"], []).append(path)
    for names in first.values():  # overlayfs counts names, too, that a whiteout hides
        for path in names:
            seen[path]["links"] = names[0]
            if len(names) == 1:
                del seen[path]["links"]
    return seen


def difference(a, b):
    """A readable list of what differs; empty: nothing."""
    out = []
    for path in sorted(a.keys() | b.keys()):
        if a.get(path) != b.get(path):
            one, two = a.get(path) or {}, b.get(path) or {}
            out.append((path, {k: (one.get(k), two.get(k)) for k in one.keys() | two.keys() if one.get(k) != two.get(k)}))
    return out


class Stack:
    """Random layers, each entry with its parents before it; well-formed: whiteouts hide what lower layers have."""

    NAMES = ["a", "b", "c", "dä", "e" * 90]

    def __init__(self, rng, layers=4, entries=25):
        self.rng = rng
        self.lower = {}  # path -> kind, of the layers so far
        self.layers = [self.make(entries) for _ in range(layers)]

    def attributes(self, kind):
        r = self.rng
        pax = {}
        if kind in "fd" and r.random() < 0.2:
            pax["SCHILY.xattr.user.note"] = r.choice(["x", "some value"])
        mode = r.choice([0o755, 0o700, 0o2755, 0o1777]) if kind == "d" else r.choice([0o644, 0o600, 0o4755, 0o2711, 0o000])
        return {"mode": mode, "uid": r.choice([0, 1000, 65534]), "gid": r.choice([0, 100]), "mtime": TIME + r.randrange(10**6),
                "pax_headers": pax}

    def path(self):
        return "/".join(self.rng.choice(self.NAMES) for _ in range(self.rng.randrange(1, 4)))

    def add(self, own, out, path, kind, value=""):
        """With parents; False where something that is no directory is in the way."""
        parts = path.split("/")
        for i in range(1, len(parts)):
            parent = "/".join(parts[:i])
            if own.get(parent, "d") != "d":
                return False
            if parent not in own:
                self.put(own, out, parent, "d")
        if path in own:
            return False
        self.put(own, out, path, kind, value)
        return True

    def put(self, own, out, path, kind, value=""):
        own[path] = kind
        out.append((path, kind, value, self.attributes(kind)))

    def make(self, entries):
        r, own, out, gone = self.rng, {}, [], set()
        for _ in range(entries):
            what = r.random()
            files = [p for p, k in own.items() if k == "f"]
            if what < 0.2 and self.lower:
                target = r.choice(sorted(self.lower))
                dir_name, _, name = target.rpartition("/")
                if target in own or target in gone or any(target.startswith(g + "/") for g in gone):
                    continue
                if dir_name and (own.get(dir_name, "d") != "d" or self.lower.get(dir_name) != "d"):
                    continue
                hidden = (dir_name + "/" if dir_name else "") + ".wh." + name
                if not dir_name or dir_name in own or self.add(own, out, dir_name, "d"):
                    out.append((hidden, "f", b"", {}))
                    gone.add(target)
                continue
            path, kind = self.path(), r.choice("fffdlkp")
            if what < 0.3 and files:
                self.add(own, out, path, "h", r.choice(files))
            elif any(path == g or path.startswith(g + "/") for g in gone):
                continue
            else:
                self.add(own, out, path, kind, {"f": r.randbytes(r.choice([0, 10, 700])), "l": r.choice(["a/b", "/c", "../x"])}
                         .get(kind, ""))
        if r.random() < 0.3:
            dirs = sorted(p for p, k in own.items() if k == "d" and self.lower.get(p) == "d")
            if dirs:
                path = r.choice(dirs)
                out.insert(r.randrange(len(out)), (path + "/.wh..wh..opq", "f", b"", {}))
                gone.update(p for p in self.lower if p.startswith(path + "/"))
        for path in list(self.lower):
            is_replaced = any(k != "d" and (path == p or path.startswith(p + "/")) for p, k in own.items())
            if is_replaced or any(path == g or path.startswith(g + "/") for g in gone):
                del self.lower[path]
        self.lower.update(own)
        return out
