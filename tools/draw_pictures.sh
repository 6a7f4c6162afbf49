#!/bin/sh
# Draw the pictures of the documentation again: tools/draw_pictures.sh [POISE]
set -eu
poise=$(realpath "${1:-build/bin/poise}")
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$poise" reproduce hessian-fig3 hessian-fig5 --samples 3 -o "$folder" >/dev/null
"$poise" reproduce hessian-definiteness notes-2d erik-fig12 erik-table9 erik-aggravation -o "$folder" >/dev/null
mkdir -p docs/pictures
"$poise" edit scene:humanoid/walk --pin "left_hand 0.35 1.25 0.45 from 0.5 s to 0.6 s fade 0.3" \
    --picture docs/pictures/edit.svg >/dev/null
"$poise" bench --draw docs/pictures/scale.json -o docs/pictures/scale.svg # measured: tools/update_scale.py --device
for name in hessian-fig3 hessian-fig5 hessian-definiteness-gimbal notes-2d erik-fig12 erik-table9 erik-aggravation; do
    cp "$folder/$name.svg" docs/pictures/
done
