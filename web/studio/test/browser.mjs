// A Chromium, the real server of `poise view`, and pages that must not complain: shared by all tests.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const { POISE = 'poise', STUDIO = 'dist', SHOTS = 'build/pictures', CHROMIUM = '/usr/bin/chromium-headless-shell' } = process.env;
export const poise = POISE;
export const shots = SHOTS;
// a machine without a graphics card draws by its processor
const flags = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-gpu-compositing'];

/** Edges are not smoothed, which takes a processor a fifth of all its time. */
const drawRoughly = () => {
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return getContext.call(this, kind, kind.startsWith('webgl') ? { ...options, antialias: false } : options);
  };
};

/** Seconds that one step may take: far more than any does, on a machine that others use as well. */
const PATIENCE = 120;
/** Milliseconds that a test of many steps may take, for the same reason. */
export const LONG = 900_000;

let server = null;
let browser = null;
let address = '';

/** `poise view` with further arguments: its address, and how to end it. */
export async function serve(...words) {
  const child = spawn(POISE, ['view', '--no-open', '--json', '--studio', STUDIO, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const found = await new Promise((done, failed) => {
    child.once('error', failed);
    child.once('exit', () => failed(new Error('poise view has ended')));
    child.stdout.once('data', (line) => done(JSON.parse(String(line)).address));
  });
  return { address: found, end: () => child.removeAllListeners('exit').kill() };
}

export async function start() {
  mkdirSync(SHOTS, { recursive: true });
  server = await serve();
  address = server.address;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: flags });
}

export async function stop() {
  await browser?.close();
  server?.end();
}

/** Ask until the answer is true: functions that a page waits with itself do not pass its content security policy. */
export async function until(page, ask, arg) {
  const end = Date.now() + 1000 * PATIENCE;
  while (!(await page.evaluate(ask, arg))) {
    assert.ok(Date.now() < end, `the page never came to: ${ask}`);
    await page.waitForTimeout(20);
  }
}

/** Wait until what was done is on the screen: the second frame comes after the page was laid out anew, and then nothing is left to do. */
export async function atRest(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await until(page, () => globalThis.studio.settled() && globalThis.studio.rests());
}

/** A new page, of half the dots for the sake of speed, that is open at `query`, or another server's address, and ready. `finish` closes it and fails if it complained or asked for foreign things. `before` runs in the page before all else. */
export async function open(query = '', options = {}, before = null) {
  const home = new URL(query, address);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 0.5, colorScheme: 'dark', serviceWorkers: 'block', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(1000 * PATIENCE);
  await page.addInitScript(drawRoughly);
  if (before) {
    await page.addInitScript(before);
  }
  const complaints = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => /^(blob:|data:)/.test(request.url()) || request.url().startsWith(home.origin) || complaints.push(`asks for ${request.url()}`));
  await page.goto(home.href);
  await until(page, () => 'studio' in globalThis || !!document.querySelector('.failed'));
  const finish = async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  };
  return { page, finish, context };
}

/** Run a test on a page of its own. */
export const on = (query, options, test) => async () => {
  const { page, finish } = await open(query, options);
  await test(page);
  await finish();
};

export const probe = (page, name, ...args) => page.evaluate(([n, a]) => globalThis.studio[n](...a), [name, args]);

/** Drop files ({ name, bytes }) on the page as a file manager does, and wait for what comes of them. */
export const drop = (page, ...files) => dropped(page, files, true);

export async function dropped(page, files, wait = false) {
  const list = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString('base64') }));
  await page.evaluate((list) => {
    const dataTransfer = new DataTransfer();
    for (const { name, base64 } of list) {
      dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    }
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, list);
  if (wait) {
    await until(page, () => !/^Reading |…/.test(document.querySelector('.notice').textContent));
  }
}

/** Drop files and folders of the disk, as the system does. */
export async function dropPaths(page, ...paths) {
  const client = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await client.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data });
  }
}

export const notice = (page) => page.evaluate(() => {
  const box = document.querySelector('.notice');
  return { text: box.hidden ? '' : box.firstChild.textContent, bad: box.classList.contains('bad') };
});

/** Wait until words were said over the stage. They pass after a while: a slow machine finds them where they stood. */
export const said = (page, words) => until(page, ([source, flags]) => new RegExp(source, flags).test(document.querySelector('.notice').textContent), [words.source, words.flags]);

/** Drag with the mouse from one place of the page to another, in steps. */
export async function drag(page, from, to, steps = 10) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= steps; i++) {
    await page.mouse.move(from.x + ((to.x - from.x) * i) / steps, from.y + ((to.y - from.y) * i) / steps);
  }
  await page.mouse.up();
}
