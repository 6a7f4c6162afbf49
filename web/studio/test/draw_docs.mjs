// Draw the pictures of docs/studio.md again: node test/draw_docs.mjs FOLDER, with POISE, STUDIO and CHROMIUM in the environment.
import { writeFileSync } from 'node:fs';
import { atRest, open, said, start, stop, until } from './browser.mjs';

const [folder = '../../docs/pictures'] = process.argv.slice(2);
const QUALITY = 0.82;

/** PNGs side by side, each `width` pixels wide, as WebP. Runs in a page, which knows how to make one. */
async function compose([addresses, columns, width, quality]) {
  const pictures = await Promise.all(addresses.map(async (src) => {
    const picture = Object.assign(new Image(), { src });
    await picture.decode();
    return picture;
  }));
  const height = Math.round((width * pictures[0].naturalHeight) / pictures[0].naturalWidth);
  const gap = columns > 1 ? 6 : 0;
  const size = (count, side) => count * (side + gap) - gap;
  const sheet = Object.assign(document.createElement('canvas'), { width: size(columns, width), height: size(Math.ceil(pictures.length / columns), height) });
  const g = sheet.getContext('2d');
  g.imageSmoothingQuality = 'high';
  pictures.forEach((picture, i) => g.drawImage(picture, (i % columns) * (width + gap), Math.floor(i / columns) * (height + gap), width, height));
  return sheet.toDataURL('image/webp', quality);
}

async function keep(page, name, pngs, columns, width) {
  const addresses = pngs.map((png) => `data:image/png;base64,${png.toString('base64')}`);
  const webp = await page.evaluate(compose, [addresses, columns, width, QUALITY]);
  writeFileSync(`${folder}/${name}.webp`, Buffer.from(webp.slice(webp.indexOf(',') + 1), 'base64'));
}

const tidy = async (page) => {
  await page.evaluate(() => {
    document.querySelector('.notice button')?.click();
    document.activeElement.blur();
  });
  await atRest(page);
};

await start();
const size = { viewport: { width: 1200, height: 750 }, deviceScaleFactor: 1 };

const dancer = await open('?scene=humanoid/kick&light=full', { ...size, colorScheme: 'light' });
await dancer.page.keyboard.press(' ');
await dancer.page.keyboard.press('t');
await said(dancer.page, /frames tracked in .* mean error/);
await dancer.page.getByLabel('Time', { exact: true }).fill('0.62');
await tidy(dancer.page);
await keep(dancer.page, 'studio-dancer', [await dancer.page.screenshot()], 1, 1200);
await dancer.finish();

const race = await open('?scene=arm7&light=full', size);
await race.page.keyboard.press('r');
await tidy(race.page);
await keep(race.page, 'studio-race', [await race.page.screenshot()], 1, 1200);
await race.finish();

const sheet = await open('?scene=arm7&light=full', { viewport: { width: 800, height: 480 }, deviceScaleFactor: 1 });
const menu = sheet.page.getByLabel('Scene', { exact: true });
const shown = ['arm7', 'arm6', 'scara', 'hand', 'humanoid/walk', 'humanoid/cartwheel', 'humanoid/kick', 'humanoid', 'lamp', 'erik-c', 'arm2d', 'tree2d'];
const pngs = [];
const TALL = 440; // pixels of the stage, with a timeline below it or without
await sheet.page.evaluate(() => document.body.classList.add('panel-hidden'));
for (const id of shown) {
  await menu.selectOption(id);
  await until(sheet.page, () => globalThis.studio.settled());
  await sheet.page.evaluate(() => {
    const time = document.querySelector('.timeline input');
    time.value = '0.5';
    time.dispatchEvent(new Event('input'));
  });
  await tidy(sheet.page);
  const { height } = await sheet.page.locator('main').boundingBox();
  await sheet.page.setViewportSize({ width: 800, height: Math.round(sheet.page.viewportSize().height + TALL - height) });
  await sheet.page.locator('canvas.stage').focus();
  await sheet.page.keyboard.press('h');
  await tidy(sheet.page);
  pngs.push(await sheet.page.locator('main').screenshot());
}
await keep(sheet.page, 'studio-scenes', pngs, 4, 400);
await sheet.finish();
await stop();
