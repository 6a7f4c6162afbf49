// Pictures are kept, and compared as small grey ones: a blank or broken stage fails, other fonts and graphics cards do not.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { shots } from './browser.mjs';

const [WIDTH, HEIGHT] = [64, 36];
const LEAST = 0.75; // correlation with the reference
const file = new URL('references.json', import.meta.url);
const references = JSON.parse(readFileSync(file, 'utf8'));

/** Grey values of the part of a page's PNG in a box, averaged down to WIDTH x HEIGHT in the page. */
async function shrink(page, png, box) {
  return page.evaluate(
    async ([address, width, height, box]) => {
      const picture = new Image();
      picture.src = address;
      await picture.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const g = canvas.getContext('2d');
      const scale = picture.naturalWidth / innerWidth; // of a dense screen
      g.imageSmoothingQuality = 'high';
      g.drawImage(picture, scale * box.x, scale * box.y, scale * box.width, scale * box.height, 0, 0, width, height);
      const { data } = g.getImageData(0, 0, width, height);
      return Array.from({ length: width * height }, (_, i) => Math.round(0.3 * data[4 * i] + 0.59 * data[4 * i + 1] + 0.11 * data[4 * i + 2]));
    },
    [`data:image/png;base64,${png.toString('base64')}`, WIDTH, HEIGHT, box],
  );
}

/** Mean over each point and its neighbours, so that a shift of a pixel costs little. */
function blur(values) {
  return values.map((_, i) => {
    let [sum, count] = [0, 0];
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        const [x, y] = [(i % WIDTH) + dx, Math.floor(i / WIDTH) + dy];
        if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT) {
          sum += values[y * WIDTH + x];
          count += 1;
        }
      }
    }
    return sum / count;
  });
}

/** From -1 to 1; 0 where one of them is of a single colour. */
function correlation(a, b) {
  const mean = (list) => list.reduce((x, y) => x + y, 0) / list.length;
  const [ma, mb] = [mean(a), mean(b)];
  const dot = (p, q, mp, mq) => p.reduce((sum, x, i) => sum + (x - mp) * (q[i] - mq), 0);
  const scale = Math.sqrt(dot(a, a, ma, ma) * dot(b, b, mb, mb));
  return scale > 1e-9 ? dot(a, b, ma, mb) / scale : 0;
}

/** Keep a picture of the page, and hold the stage, or all of it, against its reference. POISE_REFERENCES=new makes references. */
export async function compare(page, name, selector = 'main') {
  const png = await page.screenshot({ path: `${shots}/${name}.png` });
  const small = await shrink(page, png, await page.locator(selector).boundingBox());
  if (process.env.POISE_REFERENCES === 'new') {
    references[name] = Buffer.from(small).toString('base64');
    writeFileSync(file, `${JSON.stringify(references, null, 1)}\n`);
    return;
  }
  assert.ok(references[name], `there is no reference of ${name}: POISE_REFERENCES=new makes it`);
  const alike = correlation(blur(small), blur(Array.from(Buffer.from(references[name], 'base64'))));
  assert.ok(alike >= LEAST, `${name} looks unlike its reference: correlation ${alike.toFixed(2)}; see ${shots}/${name}.png`);
}
