"""Every route of a real server, asked with every wrong token: none answers, and nothing in the home changes.

Wrong are: none, an empty one, one letter off, too short, too long, in other letters, in another scheme, twice, in
the query, and cookies that were forged, are of another purpose, of another token, or too old.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.torture.harness import Outcome, Size, World, files
from tests.torture.scenes import fill

from otolith.doors.web import gate, routes
from otolith.doors.web.serving import Assets

TITLES = {"route": "every route asked with a wrong token", "home": "the home after all of these"}
JOBS = 1  # one server
REFUSED = (401, 403, 421)
OPEN = ("/api/signin",)  # what takes a code instead; a wrong one is refused by itself
Headers = list[tuple[str, str]]


class Server:
    def __init__(self, world: World) -> None:
        command = [sys.executable, "-m", "otolith", "serve", "--home", str(world.home), "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ))
        assert self.process.stdout is not None
        started = json.loads(self.process.stdout.readline())
        self.port = urlsplit(started["url"]).port or 0
        self.token = Path(started["token"]).read_text().strip()

    def ask(self, method: str, path: str, headers: Headers) -> tuple[int, str]:
        """The status and the cookie that was set, if any; what came too fast is asked again."""
        while True:
            wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                wire.putrequest(method, path, skip_host=any(name == "Host" for name, _ in headers))
                body = b"{}" if method in ("POST", "PATCH") else b""
                for name, value in (*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
                    wire.putheader(name, value)
                wire.endheaders(body)
                answer = wire.getresponse()
                status, cookie = answer.status, answer.getheader("Set-Cookie") or ""
            finally:
                wire.close()
            if status != 429:
                return status, cookie
            time.sleep(1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


def server(world: World) -> Server:
    if "server" not in world.stash:
        fill(world)
        world.stash["server"] = Server(world)
        world.after.callback(world.stash["server"].stop)
        time.sleep(2)  # until it has looked at the home for the first time
        world.stash["home"] = _written(world)
    running: Server = world.stash["server"]
    return running


def trials(size: Size, world: World) -> Iterator[str]:
    every = [f"route:{method.upper()} {path.replace('{id}', 'x')}" for path, methods in routes.describe()["paths"].items()
             for method in methods]
    assets = Assets()
    every += [f"route:GET {path}" for path in ("/", "/record/x", "/api/openapi.json", *assets.pages, *assets.files)]
    every += [f"route:{method} {path}" for method, path in (("POST", "/api/signin"), ("POST", "/api/signout"), ("GET", "/mcp"),
                                                            ("POST", "/mcp"), ("DELETE", "/mcp"), ("GET", "/nowhere"), ("PUT", "/api/note"))]
    every = [trial for trial in every if trial.split()[-1] not in assets.free]
    yield from every if size.full else random.Random(size.seed).sample(every, 6)
    yield "home:unchanged"


def run(trial: str, world: World) -> Outcome:
    running = server(world)
    row, _, rest = trial.partition(":")
    if row == "home":
        changed = [path for path, data in _written(world).items() if world.stash["home"].get(path) != data]
        return Outcome(1, [f"changed: {path}" for path in changed])
    method, _, path = rest.partition(" ")
    failures, wrong = [], _wrong(running)
    for name, (query, headers) in wrong.items():
        status, cookie = running.ask(method, path + query, headers)
        if path in OPEN:
            if status < 400 or cookie:
                failures.append(f"{name}: {status} {cookie}")
        elif status not in REFUSED:
            failures.append(f"{name}: {status}")
    return Outcome(len(wrong), failures)


def _written(world: World) -> dict[str, bytes]:
    return {path: data for path, data in files(world.home).items() if not path.startswith("log/")}


def _wrong(running: Server) -> dict[str, tuple[str, Headers]]:
    """What is sent in place of the token: by name, the query and the headers."""
    token, now = running.token, time.time()
    other = "A" * len(token)
    one_off = ("B" if token[0] == "A" else "A") + token[1:]
    bearer = {"an empty one": "", "another": other, "one letter off": one_off, "the last letter off": token[:-1] + ("B" if token[-1] == "A" else "A"),
              "too short": token[:-1], "too long": token + "x", "in other letters": token.swapcase(), "twice in one": f"{token} {token}",
              "quoted": f'"{token}"', "a null byte's escape": "%00", "backwards": token[::-1]}
    given: dict[str, tuple[str, Headers]] = {"none": ("", [])}
    given |= {name: ("", [("Authorization", f"Bearer {value}")]) for name, value in bearer.items()}
    given |= {f"as {scheme}": ("", [("Authorization", f"{scheme} {token}".strip())]) for scheme in ("Basic", "Token", "Bearer:", "")}
    given |= {
        "two headers": ("", [("Authorization", f"Bearer {other}"), ("Authorization", f"Bearer {token}")]),
        "in the query": (f"?token={token}&access_token={token}", []),
        "another header": ("", [("X-Token", token), ("Proxy-Authorization", f"Bearer {token}")]),
        "a cookie that is the token": ("", [("Cookie", f"otolith-{running.port}={token}")])}
    cookies = {"a cookie of another token": gate.make_cookie(other, now), "a code as a cookie": gate.make_code(token, now),
               "a cookie too old": gate.make_cookie(token, now - gate.COOKIE_SECONDS - 60), "a cookie from the future": gate.make_cookie(token, now + 600),
               "a cookie with a letter off": gate.make_cookie(token, now)[:-1] + "x", "half a cookie": gate.make_cookie(token, now).rpartition("~")[0]}
    given |= {name: ("", [("Cookie", f"otolith-{running.port}={value}; otolith={value}")]) for name, value in cookies.items()}
    good = ("Cookie", f"otolith-{running.port}={gate.make_cookie(token, now)}")
    given |= {"a good cookie and a wrong token": ("", [good, ("Authorization", f"Bearer {other}")]),
              "a good token, another host": ("", [("Authorization", f"Bearer {token}"), ("Host", "evil.example")]),
              "a good token, another origin": ("", [("Authorization", f"Bearer {token}"), ("Origin", "http://evil.example")]),
              "a good cookie, another page": ("", [good, ("Sec-Fetch-Site", "cross-site")])}
    return given
