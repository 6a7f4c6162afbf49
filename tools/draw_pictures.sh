#!/bin/sh
# Draw the pictures of the documentation again: tools/draw_pictures.sh [POISE]
set -eu
poise=$(realpath "${1:-build/bin/poise}")
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$poise" reproduce hessian-fig3 hessian-fig5 --samples 3 -o "$folder" >/dev/null
"$poise" reproduce hessian-definiteness notes-2d erik-fig12 erik-table9 erik-aggravation -o "$folder" >/dev/null
"$poise" demo -o "$folder" >/dev/null
mkdir -p docs/pictures
"$poise" edit scene:humanoid/walk --pin "left_hand 0.35 1.25 0.45 from 0.5 s to 0.6 s fade 0.3" \
    --picture docs/pictures/edit.svg >/dev/null
"$poise" convert scene:humanoid-euler "$folder/figure.json" >/dev/null
python3 - "$folder/figure.json" "$folder/imp.json" <<'END' # short legs, long arms
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    figure = json.load(file)
for joint in figure["model"]["joints"]:
    is_leg = any(word in joint["name"] for word in ("root", "knee", "ankle", "toes"))
    is_arm = any(word in joint["name"] for word in ("elbow", "forearm", "wrist"))
    joint["position"] = [(0.5 if is_leg else 1.1 if is_arm else 0.7) * x for x in joint.get("position", [0, 0, 0])]
del figure["placements"]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(figure, file)
END
"$poise" retarget scene:humanoid/kick "$folder/imp.json" --picture docs/pictures/retarget.svg >/dev/null
"$poise" bench --draw docs/pictures/scale.json -o docs/pictures/scale.svg # measured: tools/update_performance.py --scale --device
for name in track aim reach hessian-fig3 hessian-fig5 hessian-definiteness-gimbal notes-2d erik-fig12 erik-table9 erik-aggravation; do
    cp "$folder/$name.svg" docs/pictures/
done
