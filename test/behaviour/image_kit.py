# SPDX-License-Identifier: Apache-2.0
"""Images by hand: layers from Python's tarfile, as OCI layouts and as archives of Docker."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


def layer(entries, fmt=tarfile.PAX_FORMAT):
    """A tar from (name, type, content or target, attributes); type: f, d, l (symbolic), h (hard link), k (character
    device 1:3), p (fifo)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fmt) as tar:
        for name, kind, value, *rest in entries:
            info = tarfile.TarInfo(name)
            info.type = {"f": tarfile.REGTYPE, "d": tarfile.DIRTYPE, "l": tarfile.SYMTYPE, "h": tarfile.LNKTYPE,
                         "k": tarfile.CHRTYPE, "p": tarfile.FIFOTYPE}[kind]
            info.devmajor, info.devminor = (1, 3) if kind == "k" else (0, 0)
            info.mode = 0o755 if kind == "d" else 0o644
            info.mtime = 1700000000
            for key, v in (rest[0] if rest else {}).items():
                setattr(info, key, v)
            data = value if kind == "f" else b""
            info.size = len(data)
            info.linkname = value if kind in "lh" else ""
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def programs(*names):
    """Some programs of this machine with their libraries, as entries of a layer."""
    files = {}
    for name in names:
        path = os.path.realpath(shutil.which(name))
        files[f"bin/{name}"] = path
        for library in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", path], capture_output=True, text=True).stdout):
            files[library.lstrip("/")] = os.path.realpath(library)
    made = []
    for name, path in files.items():
        with open(path, "rb") as f:
            made.append((name, "f", f.read(), {"mode": 0o755}))
    return made


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def packed(data):
    """The same bytes at any time: a layer that two images have is one blob."""
    return gzip.compress(data, mtime=0)


class Layout:
    """An OCI image layout in a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.manifests = []
        (directory / "blobs/sha256").mkdir(parents=True)
        (directory / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')

    def blob(self, data):
        path = self.directory / "blobs/sha256" / digest(data)[7:]
        path.write_bytes(data)
        return path

    def blob_of(self, descriptor):
        return (self.directory / "blobs/sha256" / descriptor["digest"][7:]).read_bytes()

    def descriptor(self, data, media_type, **rest):
        self.blob(data)
        return {"mediaType": media_type, "digest": digest(data), "size": len(data), **rest}

    def image(self, name, tars, compress=packed, suffix="+gzip", architecture="amd64", run=None):
        """run: the member `config` of the configuration."""
        config = {"config": run or {}, "os": "linux", "architecture": architecture, "created": "2024-01-01T00:00:00Z",
                  "rootfs": {"type": "layers", "diff_ids": [digest(t) for t in tars]}}
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST,
                    "config": self.descriptor(json.dumps(config).encode(), CONFIG),
                    "layers": [self.descriptor(compress(t), LAYER + suffix) for t in tars]}
        named = {"annotations": {"org.opencontainers.image.ref.name": name}} if name else {}
        self.manifests.append(self.descriptor(json.dumps(manifest).encode(), MANIFEST, **named))
        (self.directory / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": self.manifests}))
        return manifest


def docker_archive(path, images):
    """What `docker save` writes: images as {tag: [tar, ...]}."""
    listed = []
    with tarfile.open(path, "w") as tar:
        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for tag, tars in images.items():
            config = json.dumps({"os": "linux", "architecture": "amd64", "tag": tag,
                                 "rootfs": {"type": "layers", "diff_ids": [digest(t) for t in tars]}}).encode()
            add(digest(config)[7:] + ".json", config)
            names = []
            for data in tars:
                name = f"{digest(data)[7:]}/layer.tar"
                if name not in tar.getnames():
                    add(name, data)
                names.append(name)
            listed.append({"Config": digest(config)[7:] + ".json", "RepoTags": [tag], "Layers": names})
        add("manifest.json", json.dumps(listed).encode())
