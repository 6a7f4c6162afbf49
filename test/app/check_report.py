#!/usr/bin/env python3
"""The pages of `poise track --report`, `poise retarget --report` and `poise edit --report`: well formed, on its own, its data whole, and, where there is a Chromium, without errors.

    check_report.py POISE
"""
import base64
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(html.parser.HTMLParser):
    """Elements that are closed in the order they were opened; ids that are there once."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.scripts, self.outside = [], [], [], []

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.append(value)
            if key in ("src", "href") or (value and re.search(r"https?://", value)):
                self.outside.append((tag, key, value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit(f"line {self.getpos()[0]}: </{tag}> closes what is not open")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def check_page(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    if page.open:
        sys.exit(f"{path}: not closed: {page.open}")
    if len(set(page.ids)) != len(page.ids):
        sys.exit(f"{path}: an id is there twice")
    if page.outside or re.search(r"""(src|href)=["']|url\(|@import|fetch\(|https?://""", text):
        sys.exit(f"{path}: something comes from outside: {page.outside}")
    for used in set(re.findall(r"""\$\("([a-z-]+)"\)""", text)) | set(re.findall(r"""getElementById\("([a-z-]+)"\)""", text)):
        if used not in page.ids:
            sys.exit(f"{path}: the script asks for #{used}, which is not there")
    return json.loads(page.scripts[0])


def check_data(data, frames, markers):
    series, play = data["series"], data["play"]
    if data["verdict"]["level"] != "good" or data["verdict"]["left_out"] or dict(data["sure"])["left_knee"] > 5:
        sys.exit(f"the verdict is {data['verdict']}, the angles are known to {data['sure']}")
    points = -(-frames // series["step"])
    rms = struct.unpack(f"<{points}f", base64.b64decode(series["rms"]))
    if not all(0 <= x < 100 for x in rms) or len(base64.b64decode(series["flags"])) != points:
        sys.exit("the curves are not what was tracked")
    if data["frames"] != frames or len(data["markers"]) != markers or play["poses"] != -(-frames // play["step"]):
        sys.exit("frames or markers are missing")
    if data["source"].endswith("/kick") and {name for name, _, _ in data["contacts"]} != {"left_foot", "right_foot"}:
        sys.exit(f"both feet rest on the ground, not {data['contacts']}")
    if not all(name in play["names"] and 0 <= first < last < frames for name, first, last in data["contacts"]):
        sys.exit(f"contacts of {data['contacts']}")
    words = play["poses"] * (len(play["names"]) + 2 * markers) * 3
    if len(base64.b64decode(play["points"])) != 2 * words or len(base64.b64decode(play["states"])) != play["poses"] * markers:
        sys.exit("the playback is not whole")


# What a reader does: moves over the curve, steps by keys, sorts, turns the figure, plays; then the page must show it.
ACTS = """<script>
function want(what, is) { if (!is) console.error("not so: " + what); }
const box = $("error").getBoundingClientRect();
$("error").dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + LEFT, clientY: box.top + 20, bubbles: true }));
want("the pointer chooses the first frame", frame === 0);
for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "x"]) $("error").dispatchEvent(new KeyboardEvent("keydown", { key }));
want("keys step by frames", frame === 1 && $("now").textContent.startsWith("frame 1,"));
const name = () => $("markers").rows[0].cells[0].textContent;
$("marker-head").cells[0].firstChild.click();
want("a heading sorts", name() === D.markers.map((m) => m.name).sort()[0]);
$("marker-head").cells[0].firstChild.click();
want("and sorts the other way", name() === D.markers.map((m) => m.name).sort().pop());
const yaw = view.yaw;
stage.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
stage.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
want("keys turn and the wheel zooms", view.yaw < yaw && view.zoom > 1);
$("home").click();
want("the view is reset", view.yaw === start.yaw && view.zoom === 1);
$("flagged").querySelector("button").click();
want("a flagged frame is shown", D.first + frame === D.flagged[0][0]);
$("play").click();
let looks = 500; // drawings until it must have moved
(function look() {
    const moved = playing && frame !== D.flagged[0][0] - D.first;
    if (!moved && --looks > 0) return requestAnimationFrame(look);
    want("it plays", moved);
    toggle();
    document.title = "done";
})();
</script></body>"""


# The same for a pair of figures.
PAIR_ACTS = """<script>
function want(what, is) { if (!is) console.error("not so: " + what); }
byId("scrub").value = 5;
byId("scrub").dispatchEvent(new Event("input"));
want("the slider chooses a frame", pose === 5 && byId("now").textContent.startsWith("frame " + 5 * data.step + ","));
byId("strip").dispatchEvent(new MouseEvent("click", { bubbles: true }));
want("the strip chooses one", pose === 0);
want("rows over time are drawn", spans.some((row) => row.length > 0));
want("both figures are drawn", figures.every(({canvas}) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((x) => x > 0)));
document.title = "done";
</script></body>"""


def check_browser(path, acts, wanted):
    names = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    browser = next(filter(None, map(shutil.which, names)), None)
    if not browser:
        print("no Chromium: the page was not opened")
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", acts))
    short = {key: value for key, value in os.environ.items() if key != "TMPDIR"}  # a socket's path is short
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # of its own: a second Chromium hands its page to the first
        run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
                              "--user-data-dir=" + profile, "--virtual-time-budget=20000", "--dump-dom", "file://" + path],
                             env=short, capture_output=True, text=True, timeout=250)
    errors = [line for line in run.stderr.split("\n") if "CONSOLE" in line]
    if errors:
        sys.exit("the page complains:\n" + "\n".join(errors))
    if not all(word in run.stdout for word in (*wanted, "<title>done")):
        sys.exit("the script of the page did not run:\n" + run.stderr[-2000:])


def main():
    poise = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        odd = os.path.join(folder, "<")  # a name must not end the script that holds it
        os.mkdir(odd)
        name = os.path.join(odd, "script><b>& 'odd'.json")
        for command in ([poise, "track", "scene:humanoid", "scene:humanoid/kick", "--report", path],
                        [poise, "track", "scene:humanoid", "scene:humanoid/walk/noisy", "--report", path],
                        [poise, "track", "scene:humanoid", "scene:humanoid/cartwheel/noisy", "--report", path, "--save-model", name]):
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(run.stderr)
            frames = int(re.search(r"recording +(\d+) frames", run.stdout).group(1))
            check_data(check_page(path), frames, 41)
        check_browser(path, ACTS, ("<tr>", "frames held"))
        pairs = {"onto": ["retarget", "scene:humanoid/kick", "scene:humanoid-euler", "--feet", "plant"],
                 "edited": ["edit", "scene:humanoid/kick", "--clean-feet", "--pin", "head on its path from 0.5 to 1"]}
        for word, command in pairs.items():
            run = subprocess.run([poise, *command, "--report", path], capture_output=True, text=True)
            if run.returncode == 2:
                sys.exit(run.stderr)
            data = check_page(path)
            for key in ("source", "target"):
                figure = data[key]
                if len(base64.b64decode(figure["points"])) != 12 * data["poses"] * figure["count"] or not figure["bones"]:
                    sys.exit(f"the figure {key} is not whole")
            check_browser(path, PAIR_ACTS, (word, "Verdict: "))
    print("the pages are well formed and whole")


main()
