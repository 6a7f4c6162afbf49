// Tests of the studio in one browser: node --test test/studio.mjs, with POISE, STUDIO, CHROMIUM and SHOTS in the environment.
// ONLY names some of the parts: only those.
import { after, before } from 'node:test';
import { start, stop } from './browser.mjs';

const PARTS = ['scenes', 'goals', 'methods', 'files', 'saving', 'frames', 'joints', 'code', 'loops', 'work', 'recordings', 'verdicts', 'bodies', 'robots', 'characters', 'manners', 'live', 'page', 'views'];

before(start);
after(stop);
for (const part of process.env.ONLY ? process.env.ONLY.split(' ') : PARTS) {
  await import(`./${part}.mjs`);
}
