#!/usr/bin/env python3
"""check_view.py POISE FILE_EVENTS: what the server of `poise view` gives out, and to whom.

Times here are those after which a program hangs: far longer than anything takes, on a machine that does much else."""
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from events import Events

HANGS = 120  # seconds
failures = []


def check(claim, holds):
    if not holds:
        failures.append(claim)
        print("failed:", claim)


def ask(port, path, method="GET", host=None, encodings=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", f"127.0.0.1:{port}" if host is None else host)
    if encodings:
        connection.putheader("Accept-Encoding", encodings)
    connection.endheaders()
    response = connection.getresponse()
    return response.status, response.read(), dict(response.getheaders())


def raw(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=HANGS) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while True:
            piece = connection.recv(65536)
            if not piece:
                return answer
            answer += piece


def check_answers(port, secret_file):
    status, body, head = ask(port, "/")
    check("the root is the page", (status, body) == (200, b"<p>page</p>"))
    check("the page is html", head["Content-Type"].startswith("text/html"))
    check("the page may load nothing from elsewhere", "default-src 'self'" in head["Content-Security-Policy"])
    check("HEAD has a length and no body", ask(port, "/", "HEAD")[:2] == (200, b""))
    check("a file below the folder is there", ask(port, "/assets/a%20b.js")[1] == b"let a;")
    check("wasm has its type", ask(port, "/poise.wasm")[2]["Content-Type"] == "application/wasm")
    status, body, head = ask(port, "/assets/a%20b.js", encodings="br, gzip")
    check("who takes gzip gets the compressed file", (body, head.get("Content-Encoding")) == (b"zipped", "gzip"))
    check("the compressed file has the type of the file", head["Content-Type"].startswith("text/javascript"))
    check("who takes another encoding does not", ask(port, "/assets/a%20b.js", encodings="br")[1] == b"let a;")
    check("what has no compressed file comes as it is", ask(port, "/poise.wasm", encodings="gzip")[2].get("Content-Encoding") is None)
    check("a query changes nothing", ask(port, "/?scene=lamp")[0] == 200)
    check("the user's file is there", ask(port, secret_file)[1] == b"0123456789")
    check("the user's file needs its whole path", ask(port, "/file/motion%20%231.bvh")[0] == 404)


def check_refusals(port):
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/..%2fsecret.txt", "//secret.txt",
                 "/assets/%2e%2e%2f%2e%2e%2fsecret.txt", "/link.txt", "/.hidden", "/nothing", "/assets", "/assets/"):
        check(f"{path} leads nowhere", ask(port, path)[0] == 404)
    check("a broken escape is refused", ask(port, "/%zz")[0] == 400)
    check("a zero byte is refused", ask(port, "/index.html%00.js")[0] == 400)
    check("other methods are refused", ask(port, "/", "POST")[0] == 405)
    for host in ("example.org", f"example.org:{port}", f"127.0.0.1:{port}.example.org", f"127.0.0.1:{port + 1}", ""):
        check(f"host {host!r} is refused", ask(port, "/", host=host)[0] == 403)
    check("localhost is this machine, too", ask(port, "/", host=f"localhost:{port}")[0] == 200)
    check("a request without a host is refused", b" 403 " in raw(port, b"GET / HTTP/1.0\r\n\r\n"))
    for garbage in (b"", b"\r\n\r\n", b"GET", b"\x00\xff" * 100 + b"\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x" + b"y" * 20000):
        answer = raw(port, garbage) if len(garbage) < 8192 else raw_long(port, garbage)
        check(f"garbage of {len(garbage)} bytes is refused", answer == b"" or b" 400 " in answer or b" 405 " in answer)


def raw_long(port, request):
    try:
        return raw(port, request)
    except OSError:  # the server may hang up before it has read it all
        return b""


def check_crowd(port):
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(ask(port, "/")[0])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("silent visitors keep nobody waiting", answers == [200] * 20)
    # browsers connect ahead of need: words on such a connection would be taken for the answer to the request that comes then
    idle[0].settimeout(HANGS)
    check("silent visitors are dropped without a word", idle[0].recv(100) == b"")
    for connection in idle:
        connection.close()


