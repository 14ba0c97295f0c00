"""Requests to `restive serve` on loopback: one server for each build, open until the comparison ends."""
import http.client
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

from builds import BenchmarkError

START_SECONDS, REQUEST_SECONDS = 120, 30


class Server:
    """Web UI of a copy of a programme, entered as its planner."""

    def __init__(self, build, programme, folder):
        self.connection = None
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        shutil.copytree(programme, self.folder / "programme")
        command = [build.program, "serve", self.folder / "programme", "--no-open", "--port", "0"]
        self.errors = open(self.folder / "errors", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        # the first line must come in time
        stop = threading.Timer(START_SECONDS, self.process.kill)
        stop.start()
        line = self.process.stdout.readline()
        stop.cancel()
        found = re.search(r"http://([^/]+)(/\S+)", line)
        if not found:
            self.errors.seek(0)
            self.close()
            raise BenchmarkError(f"restive serve: found {line!r}, expected an address")
        self.connection = http.client.HTTPConnection(found[1], timeout=REQUEST_SECONDS)
        self.cookie = ""
        self.get(found[2])
        status, page = self.get("/week")
        person = re.search(rb'href="/person/([^"?]+)', page)
        if status != 200 or not person:
            self.close()
            raise BenchmarkError(f"/week: found status {status}, expected a list with links to people")
        self.person = person[1].decode()

    def get(self, path):
        self.connection.request("GET", path, headers={"Cookie": self.cookie})
        response = self.connection.getresponse()
        content = response.read()
        cookie = response.getheader("Set-Cookie")
        if cookie:
            self.cookie = cookie.split(";")[0]
        return response.status, content

    def seconds(self, path, requests):
        """Seconds of one request, the mean of several in a row."""
        path = path.replace("{id}", self.person)
        begin = time.perf_counter()
        for _ in range(requests):
            status, content = self.get(path)
            if status != 200 or not content:
                raise BenchmarkError(f"{path}: found status {status}, expected 200")
        return {"seconds": (time.perf_counter() - begin) / requests}

    def close(self):
        if self.connection:
            self.connection.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Servers:
    """Servers of both builds."""

    def __init__(self, data):
        self.data, self.open = data, {}

    def of(self, build, people):
        if build.name not in self.open:
            programme = self.data.planned(build, people)
            self.open[build.name] = Server(build, programme, self.data.home)
        return self.open[build.name]

    def close(self):
        for server in self.open.values():
            server.close()
        self.open.clear()
