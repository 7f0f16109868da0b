"""A stand-in hub over loopback: what the hub client asks of a hub, answered from memory, with refusals and broken downloads."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Files = dict[str, bytes]
API = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+?)(/(revision|tree)/(?P<revision>[^/]+))?")
FILE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")


@dataclass
class Hub:
    """Repositories by name and revision; ``refused``: status and code of a name; ``breaks``: how many bytes of a file come."""

    repositories: dict[str, dict[str, Files]] = field(default_factory=dict)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    breaks: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def commit(self, name: str, revision: str) -> str:
        """The commit of a revision, as a hub names it; a commit stands for itself."""
        known = {hashlib.sha1(f"{name}@{each}".encode()).hexdigest(): each for each in self.repositories[name]}
        return revision if revision in known else next((k for k, each in known.items() if each == revision), "")

    def files(self, name: str, commit: str) -> Files:
        """The files of a commit."""
        return next(files for each, files in self.repositories[name].items() if self.commit(name, each) == commit)


@contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """The address of the hub, while it serves."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on stderr."""

        def do_GET(self) -> None:
            answer(self, hub)

        do_HEAD = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def send(to: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """A whole answer, or its head alone."""
    to.send_response(status)
    for name, value in headers.items():
        to.send_header(name.replace("_", "-"), value)
    to.send_header("Content-Length", str(len(body)))
    to.end_headers()
    if to.command != "HEAD":
        to.wfile.write(body)


def answer(to: BaseHTTPRequestHandler, hub: Hub) -> None:
    """What a hub says to one request."""
    path = to.path.partition("?")[0]
    wanted_bytes = to.headers.get("Range")
    hub.asked.append(f"{to.command} {path}" + (f" {wanted_bytes}" if wanted_bytes else ""))
    found = FILE.fullmatch(path) or API.fullmatch(path)
    name = found["name"] if found else ""
    status, code = hub.refused.get(name, (404, "RepoNotFound"))
    if name not in hub.repositories:
        return send(to, status, b'{"error": "refused"}', X_Error_Code=code, X_Error_Message="refused by the stand-in")
    assert found is not None
    commit = hub.commit(name, found["revision"] or "main")
    if not commit:
        return send(to, 404, b"{}", X_Error_Code="RevisionNotFound", X_Error_Message="Invalid rev id")
    files = hub.files(name, commit)
    if "/tree/" in path:
        listed = [
            {"type": "file", "path": f, "size": len(d), "oid": hashlib.sha1(d).hexdigest()} for f, d in files.items()
        ]
        return send(to, 200, json.dumps(listed).encode(), Content_Type="application/json")
    if path.startswith("/api/"):
        told = {"id": name, "sha": commit, "siblings": [{"rfilename": file} for file in files], "tags": []}
        return send(to, 200, json.dumps(told).encode(), Content_Type="application/json")
    return send_file(to, hub, found["file"], files, commit)


def send_file(to: BaseHTTPRequestHandler, hub: Hub, name: str, files: Files, commit: str) -> None:
    """A file from the byte that is asked for, or as much of it as comes before the connection breaks."""
    if name not in files:
        return send(to, 404, b"{}", X_Error_Code="EntryNotFound", X_Error_Message="Entry not found")
    data = files[name]
    head = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X_Repo_Commit": commit, "Accept_Ranges": "bytes"}
    asked = re.fullmatch(r"bytes=(\d+)-", to.headers.get("Range") or "")
    start = int(asked[1]) if asked and to.command == "GET" else 0
    if asked:
        head["Content_Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
    stop = hub.breaks.get(name) if to.command == "GET" else None
    if stop is None:
        return send(to, 206 if asked else 200, data[start:], **head)
    to.send_response(206 if asked else 200)
    for key, value in head.items():
        to.send_header(key.replace("_", "-"), value)
    to.send_header("Content-Length", str(len(data) - start))
    to.end_headers()
    to.wfile.write(data[start : max(start, stop)])
    to.wfile.flush()
    to.close_connection = True
    return None