# As many connections as there may be, each with a header that never ends: all are dropped after a while.
def check_drips(port):
    drips = [socket.create_connection(("127.0.0.1", port)) for _ in range(64)]
    status, end = None, time.monotonic() + HANGS
    while status != 200 and time.monotonic() < end:
        for connection in drips:
            try:
                connection.sendall(b"G")
            except OSError:  # dropped
                pass
        time.sleep(0.5)
        try:
            status = ask(port, "/")[0]
        except (OSError, http.client.HTTPException):
            pass
    check("visitors who send a byte now and then keep nobody waiting for long", status == 200)
    for connection in drips:
        connection.close()


class Ended:
    """A process that does not outlast a failure of this program."""

    def __init__(self, process):
        self.process = process

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.kill()


def make_studio(folder):
    studio = os.path.join(folder, "studio")
    os.makedirs(os.path.join(studio, "assets"))
    for name, text in (("studio/index.html", "<p>page</p>"), ("studio/assets/a b.js", "let a;"), ("studio/assets/a b.js.gz", "zipped"),
                       ("studio/poise.wasm", "\0asm"),
                       ("studio/.hidden", "x"), ("secret.txt", "secret"), ("motion #1.bvh", "0123456789")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    os.symlink("../secret.txt", os.path.join(studio, "link.txt"))
    return studio


def frame(text):
    """A masked frame, as a browser sends it."""
    data, mask = text.encode(), b"abcd"
    return bytes([0x81, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def read_frame(stream):
    head = stream.read(2)
    size = head[1]
    if size == 126:
        size = int.from_bytes(stream.read(2), "big")
    return stream.read(size).decode()


def check_interrupt(server, when):
    server.send_signal(signal.SIGINT)
    check(f"an interrupt ends it well, {when}", server.wait(HANGS) == 0)


def patient(events):
    """For servers that never lose patience: what ends them with a connection open has not waited for that."""
    return events.environment(patient=1) if sys.platform == "linux" else None


def check_waiting_connection(command, events):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=patient(events)) as server, Ended(server):
        port = json.loads(server.stdout.readline())["port"]
        with socket.create_connection(("127.0.0.1", port)):  # as browsers open some ahead of need
            check("connections are taken in their order", ask(port, "/")[0] == 200)
            check_interrupt(server, "with a connection that waits")


def check_live(poise, studio, events):
    """Lines of a stream reach a page, and what the page sends reaches the stream's port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.bind(("127.0.0.1", 0))
        stream.settimeout(HANGS)
        command = [poise, "view", "--no-open", "--json", "--live", "--studio", studio, "scene:lamp"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=patient(events)) as server, Ended(server):
            answer = json.loads(server.stdout.readline())
            port = answer["port"]
            check("the address says that it is live", answer["address"].endswith("?scene=lamp&live=1"))
            server.stdin.write(json.dumps({"rate": 100, "end": "light", "port": stream.getsockname()[1]}) + "\n")
            server.stdin.flush()
            request = (f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: %s\r\n\r\n")
            check("another page may not listen", b"403" in raw(port, (request % "http://example.org").encode()))
            with socket.create_connection(("127.0.0.1", port), timeout=HANGS) as connection:
                connection.sendall((request % f"http://127.0.0.1:{port}").encode())
                page = connection.makefile("rb")
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += page.read(1)
                # the example of RFC 6455, section 1.3
                check("the handshake is that of the standard", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head)
                check("the first line comes first", json.loads(read_frame(page))["end"] == "light")
                server.stdin.write('{"tick":0,"q":[1,2,3]}\n')
                server.stdin.flush()
                check("then the newest", json.loads(read_frame(page))["q"] == [1, 2, 3])
                connection.sendall(frame('{"aim":[1,0,0]}'))
                check("goals go to the stream", stream.recv(1000) == b'{"aim":[1,0,0]}')
                connection.sendall(bytes([0x88, 0x80]) + b"abcd")
            with socket.create_connection(("127.0.0.1", port), timeout=HANGS) as connection:
                connection.sendall((request % f"http://127.0.0.1:{port}").encode())
                check("another page may follow", b"101" in connection.recv(100))
                check_interrupt(server, "with a page that is open")


def check_robot(poise, studio, folder):
    """Meshes with what they name are there, what is missing is known, and nothing else is given out."""
    files = {"arm/arm.urdf": '<robot name="arm"><link name="a"><visual><geometry><mesh filename="package:///arm/m/a.obj"/></geometry></visual>'
                             '<visual><geometry><mesh filename="package://arm/m/gone.stl"/></geometry></visual></link></robot>',
             "arm/m/a.obj": "mtllib a.mtl\nv 0 0 0\n", "arm/m/a.mtl": "newmtl x\nmap_Kd ../p/a.png\n", "arm/p/a.png": "picture", "arm/p/b.png": "other"}
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    command = [poise, "view", "--no-open", "--json", "--studio", studio, os.path.join(folder, "arm/arm.urdf")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, Ended(server):
        answer = json.loads(server.stdout.readline())
        at = urllib.parse.urlsplit(answer["address"]).query.removeprefix("file=").rsplit("/", 1)[0]
        for name, wanted in (("arm/m/a.obj", 200), ("arm/m/a.mtl", 200), ("arm/m/p/a.png", 200), ("arm/m/gone.stl", 204), ("arm/p/b.png", 404)):
            status = ask(answer["port"], f"{at}/{name}")[0]
            check(f"{name} is answered by {wanted}, not {status}", status == wanted)
        server.send_signal(signal.SIGINT)
        server.wait(HANGS)


def check_port_80(poise, studio):
    """Browsers name it neither as host nor as origin. Who may not listen there has no such server."""
    with subprocess.Popen([poise, "view", "--no-open", "--port", "80", "--studio", studio], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server, Ended(server):
        if server.stdout.readline():
            check("port 80 goes without saying", ask(80, "/", host="localhost")[0] == 200)
            check("and may be said", ask(80, "/", host="127.0.0.1:80")[0] == 200)
            check("another name leads nowhere on port 80", ask(80, "/", host="localhost.example.org")[0] == 403)
            server.send_signal(signal.SIGINT)
        server.wait(HANGS)


def check_long_names(poise, studio, folder):
    """What a mesh says is a name may be no name, again and again; the address comes all the same. Who reads the rest of the file
    for each of them reads 10^13 bytes: a day."""
    with open(os.path.join(folder, "a.urdf"), "w") as file:
        file.write('<robot name="a"><link name="a"><visual><geometry><mesh filename="a.obj"/></geometry></visual></link></robot>')
    with open(os.path.join(folder, "a.obj"), "w") as file:
        file.write("mtllib " * 2000000)
    command = [poise, "view", "--no-open", "--json", "--studio", studio, os.path.join(folder, "a.urdf")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, Ended(server):
        came, _, _ = select.select([server.stdout], [], [], HANGS)
        check("a mesh full of names does not keep the server", came and "port" in json.loads(server.stdout.readline()))
        server.send_signal(signal.SIGINT)
        server.wait(HANGS)


def main():
    poise, events = sys.argv[1], Events(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        studio = make_studio(folder)
        command = [poise, "view", "--no-open", "--json", "--studio", studio, os.path.join(folder, "motion #1.bvh")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, Ended(server):
            answer = json.loads(server.stdout.readline())
            port = answer["port"]
            query = urllib.parse.urlsplit(answer["address"]).query
            check("the address names the file", query.startswith("file=/file/"))
            check_answers(port, query.removeprefix("file="))
            check_refusals(port)
            check_crowd(port)
            check_drips(port)
            try:
                other = socket.gethostbyname(socket.gethostname())
                if not other.startswith("127."):
                    with socket.socket() as connection:
                        check("other machines get no answer", connection.connect_ex((other, port)) != 0)
            except OSError:
                pass
            check_interrupt(server, "at rest")
        check_waiting_connection(command, events)
        check_live(poise, studio, events)
        check_robot(poise, studio, folder)
        check_long_names(poise, studio, folder)
        check_port_80(poise, studio)
        missing = subprocess.run([poise, "view", "--no-open", "--studio", studio, "nothing.bvh"], capture_output=True, text=True)
        check("a missing file is said at once", missing.returncode == 2 and "nothing.bvh" in missing.stderr)
    print(f"{len(failures)} claims failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
